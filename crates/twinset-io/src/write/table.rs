//! Rows with named columns, as csv, jsonl, parquet, or in memory.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::output::write_failure;
use super::{Output, OutputFormat};
use crate::Result;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A real number.
    Real,
    /// A whole number.
    Whole,
}

/// What stands in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Text.
    Text(&'a str),
    /// A real number; it is written as the shortest decimal that means the same 64-bit float. NaN stands for a missing
    /// value: an empty cell of csv, a null of jsonl.
    Real(f64),
    /// A whole number.
    Whole(u64),
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

/// Rows that are put into columns at a time.
const ROWS: usize = 1 << 16;
/// Bytes of their texts, from which on there are fewer rows: a column holds no more than two gigabytes at a time.
const LARGE: usize = 64 << 20;

/// Writes columns.
struct ColumnWriter {
    target: ColumnTarget,
    schema: Arc<Schema>,
    builders: Vec<Builder>,
    rows: usize,
    /// Of the texts in these rows.
    bytes: usize,
}

enum ColumnTarget {
    Parquet(Box<ArrowWriter<Output>>),
    Memory(Output),
}

enum Builder {
    Text(StringBuilder),
    Real(Float64Builder),
    Whole(Int64Builder),
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
            _ if output.is_memory() => Writer::Columns(Box::new(ColumnWriter::new(&columns, |schema| {
                output.set_schema(schema);
                Ok(ColumnTarget::Memory(output))
            })?)),
            OutputFormat::Csv => {
                let mut writer = csv::Writer::from_writer(output);
                let header = writer.write_record(columns.iter().map(|(name, _)| name));
                header.map_err(|error| writer.get_ref().failure(&csv_error(error)))?;
                Writer::Csv(Box::new(writer))
            }
            OutputFormat::Jsonl => Writer::Jsonl(output),
            OutputFormat::Parquet => Writer::Columns(Box::new(ColumnWriter::new(&columns, |schema| {
                let failure = output.failure(&io::Error::other("not a parquet schema"));
                let writer = ArrowWriter::try_new(output, schema.clone(), None).map_err(|_| failure)?;
                Ok(ColumnTarget::Parquet(Box::new(writer)))
            })?)),
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
            }
        }
        map.end()
    }
}

impl ColumnWriter {
    fn new(columns: &[(String, Kind)], target: impl FnOnce(&Arc<Schema>) -> Result<ColumnTarget>) -> Result<Self> {
        let kind = |kind: &Kind| match kind {
            Kind::Text => DataType::Utf8,
            Kind::Real => DataType::Float64,
            Kind::Whole => DataType::Int64,
        };
        let fields: Vec<Field> = columns.iter().map(|(name, own)| Field::new(name, kind(own), false)).collect();
        let schema = Arc::new(Schema::new(fields));
        let builders = columns.iter().map(|&(_, kind)| Builder::new(kind)).collect();
        Ok(Self { target: target(&schema)?, schema, builders, rows: 0, bytes: 0 })
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        for (builder, value) in self.builders.iter_mut().zip(values) {
            match (builder, value) {
                (Builder::Text(builder), Value::Text(text)) => {
                    builder.append_value(text);
                    self.bytes += text.len();
                }
                (Builder::Real(builder), Value::Real(number)) => builder.append_value(*number),
                (Builder::Whole(builder), Value::Whole(number)) => builder.append_value(*number as i64),
                _ => unreachable!("a value is of its column's kind"),
            }
        }
        self.rows += 1;
        if self.rows == ROWS || self.bytes >= LARGE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        (self.rows, self.bytes) = (0, 0);
        let arrays: Vec<ArrayRef> = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).expect("columns of one length and fitting kinds");
        match &mut self.target {
            ColumnTarget::Memory(output) => {
                output.add_rows(batch);
                Ok(())
            }
            ColumnTarget::Parquet(writer) => {
                let written = writer.write(&batch);
                written.map_err(|error| writer.inner().failure(&parquet_error(error)))
            }
        }
    }

    fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self.target {
            ColumnTarget::Memory(output) => output.finish(),
            ColumnTarget::Parquet(writer) => {
                let name = writer.inner().name().to_owned();
                let output = writer.into_inner().map_err(|error| write_failure(&name, &parquet_error(error)))?;
                output.finish()
            }
        }
    }
}

/// What the writer of parquet files says of a failure below it.
pub(crate) fn parquet_error(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
            Kind::Whole => Self::Whole(Int64Builder::new()),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Real(builder) => Arc::new(builder.finish()),
            Self::Whole(builder) => Arc::new(builder.finish()),
        }
    }
}
