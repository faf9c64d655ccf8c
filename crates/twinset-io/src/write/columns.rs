//! Rows as columns, in a parquet file or in memory.

use std::io;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;

use super::output::write_failure;
use super::{Kind, Output, Value};
use crate::Result;
use crate::host::MemoryTable;

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
    Memory(Output),
}

enum Builder {
    Text(StringBuilder),
    Real(Float64Builder),
    Whole(Int64Builder),
}

impl ColumnWriter {
    /// Rows that stay in memory.
    pub(super) fn to_memory(output: Output, columns: &[(String, Kind)]) -> Result<Self> {
        Self::new(columns, |schema| {
            output.set_schema(schema);
            Ok(ColumnTarget::Memory(output))
        })
    }

    /// Rows of a parquet file.
    pub(super) fn to_parquet(output: Output, columns: &[(String, Kind)]) -> Result<Self> {
        Self::new(columns, |schema| {
            let failure = output.failure(&io::Error::other("not a parquet schema"));
            let writer = ArrowWriter::try_new(output, schema.clone(), None).map_err(|_| failure)?;
            Ok(ColumnTarget::Parquet(Box::new(writer)))
        })
    }

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

    /// Adds a row.
    pub(super) fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
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

    /// Completes the columns.
    pub(super) fn finish(mut self) -> Result<()> {
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

impl Output {
    /// Takes the columns of a table that stays in memory.
    pub(crate) fn set_schema(&self, schema: &SchemaRef) {
        if let Some(mut written) = self.place.as_ref().and_then(|place| place.lock().ok()) {
            written.table = Some(MemoryTable { schema: schema.clone(), batches: Vec::new() });
        }
    }

    /// Takes some of its rows.
    pub(crate) fn add_rows(&self, rows: RecordBatch) {
        if let Some(mut written) = self.place.as_ref().and_then(|place| place.lock().ok())
            && let Some(table) = &mut written.table
        {
            table.batches.push(rows);
        }
    }
}
