//! Rows of a csv file. Quoted fields may span lines, so rows are cut out by the csv parser, one thread at a time, and
//! decoded where they are used.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use memchr::memmem;

use super::block::{Bad, Parsed};
use super::bounded::TooLong;
use super::fields::Fields;
use super::lines::{NOT_UTF8, too_long};

/// Blocks have at least so many bytes, unless the file ends.
const BLOCK: usize = 1 << 19;

/// A row may be so much longer than the largest record, and is bad then. After a longer one nothing can be trusted.
pub(super) const MORE: u64 = 1 << 17;

/// What a parser reads first: a blank line for which no line is counted. Left to itself it drops a mark of UTF-8 with which it begins, or
/// takes it for the end. The mark of a file was taken off when the file was opened, and any other is text.
const BEFORE_ALL: &[u8] = b"\r";

/// What parses rows, which may differ in the number of their fields.
type Parser<R> = csv::Reader<io::Chain<&'static [u8], R>>;

fn parser<R: Read>(inner: R, delimiter: u8, at_a_time: usize) -> Parser<R> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(at_a_time)
        .from_reader(BEFORE_ALL.chain(inner))
}

/// The fields of a row.
pub(super) fn fields(row: &[u8], delimiter: u8) -> csv::ByteRecord {
    let mut fields = csv::ByteRecord::new();
    let mut parser = parser(row, delimiter, row.len().max(1));
    // Only reading can fail, and this is in memory.
    let _ = parser.read_byte_record(&mut fields);
    fields
}

/// Whether a quote is left open in a row: then what is added ends up in it.
pub(super) fn is_open(row: &[u8], delimiter: u8) -> bool {
    let mut added = b"\n\x01".to_vec();
    while memmem::find(row, &added).is_some() {
        added.push(1);
    }
    fields(&[row, &added].concat(), delimiter).iter().any(|field| field.ends_with(&added))
}

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

/// Cuts a stream into rows.
pub(super) struct RowCutter<R> {
    parser: Parser<Remembering<R>>,
    delimiter: u8,
    fields: csv::ByteRecord,
    /// The line in which what comes next begins.
    line: u64,
    ended: bool,
}

/// What was cut out. What ends a row, and blank lines after it, belong to it, as far as they were read: it is there as soon as it ends.
pub(super) struct Cut<'a> {
    /// Line ends that came later, and blank lines before the first row.
    pub(super) before: &'a [u8],
    /// `None` at the end.
    pub(super) row: Option<Row<'a>>,
}

/// A row.
pub(super) struct Row<'a> {
    /// Where it begins.
    pub(super) line: u64,
    /// All of it; nothing if it is too long, and therefore the last.
    pub(super) bytes: &'a [u8],
    pub(super) fields: &'a csv::ByteRecord,
    /// Whether a quote is left open.
    pub(super) is_open: bool,
}

impl<R: Read> RowCutter<R> {
    /// No row may be longer than `longest`.
    pub(super) fn new(inner: R, delimiter: u8, longest: u64) -> Self {
        let start = BEFORE_ALL.len() as u64;
        let remembering = Remembering { inner, longest, bytes: Vec::new(), taken: 0, start, ended: false };
        let parser = parser(remembering, delimiter, 1 << 16);
        Self { parser, delimiter, fields: csv::ByteRecord::new(), line: 1, ended: false }
    }

    pub(super) fn cut(&mut self) -> io::Result<Cut<'_>> {
        if self.ended {
            return Ok(Cut { before: &[], row: None });
        }
        let read = self.parser.read_byte_record(&mut self.fields);
        let (is_row, mut is_too_long) = match read.map_err(csv::Error::into_kind) {
            Ok(is_row) => (is_row, false),
            Err(csv::ErrorKind::Io(error)) if TooLong::is_cause(&error) => (true, true),
            Err(csv::ErrorKind::Io(error)) => return Err(error),
            Err(other) => return Err(io::Error::other(format!("this is not csv: {other:?}"))),
        };
        let (place, next_line) = (self.parser.position().byte(), self.parser.position().line());
        let (_, remembering) = self.parser.get_mut().get_mut();
        let (taken, is_longer) = remembering.take_through(place);
        is_too_long |= is_longer;
        self.ended = !is_row || is_too_long;
        let (_, remembering) = self.parser.get_ref().get_ref();
        let bytes = &remembering.bytes[taken.clone()];
        let (before, bytes) = bytes.split_at(line_ends(bytes));
        let line = self.line + newlines(before);
        let after = (place.saturating_sub(remembering.start) as usize).clamp(taken.start, taken.end);
        self.line = next_line + newlines(&remembering.bytes[after..taken.end]);
        let row = Row {
            line,
            bytes: if is_too_long { &[] } else { bytes },
            fields: &self.fields,
            is_open: is_row && remembering.ended && !is_too_long && is_open(bytes, self.delimiter),
        };
        Ok(Cut { before, row: is_row.then_some(row) })
    }
}

/// With how many bytes of line ends this begins.
fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Remembers what was read and not taken yet.
struct Remembering<R> {
    inner: R,
    longest: u64,
    bytes: Vec<u8>,
    /// How many of these were taken.
    taken: usize,
    /// The place of the first of them.
    start: u64,
    ended: bool,
}

impl<R> Remembering<R> {
    /// Takes what stands before a place, and the line ends after it, as far as they were read. Whether the former is too long.
    fn take_through(&mut self, place: u64) -> (Range<usize>, bool) {
        let from = self.taken;
        let end = (place.saturating_sub(self.start) as usize).clamp(from, self.bytes.len());
        self.taken = end + line_ends(&self.bytes[end..]);
        (from..self.taken, (end - from) as u64 > self.longest)
    }
}

impl<R: Read> Read for Remembering<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // All that is left belongs to the row that is being read.
        self.bytes.drain(..self.taken);
        self.start += std::mem::take(&mut self.taken) as u64;
        if self.bytes.len() as u64 > self.longest {
            return Err(io::Error::other(TooLong));
        }
        let length = self.inner.read(buffer)?;
        self.ended = length == 0;
        self.bytes.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

/// Reads blocks of rows.
pub(super) struct RowBlocks<R> {
    cutter: RowCutter<R>,
    largest: u64,
    ended: bool,
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
        Self { cutter: RowCutter::new(inner, delimiter, largest.saturating_add(MORE)), largest, ended: false }
    }

    /// The next row; `None` at the end.
    pub(super) fn next_row(&mut self) -> Result<Option<(u64, &csv::ByteRecord)>, RowError> {
        if self.ended {
            return Ok(None);
        }
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
                Err(RowError::Bad(row)) => {
                    self.ended = true;
                    bad.push(row);
                }
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
