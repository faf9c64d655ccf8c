//! What the Python package calls: a function that runs a command of `twinset` on tables of Python, and the pieces of a join on many machines.

mod shuffle;

use std::any::Any;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
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

type Done = (Result<(), Failure>, Written, Vec<Written>);

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
    let work = move || _ = sender.send(host.run(|| twinset_cli::call(words)));
    let worker = thread::Builder::new().stack_size(STACK).spawn(work)?;
    let mut interrupted = None;
    let done = loop {
        match py.detach(|| wait(&receiver)) {
            Ok(done) => break done,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    cancel.stop();
                    interrupted = Some(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().err();
                return Err(TwinsetError::new_err(format!("twinset has a fault: {}", said(panic.as_deref()))));
            }
        }
    };
    if let Some(error) = interrupted {
        return Err(error);
    }
    let (result, standard, places) = done;
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

fn wait(receiver: &Mutex<Receiver<Done>>) -> Result<Done, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(ATTENTION)
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
