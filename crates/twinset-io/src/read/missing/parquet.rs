//! Stands in for the reader of parquet where this build has none. Nothing that it is to read exists.

use twinset::Run;

use super::block::Parsed;
use super::fields::{Fields, Wanted};
use super::inputs::InputFile;
use super::{Format, ReadOptions};
use crate::memory::MemoryTable;
use crate::{Error, Result};

pub(super) enum Columns {}

pub(super) fn rows(columns: &Columns) -> u64 {
    match *columns {}
}

pub(super) enum Batches {}

impl Batches {
    pub(super) fn next_block(&mut self) -> Option<Result<Columns, String>> {
        match *self {}
    }
}

pub(super) fn has_token_lists(table: &MemoryTable, _: &Wanted) -> bool {
    match *table {}
}

pub(super) fn open(input: &InputFile, _: &ReadOptions, _: &Wanted, _: &Run) -> Result<(Batches, Fields)> {
    Err(Error::missing_feature(input.title(), format!("read {}", Format::Parquet), "parquet"))
}

pub(super) fn parse<'a>(columns: &'a Columns, _: u64, _: &Fields, _: u64) -> Parsed<'a> {
    match *columns {}
}

pub(super) fn first_texts(table: &MemoryTable, _: &str) -> Result<Vec<(String, String)>> {
    match *table {}
}
