//! Sources: what has tables. Each can tell them, and read some of their columns.

mod files;
#[cfg(feature = "databases")]
mod mysql;
#[cfg(feature = "databases")]
mod postgres;
#[cfg_attr(not(feature = "databases"), allow(dead_code, reason = "for database servers"))]
mod sql;
mod sqlite;

pub(crate) use sql::{quoted, quoted_table};

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use twinset::Run;
use twinset_io::ReadOptions;
use twinset_io::database::Server;
use twinset_io::read::features::{BadRows, Batch, is_xml};
use xxhash_rust::xxh3::Xxh3;

use crate::table::Table;
use crate::{Error, Result};

/// Which tables of databases are read, and how.
#[derive(Debug, Clone, Default)]
#[cfg_attr(not(feature = "databases"), allow(dead_code, reason = "for database servers"))]
pub(crate) struct SourceOptions {
    pub(crate) schemas: Vec<String>,
    pub(crate) tables: Vec<String>,
    pub(crate) views: bool,
    pub(crate) timeout: Option<Duration>,
    /// What the user says is the state of databases.
    pub(crate) state: Option<String>,
    /// Whether the states of tables matter, as something is saved.
    pub(crate) needs_state: bool,
    pub(crate) read: ReadOptions,
}

impl SourceOptions {
    /// The state of a database's table: what the user says, or a checksum of all its rows. Empty if there is none, or none is needed.
    fn state_or(&self, checksum: impl FnOnce() -> Option<String>) -> String {
        match &self.state {
            Some(told) => format!("{VERSION} told {told}"),
            None if self.needs_state => checksum().map_or_else(String::new, |sum| format!("{VERSION} rows {sum}")),
            None => String::new(),
        }
    }

    /// The state of files: a checksum of all their bytes. Empty if one cannot be read, or no state is needed.
    ///
    /// Sizes and times are not enough: a file can be written twice within one tick of its clock, and a copy can keep the time of
    /// another file.
    fn state_of_files(&self, paths: &[&Path]) -> String {
        if !self.needs_state {
            return String::new();
        }
        let format = self.read.format.map_or_else(String::new, |format| format!(" as {format}"));
        checksum(paths).map_or_else(|_| String::new(), |sum| format!("{VERSION} bytes {sum:032x}{format}"))
    }

    /// Whether a table was chosen, by its name or with its schema.
    fn has_table(&self, schema: Option<&str>, name: &str) -> bool {
        let table = Table { schema: schema.map(str::to_owned), name: name.to_owned(), ..Table::default() };
        self.tables.is_empty() || self.tables.iter().any(|chosen| table.is_called(chosen))
    }
}

/// Part of every state. Raise it when values are made in another way: then everything that was saved is read again.
const VERSION: u32 = 3;

/// A checksum of the bytes of some files, and of where each of them ends.
fn checksum(paths: &[&Path]) -> std::io::Result<u128> {
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; ENOUGH];
    for path in paths {
        let mut file = File::open(path)?;
        let mut length = 0;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(&buffer[..read]);
                    length += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        hash.update(&length.to_le_bytes());
    }
    Ok(hash.digest128())
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, or the table.
    pub place: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// Takes batches of values, in which a feature has its position in the table, and the names of all features so far.
pub(crate) type Visit<'a> = dyn FnMut(&[Batch], &[String]) -> Result<()> + Send + 'a;

/// Columns of two tables, to be compared in the database where both are.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "databases"), allow(dead_code, reason = "for database servers"))]
pub(crate) struct ColumnPair<'a> {
    pub(crate) left: &'a Table,
    pub(crate) left_columns: &'a [&'a str],
    pub(crate) right: &'a Table,
    pub(crate) right_columns: &'a [&'a str],
    /// Whether their values are texts, of which only equal bytes are equal.
    pub(crate) are_texts: bool,
}

/// How many different values two columns have, and what only the left one has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) left: u64,
    pub(crate) right: u64,
    pub(crate) common: u64,
    /// Whether the number of the right one's values is not exact.
    #[serde(default)]
    pub(crate) right_is_estimate: bool,
    /// Some values that the right one has not, and how often the left one has them.
    pub(crate) orphans: Vec<(String, u64)>,
    /// How many rows have such a value.
    pub(crate) orphan_rows: u64,
    /// Of a declared key, the blank strings that the right one has not; none of them is counted above.
    #[serde(default)]
    pub(crate) blanks: Option<Blanks>,
}

/// Blank values of a declared key that have no partner. Of several columns, at least one is blank and none is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Blanks {
    /// The most frequent, with the numbers of their rows.
    pub(crate) orphans: Vec<(String, u64)>,
    /// How many different ones there are.
    pub(crate) values: u64,
    /// How many rows have one.
    pub(crate) rows: u64,
}

impl Counts {
    /// Which share of the left one's values the right one has: all of none, if there are none.
    pub(crate) fn containment(&self) -> f64 {
        if self.left == 0 { 1.0 } else { self.common as f64 / self.left as f64 }
    }
}

/// What has tables.
pub(crate) trait Source: Send {
    /// What it is called in messages: a path, or an address without its password.
    fn name(&self) -> &str;

    /// Its short name, for tables that others have too.
    fn short(&self) -> String;

    /// Its tables, as far as they can be told without reading them, and what could not be.
    fn tables(&mut self, run: &Run) -> Result<(Vec<Table>, Vec<Problem>)>;

    /// Reads the wanted columns of a table, or all. Returns what could not be read.
    fn read(
        &mut self,
        table: &Table,
        wanted: Option<&[usize]>,
        run: &Run,
        visit: &mut Visit<'_>,
    ) -> Result<Vec<Problem>>;

    /// Whether it compares columns by itself.
    fn compares(&self) -> bool {
        false
    }

    /// How many different values columns of two of its tables have.
    fn compare(&mut self, _: ColumnPair<'_>, _: &Run) -> Result<Counts> {
        Err(Error::source(self.name(), "this source cannot compare columns"))
    }
}

impl Problem {
    /// Rows that could not be used.
    fn of_rows(place: &str, bad: BadRows) -> Option<Self> {
        let (line, reason) = bad.first?;
        let more = match bad.count {
            1 => "this row was left out".to_owned(),
            count => format!("{count} such rows were left out"),
        };
        Some(Self { place: format!("{place}:{line}"), reason: format!("{reason}; {more}") })
    }
}

/// The sources that a user's words stand for. XML documents that are named one by one are one source.
pub(crate) fn open_all(texts: &[String], options: &SourceOptions) -> Result<Vec<Box<dyn Source>>> {
    let is_document = |text: &&String| Path::new(text).is_file() && is_xml(Path::new(text));
    let documents: Vec<&Path> = texts.iter().filter(is_document).map(Path::new).collect();
    if documents.len() < 2 {
        return texts.iter().map(|text| open(text, options)).collect();
    }
    let others = texts.iter().filter(|text| !is_document(text)).map(|text| open(text, options));
    let together: Box<dyn Source> = Box::new(files::Files::of_documents(&documents, options));
    others.chain([Ok(together)]).collect()
}

/// The source that a user's words stand for.
pub(crate) fn open(text: &str, options: &SourceOptions) -> Result<Box<dyn Source>> {
    match Server::of(text)? {
        #[cfg(feature = "databases")]
        Some(Server::Postgres) => return Ok(Box::new(postgres::Postgres::connect(text, options)?)),
        #[cfg(feature = "databases")]
        Some(Server::Mysql) => return Ok(Box::new(mysql::Mysql::connect(text, options)?)),
        #[cfg(not(feature = "databases"))]
        Some(_) => unreachable!("a build without databases refuses their addresses"),
        None => {}
    }
    let path = Path::new(text);
    if sqlite::is_database(path) {
        return Ok(Box::new(sqlite::Sqlite::open(path, options)?));
    }
    Ok(Box::new(files::Files::find(path, options)?))
}

/// Values that are handed on together take about so many bytes.
const ENOUGH: usize = 1 << 20;

/// Bytes as text, of which no two are alike unless the bytes are.
fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digits = bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    ['\\', 'x'].into_iter().chain(digits).collect()
}

/// Orphan values that are shown.
pub(crate) const ORPHANS: usize = 5;
