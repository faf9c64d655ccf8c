//! Records of a stream, one by one, as soon as they have arrived.

use std::sync::Arc;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use twinset::Run;

use super::block::{Block, Payload, Source};
use super::cutter::RowParser;
use super::delimited::{Rows, endless_row, open_row};
use super::fields::{Fields, Wanted};
use super::jsonl::Learning;
use super::lines::{not_utf8, too_long};
use super::pieces::{Piece, for_each_piece};
use super::reader::{bad, delimiter, fields_of, format_of, without_newline};
use super::{Bad, Format, InputFile, Inputs, ReadOptions, Rejects, stream};
use crate::{Error, Result};

/// What arrived.
pub enum Arrival<'a> {
    /// What is no record: a byte order mark, a header, blank lines.
    Around(&'a [u8]),
    /// A record: its text, and its bytes with what ends it.
    Record(&'a str, &'a [u8]),
    /// More of what ends the record before.
    End(&'a [u8]),
    /// A bad record, which was set aside.
    Rejected,
}

/// Calls `visit` for all that a single file, pipe or standard input holds, each time as soon as it is there. Returns how
/// many bad records were rejected.
pub fn for_each_arrival(
    inputs: &Inputs,
    options: &ReadOptions,
    run: &Run,
    mut visit: impl FnMut(Arrival<'_>) -> Result<()>,
) -> Result<u64> {
    let [file] = inputs.files.as_slice() else {
        return Err(Error::Usage("--stream reads one file or standard input; name only one".to_owned()));
    };
    let mut rejects = options.rejects.as_deref().map(Rejects::create).transpose()?;
    let mut parser = Parser::new(file, options)?;
    for_each_piece(file, options, run, |piece| {
        run.check()?;
        match piece {
            Piece::Mark(bytes, encoding) => {
                parser.encoding = encoding;
                visit(Arrival::Around(bytes))?;
            }
            Piece::Around(bytes) => {
                parser.header(bytes)?;
                visit(Arrival::Around(bytes))?;
            }
            Piece::End(bytes) => visit(Arrival::End(bytes))?,
            Piece::Record(bytes) => match (parser.text(bytes)?, &mut rejects) {
                (Ok(text), _) => visit(Arrival::Record(&text, bytes))?,
                (Err(record), Some(rejects)) => {
                    rejects.write(&parser.name, &record)?;
                    visit(Arrival::Rejected)?;
                }
                (Err(record), None) => return Err(bad(&parser.name, &record.with_remedy())),
            },
        }
        parser.line += parser.lines(piece.bytes());
        Ok(())
    })?;
    if parser.looked_at < LOOKED_AT {
        parser.learning.check(&parser.name)?;
    }
    rejects.map_or(Ok(0), Rejects::finish)
}

/// Finds the text of each record.
struct Parser<'a> {
    options: &'a ReadOptions,
    name: String,
    format: Format,
    encoding: &'static Encoding,
    delimiter: u8,
    /// Parses rows of csv.
    rows: RowParser,
    wanted: Wanted,
    /// Known once the header, or the first record, is there.
    source: Option<Arc<Source>>,
    /// What is known of the fields of jsonl, and from how many records.
    learning: Learning,
    looked_at: usize,
    line: u64,
}

/// A field that is named must be in one of so many records at the beginning of a stream of jsonl.
const LOOKED_AT: usize = 1000;

impl<'a> Parser<'a> {
    fn new(file: &InputFile, options: &'a ReadOptions) -> Result<Self> {
        let format = format_of(file, options)?;
        if matches!(format, Format::Parquet | Format::Html | Format::Warc) || format.is_rdf() {
            return Err(Error::file(
                &file.path,
                format!("{format} does not arrive record by record; leave out --stream"),
            ));
        }
        let encoding = options.encoding.as_deref().map(stream::encoding).transpose()?.unwrap_or(UTF_8);
        let (name, delimiter) = (file.title(), delimiter(format, &file.path, options)?);
        let (rows, wanted) = (RowParser::new(delimiter), Wanted::new(options, &[]));
        let learning = Learning::new(&wanted);
        let (source, looked_at, line) = (None, 0, 1);
        let mut parser =
            Self { options, name, format, encoding, delimiter, rows, wanted, source, learning, looked_at, line };
        if format == Format::Txt {
            parser.know(Fields::in_header(&parser.wanted, &["text"], delimiter, &parser.name)?);
        }
        Ok(parser)
    }

    fn know(&mut self, fields: Fields) {
        self.source = Some(Source::new(self.name.clone(), self.format, fields, self.options));
    }

    /// Learns the fields from the header, unless this is a blank line.
    fn header(&mut self, bytes: &[u8]) -> Result<()> {
        if self.source.is_some() || self.options.no_header || self.format == Format::Jsonl {
            return Ok(());
        }
        let line = self.checked(bytes).map_err(|record| bad(&self.name, &record))?;
        let is_blank = match self.format {
            // To csv any number of line ends is one.
            Format::Csv => line.trim_matches(['\r', '\n']).is_empty(),
            _ => without_end(&line).is_empty(),
        };
        if is_blank { Ok(()) } else { self.learn(&line) }
    }

    fn learn(&mut self, line: &str) -> Result<()> {
        let names: Vec<String> = match self.format {
            Format::Csv => self.rows.fields.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
            _ => without_end(line).split(self.delimiter as char).map(str::to_owned).collect(),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fields = fields_of(&names, self.delimiter, &self.name, self.options, &self.wanted)?;
        self.know(fields);
        Ok(())
    }

    /// Learns the fields of jsonl from the first records that can be read, and looks for those that are named in the
    /// ones after them.
    fn learn_names(&mut self, line: &str) -> Result<()> {
        let had_begun = self.learning.has_begun();
        self.learning.look_at(line);
        if !had_begun {
            self.know(self.learning.fields());
        }
        self.looked_at += 1;
        if self.looked_at == LOOKED_AT { self.learning.check(&self.name) } else { Ok(()) }
    }

    /// The text of a record, or what is wrong with it.
    fn text(&mut self, bytes: &[u8]) -> Result<Result<String, Bad>> {
        let record = match self.checked(bytes) {
            Ok(record) => record,
            // The first line tells the fields of all others.
            Err(record) if self.source.is_none() && self.format != Format::Jsonl => {
                return Err(bad(&self.name, &record));
            }
            Err(record) => return Ok(Err(record)),
        };
        if self.format == Format::Jsonl {
            self.learn_names(without_end(&record))?;
        } else if self.source.is_none() {
            self.learn(&record)?;
        }
        let source = self.source.clone().expect("the fields are known by now");
        let payload = match self.format {
            Format::Csv => {
                let mut rows = Rows::default();
                rows.push(self.line, &self.rows.fields);
                Payload::Rows(rows)
            }
            _ => Payload::Lines(record.into_bytes()),
        };
        let block = Block { source, first_line: self.line, payload, bad: Vec::new() };
        let parsed = block.parse().into_iter().next();
        Ok(parsed.map_or(Ok(String::new()), |record| record.map(|record| record.text.into_owned())))
    }

    /// What was cut out, decoded, or what is wrong with all of it. The fields of a row are known then.
    fn checked(&mut self, bytes: &[u8]) -> Result<String, Bad> {
        let largest = self.options.limits.record;
        match (self.format, bytes) {
            (Format::Csv, []) => return Err(endless_row(self.line, largest)),
            (_, []) => return Err(too_long(self.line, largest, b"")),
            _ => {}
        }
        let record = self.decode(bytes)?;
        let line = without_end(&record);
        match self.format {
            Format::Csv if self.rows.parse(record.as_bytes()) => Err(open_row(self.line, record.as_bytes())),
            Format::Csv => Ok(record),
            _ if line.len() as u64 > largest => Err(too_long(self.line, largest, line.as_bytes())),
            _ => Ok(record),
        }
    }

    /// How many lines end in a piece; one that was too long comes empty.
    fn lines(&self, bytes: &[u8]) -> u64 {
        let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
        match bytes {
            [] => 1,
            bytes if self.encoding == UTF_16LE || self.encoding == UTF_16BE => {
                count(self.encoding.decode_without_bom_handling(bytes).0.as_bytes())
            }
            bytes => count(bytes),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Result<String, Bad> {
        if self.encoding == UTF_8 {
            let text = std::str::from_utf8(bytes);
            return text
                .map(str::to_owned)
                .map_err(|error| not_utf8(self.line, error.valid_up_to(), without_newline(bytes)));
        }
        let text = self.encoding.decode_without_bom_handling_and_without_replacement(bytes);
        text.map(|text| text.into_owned()).ok_or_else(|| not_utf8(self.line, 0, without_newline(bytes)))
    }
}

/// A line without what ends it.
fn without_end(line: &str) -> &str {
    &line[..without_newline(line.as_bytes()).len()]
}
