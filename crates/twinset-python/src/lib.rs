//! What the Python package calls: a function that runs a command of `twinset` on tables of Python, and the pieces of a join on many machines.

mod shuffle;

use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;
use twinset_cli::Failure;
use twinset_io::{Host, MemoryTable, Written};

create_exception!(twinset, TwinsetError, PyException, "What was asked makes sense, and could not be done.");

/// A place for a result, in place of the path of a file.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
struct Place {
    /// What the path ends in.
    ending: String,
}

#[pymethods]
impl Place {
    #[new]
    #[pyo3(signature = (ending = String::new()))]
    fn new(ending: String) -> Self {
        Self { ending }
    }
}

/// A word of a command.
#[derive(FromPyObject)]
enum Word {
    Text(OsString),
    Place(Place),
    Table(PyTable),
}

/// How often Python is asked whether the user interrupts.
const ATTENTION: Duration = Duration::from_millis(50);
/// As large as that of the thread that a program begins with.
const STACK: usize = 8 << 20;

/// What a command tells while it runs, and at its end.
enum News {
    Said(String),
    Done(Result<(), Failure>, Written, Vec<Written>),
}

/// Runs a command. Returns what it writes to standard output, then what it writes to each place: tables, or bytes.
#[pyfunction]
fn call(py: Python<'_>, words: Vec<Word>) -> PyResult<Vec<Py<PyAny>>> {
    let mut host = Host::default();
    let words: Vec<OsString> = words
        .into_iter()
        .map(|word| match word {
            Word::Text(text) => text,
            Word::Place(place) => host.place(&place.ending).into(),
            Word::Table(table) => {
                let (batches, schema) = table.into_inner();
                host.offer(MemoryTable { schema, batches }).into()
            }
        })
        .collect();
    let cancel = host.cancel.clone();
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let listener = sender.clone();
    host.listener = Some(Arc::new(move |text| _ = listener.send(News::Said(text))));
    let command = move || {
        let (result, standard, places) = host.run(|| twinset_cli::call(words));
        _ = sender.send(News::Done(result, standard, places));
    };
    let worker = thread::Builder::new().stack_size(STACK).spawn(command)?;
    let mut interrupted = None;
    let (result, standard, places) = loop {
        let shown = match py.detach(|| wait(&receiver)) {
            Ok(News::Done(result, standard, places)) => break (result, standard, places),
            Ok(News::Said(text)) => show(py, &text),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().err();
                return Err(fault(panic.as_deref()));
            }
        };
        if let Err(error) = shown.and_then(|()| py.check_signals()) {
            cancel.stop();
            interrupted = Some(error);
        }
    };
    if let Some(error) = interrupted {
        return Err(error);
    }
    result.map_err(exception)?;
    std::iter::once(standard).chain(places).map(|written| given(py, written)).collect()
}

/// A failure, as Python has it.
fn exception(failure: Failure) -> PyErr {
    match failure {
        Failure::Usage(text) => PyValueError::new_err(text),
        Failure::Cancelled => PyKeyboardInterrupt::new_err(()),
        Failure::BrokenPipe => TwinsetError::new_err("a pipe was closed"),
        Failure::Failed(text) => TwinsetError::new_err(text),
    }
}

fn wait(receiver: &Mutex<Receiver<News>>) -> Result<News, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(ATTENTION)
}

/// Shows words where Python shows errors, which may be a notebook. That it cannot is no reason to fail; that the user interrupts is.
fn show(py: Python<'_>, text: &str) -> PyResult<()> {
    let shown = py.import("sys").and_then(|sys| sys.getattr("stderr")).and_then(|stderr| {
        stderr.call_method1("write", (text,))?;
        stderr.call_method0("flush")
    });
    match shown {
        Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
        _ => Ok(()),
    }
}

/// Does what a method asks for without the interpreter's lock. A panic is a failure, as that of a command is.
fn work<T: Send>(py: Python<'_>, asked: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(asked))).unwrap_or_else(|panic| Err(fault(Some(&*panic))))
}

/// A panic, as Python has it.
fn fault(panic: Option<&(dyn Any + Send)>) -> PyErr {
    TwinsetError::new_err(format!("twinset has a fault: {}", said(panic)))
}

/// What was written, as Python has it.
fn given(py: Python<'_>, written: Written) -> PyResult<Py<PyAny>> {
    match written.table {
        Some(MemoryTable { schema, batches }) => Ok(PyTable::try_new(batches, schema)?.into_pyarrow(py)?.unbind()),
        None => Ok(PyBytes::new(py, &written.bytes).into_any().unbind()),
    }
}

/// What a panic said.
fn said(panic: Option<&(dyn Any + Send)>) -> String {
    let text = panic.and_then(|panic| {
        panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned())
    });
    text.unwrap_or_else(|| "it ended without a word".to_owned())
}

#[pymodule]
fn _twinset(module: &Bound<'_, PyModule>) -> PyResult<()> {
    twinset_cli::hide_guarded_panics();
    module.add("TwinsetError", module.py().get_type::<TwinsetError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Place>()?;
    module.add_class::<shuffle::Shuffle>()?;
    module.add_class::<shuffle::Meeting>()?;
    module.add_function(wrap_pyfunction!(call, module)?)
}
