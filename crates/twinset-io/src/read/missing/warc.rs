//! Stands in for the reader of web archives where this build has none. There are no archives.

use std::io;

use twinset::Run;

use super::ReadOptions;
use super::block::{Bad, Record, Source};
use super::inputs::InputFile;
use crate::{Error, Result};

pub(crate) enum Archive {}

pub(super) enum Archived {}

impl Archive {
    pub(crate) fn open(file: &InputFile, _: &ReadOptions, _: &Run) -> Result<Self> {
        Err(Error::missing_feature(file.title(), "read web pages (warc)", "web"))
    }

    pub(super) fn next_block(&mut self) -> io::Result<Option<(Vec<Archived>, Vec<Bad>)>> {
        match *self {}
    }
}

impl Archived {
    pub(super) fn parse(&self, _: &Source) -> Result<Record<'static>, Bad> {
        match *self {}
    }
}
