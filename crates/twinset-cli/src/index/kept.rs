//! An index of either kind.

use std::path::Path;

use twinset_index::Settings;
use twinset_index::kmv::KmvIndex;
use twinset_index::lsh::LshIndex;

pub(super) enum Kept {
    Labels(LshIndex),
    Synopses(Box<KmvIndex>),
}

impl Kept {
    /// Opens what is there.
    pub(super) fn open(path: &str) -> anyhow::Result<Self> {
        Ok(match KmvIndex::is_at(Path::new(path)) {
            true => Self::Synopses(Box::new(KmvIndex::open(Path::new(path))?)),
            false => Self::Labels(LshIndex::open(path)?),
        })
    }

    /// Whether a path is that of an index, rather than of files to read.
    pub(super) fn is_at(path: &Path) -> bool {
        let is_address = path.to_str().is_some_and(|text| text.contains("://"));
        let is_file = path.extension().is_some_and(|ending| ending == "labels");
        is_address || is_file || path.join("labels.sqlite").is_file() || KmvIndex::is_at(path)
    }

    pub(super) fn settings(&self) -> &Settings {
        match self {
            Self::Labels(index) => index.settings(),
            Self::Synopses(index) => index.settings(),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Labels(index) => index.name(),
            Self::Synopses(index) => index.name(),
        }
    }

    pub(super) fn len(&mut self) -> anyhow::Result<u64> {
        Ok(match self {
            Self::Labels(index) => index.len()?,
            Self::Synopses(index) => index.snapshot()?.len(),
        })
    }
}
