//! Reads files of triples as one graph.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser, RdfSyntaxError};
use twinset::Run;

use super::Described;
use super::graph::Builder;
use crate::read::block::Bad;
use crate::read::fields::Wanted;
use crate::read::inputs::InputFile;
use crate::read::reader::{bad, format_of};
use crate::read::stream::{self, Stream};
use crate::read::xml::{self, Entities};
use crate::read::{Format, ReadOptions};
use crate::{Error, Result};

/// Reads the graph that some files describe together. Returns its resources, and the bad lines of each file.
pub(crate) fn describe<'a>(
    files: impl IntoIterator<Item = &'a InputFile>,
    options: &ReadOptions,
    wanted: &Wanted,
    run: &Run,
) -> Result<(Described, Vec<Vec<Bad>>)> {
    let (mut builder, mut rejected, mut first) = (Builder::default(), Vec::new(), None);
    for file in files {
        let mut of_file = Vec::new();
        for_each_quad(file, options, run, |quad| match quad {
            Ok(quad) => builder.add(&quad).ok_or_else(|| Error::file(&file.path, "there are too many terms")),
            Err(line) => {
                of_file.push(line);
                Ok(())
            }
        })?;
        builder.end_file();
        rejected.push(of_file);
        first.get_or_insert_with(|| file.title());
    }
    let described = Described::new(builder.finish(), options, wanted, &first.unwrap_or_default())?;
    Ok((described, rejected))
}

/// Calls `visit` for every quad of a file, and, where bad lines are to be rejected, for each of these.
pub(crate) fn for_each_quad(
    file: &InputFile,
    options: &ReadOptions,
    run: &Run,
    mut visit: impl FnMut(Result<Quad, Bad>) -> Result<()>,
) -> Result<()> {
    let format = format_of(file, options)?;
    let syntax = format.syntax().expect("only RDF is read this way");
    let fail = |error: io::Error| Error::file(&file.path, stream::read_failure(&error));
    let asked = options.encoding.as_deref().map(stream::encoding).transpose()?;
    let (raw, encoding, mark) = stream::open_raw(file, asked, options, run)?;
    let (mut between, mut root) = (options.limits.record, None);
    let stream = match format {
        Format::Rdf => {
            let known = asked.or((!mark.is_empty()).then_some(encoding));
            let entities = match options.rdf.allow_entities {
                true => Entities::Allowed { longest: options.limits.entity },
                false => Entities::Refused { remedy: "say --allow-entities if you trust it" },
            };
            let document = xml::prepared(raw, known, entities).map_err(fail)?;
            if document.has_entities {
                // A reference of three bytes stands for so much.
                between /= (options.limits.entity / 3).max(1);
            }
            root = document.root;
            document.stream
        }
        _ => stream::decoded(raw, encoding),
    };
    let progress = Arc::new(Progress::default());
    let stream: Stream = match format {
        Format::Jsonld => Box::new(Shallow::new(stream, options.limits.json_depth)),
        _ => stream,
    };
    let reader = ByLine {
        inner: stream,
        is_xml: format == Format::Rdf,
        buffer: Vec::new(),
        given: 0,
        between,
        progress: progress.clone(),
    };
    let mut anonymous = Anonymous::default();
    let is_by_line = matches!(format, Format::Nt | Format::Nq);
    if is_by_line && options.rejects.is_some() {
        return for_each_line(reader, (syntax, format), fail, run, |quad| {
            visit(quad.map(|quad| anonymous.named(quad)))
        });
    }
    let mut reads = 0u64;
    for quad in RdfParser::from_format(syntax).for_reader(reader) {
        progress.bytes.store(0, Ordering::Relaxed);
        reads += 1;
        if reads.is_multiple_of(1 << 12) {
            run.check()?;
        }
        match quad {
            Ok(quad) => visit(Ok(anonymous.named(quad)))?,
            // That is how the parser says that a term is longer than it takes.
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::OutOfMemory => {
                return Err(fail(io::Error::other(
                    "a term is longer than 16 MB, whatever --max-record allows; shorten it",
                )));
            }
            Err(RdfParseError::Io(error)) => return Err(fail(error)),
            Err(RdfParseError::Syntax(error)) => {
                let bad_line = bad_line(&error, format, progress.lines.load(Ordering::Relaxed), b"");
                return Err(bad(&file.title(), &if is_by_line { bad_line.with_remedy() } else { bad_line }));
            }
        }
    }
    // The parser of XML takes the end of the file for the end of everything that is open.
    if let Some(root) = root.filter(|root| !xml::closes(root, &progress.last_bytes.lock().expect("no reader panics"))) {
        let reason = format!("the file ends before its element <{root}> is closed; it may not have been copied whole");
        return Err(Error::file(&file.path, reason));
    }
    Ok(())
}

/// Reads each line by itself, so that a bad one spoils no other.
fn for_each_line(
    reader: ByLine,
    (syntax, format): (RdfFormat, Format),
    fail: impl Fn(io::Error) -> Error,
    run: &Run,
    mut visit: impl FnMut(Result<Quad, Bad>) -> Result<()>,
) -> Result<()> {
    let progress = reader.progress.clone();
    let mut reader = BufReader::new(reader);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        if reader.read_until(b'\n', &mut line).map_err(&fail)? == 0 {
            return Ok(());
        }
        progress.bytes.store(0, Ordering::Relaxed);
        run.check()?;
        for quad in RdfParser::from_format(syntax).for_slice(&line) {
            let quad =
                quad.map_err(|error| Bad { line: number, ..bad_line(&error, format, number, line.trim_ascii_end()) });
            let is_bad = quad.is_err();
            visit(quad)?;
            if is_bad {
                break;
            }
        }
    }
}

/// What is wrong in a file, and where; the parser of XML does not tell the line.
fn bad_line(error: &RdfSyntaxError, format: Format, line: u64, record: &[u8]) -> Bad {
    let place = error.location().map(|place| (place.start.line + 1, Some(place.start.column + 1)));
    let (line, column) = place.unwrap_or((line, None));
    Bad::new(line, column, format!("this is not {format}: {}", what(&error.to_string())), record)
}

/// An error's message without the position, which is given apart, and with a remedy where there is one.
fn what(message: &str) -> String {
    let message = match message.split_once(": ") {
        Some((place, rest)) if place.starts_with("Parser error") => rest,
        _ => message,
    };
    if message.contains("No scheme found") {
        return format!("{message}; an IRI is relative, and the file says no base: add one");
    }
    message.to_owned()
}

impl Format {
    /// How RDF is written in this format, if it is one of RDF.
    fn syntax(self) -> Option<RdfFormat> {
        Some(match self {
            Self::Nt => RdfFormat::NTriples,
            Self::Nq => RdfFormat::NQuads,
            Self::Ttl => RdfFormat::Turtle,
            Self::Trig => RdfFormat::TriG,
            Self::Rdf => RdfFormat::RdfXml,
            Self::Jsonld => RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() },
            Self::Txt | Self::Tsv | Self::Csv | Self::Jsonl | Self::Parquet | Self::Html | Self::Warc => return None,
        })
    }
}

/// Nodes without a name in the file, for which the parser invents one that differs from run to run.
#[derive(Default)]
struct Anonymous {
    names: HashMap<u128, String>,
    given: HashMap<String, String>,
    taken: HashSet<String>,
}

/// What the parser invents is a random number of 128 bits; shorter ones are names that the file gives.
const INVENTED: usize = 24;

impl Anonymous {
    /// Names them in the order in which they come up.
    fn named(&mut self, mut quad: Quad) -> Quad {
        if let NamedOrBlankNode::BlankNode(node) = &mut quad.subject {
            self.name(node);
        }
        if let Term::BlankNode(node) = &mut quad.object {
            self.name(node);
        }
        if let GraphName::BlankNode(node) = &mut quad.graph_name {
            self.name(node);
        }
        quad
    }

    fn name(&mut self, node: &mut BlankNode) {
        const PREFIX: &str = "anonymous-";
        const GIVEN: &str = "given-";
        let invented = node.as_ref().unique_id().filter(|_| node.as_str().len() >= INVENTED);
        let name = match invented {
            Some(id) => self.names.entry(id).or_insert_with(|| {
                let number = self.taken.len() + 1;
                let name = (number..).map(|number| format!("{PREFIX}{number}")).find(|name| !self.taken.contains(name));
                let name = name.expect("there are more numbers than names");
                self.taken.insert(name.clone());
                name
            }),
            // The file may use such a name itself: its own, if it is not taken yet.
            None if [PREFIX, GIVEN].iter().any(|start| node.as_str().starts_with(start)) => {
                self.given.entry(node.as_str().to_owned()).or_insert_with_key(|own| {
                    let mut name = own.clone();
                    while !self.taken.insert(name.clone()) {
                        name = format!("{GIVEN}{name}");
                    }
                    name
                })
            }
            None => return,
        };
        *node = BlankNode::new_unchecked(name.clone());
    }
}

/// Refuses JSON whose objects lie deep in each other: the parser goes as deep as they do, and would end the program.
struct Shallow {
    inner: Stream,
    depth: u64,
    /// So deep they may lie.
    deepest: u64,
    in_string: bool,
    is_escaped: bool,
}

impl Shallow {
    fn new(inner: Stream, deepest: u64) -> Self {
        Self { inner, depth: 0, deepest, in_string: false, is_escaped: false }
    }
}

impl Read for Shallow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        for &byte in &buffer[..length] {
            match (self.in_string, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > self.deepest {
                let reason = format!("its objects lie more than {} deep in each other", self.deepest);
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
        }
        Ok(length)
    }
}

/// How far the parser has come.
#[derive(Default)]
struct Progress {
    lines: AtomicU64,
    /// Read since the last triple.
    bytes: AtomicU64,
    /// The end of what was read.
    last_bytes: Mutex<Vec<u8>>,
}

/// So many bytes at the end are enough to tell whether it is one.
const LAST_BYTES: usize = 1024;

/// Hands on one line of XML at a time, so that it is known which one the parser is at, and ends what holds no triple for too long.
struct ByLine {
    inner: Stream,
    /// Other parsers tell the line themselves, and notice where a file is cut.
    is_xml: bool,
    buffer: Vec<u8>,
    given: usize,
    /// The most bytes between two triples.
    between: u64,
    progress: Arc<Progress>,
}

impl Read for ByLine {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.buffer.len() {
            self.buffer.resize(1 << 16, 0);
            let length = self.inner.read(&mut self.buffer)?;
            self.buffer.truncate(length);
            self.given = 0;
        }
        let rest = &self.buffer[self.given..];
        let line = Some(rest).filter(|_| self.is_xml).and_then(|rest| memchr::memchr(b'\n', rest));
        let line = line.map_or(rest.len(), |end| end + 1);
        let length = line.min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        if self.is_xml {
            self.note_end(&into[..length]);
        }
        // A line counts from its first byte on.
        let is_new = self.progress.lines.load(Ordering::Relaxed) == 0 || into[..length].last() == Some(&b'\n');
        self.progress.lines.fetch_add(u64::from(is_new), Ordering::Relaxed);
        if self.progress.bytes.fetch_add(length as u64, Ordering::Relaxed) + length as u64 > self.between {
            return Err(io::Error::other("a triple is longer than --max-record allows"));
        }
        Ok(length)
    }
}

impl ByLine {
    /// Keeps the end of what was read.
    fn note_end(&self, bytes: &[u8]) {
        let mut last = self.progress.last_bytes.lock().expect("no reader panics");
        if last.len() > 8 * LAST_BYTES {
            let end = last.len() - LAST_BYTES;
            last.drain(..end);
        }
        last.extend_from_slice(&bytes[bytes.len().saturating_sub(LAST_BYTES)..]);
    }
}
