//! What a collection is read from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::memory::MemoryTable;

/// What a collection is read from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file, a folder, a quoted glob, or `-` for standard input.
    Path(PathBuf),
    /// A table in memory, with the name that messages call it by.
    Table(&'static str, Arc<MemoryTable>),
}

impl Source {
    /// Whether it is standard input.
    pub fn is_standard(&self) -> bool {
        self.path() == Some(Path::new("-"))
    }

    /// Its path, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Table(..) => None,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Table(name, _) => (*name).to_owned(),
        }
    }
}

/// A path that leads nowhere.
impl Default for Source {
    fn default() -> Self {
        Self::Path(PathBuf::new())
    }
}

impl From<OsString> for Source {
    fn from(path: OsString) -> Self {
        Self::Path(path.into())
    }
}

impl From<&Source> for Source {
    fn from(source: &Source) -> Self {
        source.clone()
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Source {
    fn from(path: &P) -> Self {
        Self::Path(path.as_ref().to_owned())
    }
}
