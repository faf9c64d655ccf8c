//! A run of records from one file, and what they are parsed into.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::delimited::Rows;
use super::fields::Fields;
use super::pages::{self, Page};
use super::parquet::{self, Columns};
use super::warc::Archived;
use super::{Described, Format, PageText, ReadOptions, jsonl, lines};
use crate::Limits;
use crate::error::Place;

/// Records of one file that lie next to each other, not parsed yet.
pub(crate) struct Block {
    pub(super) source: Arc<Source>,
    /// The line, or row, of the first record.
    pub(super) first_line: u64,
    pub(super) payload: Payload,
    /// Records that could not even be cut out.
    pub(super) bad: Vec<Bad>,
}

/// What all blocks of a file share.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) fields: Fields,
    /// The largest record allowed.
    pub(super) largest: u64,
    /// What is compared of web pages.
    #[cfg_attr(not(feature = "web"), expect(dead_code))]
    pub(super) page: PageText,
    /// What is too much of them.
    #[cfg_attr(not(feature = "web"), expect(dead_code))]
    pub(super) limits: Limits,
}

impl Source {
    /// Of a file that is called so.
    pub(super) fn new(name: String, format: Format, fields: Fields, options: &ReadOptions) -> Arc<Self> {
        let ReadOptions { limits, page, .. } = options;
        Arc::new(Self { name, format, fields, largest: limits.record, page: *page, limits: limits.clone() })
    }
}

pub(super) enum Payload {
    /// Whole lines.
    Lines(Vec<u8>),
    /// Rows of a csv file.
    Rows(Rows),
    /// Columns of a parquet file.
    Columns(Columns),
    /// Web pages.
    Pages(Vec<Page>),
    /// Web pages in an archive.
    Archived(Vec<Archived>),
    /// Resources, as positions among all of the collection.
    Resources(Arc<Described>, Range<usize>),
}

/// A record as it was read.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// What a field names it, if one does.
    pub id: Option<Cow<'a, str>>,
    /// What is compared.
    pub text: Cow<'a, str>,
    /// Further fields that were asked for.
    pub extra: Vec<Cow<'a, str>>,
    /// The line, or row, where it starts.
    pub line: u64,
}

/// A record that cannot be used.
#[derive(Debug, Clone)]
pub(crate) struct Bad {
    /// The line, or row, where it starts.
    pub(crate) line: u64,
    /// Where in the line the trouble is.
    pub(crate) column: Option<u64>,
    /// What is wrong, and what to do.
    pub(crate) reason: String,
    /// The record, as far as it was read.
    pub(crate) record: String,
}

impl Bad {
    pub(super) fn new(line: u64, column: Option<u64>, reason: impl Into<String>, record: &[u8]) -> Self {
        Self { line, column, reason: reason.into(), record: String::from_utf8_lossy(record).into_owned() }
    }
}

/// A record or what is wrong with it, in the order of the input.
pub(crate) type Parsed<'a> = Vec<Result<Record<'a>, Bad>>;

impl Block {
    /// Parses all records.
    pub(crate) fn parse(&self) -> Parsed<'_> {
        let mut parsed = match &self.payload {
            Payload::Lines(bytes) => match self.source.format {
                Format::Jsonl => {
                    lines::parse(bytes, self.first_line, &self.bad, self.source.largest, |line, number| {
                        (!line.trim_ascii().is_empty()).then(|| jsonl::parse(line, number, &self.source.fields))
                    })
                }
                Format::Tsv => lines::parse(bytes, self.first_line, &self.bad, self.source.largest, |line, number| {
                    (!line.is_empty()).then(|| self.source.fields.split(line, number))
                }),
                _ => lines::parse(bytes, self.first_line, &self.bad, self.source.largest, |line, number| {
                    Some(self.source.fields.record(&[Cow::Borrowed(line)], number))
                }),
            },
            Payload::Rows(rows) => rows.parse(&self.source.fields, self.source.largest),
            Payload::Pages(pages) => {
                let pages = pages.iter().zip(self.first_line..);
                pages.map(|(page, line)| pages::parse(page, line, &self.source)).collect()
            }
            Payload::Resources(described, positions) => {
                let numbered = positions.clone().zip(self.first_line..);
                numbered.map(|(at, number)| described.record(at, number, self.source.largest)).collect()
            }
            Payload::Archived(records) => records.iter().map(|record| record.parse(&self.source)).collect(),
            Payload::Columns(columns) => {
                parquet::parse(columns, self.first_line, &self.source.fields, self.source.largest)
            }
        };
        if !self.bad.is_empty() {
            parsed.extend(self.bad.iter().cloned().map(Err));
            parsed.sort_by_key(|record| match record {
                Ok(record) => record.line,
                Err(bad) => bad.line,
            });
        }
        parsed
    }

    /// Whether there is nothing to parse.
    pub(super) fn is_empty(&self) -> bool {
        match &self.payload {
            Payload::Lines(bytes) => bytes.is_empty() && self.bad.is_empty(),
            Payload::Rows(rows) => rows.is_empty(),
            Payload::Columns(_) => false,
            Payload::Pages(pages) => pages.is_empty() && self.bad.is_empty(),
            Payload::Resources(_, positions) => positions.is_empty() && self.bad.is_empty(),
            Payload::Archived(records) => records.is_empty() && self.bad.is_empty(),
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.source.name
    }
}

impl Bad {
    /// The same, with what else the user can do.
    pub(super) fn with_remedy(self) -> Self {
        Self { reason: format!("{} (--rejects FILE goes on without such records)", self.reason), ..self }
    }

    pub(crate) fn place(&self, file: &str) -> Place {
        Place { file: file.to_owned(), line: self.line, column: self.column }
    }
}
