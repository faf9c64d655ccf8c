//! Rows of a csv file. Quoted fields may span lines, so rows are cut out by the csv parser, one thread at a time, and
//! decoded where they are used.

use std::borrow::Cow;
use std::io::{self, Read};

use super::block::{Bad, Parsed};
use super::cutter::{Row, RowCutter};
use super::fields::Fields;
use super::lines::{NOT_UTF8, too_long};

/// Blocks have at least so many bytes, unless the file ends.
const BLOCK: usize = 1 << 19;

/// A row may be so much longer than the largest record, and is bad then. After a longer one nothing can be trusted.
pub(super) const MORE: u64 = 1 << 17;

/// A row whose quote is left open, and which is therefore the last.
pub(super) fn open_row(line: u64, row: &[u8]) -> Bad {
    let reason = "a quote in this row is never closed; close it, or double it if it belongs to the text; nothing after it \
                  was read";
    Bad::new(line, None, reason, row.trim_ascii_end())
}

/// A row after which nothing can be trusted.
pub(super) fn endless_row(line: u64, largest: u64) -> Bad {
    let reason = format!(
        "the row that starts here is longer than {largest} bytes; a quote may be left open, or --max-record too small; \
         nothing after it was read"
    );
    Bad::new(line, None, reason, b"")
}

/// Reads blocks of rows.
pub(super) struct RowBlocks<R> {
    cutter: RowCutter<R>,
    largest: u64,
}

/// Rows one after the other.
#[derive(Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// The end of each field in `bytes`.
    ends: Vec<usize>,
    /// For each row, its line and the number of fields up to its end.
    rows: Vec<(u64, usize)>,
}

impl<R: Read> RowBlocks<R> {
    pub(super) fn new(inner: R, delimiter: u8, largest: u64) -> Self {
        Self { cutter: RowCutter::new(inner, delimiter, largest.saturating_add(MORE)), largest }
    }

    /// The next row; `None` at the end, and after one that is bad.
    pub(super) fn next_row(&mut self) -> Result<Option<(u64, &csv::ByteRecord)>, RowError> {
        let Some(row) = self.cutter.cut().map_err(RowError::Io)?.row else { return Ok(None) };
        match row {
            Row { line, bytes: [], .. } => Err(RowError::Bad(endless_row(line, self.largest))),
            Row { line, bytes, is_open: true, .. } => Err(RowError::Bad(open_row(line, bytes))),
            Row { line, fields, .. } => Ok(Some((line, fields))),
        }
    }

    /// The next block; `None` at the end. A row that cannot be cut out is bad, and nothing after it can be trusted.
    pub(super) fn next_block(&mut self) -> io::Result<Option<(Rows, Vec<Bad>)>> {
        let (mut rows, mut bad) = (Rows::default(), Vec::new());
        while rows.bytes.len() < BLOCK && rows.rows.len() < BLOCK / 16 {
            match self.next_row() {
                Ok(None) => break,
                Ok(Some((line, record))) => rows.push(line, record),
                Err(RowError::Io(error)) => return Err(error),
                Err(RowError::Bad(row)) => bad.push(row),
            }
        }
        Ok((!rows.rows.is_empty() || !bad.is_empty()).then_some((rows, bad)))
    }
}

/// Why a row could not be cut out.
pub(super) enum RowError {
    Bad(Bad),
    Io(io::Error),
}

impl Rows {
    pub(super) fn push(&mut self, line: u64, record: &csv::ByteRecord) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.as_slice());
        self.ends.extend((0..record.len()).map(|field| start + record.range(field).map_or(0, |range| range.end)));
        self.rows.push((line, self.ends.len()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bytes of all fields, and for each row its line and where its fields end.
    #[cfg(feature = "tables")]
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<usize>, Vec<(u64, usize)>) {
        (self.bytes, self.ends, self.rows)
    }

    pub(super) fn parse(&self, fields: &Fields, largest: u64) -> Parsed<'_> {
        let mut parsed = Vec::with_capacity(self.rows.len());
        let (mut first, mut start) = (0, 0);
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        for &(line, last) in &self.rows {
            texts.clear();
            let (row_start, mut bad) = (start, None);
            for (number, &end) in (1..).zip(&self.ends[first..last]) {
                let field = String::from_utf8_lossy(&self.bytes[start..end]);
                if matches!(field, Cow::Owned(_)) && bad.is_none() {
                    bad = Some(number);
                }
                texts.push(field);
                start = end;
            }
            first = last;
            let row = || texts.join(&(fields.delimiter as char).to_string());
            parsed.push(match bad {
                _ if (start - row_start) as u64 > largest => Err(too_long(line, largest, row().as_bytes())),
                Some(number) => Err(Bad::new(line, None, format!("field {number}: {NOT_UTF8}"), row().as_bytes())),
                None => fields.record(&texts, line),
            });
        }
        parsed
    }
}
