//! Where results go.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Output;
use crate::Result;
use crate::memory::Memory;

/// Where results go: `-` is standard output, everything else a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Destination {
    /// Standard output.
    #[default]
    Standard,
    /// A file, or a folder.
    Path(PathBuf),
    /// A place in memory.
    Memory(Memory),
}

impl Destination {
    /// Opens it for writing.
    pub fn open(&self) -> Result<Output> {
        match self {
            Self::Standard => Ok(Output::standard()),
            Self::Path(path) => Output::create(path),
            Self::Memory(memory) => Ok(Output::memory(memory.clone())),
        }
    }

    /// Its path, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Standard | Self::Memory(_) => None,
        }
    }

    /// Whether it is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }
}

impl From<PathBuf> for Destination {
    fn from(path: PathBuf) -> Self {
        if path == Path::new("-") { Self::Standard } else { Self::Path(path) }
    }
}

impl From<OsString> for Destination {
    fn from(path: OsString) -> Self {
        PathBuf::from(path).into()
    }
}

impl FromStr for Destination {
    type Err = Infallible;

    fn from_str(path: &str) -> Result<Self, Infallible> {
        Ok(PathBuf::from(path).into())
    }
}

impl From<Memory> for Destination {
    fn from(memory: Memory) -> Self {
        Self::Memory(memory)
    }
}

/// Written as a path; a place in memory has none.
impl Serialize for Destination {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Standard => serializer.serialize_str("-"),
            Self::Path(path) => path.serialize(serializer),
            Self::Memory(_) => serializer.serialize_none(),
        }
    }
}

impl<'de> Deserialize<'de> for Destination {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(Self::from)
    }
}
