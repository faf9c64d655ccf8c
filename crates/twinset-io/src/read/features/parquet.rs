//! A table in a parquet file.

use std::path::Path;

use arrow_array::Array;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use twinset::Run;

use super::batch::{Batch, ENOUGH, largest_row, long_row};
use crate::guard::guarded;
use crate::read::ParquetFile;
use crate::read::parquet::{DAMAGED, as_text};
use crate::{Error, Limits, Result};

/// Rows of parquet that are read at a time.
const ROWS: usize = 8192;

fn parquet_failure(path: &Path, error: impl std::fmt::Display) -> Error {
    Error::file(path, format!("not a whole parquet file: {error}"))
}

fn builder(path: &Path, limits: &Limits) -> Result<ParquetRecordBatchReaderBuilder<ParquetFile>> {
    let file = std::fs::File::open(path).map_err(|error| Error::file(path, format!("cannot be opened: {error}")))?;
    let opened = guarded(|| ParquetFile::new(file, limits).rows());
    opened.ok_or_else(|| Error::file(path, DAMAGED))?.map_err(|error| parquet_failure(path, error))
}

/// What the columns of a file are called.
pub(super) fn names(path: &Path, limits: &Limits) -> Result<Vec<String>> {
    Ok(builder(path, limits)?.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// Calls `visit` with batches of the wanted columns, in the order of the rows.
pub(super) fn for_each<E: From<Error>>(
    (path, limits): (&Path, &Limits),
    is_wanted: &[bool],
    run: &Run,
    mut visit: impl FnMut(&[Batch]) -> Result<(), E>,
) -> Result<(), E> {
    let builder = builder(path, limits)?;
    let wanted: Vec<usize> = (0..is_wanted.len()).filter(|&column| is_wanted[column]).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let reader = guarded(|| builder.with_projection(mask).with_batch_size(ROWS).build());
    let mut reader = reader.ok_or_else(|| Error::file(path, DAMAGED))?.map_err(|error| parquet_failure(path, error))?;
    let (largest, mut number) = (largest_row(limits), 0u64);
    let mut batch = Batch::new(is_wanted.len());
    loop {
        run.check().map_err(|error| E::from(error.into()))?;
        let next = guarded(|| reader.next()).ok_or_else(|| Error::file(path, DAMAGED))?;
        let Some(rows) = next else { break };
        let rows = rows.map_err(|error| parquet_failure(path, error))?;
        let text = |column| guarded(|| as_text(column)).ok_or_else(|| Error::file(path, DAMAGED));
        let texts = rows.columns().iter().map(|column| text(column)?.map_err(|error| parquet_failure(path, error)));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        for row in 0..rows.num_rows() {
            number += 1;
            let values = texts.iter().map(|text| text.is_valid(row).then(|| text.value(row).as_bytes()));
            if values.clone().flatten().map(|value| value.len() as u64).sum::<u64>() > largest {
                return Err(Error::file(path, format!("row {number}: {}", long_row(largest))).into());
            }
            values.zip(&wanted).for_each(|(value, &column)| batch.push(column, value));
            // A few texts may stand in all rows.
            if batch.size() >= ENOUGH {
                visit(std::slice::from_ref(&batch))?;
                batch = Batch::new(is_wanted.len());
            }
        }
    }
    visit(std::slice::from_ref(&batch))
}
