//! The program that a command runs in, where that is no terminal: it hands tables over, and is handed back what is written.
//!
//! Its tables and the places for results have paths that lead to no file, so a command needs to know nothing of it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use twinset::Cancel;

/// A table in memory.
#[cfg(feature = "parquet")]
#[derive(Debug, Clone)]
pub struct MemoryTable {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

/// A table in memory. This build knows none.
#[cfg(not(feature = "parquet"))]
#[derive(Debug, Clone)]
pub enum MemoryTable {}

/// What was written to one place.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Rows, if a table was written.
    pub table: Option<MemoryTable>,
    /// Everything else.
    pub bytes: Vec<u8>,
}

/// A place that an output writes to.
pub(crate) type Place = Arc<Mutex<Written>>;

/// Takes words for the user.
pub type Listener = Arc<dyn Fn(String) + Send + Sync>;

/// What a program hands to a command, and gets from it.
#[derive(Clone, Default)]
pub struct Host {
    tables: Vec<Arc<MemoryTable>>,
    places: Vec<Place>,
    /// What would go to standard output.
    standard: Place,
    /// Ends the command.
    pub cancel: Cancel,
    /// Hears what would go to standard error: progress, and the closing summary.
    pub listener: Option<Listener>,
}

thread_local! {
    static CURRENT: RefCell<Option<Host>> = const { RefCell::new(None) };
}

impl Host {
    /// Hands a table over, and tells the path by which it is read.
    pub fn offer(&mut self, table: MemoryTable) -> PathBuf {
        self.tables.push(Arc::new(table));
        PathBuf::from(format!("<table {}>", self.tables.len()))
    }

    /// Makes a place for results, and tells its path, which has this ending.
    pub fn place(&mut self, ending: &str) -> PathBuf {
        self.places.push(Place::default());
        PathBuf::from(format!("<result {}>{ending}", self.places.len()))
    }

    /// Runs a command on this thread, and returns what it wrote: to standard output, and to each place.
    pub fn run<T>(self, command: impl FnOnce() -> T) -> (T, Written, Vec<Written>) {
        CURRENT.set(Some(self.clone()));
        let done = command();
        CURRENT.set(None);
        let take =
            |place: &Place| std::mem::take(&mut *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        (done, take(&self.standard), self.places.iter().map(take).collect())
    }

    /// The host of the command that runs on this thread.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The table of a path.
    pub(crate) fn table_at(path: &Path) -> Option<Arc<MemoryTable>> {
        CURRENT.with_borrow(|host| host.as_ref()?.tables.get(number(path, "<table ")?).cloned())
    }

    /// The place of a path.
    pub(crate) fn place_at(path: &Path) -> Option<Place> {
        CURRENT.with_borrow(|host| host.as_ref()?.places.get(number(path, "<result ")?).cloned())
    }

    /// The place that stands for standard output.
    pub(crate) fn standard_output() -> Option<Place> {
        CURRENT.with_borrow(|host| Some(host.as_ref()?.standard.clone()))
    }
}

/// Which table or place a path names.
fn number(path: &Path, kind: &str) -> Option<usize> {
    path.to_str()?.strip_prefix(kind)?.split('>').next()?.parse::<usize>().ok()?.checked_sub(1)
}
