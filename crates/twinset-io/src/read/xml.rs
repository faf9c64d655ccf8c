//! XML as parsers want it: in UTF-8, without a declaration, and with few and short entities or none.

use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_8};
use memchr::memmem;

use super::stream::{self, Stream};

/// How much is read to find the declaration and the entities; both stand before the first element.
const PROLOG: usize = 64 << 10;
/// How much of it is read to find the declaration.
const DECLARATION: u64 = 1 << 10;

/// A document as the parser wants it.
pub(super) struct Document {
    pub(super) stream: Stream,
    pub(super) has_entities: bool,
    /// The name of its first element, unless that stands far from the beginning.
    pub(super) root: Option<String>,
}

/// What becomes of a document that declares entities.
#[derive(Clone, Copy)]
pub(super) enum Entities {
    /// They may be few, and so many bytes long.
    Allowed { longest: u64 },
    /// It is refused, with what to do.
    Refused { remedy: &'static str },
}

/// Decodes a document as its declaration says, unless the encoding is known, and checks its entities.
pub(super) fn prepared(
    mut stream: Stream,
    known: Option<&'static Encoding>,
    entities: Entities,
) -> io::Result<Document> {
    let mut raw = Vec::new();
    stream.by_ref().take(DECLARATION).read_to_end(&mut raw)?;
    let declared = declaration(&raw).and_then(|end| declared_encoding(&raw[..end]));
    if let (None, Some(Err(name))) = (known, &declared) {
        let reason = format!("it declares the encoding {name}, which is not known; say --encoding");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let encoding = known.or(declared.and_then(Result::ok)).unwrap_or(UTF_8);
    let mut decoded = stream::decoded(Box::new(io::Cursor::new(raw).chain(stream)), encoding);
    let mut start = Vec::new();
    decoded.by_ref().take(PROLOG as u64).read_to_end(&mut start)?;
    // What the parser reads is UTF-8, whatever was declared; its line ends stay, so that lines can be counted.
    if let Some(end) = declaration(&start) {
        start[..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    let has_entities = check_entities(&start, entities)?;
    let root = root(&start);
    let rest = Watched { inner: decoded, last: start[start.len().saturating_sub(KEYWORD.len())..].to_vec() };
    Ok(Document { stream: Box::new(io::Cursor::new(start).chain(rest)), has_entities, root })
}

/// Where the declaration of a document ends, if it has one.
fn declaration(start: &[u8]) -> Option<usize> {
    start.starts_with(b"<?xml").then(|| memmem::find(start, b"?>")).flatten().map(|end| end + 2)
}

/// Refuses entities that are declared where nobody has looked for them.
struct Watched {
    inner: Stream,
    /// The last bytes that were read.
    last: Vec<u8>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.last.extend_from_slice(&buffer[..length]);
        if find_entity(&self.last).is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it declares entities far from its beginning"));
        }
        self.last.drain(..self.last.len().saturating_sub(KEYWORD.len()));
        Ok(length)
    }
}

/// What declares an entity. Parsers may not mind the case.
const KEYWORD: &[u8] = b"<!entity";

fn find_entity(bytes: &[u8]) -> Option<usize> {
    memmem::find_iter(bytes, b"<!")
        .find(|&at| bytes[at..].get(..KEYWORD.len()).is_some_and(|found| found.eq_ignore_ascii_case(KEYWORD)))
}

/// The encoding that a declaration names.
fn declared_encoding(declaration: &[u8]) -> Option<Result<&'static Encoding, String>> {
    let at = memmem::find(declaration, b"encoding")?;
    let value = declaration[at + b"encoding".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = value.split_first()?;
    let name = &rest[..rest.iter().position(|byte| byte == quote)?];
    Some(Encoding::for_label(name).ok_or_else(|| String::from_utf8_lossy(name).into_owned()))
}

/// Refuses entities, or those of them that could grow without end. Tells whether there are any.
fn check_entities(start: &[u8], entities: Entities) -> io::Result<bool> {
    let refuse = |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidData, reason.to_owned()));
    let (mut rest, mut found) = (start, false);
    while let Some(at) = find_entity(rest) {
        let longest = match entities {
            Entities::Allowed { longest } => longest,
            Entities::Refused { remedy } => {
                return refuse(&format!("it declares entities, which can grow without end; {remedy}"));
            }
        };
        found = true;
        rest = &rest[at + KEYWORD.len()..];
        let Some(open) = rest.iter().position(|byte| b"\"'>".contains(byte)) else {
            return refuse("an entity is never closed");
        };
        let (name, quote) = (&rest[..open], rest[open]);
        let has = |word: &[u8]| memmem::find(name, word).is_some();
        if has(b"SYSTEM") || has(b"PUBLIC") {
            return refuse("an entity stands outside of the document, and is not fetched");
        }
        let Some(length) = memchr::memchr(quote, &rest[open + 1..]) else { return refuse("an entity is never closed") };
        let value = &rest[open + 1..open + 1 + length];
        if name.contains(&b'%') || value.contains(&b'&') || value.contains(&b'%') {
            return refuse("an entity is made of others");
        }
        if length as u64 > longest {
            return refuse(&format!("an entity is longer than {longest} bytes; --limit entity={length} allows more"));
        }
        rest = &rest[open + 1 + length..];
    }
    Ok(found)
}

/// The name of the first element.
fn root(mut rest: &[u8]) -> Option<String> {
    loop {
        rest = &rest[memchr::memchr(b'<', rest)? + 1..];
        let end = match rest {
            [b'?', ..] => memmem::find(rest, b"?>")?,
            [b'!', b'-', b'-', ..] => memmem::find(rest, b"-->")?,
            // Declarations stand in brackets.
            [b'!', ..] => match (memchr::memchr(b'[', rest), memchr::memchr(b'>', rest)?) {
                (Some(open), close) if open < close => memmem::find(rest, b"]")?,
                (_, close) => close,
            },
            _ => {
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b":_-.".contains(byte);
                let name: Vec<u8> = rest.iter().take_while(is_name).copied().collect();
                return String::from_utf8(name).ok().filter(|name| !name.is_empty());
            }
        };
        rest = &rest[end..];
    }
}

/// Whether a document ends in the end of this element, but for comments.
pub(super) fn closes(root: &str, end: &[u8]) -> bool {
    let mut end = end.trim_ascii_end();
    // Comments and instructions may follow.
    while let Some((rest, open)) = (end.strip_suffix(b"-->").map(|rest| (rest, b"<!--".as_slice())))
        .or_else(|| end.strip_suffix(b"?>").map(|rest| (rest, b"<?".as_slice())))
    {
        let Some(start) = memmem::rfind(rest, open) else { return true };
        end = rest[..start].trim_ascii_end();
    }
    let Some(tag) = end.strip_suffix(b">") else { return false };
    let start = memchr::memrchr(b'<', tag).map_or(tag, |start| &tag[start + 1..]);
    let is_empty_root = tag.ends_with(b"/") && start.starts_with(root.as_bytes());
    is_empty_root || start.trim_ascii_end().strip_prefix(b"/") == Some(root.as_bytes())
}
