//! Rows with named columns, as csv, jsonl, parquet, or in memory.

use std::io::{self, Write};

use super::columns::ColumnWriter;
use super::output::write_failure;
use super::{Output, OutputFormat};
use crate::{Ids, Result};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A real number.
    Real,
    /// A whole number.
    Whole,
    /// A record, by its name; in memory it can be missing.
    Name,
    /// A record, in memory by its row in the table that it is from, elsewhere by its name.
    Row,
}

impl Kind {
    /// The kind of a column that tells records of these names.
    pub fn of(ids: &Ids) -> Self {
        if ids.are_rows() { Self::Row } else { Self::Name }
    }
}

/// What stands in a cell.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Text.
    Text(&'a str),
    /// A real number; it is written as the shortest decimal that means the same 64-bit float. NaN stands for a missing
    /// value: an empty cell of csv, a null of jsonl.
    Real(f64),
    /// A whole number.
    Whole(u64),
    /// The record at a position of a collection.
    Record(&'a Ids, usize),
    /// The record of a row, and its name.
    Row(u64, &'a str),
    /// No record: null in memory, an empty text elsewhere.
    NoRecord,
}

/// A table that is written row by row.
pub struct Table {
    columns: Vec<(String, Kind)>,
    writer: Writer,
}

enum Writer {
    Csv(Box<csv::Writer<Output>>),
    Jsonl(Output),
    Columns(Box<ColumnWriter>),
}

impl Table {
    /// Starts a table; csv gets its header.
    pub fn create<N: Into<String>>(
        output: Output,
        format: OutputFormat,
        columns: impl IntoIterator<Item = (N, Kind)>,
    ) -> Result<Self> {
        let columns: Vec<(String, Kind)> = columns.into_iter().map(|(name, kind)| (name.into(), kind)).collect();
        let writer = match format {
            _ if let Some(place) = output.place() => {
                Writer::Columns(Box::new(ColumnWriter::to_memory(place.clone(), &columns)?))
            }
            OutputFormat::Csv => {
                let mut writer = csv::Writer::from_writer(output);
                let header = writer.write_record(columns.iter().map(|(name, _)| name));
                header.map_err(|error| writer.get_ref().failure(&csv_error(error)))?;
                Writer::Csv(Box::new(writer))
            }
            OutputFormat::Jsonl => Writer::Jsonl(output),
            OutputFormat::Parquet => Writer::Columns(Box::new(ColumnWriter::to_parquet(output, &columns)?)),
        };
        Ok(Self { columns, writer })
    }

    /// Adds a row: one value for each column.
    pub fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(values.len(), self.columns.len(), "a row has a value for each column");
        match &mut self.writer {
            Writer::Csv(writer) => {
                for value in values {
                    let written = match value {
                        Value::Text(text) => writer.write_field(text),
                        Value::Real(number) if number.is_nan() => writer.write_field(""),
                        Value::Real(number) => writer.write_field(number.to_string()),
                        Value::Whole(number) => writer.write_field(number.to_string()),
                        Value::Record(ids, at) => writer.write_field(ids.get(*at).as_ref()),
                        Value::Row(_, name) => writer.write_field(name),
                        Value::NoRecord => writer.write_field(""),
                    };
                    written.map_err(|error| writer.get_ref().failure(&csv_error(error)))?;
                }
                let ended = writer.write_record(None::<&[u8]>);
                ended.map_err(|error| writer.get_ref().failure(&csv_error(error)))
            }
            Writer::Jsonl(output) => {
                let row = Row { columns: &self.columns, values };
                let written = serde_json::to_writer(&mut *output, &row).map_err(io::Error::from);
                written.and_then(|()| output.write_all(b"\n")).map_err(|error| output.failure(&error))
            }
            Writer::Columns(writer) => writer.row(values),
        }
    }

    /// Completes the table.
    pub fn finish(self) -> Result<()> {
        match self.writer {
            Writer::Csv(mut writer) => {
                writer.flush().map_err(|error| writer.get_ref().failure(&error))?;
                let name = writer.get_ref().name().to_owned();
                let output = writer.into_inner().map_err(|error| write_failure(&name, error.error()))?;
                output.finish()
            }
            Writer::Jsonl(output) => output.finish(),
            Writer::Columns(writer) => writer.finish(),
        }
    }
}

fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// A row as a JSON object, with the columns in their order.
struct Row<'a> {
    columns: &'a [(String, Kind)],
    values: &'a [Value<'a>],
}

impl serde::Serialize for Row<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for ((name, _), value) in self.columns.iter().zip(self.values) {
            match value {
                Value::Text(text) => map.serialize_entry(name, text)?,
                Value::Real(number) => map.serialize_entry(name, number)?,
                Value::Whole(number) => map.serialize_entry(name, number)?,
                Value::Record(ids, at) => map.serialize_entry(name, &ids.get(*at))?,
                Value::Row(_, record) => map.serialize_entry(name, record)?,
                Value::NoRecord => map.serialize_entry(name, "")?,
            }
        }
        map.end()
    }
}
