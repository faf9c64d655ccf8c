//! Stands in for the reader of RDF where this build has none. Nothing is described.

use std::ops::Range;

use twinset::Run;

use crate::read::ReadOptions;
use crate::read::block::{Bad, Record};
use crate::read::fields::Wanted;
use crate::read::inputs::InputFile;
use crate::{Error, Result};

pub(crate) enum Described {}

pub(crate) fn describe<'a>(
    files: impl IntoIterator<Item = &'a InputFile>,
    _: &ReadOptions,
    _: &Wanted,
    _: &Run,
) -> Result<(Described, Vec<Vec<Bad>>)> {
    let first = files.into_iter().next().map(InputFile::title);
    Err(Error::missing_feature(first.unwrap_or_default(), "read RDF", "rdf"))
}

impl Described {
    pub(crate) fn of_file(&self, _: usize) -> Range<usize> {
        match *self {}
    }

    pub(crate) fn record(&self, _: usize, _: u64, _: u64) -> Result<Record<'static>, Bad> {
        match *self {}
    }
}
