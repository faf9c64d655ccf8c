//! Stands in for files of sketches, which are parquet, where this build has no parquet. There are no such files.

use std::convert::Infallible;
use std::path::Path;

use twinset::Run;
use twinset::tokenize::Sets;
use twinset::tokenize::TokenBlock;

use super::SketchSettings;
use crate::ids::Ids;
use crate::{Error, Output, Result};

/// Refuses to write sketches: this build cannot.
pub fn write_sketches(output: Output, _: &Ids, _: &[TokenBlock], _: &SketchSettings) -> Result<()> {
    Err(Error::missing_feature(output.name(), "write files of sketches", "parquet"))
}

/// A file of sketches that was read. This build reads none.
pub struct SketchFile {
    /// How they were made.
    pub settings: SketchSettings,
    /// The names of the records.
    pub ids: Ids,
    never: Infallible,
}

impl SketchFile {
    /// Refuses to read a file: this build cannot.
    pub fn read(path: &Path, _: &Run) -> Result<Self> {
        Err(Error::missing_feature(path.display(), "read files of sketches", "parquet"))
    }

    /// The sketches as sets of entries, together with those of a second file that were made in the same way.
    pub fn into_sets(self, _: Option<Self>, _: &Run) -> Result<(Sets, SketchSettings)> {
        match self.never {}
    }

    /// The sketches of a list of ids, in its order, as sets of entries; and for how many ids there is none.
    pub fn sets_of<'a>(&self, _: impl Iterator<Item = &'a str>, _: &Run) -> Result<(Sets, u64)> {
        match self.never {}
    }
}
