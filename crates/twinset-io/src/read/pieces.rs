//! The records of a file as the bytes that they are, for copying some of them.

use std::io::{self, BufRead, BufReader, Read};

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memchr;
use twinset::Run;

use super::cutter::{Cut, RowCutter};
use super::delimited::MORE;
use super::inputs::InputFile;
use super::reader::{delimiter, format_of, without_newline};
use super::stream::{self, Stream};
use super::{Format, ReadOptions};
use crate::{Error, Result};

/// What a file is made of.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// The byte order mark, and the encoding that it tells.
    Mark(&'a [u8], &'static Encoding),
    /// What else is no record: a header, blank lines.
    Around(&'a [u8]),
    /// A record with what ends it. One that is longer than allowed comes empty.
    Record(&'a [u8]),
    /// More of what ends the record before.
    End(&'a [u8]),
}

impl Piece<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mark(bytes, _) | Self::Around(bytes) | Self::Record(bytes) | Self::End(bytes) => bytes,
        }
    }
}

/// Calls `visit` for all pieces of a file of lines or rows, decompressed.
pub(crate) fn for_each_piece(
    file: &InputFile,
    options: &ReadOptions,
    run: &Run,
    mut visit: impl FnMut(Piece<'_>) -> Result<()>,
) -> Result<()> {
    let path = &file.path;
    let format = format_of(file, options)?;
    let asked = options.encoding.as_deref().map(stream::encoding).transpose()?;
    let (stream, encoding, mark) = stream::open_raw(file, asked, options, run)?;
    if !mark.is_empty() {
        visit(Piece::Mark(&mark, encoding))?;
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
    let delimiter = delimiter(format, path, options)?;
    let is_safe = is_wide || encoding == UTF_8 || encoding.is_single_byte() || delimiter < b'0';
    if format == Format::Csv && !is_safe {
        let (character, name) = (delimiter as char, encoding.name());
        let reason = format!(
            "rows that `{character}` separates cannot be cut in {name}, where this byte may be a part of another character; convert the file to UTF-8"
        );
        return Err(Error::file(path, reason));
    }
    let stream = if is_wide { stream::decoded(stream, encoding) } else { stream };
    let mut visit = |piece: Piece<'_>| match piece {
        Piece::Around(bytes) if is_wide => visit(Piece::Around(&widened(bytes, encoding))),
        Piece::Record(bytes) if is_wide => visit(Piece::Record(&widened(bytes, encoding))),
        Piece::End(bytes) if is_wide => visit(Piece::End(&widened(bytes, encoding))),
        piece => visit(piece),
    };
    // In some encodings a character has up to twice as many bytes as in UTF-8, in which records are measured.
    let times = if is_wide || encoding == UTF_8 { 1 } else { 2 };
    let largest = options.limits.record;
    let mut has_header = options.no_header;
    let cut = match format {
        Format::Csv => {
            let longest = largest.saturating_add(MORE).saturating_mul(times);
            rows(RowCutter::new(stream, delimiter, longest), !options.no_header, &mut visit)
        }
        _ => lines(stream, largest.saturating_mul(times), &mut visit, |line| match format {
            // What is too long is no blank line to anybody.
            Format::Jsonl => !line.trim_ascii().is_empty() || without_newline(line).len() as u64 > largest,
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
    longest: u64,
    visit: &mut impl FnMut(Piece<'_>) -> Result<()>,
    mut is_record: impl FnMut(&[u8]) -> bool,
) -> Result<(), Failure> {
    let mut stream = BufReader::with_capacity(1 << 18, stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let (mut length, mut ended) = (0u64, false);
        while !ended {
            let buffer = stream.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr(b'\n', buffer).map(|end| end + 1);
            let read = end.unwrap_or(buffer.len());
            ended = end.is_some();
            length += read as u64;
            // Two more for what ends the line.
            if length <= longest.saturating_add(2) {
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
        visit(piece)?;
    }
}

/// Cuts rows of csv.
fn rows(
    mut rows: RowCutter<Stream>,
    mut has_header: bool,
    visit: &mut impl FnMut(Piece<'_>) -> Result<()>,
) -> Result<(), Failure> {
    let mut is_before_all = true;
    loop {
        let Cut { before, row } = rows.cut()?;
        let around = if std::mem::take(&mut is_before_all) { Piece::Around } else { Piece::End };
        if !before.is_empty() {
            visit(around(before))?;
        }
        let Some(row) = row else { return Ok(()) };
        let is_header = std::mem::take(&mut has_header) && !row.bytes.is_empty();
        visit(if is_header { Piece::Around(row.bytes) } else { Piece::Record(row.bytes) })?;
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
