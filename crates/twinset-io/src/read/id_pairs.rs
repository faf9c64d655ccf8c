//! Pairs of records that are known: the first two columns of a file or a table.

use std::path::Path;

use super::parquet::first_texts;
use crate::{Error, Result, Source};

/// The ids in the first two columns of a csv or tsv file, or of a table in memory.
pub fn id_pairs(source: &Source) -> Result<Vec<(String, String)>> {
    match source {
        Source::Path(path) => of_file(path),
        Source::Table(name, table) => first_texts(table, name),
    }
}

fn of_file(path: &Path) -> Result<Vec<(String, String)>> {
    let is_tsv = path.extension().is_some_and(|ending| ending == "tsv" || ending == "txt");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(if is_tsv { b'\t' } else { b',' })
        .from_path(path)
        .map_err(|error| Error::file(path, format!("cannot be read: {error}")))?;
    let pair = |(row, record): (usize, csv::Result<csv::StringRecord>)| {
        let record = record.map_err(|error| Error::file(path, error))?;
        match (record.get(0), record.get(1)) {
            (Some(left), Some(right)) => Ok((left.to_owned(), right.to_owned())),
            _ => Err(Error::file(path, format!("row {row} does not have two columns of ids"))),
        }
    };
    (1..).zip(reader.records()).map(pair).collect()
}
