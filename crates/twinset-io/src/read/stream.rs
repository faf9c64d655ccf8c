//! Opens a file as a stream of UTF-8: decompressed, decoded, without a byte order mark.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use encoding_rs::{Decoder, DecoderResult, Encoding, GB18030, GBK, UTF_8};
use twinset::Run;

use super::ReadOptions;
use super::inputs::InputFile;
use crate::compression::Compression;
use crate::{Error, Limits, Result};

pub(super) type Stream = Box<dyn Read + Send>;

/// Opens a file as UTF-8, decompressed, within the limits.
pub fn open_text(path: &Path, limits: &Limits) -> Result<Box<dyn Read + Send>> {
    let options = ReadOptions { limits: limits.clone(), ..ReadOptions::default() };
    open(&InputFile::new(path.to_owned(), None), None, &options, &Run::default())
}

/// Opens a file as the bytes that it has, decompressed, within the limits.
pub fn open_bytes(path: &Path, limits: &Limits) -> Result<Box<dyn Read + Send>> {
    let options = ReadOptions { limits: limits.clone(), ..ReadOptions::default() };
    let (stream, _, mark) = open_raw(&InputFile::new(path.to_owned(), None), None, &options, &Run::default())?;
    Ok(Box::new(io::Cursor::new(mark).chain(stream)))
}

/// Opens a file, or standard input, as UTF-8.
pub(super) fn open(
    file: &InputFile,
    encoding: Option<&'static Encoding>,
    options: &ReadOptions,
    run: &Run,
) -> Result<Stream> {
    let (stream, encoding, _) = open_raw(file, encoding, options, run)?;
    Ok(decoded(stream, encoding))
}

/// Opens a file, or standard input, as the bytes that it has, with its encoding, and the byte order mark before them.
pub(super) fn open_raw(
    file: &InputFile,
    encoding: Option<&'static Encoding>,
    options: &ReadOptions,
    run: &Run,
) -> Result<(Stream, &'static Encoding, Vec<u8>)> {
    let path = &file.path;
    let (raw, compression): (Stream, _) = if file.is_standard() {
        let inner: Stream = match &file.spool {
            Some(spool) => Box::new(reopened(spool).map_err(|error| Error::file(path, error))?),
            None => Box::new(io::stdin()),
        };
        let mut input = BufReader::with_capacity(1 << 16, inner);
        let start = input.fill_buf().map_err(|error| Error::file(path, error))?;
        let compression = Compression::of_magic(start);
        (Box::new(input), compression)
    } else {
        let file = File::open(path).map_err(|error| Error::file(path, format!("cannot be opened: {error}")))?;
        (Box::new(Counted { inner: file, run: run.clone() }), Compression::of_path(path))
    };
    let plain: Stream = match compression {
        None => raw,
        Some(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, raw))),
        Some(Compression::Zstd) => {
            Box::new(zstd::stream::read::Decoder::new(raw).map_err(|error| Error::file(path, error))?)
        }
    };
    let plain: Stream = match compression {
        None => plain,
        Some(_) => Box::new(Unpacked { inner: plain, left: options.limits.unpacked }),
    };
    after_mark(plain, encoding).map_err(|error| Error::file(path, read_failure(&error)))
}

/// A temporary file from its beginning.
pub(super) fn reopened(spool: &File) -> io::Result<File> {
    let mut file = spool.try_clone()?;
    file.rewind()?;
    Ok(file)
}

/// The name of an encoding, as web pages and XML declare it.
pub(super) fn encoding(name: &str) -> Result<&'static Encoding> {
    Encoding::for_label_no_replacement(name.as_bytes()).ok_or_else(|| {
        Error::Usage(format!(
            "`{name}` is not an encoding: write for example utf-8, windows-1252, utf-16le or shift_jis"
        ))
    })
}

/// What a failed read means to the user.
pub(super) fn read_failure(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the compressed file ends too early; it may not have been copied whole".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// A byte order mark in GB18030, which GBK is a part of. It is looked for only where one of them was asked for.
const GB18030_MARK: &[u8] = b"\x84\x31\x95\x33";

/// Obeys a byte order mark: what follows it, its encoding, and the mark.
fn after_mark(
    mut stream: Stream,
    encoding: Option<&'static Encoding>,
) -> io::Result<(Stream, &'static Encoding, Vec<u8>)> {
    // No more than can be a mark: what follows may not have arrived yet.
    let is_chinese = encoding.is_some_and(|asked| asked == GB18030 || asked == GBK);
    let longest = if is_chinese { 4 } else { 3 };
    let mut start = Vec::with_capacity(4);
    stream.by_ref().take(longest).read_to_end(&mut start)?;
    let (encoding, mark) = match (encoding, Encoding::for_bom(&start)) {
        (Some(asked), _) if is_chinese && start == GB18030_MARK => (asked, start.len()),
        (asked, Some((marked, length))) if asked.is_none_or(|asked| asked == marked) => (marked, length),
        (asked, _) => (asked.unwrap_or(UTF_8), 0),
    };
    let rest = start.split_off(mark);
    Ok((Box::new(io::Cursor::new(rest).chain(stream)), encoding, start))
}

/// Decodes what is not UTF-8. UTF-8 itself is checked where lines are known.
pub(super) fn decoded(stream: Stream, encoding: &'static Encoding) -> Stream {
    if encoding == UTF_8 {
        return stream;
    }
    let decoder = encoding.new_decoder_without_bom_handling();
    Box::new(Decoded { inner: stream, decoder, input: Vec::new(), output: Vec::new(), given: 0, ended: false })
}

/// Fails when a compressed file unpacks to more than is allowed: a small file can hold almost endless zeros.
struct Unpacked {
    inner: Stream,
    left: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let too_much = || io::Error::other("it unpacks to more than --max-unpacked allows");
        self.left = self.left.checked_sub(length as u64).ok_or_else(too_much)?;
        Ok(length)
    }
}

/// Tells the progress sink how much of a file was read.
struct Counted {
    inner: File,
    run: Run,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.run.advance(length as u64);
        Ok(length)
    }
}

/// Decodes to UTF-8, with a byte that is not UTF-8 where the input is malformed.
struct Decoded<R> {
    inner: R,
    decoder: Decoder,
    input: Vec<u8>,
    output: Vec<u8>,
    /// How much of the output was handed on.
    given: usize,
    ended: bool,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() && !self.ended {
            self.fill()?;
        }
        let length = buffer.len().min(self.output.len() - self.given);
        buffer[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

impl<R: Read> Decoded<R> {
    fn fill(&mut self) -> io::Result<()> {
        const LENGTH: usize = 1 << 16;
        if self.input.is_empty() {
            // As much as there is: a stream may have no more for a while.
            self.input.resize(LENGTH, 0);
            let length = self.inner.read(&mut self.input)?;
            self.input.truncate(length);
            self.ended = length == 0;
        }
        let longest = self.decoder.max_utf8_buffer_length_without_replacement(self.input.len()).unwrap_or(4 * LENGTH);
        self.output.resize(longest, 0);
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(&self.input, &mut self.output, self.ended);
        self.output.truncate(written);
        self.given = 0;
        self.input.drain(..read);
        if let DecoderResult::Malformed(..) = result {
            // No UTF-8 text contains this, so the record is found to be bad where its line is known.
            self.output.push(0xFF);
        }
        Ok(())
    }
}
