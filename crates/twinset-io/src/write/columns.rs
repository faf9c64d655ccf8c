//! Rows as columns, in a parquet file or in memory.

use std::io;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::output::write_failure;
use super::{Kind, Output, Value};
use crate::Result;
use crate::memory::Memory;

/// Rows that are put into columns at a time.
const ROWS: usize = 1 << 16;
/// Bytes of their texts, from which on there are fewer rows: a column holds no more than two gigabytes at a time.
const LARGE: usize = 64 << 20;

/// Writes columns.
pub(super) struct ColumnWriter {
    target: ColumnTarget,
    schema: Arc<Schema>,
    builders: Vec<Builder>,
    rows: usize,
    /// Of the texts in these rows.
    bytes: usize,
}

enum ColumnTarget {
    Parquet(Box<ArrowWriter<Output>>),
    Memory(Memory),
}

enum Builder {
    Text(StringBuilder),
    Real(Float64Builder),
    Whole(Int64Builder),
    Name(StringBuilder),
    Row(Int64Builder),
}

impl ColumnWriter {
    /// Rows that stay in memory.
    pub(super) fn to_memory(place: Memory, columns: &[(String, Kind)]) -> Result<Self> {
        Self::new(columns, |schema| {
            place.set_schema(schema);
            Ok(ColumnTarget::Memory(place))
        })
    }

    /// Rows of a parquet file, which tells records by their names.
    pub(super) fn to_parquet(output: Output, columns: &[(String, Kind)]) -> Result<Self> {
        let named = |(name, kind): &(String, Kind)| match kind {
            Kind::Name | Kind::Row => (name.clone(), Kind::Text),
            _ => (name.clone(), *kind),
        };
        Self::new(&columns.iter().map(named).collect::<Vec<_>>(), |schema| {
            let failure = output.failure(&io::Error::other("not a parquet schema"));
            let writer = ArrowWriter::try_new(output, schema.clone(), None).map_err(|_| failure)?;
            Ok(ColumnTarget::Parquet(Box::new(writer)))
        })
    }

    fn new(columns: &[(String, Kind)], target: impl FnOnce(&Arc<Schema>) -> Result<ColumnTarget>) -> Result<Self> {
        let builders: Vec<Builder> = columns.iter().map(|&(_, kind)| Builder::new(kind)).collect();
        let field = |((name, _), builder): (&(String, Kind), &Builder)| match builder {
            Builder::Text(_) => Field::new(name, DataType::Utf8, false),
            Builder::Real(_) => Field::new(name, DataType::Float64, false),
            Builder::Whole(_) => Field::new(name, DataType::Int64, false),
            Builder::Name(_) => Field::new(name, DataType::Utf8, true),
            Builder::Row(_) => Field::new(name, DataType::Int64, true),
        };
        let schema = Arc::new(Schema::new(columns.iter().zip(&builders).map(field).collect::<Vec<_>>()));
        Ok(Self { target: target(&schema)?, schema, builders, rows: 0, bytes: 0 })
    }

    /// Adds a row.
    pub(super) fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        for (builder, value) in self.builders.iter_mut().zip(values) {
            match (builder, value) {
                (Builder::Row(builder), Value::Row(row, _)) => builder.append_value(*row as i64),
                (Builder::Text(builder) | Builder::Name(builder), Value::Text(text) | Value::Row(_, text)) => {
                    builder.append_value(text);
                    self.bytes += text.len();
                }
                (Builder::Real(builder), Value::Real(number)) => builder.append_value(*number),
                (Builder::Text(builder) | Builder::Name(builder), Value::Record(ids, at)) => {
                    let name = ids.get(*at);
                    builder.append_value(&name);
                    self.bytes += name.len();
                }
                (Builder::Text(builder), Value::NoRecord) => builder.append_value(""),
                (Builder::Whole(builder), Value::Whole(number)) => builder.append_value(*number as i64),
                (Builder::Row(builder), Value::Record(ids, at)) => builder.append_value(ids.row(*at) as i64),
                (Builder::Name(builder), Value::NoRecord) => builder.append_null(),
                (Builder::Row(builder), Value::NoRecord) => builder.append_null(),
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
            ColumnTarget::Memory(place) => {
                place.add_rows(batch);
                Ok(())
            }
            ColumnTarget::Parquet(writer) => {
                let written = writer.write(&batch);
                written.map_err(|error| writer.inner().failure(&parquet_error(error)))
            }
        }
    }

    /// Completes the columns.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self.target {
            ColumnTarget::Memory(_) => Ok(()),
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
            Kind::Name => Self::Name(StringBuilder::new()),
            Kind::Row => Self::Row(Int64Builder::new()),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) | Self::Name(builder) => Arc::new(builder.finish()),
            Self::Real(builder) => Arc::new(builder.finish()),
            Self::Whole(builder) | Self::Row(builder) => Arc::new(builder.finish()),
        }
    }
}
