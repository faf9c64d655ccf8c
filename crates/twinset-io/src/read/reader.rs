//! Reads files block by block, and hands the blocks to all threads.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rayon::prelude::*;
use twinset::Run;

use super::block::{Block, Payload, Record, Source};
use super::delimited::{RowBlocks, RowError, Rows};
use super::fields::{Fields, Wanted};
use super::inputs::InputFile;
use super::lines::{LineBlock, LineBlocks, not_utf8, too_long};
use super::parquet::Batches;
use super::stream::{self, Stream};
use super::warc::Archive;
use super::{Bad, Described, Format, Inputs, ReadOptions, Rejects, jsonl, lines, pages, parquet, rdf};
use crate::{Error, Result};

/// Where a block comes from.
pub(crate) struct BlockInfo {
    /// Which of all blocks it is.
    pub(crate) index: usize,
    /// Which of the collections it belongs to.
    pub(crate) collection: usize,
    /// The position of its file in the collection, and the file's name.
    pub(crate) file_at: usize,
    pub(crate) file: String,
    /// The records of the block that were bad, as positions among all of its records.
    pub(crate) bad: Vec<usize>,
}

/// What becomes of bad records.
#[derive(Clone, Copy)]
pub(crate) enum BadRecords<'a> {
    /// The first ends the reading.
    Refused,
    /// They are written down.
    Written(&'a Mutex<Rejects>),
    /// They are known already.
    Skipped,
}

/// Parses every block of the collections and calls `work` with its records, on all threads; returns the results in
/// the order of the input, and the seconds that threads spent reading and parsing.
pub(crate) fn for_each_block<T: Send>(
    collections: &[Inputs],
    options: &ReadOptions,
    extra: &[String],
    bad_records: BadRecords<'_>,
    run: &Run,
    work: impl Fn(BlockInfo, Vec<Record<'_>>) -> Result<T> + Sync,
) -> Result<(Vec<T>, f64)> {
    let reader = Mutex::new(Reader::new(collections, options, extra, run)?);
    let failed = AtomicBool::new(false);
    let nanoseconds = AtomicU64::new(0);
    let results: Mutex<Vec<(usize, Result<T>)>> = Mutex::default();
    let one_block = || -> Option<(usize, Result<T>)> {
        let mut reader = reader.lock().expect("no reader panics");
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let begin = Instant::now();
        let index = reader.next_index;
        let next = run.check().map_err(Error::from).and_then(|()| reader.next_block());
        let ((collection, file_at), block) = match next {
            Ok(next) => next?,
            Err(error) => {
                // Nobody reads on from where it failed: what fails there is another thing.
                failed.store(true, Ordering::Relaxed);
                return Some((index, Err(error)));
            }
        };
        drop(reader);
        let (mut records, mut bad) = (Vec::new(), Vec::new());
        let mut bad_positions = Vec::new();
        for (position, record) in block.parse().into_iter().enumerate() {
            match record {
                Ok(record) => records.push(record),
                Err(record) => {
                    bad_positions.push(position);
                    bad.push(record);
                }
            }
        }
        nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let file = block.file().to_owned();
        let noted = match (bad_records, bad.is_empty()) {
            (BadRecords::Written(rejects), _) => rejects.lock().expect("no writer panics").add(index, &file, bad),
            (BadRecords::Refused, false) => Err(self::bad(&file, &bad.swap_remove(0).with_remedy())),
            (BadRecords::Refused, true) | (BadRecords::Skipped, _) => Ok(()),
        };
        let info = BlockInfo { index, collection, file_at, file, bad: bad_positions };
        Some((index, noted.and_then(|()| work(info, records))))
    };
    // Blocks are handed out in order, so every block before a failing one is finished, and the first failure is the
    // same whatever the number of threads.
    (0..rayon::current_num_threads()).into_par_iter().for_each(|_| {
        while let Some((index, result)) = one_block() {
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            results.lock().expect("no thread panics with the results").push((index, result));
        }
    });
    let mut results = results.into_inner().expect("no thread panicked with the results");
    results.sort_unstable_by_key(|&(index, _)| index);
    let results = results.into_iter().map(|(_, result)| result).collect::<Result<_>>()?;
    Ok((results, nanoseconds.into_inner() as f64 / 1e9))
}

/// How many resources make a block. Each may be as long as the longest record.
const RESOURCES: usize = 32;

/// A file's collection, and its position there.
type FilePlace = (usize, usize);

/// Cuts all files into blocks, one after the other.
struct Reader<'a> {
    files: VecDeque<(FilePlace, InputFile)>,
    current: Option<(FilePlace, OpenFile)>,
    /// Files of RDF that were read together with the current one.
    described: VecDeque<(FilePlace, OpenFile)>,
    options: &'a ReadOptions,
    wanted: Wanted,
    run: &'a Run,
    next_index: usize,
}

struct OpenFile {
    path: PathBuf,
    source: Arc<Source>,
    cutter: Cutter,
    /// What was read to learn the fields, last block first.
    first: Vec<Block>,
    next_row: u64,
}

enum Cutter {
    Lines(LineBlocks<Stream>),
    Rows(Box<RowBlocks<Stream>>),
    Columns(Box<Batches>),
    Archive(Box<Archive>),
    /// The resources of a file that are left.
    Resources(Arc<Described>, Range<usize>),
    /// All there is was read already.
    Nothing,
}

impl<'a> Reader<'a> {
    fn new(collections: &[Inputs], options: &'a ReadOptions, extra: &[String], run: &'a Run) -> Result<Self> {
        let files: VecDeque<_> = collections
            .iter()
            .enumerate()
            .flat_map(|(collection, inputs)| {
                inputs.files.iter().enumerate().map(move |(at, file)| ((collection, at), file.clone()))
            })
            .collect();
        let sizes = files.iter().map(|(_, file)| file.path.metadata().map(|metadata| metadata.len()));
        run.begin("read", sizes.sum::<io::Result<u64>>().ok());
        Ok(Self {
            files,
            current: None,
            described: VecDeque::new(),
            options,
            wanted: Wanted::new(options, extra),
            run,
            next_index: 0,
        })
    }

    /// The next block and its file; `None` after the last.
    fn next_block(&mut self) -> Result<Option<(FilePlace, Block)>> {
        loop {
            if self.current.is_none() {
                self.current = match self.described.pop_front() {
                    Some(next) => Some(next),
                    None => {
                        let Some((place, file)) = self.files.pop_front() else { return Ok(None) };
                        if format_of(&file, self.options)?.is_rdf() {
                            self.describe(place, file)?;
                            continue;
                        }
                        Some((place, self.open(&file)?))
                    }
                };
            }
            if let Some((place, file)) = &mut self.current
                && let Some(block) = file.next_block()?
            {
                self.next_index += 1;
                return Ok(Some((*place, block)));
            }
            self.current = None;
        }
    }

    /// Opens a file of RDF, and all others of its collection: what one says of a resource adds to what another says.
    fn describe(&mut self, (collection, at): FilePlace, file: InputFile) -> Result<()> {
        let others = self.files.iter().take_while(|((other, _), _)| *other == collection).count();
        let files: Vec<(FilePlace, InputFile)> =
            std::iter::once(((collection, at), file)).chain(self.files.drain(..others)).collect();
        for (_, file) in &files {
            if at > 0 || !format_of(file, self.options)?.is_rdf() {
                let reason = "RDF and other formats cannot be one collection; read them apart";
                return Err(Error::file(&file.path, reason));
            }
        }
        let inputs = files.iter().map(|(_, file)| file);
        let (described, rejected) = rdf::describe(inputs, self.options, &self.wanted, self.run)?;
        let described = Arc::new(described);
        for (number, ((place, file), bad)) in files.into_iter().zip(rejected).enumerate() {
            let format = format_of(&file, self.options)?;
            let source = Source::new(file.title(), format, Fields::by_name(self.wanted.clone()), self.options);
            let first = Block {
                source: source.clone(),
                first_line: 1,
                payload: Payload::Resources(described.clone(), 0..0),
                bad,
            };
            let cutter = Cutter::Resources(described.clone(), described.of_file(number));
            let opened = OpenFile { path: file.path, source, cutter, first: vec![first], next_row: 1 };
            self.described.push_back((place, opened));
        }
        Ok(())
    }

    fn open(&self, input: &InputFile) -> Result<OpenFile> {
        let (path, name) = (&input.path, input.title());
        let format = format_of(input, self.options)?;
        let delimiter = delimiter(format, path, self.options)?;
        let largest = self.options.limits.record;
        if format == Format::Parquet {
            let (batches, fields) = parquet::open(input, self.options, &self.wanted, self.run)?;
            let source = Source::new(name, format, fields, self.options);
            return Ok(OpenFile {
                path: path.to_owned(),
                source,
                cutter: Cutter::Columns(Box::new(batches)),
                first: Vec::new(),
                next_row: 1,
            });
        }
        let encoding = self.options.encoding.as_deref().map(stream::encoding).transpose()?;
        if format == Format::Html {
            let fields = Fields::in_header(&self.wanted, &pages::FIELDS, delimiter, &name)?;
            let source = Source::new(name, format, fields, self.options);
            let (pages, bad) = pages::read(input, encoding, self.options, self.run)?;
            let first = vec![Block { source: source.clone(), first_line: 1, payload: Payload::Pages(pages), bad }];
            return Ok(OpenFile { path: path.to_owned(), source, cutter: Cutter::Nothing, first, next_row: 1 });
        }
        if format == Format::Warc {
            let fields = Fields::in_header(&self.wanted, &pages::FIELDS, delimiter, &name)?;
            let source = Source::new(name, format, fields, self.options);
            let cutter = Cutter::Archive(Box::new(Archive::open(input, self.options, self.run)?));
            return Ok(OpenFile { path: path.to_owned(), source, cutter, first: Vec::new(), next_row: 1 });
        }
        let stream = stream::open(input, encoding, self.options, self.run)?;
        let fail = |error: io::Error| Error::file(path, stream::read_failure(&error));
        let header = |names: &[&str]| fields_of(names, delimiter, &name, self.options, &self.wanted);
        if format == Format::Jsonl {
            let mut lines = LineBlocks::new(stream, largest);
            let (mut blocks, mut learning) = (Vec::new(), jsonl::Learning::new(&self.wanted));
            // A file may begin with any number of empty records.
            while !learning.has_begun()
                && blocks.len() < 64
                && let Some(block) = lines.next_block().map_err(fail)?
            {
                for line in lines::whole(&block.bytes, largest) {
                    learning.look_at(line);
                }
                blocks.push(block);
            }
            learning.check(&name)?;
            let source = Source::new(name, format, learning.fields(), self.options);
            let first = |LineBlock { first_line, bytes, bad }| Block {
                source: source.clone(),
                first_line,
                payload: Payload::Lines(bytes),
                bad,
            };
            let first = blocks.into_iter().rev().map(first).collect();
            return Ok(OpenFile { path: path.to_owned(), source, cutter: Cutter::Lines(lines), first, next_row: 1 });
        }
        let (fields, payload, first_line, cutter) = match format {
            Format::Csv => {
                let mut rows = RowBlocks::new(stream, delimiter, largest);
                let mut first = Rows::default();
                let mut names: Vec<String> = Vec::new();
                match rows.next_row() {
                    Ok(None) => {}
                    Ok(Some((line, record))) => {
                        for field in record {
                            let text = std::str::from_utf8(field);
                            names.push(
                                text.map_err(|error| bad(&name, &not_utf8(line, error.valid_up_to(), field)))?
                                    .to_owned(),
                            );
                        }
                        if self.options.no_header {
                            first.push(line, record);
                        }
                    }
                    Err(RowError::Io(error)) => return Err(fail(error)),
                    Err(RowError::Bad(row)) => return Err(bad(&name, &row)),
                }
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                (header(&names)?, Payload::Rows(first), 1, Cutter::Rows(Box::new(rows)))
            }
            Format::Tsv => {
                let mut lines = LineBlocks::new(stream, largest);
                // The first line that is not blank tells the fields of all others.
                let (mut first_line, mut bytes, start) = loop {
                    let block = lines.next_block().map_err(fail)?;
                    let Some(LineBlock { first_line, bytes, bad: cut }) = block else { break (1, Vec::new(), 0) };
                    if let Some(row) = cut.first() {
                        return Err(bad(&name, row));
                    }
                    let blank = bytes.split_inclusive(|&byte| byte == b'\n');
                    let blank = blank.take_while(|line| line.ends_with(b"\n") && without_newline(line).is_empty());
                    let start = blank.map(<[u8]>::len).sum();
                    if start < bytes.len() {
                        break (first_line, bytes, start);
                    }
                };
                let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |end| start + end + 1);
                let line = without_newline(&bytes[start..end]);
                let number = first_line + memchr::memchr_iter(b'\n', &bytes[..start]).count() as u64;
                if line.len() as u64 > largest {
                    return Err(bad(&name, &too_long(number, largest, line)));
                }
                let text = std::str::from_utf8(line);
                let text = text.map_err(|error| bad(&name, &not_utf8(number, error.valid_up_to(), line)))?;
                let names: Vec<&str> =
                    if text.is_empty() { Vec::new() } else { text.split(delimiter as char).collect() };
                let fields = header(&names)?;
                if !self.options.no_header {
                    bytes.drain(..end);
                    first_line = number + 1;
                }
                (fields, Payload::Lines(bytes), first_line, Cutter::Lines(lines))
            }
            _ => {
                let fields = Fields::in_header(&self.wanted, &["text"], delimiter, &name)?;
                (fields, Payload::Lines(Vec::new()), 1, Cutter::Lines(LineBlocks::new(stream, largest)))
            }
        };
        let source = Source::new(name, format, fields, self.options);
        let first = vec![Block { source: source.clone(), first_line, payload, bad: Vec::new() }];
        Ok(OpenFile { path: path.to_owned(), source, cutter, first, next_row: 1 })
    }
}

/// Finds the fields among the names of the first row, or among numbers where there is no header.
pub(super) fn fields_of(
    names: &[&str],
    delimiter: u8,
    file: &str,
    options: &ReadOptions,
    wanted: &Wanted,
) -> Result<Fields> {
    if names.is_empty() {
        // An empty file has no fields, and no record that would need them.
        return Fields::in_header(&Wanted::default(), &[], delimiter, file);
    }
    if !options.no_header {
        return Fields::in_header(wanted, names, delimiter, file);
    }
    let numbers: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    Fields::in_header(wanted, &numbers, delimiter, file)
}

/// The format of a file: the one asked for, or the one of its ending. One that this build cannot read is refused.
pub(crate) fn format_of(file: &InputFile, options: &ReadOptions) -> Result<Format> {
    let format = file.format(options.format).ok_or_else(|| {
        if file.path.extension().is_some_and(|ending| ending == "sketch") {
            return Error::file(
                &file.path,
                "this is a file of sketches, which has no texts; join it with --method sketch",
            );
        }
        let known = Format::KNOWN;
        let reason = format!("the ending does not tell the format; say --format FORMAT (known endings: {known})");
        Error::file(&file.path, reason)
    })?;
    file.check_format(format)?;
    Ok(format)
}

/// What separates the fields of a file.
pub(super) fn delimiter(format: Format, path: &Path, options: &ReadOptions) -> Result<u8> {
    let Some(asked) = options.delimiter.as_deref() else {
        return Ok(if format == Format::Tsv { b'\t' } else { b',' });
    };
    if !matches!(format, Format::Csv | Format::Tsv) {
        return Err(Error::file(path, format!("{format} has no delimiter; say --format csv if this is one")));
    }
    match (asked, asked.as_bytes()) {
        ("\\t", _) => Ok(b'\t'),
        (_, &[byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"') => Ok(byte),
        _ => Err(Error::Usage(format!("`{asked}` cannot be a delimiter: it must be a single ASCII character, or \\t"))),
    }
}

/// A line without what ends it, to which one carriage return belongs and no more.
pub(super) fn without_newline(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub(super) fn bad(file: &str, bad: &Bad) -> Error {
    Error::Record { place: bad.place(file), reason: bad.reason.clone() }
}

impl OpenFile {
    fn next_block(&mut self) -> Result<Option<Block>> {
        while let Some(first) = self.first.pop() {
            if !first.is_empty() {
                return Ok(Some(first));
            }
        }
        let fail = |error: io::Error| Error::file(&self.path, stream::read_failure(&error));
        let (first_line, payload, bad) = match &mut self.cutter {
            Cutter::Nothing => return Ok(None),
            Cutter::Lines(lines) => match lines.next_block().map_err(fail)? {
                None => return Ok(None),
                Some(LineBlock { first_line, bytes, bad }) => (first_line, Payload::Lines(bytes), bad),
            },
            Cutter::Rows(rows) => match rows.next_block().map_err(fail)? {
                None => return Ok(None),
                Some((rows, bad)) => (0, Payload::Rows(rows), bad),
            },
            Cutter::Resources(described, left) => {
                let block = left.start..left.end.min(left.start + RESOURCES);
                if block.is_empty() {
                    return Ok(None);
                }
                left.start = block.end;
                let first_line = self.next_row;
                self.next_row += block.len() as u64;
                (first_line, Payload::Resources(described.clone(), block), Vec::new())
            }
            Cutter::Archive(archive) => match archive.next_block().map_err(fail)? {
                None => return Ok(None),
                Some((pages, bad)) => (0, Payload::Archived(pages), bad),
            },
            Cutter::Columns(batches) => match batches.next_block() {
                None => return Ok(None),
                Some(Err(reason)) => return Err(Error::file(&self.path, reason)),
                Some(Ok(columns)) => {
                    let first_row = self.next_row;
                    self.next_row += parquet::rows(&columns);
                    (first_row, Payload::Columns(columns), Vec::new())
                }
            },
        };
        Ok(Some(Block { source: self.source.clone(), first_line, payload, bad }))
    }
}
