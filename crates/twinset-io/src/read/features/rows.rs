//! Rows of a csv or tsv file, cut on one thread and parsed on all.
//!
//! A line end outside of quotes ends a row, and where quotes stand as they should, it is known without parsing whether one is open.
//! So blocks of whole rows are cut by looking for quotes alone. A file whose quotes stand elsewhere, or whose lines end in lone
//! carriage returns, is left to the csv parser from there on.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::batch::{Batch, Cell, ENOUGH, long_row};
use crate::read::delimited::{RowBlocks, endless_row, open_row};
use crate::read::lines::NOT_UTF8;

/// How a file of rows is written.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) has_quotes: bool,
    /// Whether a field with nothing in it, and no quotes, is no value; then an empty line is a row.
    pub(super) has_nulls: bool,
    /// The longest row.
    pub(super) largest: u64,
}

/// Cuts a file into blocks of whole rows.
pub(super) struct BlockCutter<R> {
    dialect: Dialect,
    state: State<R>,
    next_line: u64,
}

enum State<R> {
    Raw { stream: R, rest: Vec<u8>, ended: bool },
    Parsed(Box<RowBlocks<io::Chain<io::Cursor<Vec<u8>>, R>>>),
    Done,
}

/// Whole rows.
pub(super) enum RowBlock {
    Raw { bytes: Vec<u8>, first_line: u64 },
    Parsed { bytes: Vec<u8>, ends: Vec<usize>, rows: Vec<(u64, usize)> },
}

/// Rows that could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadRows {
    /// How many.
    pub count: u64,
    /// The line of the first, and what is wrong with it.
    pub first: Option<(u64, String)>,
}

impl BadRows {
    fn add(&mut self, line: impl FnOnce() -> u64, reason: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some((line(), reason()));
        }
    }

    pub(super) fn extend(&mut self, later: Self) {
        self.count += later.count;
        self.first = self.first.take().or(later.first);
    }
}

impl<R: Read> BlockCutter<R> {
    pub(super) fn new(stream: R, dialect: Dialect) -> Self {
        Self { dialect, state: State::Raw { stream, rest: Vec::new(), ended: false }, next_line: 1 }
    }

    /// The next block; `None` at the end. The reason if nothing after this can be read.
    pub(super) fn next_block(&mut self, bad: &mut BadRows) -> io::Result<Option<RowBlock>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Done => Ok(None),
            State::Raw { stream, rest, ended } => self.next_raw(stream, rest, ended, bad),
            State::Parsed(mut blocks) => {
                let Some((rows, bad_rows)) = blocks.next_block()? else { return Ok(None) };
                for row in bad_rows {
                    bad.add(|| row.line + self.next_line - 1, || row.reason);
                }
                let (bytes, ends, mut rows) = rows.into_parts();
                rows.iter_mut().for_each(|(line, _)| *line += self.next_line - 1);
                self.state = State::Parsed(blocks);
                Ok(Some(RowBlock::Parsed { bytes, ends, rows }))
            }
        }
    }

    fn next_raw(
        &mut self,
        mut stream: R,
        mut bytes: Vec<u8>,
        mut ended: bool,
        bad: &mut BadRows,
    ) -> io::Result<Option<RowBlock>> {
        let (mut quotes, mut wanted) = (Quotes::new(self.dialect), ENOUGH);
        loop {
            while bytes.len() < wanted && !ended {
                let missing = (wanted - bytes.len()) as u64;
                // Some streams must not be read again once they have ended.
                ended = (stream.by_ref().take(missing).read_to_end(&mut bytes)? as u64) < missing;
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            if !quotes.scan(&bytes, ended) {
                let rest = io::Cursor::new(bytes).chain(stream);
                self.state =
                    State::Parsed(Box::new(RowBlocks::new(rest, self.dialect.delimiter, self.dialect.largest)));
                return self.next_block(bad);
            }
            let is_whole = ended && !quotes.is_open;
            let end = if is_whole { bytes.len() } else { quotes.row_end };
            if end > 0 {
                let rest = bytes.split_off(end);
                let first_line = self.next_line;
                self.next_line += memchr_iter(b'\n', &bytes).count() as u64;
                self.state = State::Raw { stream, rest, ended };
                return Ok(Some(RowBlock::Raw { bytes, first_line }));
            }
            if ended {
                bad.add(|| self.next_line, || open_row(self.next_line, &bytes).reason);
                return Ok(None);
            }
            if bytes.len() as u64 > self.dialect.largest {
                bad.add(|| self.next_line, || endless_row(self.next_line, self.dialect.largest).reason);
                return Ok(None);
            }
            wanted = 2 * bytes.len();
        }
    }
}

/// Where quotes stand in what was read so far.
struct Quotes {
    dialect: Dialect,
    /// How much was looked at.
    scanned: usize,
    /// Whether one is open.
    is_open: bool,
    /// Where the last whole row ends.
    row_end: usize,
}

impl Quotes {
    fn new(dialect: Dialect) -> Self {
        Self { dialect, scanned: 0, is_open: false, row_end: 0 }
    }

    /// Looks at what came after the last time. Whether all quotes stand at the beginnings and ends of fields, and all carriage
    /// returns before line ends.
    fn scan(&mut self, bytes: &[u8], ended: bool) -> bool {
        // The last byte may need the one after it.
        let end = if ended { bytes.len() } else { bytes.len() - 1 };
        let from = self.scanned;
        // Without quotes a row is a line, whatever is in it.
        if self.dialect.has_quotes
            && !memchr_iter(b'\r', &bytes[from..end])
                .all(|at| bytes.get(from + at + 1).is_none_or(|&next| next == b'\n'))
        {
            return false;
        }
        let is_end = |byte: u8| byte == self.dialect.delimiter || byte == b'\n';
        let (mut at, mut plain) = (from, from);
        while self.dialect.has_quotes
            && at < end
            && let Some(found) = memchr(b'"', &bytes[at..end])
        {
            at += found;
            if !self.is_open {
                if at > 0 && !is_end(bytes[at - 1]) {
                    return false;
                }
                self.is_open = true;
                self.row_end = memrchr(b'\n', &bytes[plain..at]).map_or(self.row_end, |end| plain + end + 1);
            } else if bytes.get(at + 1) == Some(&b'"') {
                at += 1;
            } else {
                if bytes.get(at + 1).is_some_and(|&next| !is_end(next) && next != b'\r') {
                    return false;
                }
                self.is_open = false;
                plain = at + 1;
            }
            at += 1;
        }
        if !self.is_open {
            self.row_end = memrchr(b'\n', &bytes[plain..end.max(plain)]).map_or(self.row_end, |end| plain + end + 1);
        }
        self.scanned = end.max(at);
        true
    }
}

impl RowBlock {
    /// The values of the wanted columns. Rows that have not as many fields as there are columns are bad.
    pub(super) fn parse(self, columns: usize, wanted: &[bool], dialect: Dialect) -> (Batch, BadRows) {
        match self {
            Self::Raw { bytes, first_line } => Parser::new(bytes, columns, wanted).raw(first_line, dialect),
            Self::Parsed { bytes, ends, rows } => {
                Parser::new(bytes, columns, wanted).parsed(&ends, &rows, dialect.largest)
            }
        }
    }

    /// The fields of the first row, which is taken out if it is a header; none if there is no row.
    pub(super) fn first_row(&mut self, dialect: Dialect, is_header: bool) -> Vec<Vec<u8>> {
        match self {
            Self::Raw { bytes, first_line } => {
                let (mut copy, mut at) = (bytes.clone(), 0);
                let (mut fields, mut is_blank) = (Vec::new(), true);
                // Blank lines before it are no rows.
                while is_blank && at < copy.len() {
                    fields.clear();
                    let has_quotes = dialect.has_quotes && copy[at] == b'"';
                    loop {
                        let (cell, next) = field(&mut copy, at, dialect);
                        fields.push(copy[cell.start as usize..cell.end as usize].to_vec());
                        at = next.at.min(copy.len());
                        if next.is_row_end {
                            break;
                        }
                    }
                    is_blank = fields.len() == 1 && fields[0].is_empty() && !has_quotes;
                }
                if is_blank {
                    fields.clear();
                }
                if is_header {
                    *first_line += memchr_iter(b'\n', &bytes[..at]).count() as u64;
                    bytes.drain(..at);
                }
                fields
            }
            Self::Parsed { bytes, ends, rows } => {
                let Some(&(_, last)) = rows.first() else { return Vec::new() };
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let fields = starts.zip(&ends[..last]).map(|(start, &end)| bytes[start..end].to_vec()).collect();
                if is_header {
                    let start = ends[..last].last().copied().unwrap_or(0);
                    bytes.drain(..start);
                    ends.drain(..last);
                    ends.iter_mut().for_each(|end| *end -= start);
                    rows.remove(0);
                    rows.iter_mut().for_each(|(_, end)| *end -= last);
                }
                fields
            }
        }
    }
}

/// Where the next field begins.
struct Next {
    at: usize,
    is_row_end: bool,
}

/// The field that begins here. Doubled quotes in it are made one, in place.
fn field(bytes: &mut [u8], at: usize, dialect: Dialect) -> (Cell, Next) {
    if dialect.has_quotes && bytes.get(at) == Some(&b'"') {
        let (start, mut from, mut to) = (at + 1, at + 1, at + 1);
        loop {
            let length = memchr(b'"', &bytes[from..]).unwrap_or(bytes.len() - from);
            if from != to {
                bytes.copy_within(from..from + length, to);
            }
            (from, to) = (from + length, to + length);
            if bytes.get(from + 1) != Some(&b'"') {
                break;
            }
            bytes[to] = b'"';
            (from, to) = (from + 2, to + 1);
        }
        // What is left of it holds no line ends, as these are counted.
        bytes[to..from].fill(b' ');
        let mut after = (from + 1).min(bytes.len());
        if bytes.get(after) == Some(&b'\r') {
            after += 1;
        }
        let is_row_end = bytes.get(after) != Some(&dialect.delimiter);
        return (Cell { start: start as u32, end: to as u32 }, Next { at: after + 1, is_row_end });
    }
    let end = field_end(bytes, at, dialect.delimiter);
    let is_row_end = bytes.get(end) != Some(&dialect.delimiter);
    let has_return = is_row_end && end > at && bytes[end - 1] == b'\r';
    if dialect.has_nulls && end - usize::from(has_return) == at {
        return (Cell::NONE, Next { at: end + 1, is_row_end });
    }
    (Cell { start: at as u32, end: (end - usize::from(has_return)) as u32 }, Next { at: end + 1, is_row_end })
}

/// Where the field that begins here ends. Most are short, and their end is found in the first eight bytes.
#[inline]
fn field_end(bytes: &[u8], at: usize, delimiter: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut from = at;
    if let Some(word) = bytes[at..].first_chunk() {
        let word = u64::from_le_bytes(*word);
        // A byte is zero if taking one from it borrows.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
        let found = zeros(word ^ (ONES * u64::from(delimiter))) | zeros(word ^ (ONES * u64::from(b'\n')));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        from += 8;
    }
    memchr2(delimiter, b'\n', &bytes[from..]).map_or(bytes.len(), |length| from + length)
}

/// Puts the fields of rows into columns.
struct Parser<'a> {
    batch: Batch,
    columns: usize,
    wanted: &'a [bool],
    bad: BadRows,
    is_utf8: bool,
}

impl<'a> Parser<'a> {
    fn new(bytes: Vec<u8>, columns: usize, wanted: &'a [bool]) -> Self {
        let is_utf8 = std::str::from_utf8(&bytes).is_ok();
        Self {
            batch: Batch { bytes, cells: vec![Vec::new(); columns], pushed: 0 },
            columns,
            wanted,
            bad: BadRows::default(),
            is_utf8,
        }
    }

    fn raw(mut self, first_line: u64, dialect: Dialect) -> (Batch, BadRows) {
        let mut at = 0;
        let mut row: Vec<Cell> = Vec::with_capacity(self.columns);
        while at < self.batch.bytes.len() {
            row.clear();
            let start = at;
            loop {
                let (cell, next) = field(&mut self.batch.bytes, at, dialect);
                row.push(cell);
                at = next.at;
                if next.is_row_end {
                    break;
                }
            }
            if start == 0 {
                self.reserve(self.batch.bytes.len() / at.max(self.columns) + 1);
            }
            if (at - start) as u64 > dialect.largest && self.is_too_long(&row, dialect.largest) {
                self.bad.add(
                    || first_line + memchr_iter(b'\n', &self.batch.bytes[..start]).count() as u64,
                    || long_row(dialect.largest),
                );
            } else if row.len() > 1 || row[0].end > row[0].start || row[0].start as usize > start || dialect.has_nulls {
                self.row(&row, |bytes| first_line + memchr_iter(b'\n', &bytes[..start]).count() as u64);
            }
        }
        (self.batch, self.bad)
    }

    /// Makes room for so many rows.
    fn reserve(&mut self, rows: usize) {
        for (cells, wanted) in self.batch.cells.iter_mut().zip(self.wanted) {
            cells.reserve_exact(if *wanted { rows } else { 0 });
        }
    }

    /// Whether the values of a row are longer than allowed.
    fn is_too_long(&self, row: &[Cell], largest: u64) -> bool {
        row.iter().map(|cell| u64::from(cell.end.saturating_sub(cell.start))).sum::<u64>() > largest
    }

    fn parsed(mut self, ends: &[usize], rows: &[(u64, usize)], largest: u64) -> (Batch, BadRows) {
        let (mut first, mut start) = (0, 0);
        let mut row = Vec::with_capacity(self.columns);
        for &(line, last) in rows {
            row.clear();
            for &end in &ends[first..last] {
                row.push(Cell { start: start as u32, end: end as u32 });
                start = end;
            }
            first = last;
            match self.is_too_long(&row, largest) {
                true => self.bad.add(|| line, || long_row(largest)),
                false => self.row(&row, |_| line),
            }
        }
        (self.batch, self.bad)
    }

    /// Takes a row in. Its line is asked for only if the row is bad.
    fn row(&mut self, row: &[Cell], line: impl FnOnce(&[u8]) -> u64) {
        let columns = self.columns;
        let mut row = row;
        // Spreadsheets write empty fields after the last column.
        if row.len() > columns && row[columns..].iter().all(|cell| cell.start >= cell.end) {
            row = &row[..columns];
        }
        if row.len() != columns {
            let fields = row.len();
            let plural = |count| if count == 1 { "field" } else { "fields" };
            self.bad.add(
                || line(&self.batch.bytes),
                || format!("this row has {fields} {}, and the header {columns}", plural(fields)),
            );
            return;
        }
        let bytes = &self.batch.bytes;
        let text =
            |cell: &Cell| std::str::from_utf8(bytes.get(cell.start as usize..cell.end as usize).unwrap_or_default());
        if !self.is_utf8 && row.iter().any(|cell| text(cell).is_err()) {
            self.bad.add(|| line(&self.batch.bytes), || NOT_UTF8.to_owned());
            return;
        }
        for ((cell, cells), wanted) in row.iter().zip(&mut self.batch.cells).zip(self.wanted) {
            if *wanted {
                cells.push(*cell);
            }
        }
    }
}
