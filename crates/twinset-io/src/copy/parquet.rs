//! Copies rows of a parquet file, with its schema and metadata.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use twinset::Run;

use super::{Fate, Records, Sides, memory};
use crate::guard::guarded;
use crate::read::{InputFile, ReadOptions, parquet_file};
use crate::write::{parquet_error, write_failure};
use crate::{Error, Output, Result};

/// Rows that are copied at a time.
const ROWS: usize = 8192;
/// The writer makes this entry itself.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// Copies rows of a file, or of a table in memory.
pub(super) fn copy(
    input: &InputFile,
    options: &ReadOptions,
    records: &mut Records<'_>,
    sides: &mut Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    if let Some(table) = &input.table {
        return memory::copy(table, records, sides, fate, run);
    }
    // The reader of parquet panics at some of what a damaged file can hold.
    let copied = guarded(|| copy_file(input, options, records, sides, fate, run));
    copied.unwrap_or_else(|| Err(Error::file(&input.path, "the rows cannot be copied: the file is damaged")))
}

fn copy_file(
    input: &InputFile,
    options: &ReadOptions,
    records: &mut Records<'_>,
    sides: &mut Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    let fail = |error: ParquetError| Error::file(&input.path, format!("the rows cannot be copied: {error}"));
    let mut file = parquet_file(input, options, run)?;
    let metadata = file.metadata().map_err(fail)?;
    let mut kept = Rows::new(&mut sides.kept, &metadata)?;
    let mut removed = sides.removed.as_mut().map(|output| Rows::new(output, &metadata)).transpose()?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    for batch in builder.with_batch_size(ROWS).build().map_err(fail)? {
        run.check()?;
        let batch = batch.map_err(|error| fail(error.into()))?;
        let fates: Vec<Option<Fate>> = (0..batch.num_rows()).map(|_| fate(records.next_ordinal())).collect();
        let with = |wanted: Fate| -> Result<RecordBatch> {
            let mask: BooleanArray = fates.iter().map(|fate| Some(*fate == Some(wanted))).collect();
            filter_record_batch(&batch, &mask).map_err(|error| fail(error.into()))
        };
        kept.write(&with(Fate::Kept)?)?;
        if let Some(removed) = &mut removed {
            removed.write(&with(Fate::Removed)?)?;
        }
    }
    kept.finish()?;
    removed.map_or(Ok(()), Rows::finish)
}

/// Rows that are written. What fails names the file that they go to.
struct Rows<'a>(ArrowWriter<&'a mut Output>);

impl<'a> Rows<'a> {
    fn new(output: &'a mut Output, metadata: &ArrowReaderMetadata) -> Result<Self> {
        let name = output.name().to_owned();
        writer(output, metadata).map(Self).map_err(|error| write_failure(&name, &parquet_error(error)))
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        const LARGE: usize = 64 << 20;
        let written = self.0.write(rows);
        self.told(written)?;
        // A group of rows that takes much memory ends.
        let flushed = if self.0.in_progress_size() > LARGE { self.0.flush() } else { Ok(()) };
        self.told(flushed)
    }

    fn finish(mut self) -> Result<()> {
        let finished = self.0.finish().map(|_| ());
        self.told(finished)
    }

    fn told(&self, done: Result<(), ParquetError>) -> Result<()> {
        done.map_err(|error| self.0.inner().failure(&parquet_error(error)))
    }
}

/// A writer of the same schema, metadata and compression.
fn writer<'a>(
    output: &'a mut Output,
    metadata: &ArrowReaderMetadata,
) -> Result<ArrowWriter<&'a mut Output>, ParquetError> {
    let file = metadata.metadata();
    let entries = file.file_metadata().key_value_metadata().into_iter().flatten();
    let entries: Vec<KeyValue> = entries.filter(|entry| entry.key != ARROW_SCHEMA).cloned().collect();
    let mut properties = WriterProperties::builder().set_key_value_metadata((!entries.is_empty()).then_some(entries));
    for column in file.row_groups().first().into_iter().flat_map(|group| group.columns()) {
        properties = properties.set_column_compression(column.column_path().clone(), column.compression());
    }
    let mut options = ArrowWriterOptions::new().with_properties(properties.build());
    let schema = file.file_metadata().schema_descr();
    // Times of the old 96-bit kind are read, but can be written as 64 bits only.
    if schema.columns().iter().all(|column| column.physical_type() != Type::INT96) {
        options = options.with_parquet_schema(schema.clone());
    }
    ArrowWriter::try_new_with_options(output, metadata.schema().clone(), options)
}
