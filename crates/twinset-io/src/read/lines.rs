//! Cuts a stream into blocks of whole lines, and a block into lines.

use std::io::{self, Read};

use memchr::{memchr, memrchr};

use super::block::{Bad, Parsed, Record};

/// Blocks are at least this long, unless the file ends.
const BLOCK: usize = 1 << 19;

/// How much is kept of a line that is too long.
const KEPT: usize = 1 << 10;

/// Reads blocks of whole lines. No line, and no memory, grows beyond the largest record allowed.
pub(super) struct LineBlocks<R> {
    inner: R,
    largest: usize,
    /// The beginning of a line whose end has not been read yet.
    rest: Vec<u8>,
    next_line: u64,
    ended: bool,
}

/// Whole lines, and the lines that were too long to keep.
pub(super) struct LineBlock {
    pub(super) first_line: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) bad: Vec<Bad>,
}

impl<R: Read> LineBlocks<R> {
    pub(super) fn new(inner: R, largest: u64) -> Self {
        let largest = usize::try_from(largest).unwrap_or(usize::MAX);
        Self { inner, largest, rest: Vec::new(), next_line: 1, ended: false }
    }

    /// The next block; `None` at the end.
    pub(super) fn next_block(&mut self) -> io::Result<Option<LineBlock>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let first_line = self.next_line;
        let mut wanted = BLOCK;
        while !self.ended {
            let missing = wanted.saturating_sub(bytes.len()).max(1 << 16);
            let read = self.inner.by_ref().take(missing as u64).read_to_end(&mut bytes)?;
            self.ended = read == 0;
            if bytes.len() < wanted && !self.ended {
                continue;
            }
            if let Some(last) = memrchr(b'\n', &bytes) {
                if !self.ended {
                    self.rest = bytes.split_off(last + 1);
                }
                break;
            }
            if bytes.len() > self.largest {
                return self.skip_line(bytes).map(Some);
            }
            wanted = (2 * wanted).min(self.largest.saturating_add(1));
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let last_is_open = !bytes.ends_with(b"\n");
        self.next_line += memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(last_is_open);
        Ok(Some(LineBlock { first_line, bytes, bad: Vec::new() }))
    }

    /// Reads on to the end of a line that is too long, and keeps only its beginning.
    fn skip_line(&mut self, mut start: Vec<u8>) -> io::Result<LineBlock> {
        start.truncate(KEPT);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let length = self.inner.read(&mut buffer)?;
            if length == 0 {
                self.ended = true;
                break;
            }
            if let Some(end) = memchr(b'\n', &buffer[..length]) {
                self.rest = buffer[end + 1..length].to_vec();
                break;
            }
        }
        let line = self.next_line;
        self.next_line += 1;
        Ok(LineBlock { first_line: line, bytes: Vec::new(), bad: vec![too_long(line, self.largest as u64, &start)] })
    }
}

/// The lines that are UTF-8 and no longer than the largest record allowed.
pub(super) fn whole(bytes: &[u8], largest: u64) -> impl Iterator<Item = &str> {
    let lines = bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(move |line| line.len() as u64 <= largest).filter_map(|line| std::str::from_utf8(line).ok())
}

/// Parses each line but those that are known to be bad; `parse` returns `None` for a line that is no record.
pub(super) fn parse<'a>(
    bytes: &'a [u8],
    first_line: u64,
    bad: &[Bad],
    largest: u64,
    parse: impl Fn(&'a str, u64) -> Option<Result<Record<'a>, Bad>>,
) -> Parsed<'a> {
    let mut parsed = Vec::new();
    let (mut at, mut number) = (0, first_line);
    while at < bytes.len() {
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        let line = bytes[at..end].strip_suffix(b"\r").unwrap_or(&bytes[at..end]);
        if line.len() as u64 > largest {
            parsed.push(Err(too_long(number, largest, line)));
        } else if bad.iter().all(|bad| bad.line != number) {
            match std::str::from_utf8(line) {
                Ok(line) => parsed.extend(parse(line, number)),
                Err(error) => parsed.push(Err(not_utf8(number, error.valid_up_to(), line))),
            }
        }
        at = end + 1;
        number += 1;
    }
    parsed
}

/// Also of what is not in the encoding that was named.
pub(super) const NOT_UTF8: &str =
    "this is not UTF-8, or not what --encoding says; name the encoding, for example --encoding windows-1252";

/// A record that is too long.
pub(super) fn too_long(line: u64, largest: u64, start: &[u8]) -> Bad {
    let reason = format!("the record is longer than {largest} bytes; --max-record allows more");
    Bad::new(line, None, reason, &start[..start.len().min(KEPT)])
}

/// A record that is not UTF-8 from a byte on.
pub(super) fn not_utf8(line: u64, valid: usize, record: &[u8]) -> Bad {
    let column = String::from_utf8_lossy(&record[..valid]).chars().count() as u64 + 1;
    Bad::new(line, Some(column), NOT_UTF8, record)
}
