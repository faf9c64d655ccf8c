//! What the Python package calls: the jobs of `twinset` on paths and Arrow tables, and the pieces of a join on many machines.

mod jobs;
mod shuffle;
mod words;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Args;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use twinset_cli::{Failure, SettingError, from_settings};

use words::in_python;

create_exception!(twinset, TwinsetError, PyException, "The call makes sense, and failed.");

/// Makes options of settings, which are a JSON object.
fn options<T: Args + DeserializeOwned>(settings: &str) -> PyResult<T> {
    let settings = serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
    from_settings(&settings).map_err(|error| match error {
        SettingError::Unknown(name) => PyTypeError::new_err(format!("unexpected keyword argument '{name}'")),
        SettingError::Bad { name, value, reason } => PyValueError::new_err(format!("{name}={value}: {reason}")),
    })
}

/// A failure as an exception.
fn exception(failure: Failure) -> PyErr {
    match failure {
        Failure::Usage(text) => PyValueError::new_err(in_python(&text, jobs::all_settings())),
        Failure::Cancelled => PyKeyboardInterrupt::new_err(()),
        Failure::BrokenPipe => TwinsetError::new_err("a pipe was closed"),
        Failure::Failed(text) => TwinsetError::new_err(in_python(&text, jobs::all_settings())),
    }
}

/// Works without the interpreter's lock. A panic is an exception.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).unwrap_or_else(|panic| Err(bug(Some(&*panic))))
}

/// A panic as an exception.
fn bug(panic: Option<&(dyn Any + Send)>) -> PyErr {
    let text = panic.and_then(|panic| {
        panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned())
    });
    let text = text.unwrap_or_else(|| "it panicked without a message".to_owned());
    TwinsetError::new_err(format!("twinset has a fault: {text}"))
}

#[pymodule]
fn _twinset(module: &Bound<'_, PyModule>) -> PyResult<()> {
    twinset_cli::hide_guarded_panics();
    module.add("TwinsetError", module.py().get_type::<TwinsetError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<shuffle::Shuffle>()?;
    module.add_class::<shuffle::Meeting>()?;
    jobs::register(module)
}
