//! Web archives: their records, and which of them are pages.

use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use encoding_rs::Encoding;
use fastwarc::warc::header::{HeaderEncoding, HeaderMap};
use fastwarc::warc::record::{AutoDecode, WarcRecord, WarcRecordType};
use memchr::memmem;
use twinset::Run;

use super::ReadOptions;
use super::block::{Bad, Record, Source};
use super::inputs::InputFile;
use super::lines::too_long;
use super::pages::{self, Page, PageKind};
use super::stream::{self, Stream};
use crate::guard::guarded;
use crate::{Error, Result};

/// The records of an archive, one after the other.
pub(crate) struct Archive {
    record: WarcRecord,
    /// What the record holds after its header, or the beginning of it if it is longer than allowed.
    body: Vec<u8>,
    /// How much of the record was not read yet.
    rest: u64,
    /// The record's number, from 1.
    number: u64,
    largest: u64,
    /// The longest header of a page.
    header: usize,
    /// The encoding of all pages, if the user told it.
    encoding: Option<&'static Encoding>,
    last_bytes: Arc<AtomicU32>,
    ended: bool,
}

/// What a record of an archive is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A page.
    Page,
    /// A page that is longer than allowed.
    TooLong,
    /// What a server sent with a header that is longer than allowed, so that nobody knows whether it is a page.
    LongHeader,
    /// The end of the archive is missing.
    Cut,
    /// What is no page: requests, pictures, what the crawler notes.
    Other,
}

/// A page with all that the archive says about it.
pub(super) struct Archived {
    number: u64,
    record: Vec<u8>,
    header: usize,
    encoding: Option<&'static Encoding>,
}

/// The longest header of a record that is read again; that of the archive was not longer.
const HEADER: usize = 64 << 10;
/// What ends every record.
const WHOLE_END: u32 = u32::from_be_bytes(*b"\r\n\r\n");
/// How many bytes of pages make a block.
const BLOCK: usize = 1 << 19;

impl Archive {
    pub(crate) fn open(file: &InputFile, options: &ReadOptions, run: &Run) -> Result<Self> {
        let (stream, _, _) = stream::open_raw(file, None, options, run)?;
        let last_bytes = Arc::new(AtomicU32::new(WHOLE_END));
        let stream = Unseekable { inner: stream, position: 0, last_bytes: last_bytes.clone() };
        let mut record = WarcRecord::new();
        record.attach_reader(BufReader::with_capacity(1 << 18, stream));
        let (largest, header) = (options.limits.record, options.limits.page_header as usize);
        let encoding = options.encoding.as_deref().map(stream::encoding).transpose()?;
        Ok(Self { record, body: Vec::new(), rest: 0, number: 0, largest, header, encoding, last_bytes, ended: false })
    }

    /// Goes to the next record, and tells what it is; `None` after the last.
    pub(crate) fn next(&mut self) -> io::Result<Option<Entry>> {
        if self.ended {
            return Ok(None);
        }
        self.number += 1;
        if self.skip()? {
            return Ok(Some(self.cut()));
        }
        match guarded(|| self.record.next_inplace()) {
            None => return Err(self.broken("its header cannot be understood")),
            Some(Some(Err(error))) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
            Some(Some(Err(error))) => return Err(self.broken(&error.to_string())),
            Some(Some(Ok(()))) => {}
            Some(None) if !self.is_whole() => return Ok(Some(self.cut())),
            Some(None) => return Ok(None),
        }
        // Fields are looked for as the standard writes them; the others would be those of the record before.
        let mut header = Vec::new();
        self.record.headers().write(&mut header)?;
        for name in ["WARC-Type", "Content-Type", "Content-Length"] {
            let is_there = self.record.headers().get(name).is_some();
            if is_there && memmem::find(&header, format!("\n{name}").as_bytes()).is_none() {
                return Err(self.broken(&format!("{name} is written in other letters than the standard's")));
            }
        }
        let length = self.record.content_length();
        if self.record.headers().get("Content-Length").as_deref() != Some(&length.to_string()) {
            let is_last = self.record.reader_mut().is_none_or(|reader| reader.fill_buf().is_ok_and(<[u8]>::is_empty));
            if is_last && !self.is_whole() {
                return Ok(Some(self.cut()));
            }
            return Err(self.broken("its Content-Length is missing, or no number"));
        }
        self.body.clear();
        let wanted = length.min(self.largest.max(self.header as u64 + 1));
        let reader = self.record.reader_mut().ok_or_else(|| io::Error::other("nothing is left to read"))?;
        let read = reader.take(wanted).read_to_end(&mut self.body)? as u64;
        self.rest = length - read;
        if read < wanted {
            return Ok(Some(self.cut()));
        }
        Ok(Some(match self.content_type() {
            None => Entry::LongHeader,
            Some(told) if kind_of(&told).is_none() => Entry::Other,
            Some(_) if length > self.largest => Entry::TooLong,
            Some(_) => Entry::Page,
        }))
    }

    /// Pages, as many as make a block, with what is wrong with others.
    pub(super) fn next_block(&mut self) -> io::Result<Option<(Vec<Archived>, Vec<Bad>)>> {
        let (mut pages, mut bad, mut length) = (Vec::new(), Vec::new(), 0);
        while length < BLOCK {
            let Some(entry) = self.next()? else { break };
            match entry {
                Entry::Other => {}
                Entry::Page => {
                    let mut record = Vec::with_capacity(self.body.len() + 1024);
                    self.write(&mut record)?;
                    length += record.len();
                    let (number, header, encoding) = (self.number, self.header, self.encoding);
                    pages.push(Archived { number, record, header, encoding });
                }
                Entry::LongHeader => {
                    let reason = format!(
                        "the header of the page is longer than {} bytes; --limit page-header=SIZE allows more",
                        self.header
                    );
                    bad.push(Bad::new(self.number, None, reason, self.url().as_bytes()));
                }
                Entry::TooLong => bad.push(too_long(self.number, self.largest, self.url().as_bytes())),
                Entry::Cut => {
                    let reason = "the archive ends in the middle of this record; it may not have been copied whole";
                    bad.push(Bad::new(self.number, None, reason, self.url().as_bytes()));
                }
            }
        }
        Ok((!pages.is_empty() || !bad.is_empty()).then_some((pages, bad)))
    }

    /// Writes the record as it stands.
    pub(crate) fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.record.headers().write(out)?;
        out.write_all(&self.body)?;
        if self.rest > 0
            && let Some(reader) = self.record.reader_mut()
        {
            self.rest -= io::copy(&mut reader.take(self.rest), out)?;
        }
        if self.rest > 0 {
            return Err(io::Error::other(format!("the archive ends in the middle of record {}", self.number)));
        }
        out.write_all(b"\r\n\r\n")
    }

    /// Reads what is left of the record; tells whether it ends too early.
    fn skip(&mut self) -> io::Result<bool> {
        if self.rest > 0
            && let Some(reader) = self.record.reader_mut()
        {
            self.rest -= io::copy(&mut reader.take(self.rest), &mut io::sink())?;
        }
        Ok(self.rest > 0)
    }

    /// Whether the archive ends, as far as it was read, as a whole one does: in two line ends.
    fn is_whole(&self) -> bool {
        self.last_bytes.load(Ordering::Relaxed) == WHOLE_END
    }

    fn cut(&mut self) -> Entry {
        self.ended = true;
        Entry::Cut
    }

    fn broken(&self, reason: &str) -> io::Error {
        io::Error::other(format!("record {} of the archive is broken: {reason}", self.number))
    }

    fn url(&self) -> String {
        url(&self.record)
    }

    /// The content type of what may be a page, and nothing of all else; `None` if the header that tells it is too long.
    fn content_type(&self) -> Option<String> {
        let content_type = match (self.record.record_type(), self.record.is_http()) {
            (WarcRecordType::Response, true) => {
                let mut header = HeaderMap::new(HeaderEncoding::Latin1);
                // One byte more shows that it goes on.
                let mut start = Cursor::new(self.body[..self.body.len().min(self.header + 1)].to_vec());
                guarded(|| header.parse_with_opts(&mut start, true, self.header, true))?.ok()?;
                header.get("Content-Type").map(|told| told.into_owned())
            }
            (WarcRecordType::Resource | WarcRecordType::Conversion, false) => {
                self.record.headers().get("Content-Type").map(|told| told.into_owned())
            }
            _ => None,
        };
        Some(content_type.unwrap_or_default())
    }
}

fn kind_of(content_type: &str) -> Option<PageKind> {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" | "application/xhtml+xml" => Some(PageKind::Html),
        "text/plain" => Some(PageKind::Plain),
        _ => None,
    }
}

fn url(record: &WarcRecord) -> String {
    let url = record.headers().get("WARC-Target-URI").unwrap_or_default();
    url.trim_start_matches('<').trim_end_matches('>').to_owned()
}

impl Archived {
    /// Finds the title and the text of the page.
    pub(super) fn parse(&self, source: &Source) -> Result<Record<'static>, Bad> {
        pages::parse(&self.page(source.largest)?, self.number, source)
    }

    /// The page itself, unpacked if the server had packed it.
    fn page(&self, largest: u64) -> Result<Page, Bad> {
        // What unpacks is other people's work on what anybody may have sent.
        let page = guarded(|| self.unpack(largest));
        let bad = |reason: String| Bad::new(self.number, None, reason, &self.record[..self.record.len().min(1024)]);
        match page {
            Some(Ok(page)) if page.bytes.len() as u64 > largest => {
                Err(too_long(self.number, largest, page.url.as_bytes()))
            }
            Some(Ok(page)) => Ok(page),
            Some(Err(error)) => Err(bad(format!("the page cannot be unpacked: {error}"))),
            None => Err(bad("the page cannot be unpacked".to_owned())),
        }
    }

    fn unpack(&self, largest: u64) -> io::Result<Page> {
        let mut record = WarcRecord::from_reader_with_opts(Cursor::new(self.record.clone()), false, HEADER)?;
        record.parse_http_with_opts(AutoDecode::All, self.header, true)?;
        let told = if record.is_http() { record.http_headers() } else { Some(record.headers()) };
        let content_type = told.and_then(|header| header.get("Content-Type")).unwrap_or_default().into_owned();
        let charset = content_type.to_ascii_lowercase().split_once("charset=").map(|(_, name)| name.to_owned());
        let charset = charset.and_then(|name| {
            Encoding::for_label(name.split(';').next().unwrap_or_default().trim_matches(['"', '\'', ' ']).as_bytes())
        });
        let mut bytes = Vec::new();
        let url = url(&record);
        if let Some(reader) = record.reader_mut() {
            reader.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
        }
        let kind = kind_of(&content_type).unwrap_or(PageKind::Html);
        Ok(Page { url, encoding: self.encoding.or(charset), bytes, kind })
    }
}

/// What a failed read of an archive means to the user.
pub(crate) fn archive_failure(file: &InputFile, error: &io::Error) -> Error {
    Error::file(&file.path, stream::read_failure(error))
}

/// A stream whose position can be asked for, and which remembers its last four bytes.
struct Unseekable {
    inner: Stream,
    position: u64,
    last_bytes: Arc<AtomicU32>,
}

impl Read for Unseekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.position += length as u64;
        let last = self.last_bytes.load(Ordering::Relaxed);
        let bytes = &buffer[length.saturating_sub(4)..length];
        let last = bytes.iter().fold(last, |last, &byte| last << 8 | u32::from(byte));
        self.last_bytes.store(last, Ordering::Relaxed);
        Ok(length)
    }
}

impl Seek for Unseekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(0) => Ok(self.position),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }
}
