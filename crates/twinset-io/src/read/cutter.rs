//! Cuts a stream into rows of csv, each with its fields, its bytes and its line: what every command takes for a row.

use std::io::{self, Read};
use std::ops::Range;

use super::bounded::TooLong;

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

/// Parses rows that were cut out before. What parses them is made once, as that takes longer than most rows.
pub(super) struct RowParser {
    parser: Parser<Given>,
    delimiter: u8,
    /// The fields of the last row.
    pub(super) fields: csv::ByteRecord,
}

impl RowParser {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { parser: parser(Given::default(), delimiter, 1 << 12), delimiter, fields: csv::ByteRecord::new() }
    }

    /// Finds the fields of a row. Whether a quote is left open in it: then it has not ended where it should.
    pub(super) fn parse(&mut self, row: &[u8]) -> bool {
        let (_, given) = self.parser.get_mut().get_mut();
        given.put(row);
        // Only reading can fail, and this is in memory.
        let is_row = self.parser.read_byte_record(&mut self.fields).unwrap_or(false);
        let place = self.parser.position().byte();
        let (_, given) = self.parser.get_ref().get_ref();
        let (has_ended, is_read) = (given.has_ended, line_ends(given.after(place)) == given.after(place).len());
        if has_ended || !is_read {
            // What is left would be a part of the next row.
            self.parser = parser(Given::default(), self.delimiter, 1 << 12);
        }
        is_row && has_ended
    }
}

/// Rows that are handed to a parser one after the other.
#[derive(Default)]
struct Given {
    /// The last one, and a line end.
    row: Vec<u8>,
    /// How much of it was read.
    read: usize,
    /// The place behind it.
    end: u64,
    /// Whether more was asked for.
    has_ended: bool,
}

impl Given {
    fn put(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.row.push(b'\n');
        self.read = 0;
        self.end += self.row.len() as u64;
    }

    /// What of the row lies after a place.
    fn after(&self, place: u64) -> &[u8] {
        let left = (BEFORE_ALL.len() as u64 + self.end).saturating_sub(place).min(self.row.len() as u64);
        &self.row[self.row.len() - left as usize..]
    }
}

impl Read for Given {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = (&self.row[self.read..]).read(buffer)?;
        self.read += length;
        self.has_ended |= length == 0;
        Ok(length)
    }
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
        let (is_row, is_endless) = match read.map_err(csv::Error::into_kind) {
            Ok(is_row) => (is_row, false),
            Err(csv::ErrorKind::Io(error)) if TooLong::is_cause(&error) => (true, true),
            Err(csv::ErrorKind::Io(error)) => return Err(error),
            Err(other) => return Err(io::Error::other(format!("this is not csv: {other:?}"))),
        };
        let (place, next_line) = (self.parser.position().byte(), self.parser.position().line());
        let (_, remembering) = self.parser.get_mut().get_mut();
        let taken = remembering.take_through(place);
        let (_, Remembering { bytes, taken: end, longest, ended, .. }) = self.parser.get_ref().get_ref();
        let (read, after) = (&bytes[taken.start..*end], &bytes[taken.end..*end]);
        let (before, row) = read.split_at(line_ends(read));
        let is_too_long = is_endless || taken.len() as u64 > *longest;
        let line = self.line + newlines(before);
        self.line = next_line + newlines(after);
        self.ended = !is_row || is_too_long;
        let row = Row {
            line,
            bytes: if is_too_long { &[] } else { row },
            fields: &self.fields,
            is_open: is_row && *ended && !is_too_long && RowParser::new(self.delimiter).parse(row),
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
    /// Takes what stands before a place, which is returned, and the line ends after it, as far as they were read.
    fn take_through(&mut self, place: u64) -> Range<usize> {
        let begin = self.taken;
        let end = (place.saturating_sub(self.start) as usize).clamp(begin, self.bytes.len());
        self.taken = end + line_ends(&self.bytes[end..]);
        begin..end
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
