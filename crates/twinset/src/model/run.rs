//! What every long call is given: threads, limits, a way to watch it and a way to stop it.

use std::error::Error as _;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

use super::{Error, Result};

/// The conditions under which a long call runs.
///
/// ```
/// # use twinset::Run;
/// let run = Run { threads: Some(2), ..Run::default() };
/// run.cancel.stop();
/// assert!(run.check().is_err());
/// ```
#[derive(Clone, Default)]
pub struct Run {
    /// How many threads to use. `None`: the caller's rayon pool, or the global one, which has all cores.
    pub threads: Option<usize>,
    /// The most memory, in bytes. A tokenizer leaves sets that are too many for it in a temporary file, and their join
    /// works part by part; a join of sets that are in memory already is refused before it begins if it needs more.
    /// `None`: no limit.
    pub memory: Option<u64>,
    /// The folder for temporary files. `None`: the system's.
    pub spill: Option<PathBuf>,
    /// Use only instructions that every processor has. The result is the same, but later.
    pub portable: bool,
    /// Told what is going on.
    pub progress: Option<Arc<dyn Progress>>,
    /// Ends the call early when set from another thread.
    pub cancel: Cancel,
}

/// A flag that ends a long call; clones share it.
///
/// See the example of [`Run`].
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks every call that watches this flag to end with [`Error::Cancelled`].
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone asked.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Follows a long call. Methods are called from several threads.
///
/// See the example of [`Run`].
pub trait Progress: Send + Sync {
    /// A stage begins: `total` units of work lie ahead, or an unknown number.
    fn begin(&self, stage: &'static str, total: Option<u64>);
    /// So many units are done.
    fn advance(&self, units: u64);
}

impl Run {
    /// Runs `work` on the threads asked for.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let refused = |threads: usize, error: &ThreadPoolBuildError| {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Error::Threads { threads, reason }
        };
        let Some(threads) = self.threads else {
            // Outside of any pool the first parallel step would start the threads of the process, and panic where it cannot.
            if rayon::current_thread_index().is_none()
                && let Err(error) = ThreadPoolBuilder::new().build_global()
                && error.source().is_some()
            {
                return Err(refused(available_parallelism().map_or(1, usize::from), &error));
            }
            return Ok(work());
        };
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| refused(threads, &error))?;
        Ok(pool.install(work))
    }

    /// An error once the caller has asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_stopped() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// An error if so many bytes are more than the call may take.
    pub(crate) fn check_memory(&self, needed: u64) -> Result<()> {
        match self.memory {
            Some(limit) if needed > limit => Err(Error::Memory { needed, limit }),
            _ => Ok(()),
        }
    }

    /// Tells the progress sink that a stage begins.
    pub fn begin(&self, stage: &'static str, total: Option<u64>) {
        if let Some(progress) = &self.progress {
            progress.begin(stage, total);
        }
    }

    /// Tells the progress sink that work was done.
    pub fn advance(&self, units: u64) {
        if let Some(progress) = &self.progress {
            progress.advance(units);
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("threads", &self.threads).field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
