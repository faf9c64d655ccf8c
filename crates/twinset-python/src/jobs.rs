//! The jobs of `twinset`: each takes its settings as a JSON object, and what it reads as paths or Arrow tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyTable;
use twinset::Cancel;
use twinset_cli::{
    Dedup, Explain, Failure, IndexAdd, IndexCheck, IndexCount, IndexCreate, IndexJoin, IndexQuery, IndexRemove,
    IndexStats, Job, Join, Listener, Profile, Sketch, Thresholds, run_in_program, run_index_in_program, settings_of,
};
use twinset_io::{Destination, Memory, MemoryContent, MemoryTable, Source};

use crate::words::Settings;
use crate::{bug, exception, options};

/// How often the interpreter is asked whether the user interrupts.
const ATTENTION: Duration = Duration::from_millis(50);
/// As large as that of the thread that a program begins with.
const STACK: usize = 8 << 20;

/// What a job reads.
#[derive(FromPyObject)]
enum Data {
    Table(PyTable),
    Paths(Vec<PathBuf>),
}

impl Data {
    /// Its sources; messages call a table by the name of the parameter.
    fn sources(self, name: &'static str) -> Vec<Source> {
        match self {
            Self::Table(table) => {
                let (batches, schema) = table.into_inner();
                vec![Source::Table(name, Arc::new(MemoryTable { schema, batches }))]
            }
            Self::Paths(paths) => paths.into_iter().map(Source::Path).collect(),
        }
    }

    /// The one source that it is.
    fn source(self, name: &'static str) -> PyResult<Source> {
        let one: Result<[Source; 1], _> = self.sources(name).try_into();
        let needed = "name one path here: that of a file, of a folder, or a glob that stands for several";
        one.map(|[source]| source).map_err(|_| PyValueError::new_err(needed))
    }
}

/// What a job reports while it runs, and at its end.
enum Report {
    Text(String),
    End(Result<(), Failure>),
}

/// Runs a job on a thread of its own, shows what it reports, and ends it when the user interrupts.
fn run<J: Job + Send + 'static>(
    py: Python<'_>,
    mut job: J,
    progress: bool,
    run: fn(J, Cancel, Listener) -> Result<(), Failure>,
) -> PyResult<()> {
    job.session().quiet = !progress;
    let cancel = Cancel::default();
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let (reports, own_cancel) = (sender.clone(), cancel.clone());
    let listener: Listener = Arc::new(move |text| _ = reports.send(Report::Text(text)));
    let work = move || _ = sender.send(Report::End(run(job, own_cancel, listener)));
    let worker = thread::Builder::new().stack_size(STACK).spawn(work)?;
    let mut interrupted = None;
    let result = loop {
        let shown = match py.detach(|| wait(&receiver)) {
            Ok(Report::End(result)) => break result,
            Ok(Report::Text(text)) => show(py, &text),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(bug(worker.join().err().as_deref())),
        };
        if let Err(error) = shown.and_then(|()| py.check_signals()) {
            cancel.stop();
            interrupted = Some(error);
        }
    };
    match interrupted {
        Some(error) => Err(error),
        None => result.map_err(exception),
    }
}

fn wait(receiver: &Mutex<Receiver<Report>>) -> Result<Report, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(ATTENTION)
}

/// Shows text where Python shows errors, which may be a notebook. That it cannot is no reason to fail; that the user interrupts is.
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

/// Directs results to memory that would go to standard output.
fn to_memory(destination: &mut Destination) -> Memory {
    let memory = Memory::default();
    if destination.is_standard() {
        *destination = memory.clone().into();
    }
    memory
}

/// What was written: a table, text, or nothing.
fn result(py: Python<'_>, memory: &Memory) -> PyResult<Option<Py<PyAny>>> {
    let MemoryContent { table, bytes } = memory.take();
    match table {
        Some(MemoryTable { schema, batches }) => {
            Ok(Some(PyTable::try_new(batches, schema)?.into_pyarrow(py)?.unbind()))
        }
        None if bytes.is_empty() => Ok(None),
        None => Ok(Some(String::from_utf8_lossy(&bytes).into_pyobject(py)?.into_any().unbind())),
    }
}

type Written = Option<Py<PyAny>>;

#[pyfunction]
fn join(py: Python<'_>, settings: &str, data: Data, other: Option<Data>, progress: bool) -> PyResult<Written> {
    let mut job: Join = options(settings)?;
    job.left = data.source("data")?;
    job.right = other.map(|other| other.source("other")).transpose()?;
    let pairs = to_memory(&mut job.output.output);
    run(py, job, progress, run_in_program)?;
    result(py, &pairs)
}

/// Returns what was kept and what was removed, if `data` is a table, and the groups.
#[pyfunction]
fn dedup(
    py: Python<'_>,
    settings: &str,
    data: Data,
    against: Option<Data>,
    progress: bool,
) -> PyResult<(Written, Written, Written)> {
    let mut job: Dedup = options(settings)?;
    let (kept, removed, groups) = (Memory::default(), Memory::default(), Memory::default());
    if let Data::Table(_) = data {
        job.output = kept.clone().into();
        job.removed = Some(removed.clone().into());
    } else if job.output.is_standard() {
        // Only the groups are wanted.
        job.count = true;
        job.output = Memory::default().into();
    }
    job.input = data.sources("data");
    job.against = against.map(|against| against.source("against")).transpose()?;
    job.groups = Some(groups.clone().into());
    run(py, job, progress, run_in_program)?;
    Ok((result(py, &kept)?, result(py, &removed)?, result(py, &groups)?))
}

/// Returns a JSON object.
#[pyfunction]
fn explain(
    py: Python<'_>,
    settings: &str,
    data: Data,
    other: Option<Data>,
    ids: [String; 2],
    progress: bool,
) -> PyResult<Written> {
    let mut job: Explain = options(settings)?;
    let right = other.map(|other| other.source("other")).transpose()?;
    (job.records, job.json) = (twinset_cli::Records { input: data.source("data")?, right, ids }, true);
    let explanation = to_memory(&mut job.output);
    run(py, job, progress, run_in_program)?;
    result(py, &explanation)
}

#[pyfunction]
fn tune(
    py: Python<'_>,
    settings: &str,
    data: Data,
    other: Option<Data>,
    truth: Option<Data>,
    progress: bool,
) -> PyResult<Written> {
    let mut job: Thresholds = options(settings)?;
    job.input = Some(data.source("data")?);
    job.right = other.map(|other| other.source("other")).transpose()?;
    job.truth = truth.map(|truth| truth.source("truth")).transpose()?;
    let steps = to_memory(&mut job.output.output);
    run(py, job, progress, run_in_program)?;
    result(py, &steps)
}

/// Returns the bytes of a file of sketches, unless it is written to a path.
#[pyfunction]
fn sketch<'py>(
    py: Python<'py>,
    settings: &str,
    data: Data,
    output: Option<PathBuf>,
    progress: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut job: Sketch = options(settings)?;
    job.input = data.sources("data");
    job.output = output.map_or(Destination::Standard, Destination::from);
    let sketches = to_memory(&mut job.output);
    run(py, job, progress, run_in_program)?;
    Ok(PyBytes::new(py, &sketches.take().bytes))
}

#[pyfunction]
fn profile(py: Python<'_>, settings: &str, sources: Vec<String>, progress: bool) -> PyResult<Written> {
    let mut job: Profile = options(settings)?;
    job.sources = sources;
    let relations = to_memory(&mut job.output.output);
    run(py, job, progress, run_in_program)?;
    result(py, &relations)
}

#[pyfunction]
fn index_create(py: Python<'_>, settings: &str, path: String) -> PyResult<()> {
    let mut job: IndexCreate = options(settings)?;
    job.path = path;
    run(py, job, false, run_index_in_program)
}

#[pyfunction]
fn index_add(py: Python<'_>, settings: &str, path: String, data: Data, progress: bool) -> PyResult<()> {
    let mut job: IndexAdd = options(settings)?;
    (job.path, job.input) = (path, data.sources("data"));
    run(py, job, progress, run_index_in_program)
}

#[pyfunction]
fn index_remove(py: Python<'_>, path: String, ids: Vec<String>) -> PyResult<()> {
    let mut job = IndexRemove::default();
    (job.path, job.ids) = (path, ids);
    run(py, job, false, run_index_in_program)
}

#[pyfunction]
fn index_query(py: Python<'_>, settings: &str, path: String, data: Option<Data>, progress: bool) -> PyResult<Written> {
    let mut job: IndexQuery = options(settings)?;
    (job.path, job.asked.input) = (path, data.map_or(Vec::new(), |data| data.sources("data")));
    let found = to_memory(&mut job.output.output);
    run(py, job, progress, run_index_in_program)?;
    result(py, &found)
}

#[pyfunction]
fn index_join(
    py: Python<'_>,
    settings: &str,
    path: String,
    other: Option<String>,
    progress: bool,
) -> PyResult<Written> {
    let mut job: IndexJoin = options(settings)?;
    (job.path, job.other) = (path, other);
    let pairs = to_memory(&mut job.output.output);
    run(py, job, progress, run_index_in_program)?;
    result(py, &pairs)
}

#[pyfunction]
fn index_count(py: Python<'_>, settings: &str, path: String, other: Option<Data>, progress: bool) -> PyResult<Written> {
    let mut job: IndexCount = options(settings)?;
    (job.path, job.asked.input) = (path, other.map_or(Vec::new(), |other| other.sources("other")));
    let counts = to_memory(&mut job.output.output);
    run(py, job, progress, run_index_in_program)?;
    result(py, &counts)
}

/// Returns a JSON object.
#[pyfunction]
fn index_stats(py: Python<'_>, path: String) -> PyResult<Written> {
    let mut job = IndexStats::default();
    job.path = path;
    let stats = to_memory(&mut job.output);
    run(py, job, false, run_index_in_program)?;
    result(py, &stats)
}

#[pyfunction]
fn index_check(py: Python<'_>, path: String) -> PyResult<()> {
    let mut job = IndexCheck::default();
    job.path = path;
    _ = to_memory(&mut job.output);
    run(py, job, false, run_index_in_program)
}

/// Every job, with its settings, and the names of the values of each where these are known beforehand.
static SETTINGS: LazyLock<BTreeMap<&str, Settings>> = LazyLock::new(|| {
    BTreeMap::from([
        ("join", settings_of::<Join>()),
        ("dedup", settings_of::<Dedup>()),
        ("explain", settings_of::<Explain>()),
        ("tune", settings_of::<Thresholds>()),
        ("sketch", settings_of::<Sketch>()),
        ("profile", settings_of::<Profile>()),
        ("index create", settings_of::<IndexCreate>()),
        ("index add", settings_of::<IndexAdd>()),
        ("index query", settings_of::<IndexQuery>()),
        ("index join", settings_of::<IndexJoin>()),
        ("index count", settings_of::<IndexCount>()),
    ])
});

/// The settings of all jobs, and the parameters of functions that are options of the command as well.
pub(crate) fn all_settings() -> &'static Settings {
    static ALL: LazyLock<Settings> = LazyLock::new(|| {
        let parameters = ["against", "truth"].map(|name| (name.to_owned(), BTreeSet::new()));
        parameters
            .into_iter()
            .chain(SETTINGS.values().flatten().map(|(name, choices)| (name.clone(), choices.clone())))
            .collect()
    });
    &ALL
}

/// The settings of a job, each with the names of its values where these are known beforehand. Tests compare them.
#[pyfunction]
fn settings(job: &str) -> PyResult<Settings> {
    let settings = SETTINGS.get(job).cloned();
    settings.ok_or_else(|| PyValueError::new_err(format!("there is no job `{job}`")))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(dedup, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(tune, module)?)?;
    module.add_function(wrap_pyfunction!(sketch, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(index_create, module)?)?;
    module.add_function(wrap_pyfunction!(index_add, module)?)?;
    module.add_function(wrap_pyfunction!(index_remove, module)?)?;
    module.add_function(wrap_pyfunction!(index_query, module)?)?;
    module.add_function(wrap_pyfunction!(index_join, module)?)?;
    module.add_function(wrap_pyfunction!(index_count, module)?)?;
    module.add_function(wrap_pyfunction!(index_stats, module)?)?;
    module.add_function(wrap_pyfunction!(index_check, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)
}
