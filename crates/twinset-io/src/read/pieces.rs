//! The records of a file as the bytes that they are, for copying some of them.

use std::io::{self, BufRead, BufReader, Read};

use encoding_rs::{Encoding, ISO_2022_JP, UTF_16BE, UTF_16LE};
use memchr::memchr;
use twinset::Run;

use super::inputs::InputFile;
use super::reader::{delimiter, format_of, without_newline};
use super::stream::{self, Stream};
use super::{Format, ReadOptions};
use crate::{Error, Result};

/// What a file is made of.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// What is no record: a byte order mark, a header, blank lines.
    Around(&'a [u8]),
    /// A record with what ends it. One that is longer than allowed comes empty.
    Record(&'a [u8]),
    /// More of what ends the record before.
    End(&'a [u8]),
}

impl Piece<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Around(bytes) | Self::Record(bytes) | Self::End(bytes) => bytes,
        }
    }
}

/// Calls `visit` for all pieces of a file of lines or rows, decompressed, until it returns false.
pub(crate) fn for_each_piece(
    file: &InputFile,
    options: &ReadOptions,
    run: &Run,
    mut visit: impl FnMut(Piece<'_>) -> Result<bool>,
) -> Result<()> {
    let path = &file.path;
    let format = format_of(file, options)?;
    let asked = options.encoding.as_deref().map(stream::encoding).transpose()?;
    let (stream, encoding, mark) = stream::open_raw(file, asked, options, run)?;
    if !mark.is_empty() && !visit(Piece::Around(&mark))? {
        return Ok(());
    }
    if encoding == ISO_2022_JP {
        return Err(Error::file(
            path,
            "records cannot be copied from ISO-2022-JP as they stand; convert the file to UTF-8",
        ));
    }
    // In every other encoding line ends, quotes and commas are the bytes of ASCII and occur in no other character.
    // What is UTF-16 is decoded, and encoded again: that loses nothing.
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let stream = if is_wide { stream::decoded(stream, encoding) } else { stream };
    let mut visit = |piece: Piece<'_>| match piece {
        Piece::Around(bytes) if is_wide => visit(Piece::Around(&widened(bytes, encoding))),
        Piece::Record(bytes) if is_wide => visit(Piece::Record(&widened(bytes, encoding))),
        Piece::End(bytes) if is_wide => visit(Piece::End(&widened(bytes, encoding))),
        piece => visit(piece),
    };
    let largest = usize::try_from(options.limits.record).unwrap_or(usize::MAX);
    let mut has_header = options.no_header;
    let cut = match format {
        Format::Csv => rows(stream, largest, delimiter(format, path, options)?, options.no_header, &mut visit),
        _ => lines(stream, largest, &mut visit, |line| match format {
            Format::Jsonl => !line.trim_ascii().is_empty(),
            Format::Tsv => !without_newline(line).is_empty() && std::mem::replace(&mut has_header, true),
            _ => true,
        }),
    };
    cut.map_err(|failure| match failure {
        Failure::Read(error) => Error::file(path, stream::read_failure(&error)),
        Failure::Visit(error) => error,
    })
}

/// All bytes of a file, decompressed, or a little more than the largest record allowed.
pub(crate) fn whole_file(file: &InputFile, options: &ReadOptions, run: &Run) -> Result<Vec<u8>> {
    let (stream, _, mut bytes) = stream::open_raw(file, None, options, run)?;
    let read = stream.take(options.limits.record.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Error::file(&file.path, stream::read_failure(&error)))?;
    Ok(bytes)
}

/// Why the cutting ended early.
enum Failure {
    Read(io::Error),
    Visit(Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Visit(error)
    }
}

/// Cuts lines; `is_record` is told each.
fn lines(
    stream: Stream,
    largest: usize,
    visit: &mut impl FnMut(Piece<'_>) -> Result<bool>,
    mut is_record: impl FnMut(&[u8]) -> bool,
) -> Result<(), Failure> {
    let mut stream = BufReader::with_capacity(1 << 18, stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let (mut length, mut ended) = (0usize, false);
        while !ended {
            let buffer = stream.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr(b'\n', buffer).map(|end| end + 1);
            let read = end.unwrap_or(buffer.len());
            ended = end.is_some();
            length += read;
            // Two more for what ends the line.
            if length <= largest.saturating_add(2) {
                line.extend_from_slice(&buffer[..read]);
            } else {
                line.clear();
            }
            stream.consume(read);
        }
        if length == 0 {
            return Ok(());
        }
        let piece = if is_record(&line) || line.is_empty() { Piece::Record(&line) } else { Piece::Around(&line) };
        if !visit(piece)? {
            return Ok(());
        }
    }
}

/// Cuts rows of csv. What ends a row, and blank lines after it, belong to it.
fn rows(
    stream: Stream,
    largest: usize,
    delimiter: u8,
    no_header: bool,
    visit: &mut impl FnMut(Piece<'_>) -> Result<bool>,
) -> Result<(), Failure> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(Remembering { inner: stream, largest, bytes: Vec::new(), start: 0 });
    let read_failure = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("this is not csv: {other:?}")),
    };
    let mut record = csv::ByteRecord::new();
    let mut is_header = !no_header;
    let mut is_before_all = true;
    loop {
        let more = reader.read_byte_record(&mut record).map_err(read_failure)?;
        let end = reader.position().byte();
        let mut bytes = reader.get_mut().take_through(end);
        // A row is handed on as soon as it ends. More line ends may follow later, and stand before the next.
        let row = bytes.split_off(bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count());
        let before = if is_before_all { Piece::Around(&bytes) } else { Piece::End(&bytes) };
        // The reader takes a mark alone for nothing, and to others it is text.
        if !bytes.is_empty() && !visit(before)? || !more && row.is_empty() {
            return Ok(());
        }
        let piece = if std::mem::take(&mut is_header) { Piece::Around(&row) } else { Piece::Record(&row) };
        if !visit(piece)? {
            return Ok(());
        }
        is_before_all = false;
    }
}

/// What begins a file in UTF-8, or nothing of the kind where another encoding was asked for.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Remembers what was read from a place on.
struct Remembering {
    inner: Stream,
    /// The longest row.
    largest: usize,
    bytes: Vec<u8>,
    /// The place of the first byte.
    start: u64,
}

impl Remembering {
    /// Takes what stands before a place, and the line ends after it, as far as they were read.
    fn take_through(&mut self, place: u64) -> Vec<u8> {
        let length = (place.saturating_sub(self.start)).min(self.bytes.len() as u64) as usize;
        let ends = self.bytes[length..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.start += (length + ends) as u64;
        self.bytes.drain(..length + ends).collect()
    }
}

impl Read for Remembering {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.len() > self.largest.saturating_add(1 << 17) {
            let reason = "a row is longer than --max-record allows; a quote may be left open";
            return Err(io::Error::other(reason));
        }
        let mut length = self.inner.read(buffer)?;
        // Where a mark of UTF-8 comes alone, the reader of rows would take it for the end.
        while length > 0 && self.start == 0 && self.bytes.is_empty() && MARK.starts_with(&buffer[..length]) {
            match self.inner.read(&mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        self.bytes.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

/// UTF-8 as UTF-16; what was not UTF-16 before, and is not UTF-8 therefore, is not UTF-16 again.
fn widened(bytes: &[u8], encoding: &'static Encoding) -> Vec<u8> {
    const BROKEN: u16 = 0xD800;
    let text = String::from_utf8_lossy(bytes);
    let is_broken = matches!(text, std::borrow::Cow::Owned(_));
    let units = text.encode_utf16().map(|unit| if is_broken && unit == 0xFFFD { BROKEN } else { unit });
    units.flat_map(|unit| if encoding == UTF_16LE { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
}
