//! Stands in for the reader of web pages where this build has none. There are no pages.

use encoding_rs::Encoding;
use twinset::Run;

use super::ReadOptions;
use super::block::{Bad, Record, Source};
use super::inputs::InputFile;
use crate::{Error, Result};

/// The fields of a page.
pub(super) const FIELDS: [&str; 3] = ["url", "title", "text"];

pub(super) enum Page {}

pub(super) fn read(
    input: &InputFile,
    _: Option<&'static Encoding>,
    _: &ReadOptions,
    _: &Run,
) -> Result<(Vec<Page>, Vec<Bad>)> {
    Err(Error::missing_feature(input.title(), "read web pages (html)", "web"))
}

pub(super) fn parse(page: &Page, _: u64, _: &Source) -> Result<Record<'static>, Bad> {
    match *page {}
}
