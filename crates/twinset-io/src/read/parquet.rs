//! Columns of a parquet file, or of a table in memory, as text.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Float32Type, Float64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::block::Parsed;
use super::fields::{Fields, Wanted};
use super::lines::too_long;
use crate::guard::guarded;
use crate::host::MemoryTable;
use crate::{Error, Result};

/// Rows that are read at a time.
const ROWS: usize = 2048;

/// Reads blocks of rows, of the wanted columns only.
pub(super) struct Batches {
    inner: Inner,
}

enum Inner {
    File(ParquetRecordBatchReader),
    Table {
        table: Arc<MemoryTable>,
        used: Vec<usize>,
        /// The next rows: their batch, and the first of them.
        at: (usize, usize),
    },
}

impl Inner {
    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self {
            Self::File(reader) => reader.next(),
            Self::Table { table, used, at: (batch, row) } => {
                while table.batches.get(*batch)?.num_rows() == *row {
                    (*batch, *row) = (*batch + 1, 0);
                }
                let whole = &table.batches[*batch];
                let rows = whole.slice(*row, ROWS.min(whole.num_rows() - *row));
                *row += rows.num_rows();
                Some(rows.project(used))
            }
        }
    }
}

/// Takes a table, and finds the wanted fields in its columns.
pub(super) fn of_table(table: Arc<MemoryTable>, name: &str, wanted: &Wanted) -> Result<(Batches, Fields)> {
    let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
    let used = Fields::in_header(wanted, &names, b' ', name)?.used(names.len());
    let header: Vec<&str> = used.iter().map(|&position| names[position]).collect();
    let fields = Fields::in_header(wanted, &header, b' ', name)?;
    Ok((Batches { inner: Inner::Table { table: table.clone(), used, at: (0, 0) } }, fields))
}

/// Whether the texts of a table are lists of tokens.
pub(super) fn has_token_lists(table: &MemoryTable, wanted: &Wanted) -> bool {
    let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
    let Ok(fields) = Fields::in_header(wanted, &names, b' ', "") else { return false };
    let texts = fields.texts(names.len());
    !texts.is_empty() && texts.iter().all(|&position| is_list(table.schema.field(position).data_type()))
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Opens a file, and finds the wanted fields in its schema. The reader panics at some of what a damaged file can hold.
pub(super) fn open(path: &Path, file: File, wanted: &Wanted) -> Result<(Batches, Fields)> {
    guarded(|| open_unguarded(path, file, wanted)).unwrap_or_else(|| Err(Error::file(path, DAMAGED)))
}

pub(super) const DAMAGED: &str = "not a whole parquet file: it is damaged";

fn open_unguarded(path: &Path, file: File, wanted: &Wanted) -> Result<(Batches, Fields)> {
    let fail = |error: parquet::errors::ParquetError| Error::file(path, format!("not a whole parquet file: {error}"));
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(fail)?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let header: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = Fields::in_header(wanted, &header, b' ', &path.display().to_string())?;
    let used = all.used(names.len());
    let mask = ProjectionMask::roots(builder.parquet_schema(), used.iter().copied());
    let header: Vec<&str> = used.iter().map(|&position| header[position]).collect();
    let fields = Fields::in_header(wanted, &header, b' ', &path.display().to_string())?;
    let inner = builder.with_projection(mask).with_batch_size(ROWS).build().map_err(fail)?;
    Ok((Batches { inner: Inner::File(inner) }, fields))
}

impl Batches {
    /// The next rows, column by column; `None` at the end.
    pub(super) fn next_block(&mut self) -> Option<Result<Vec<StringArray>, String>> {
        let Some(next) = guarded(|| self.inner.next()) else { return Some(Err(DAMAGED.to_owned())) };
        let batch = next?.map_err(|error| error.to_string());
        let check = match &self.inner {
            Inner::Table { .. } => texts_of,
            Inner::File(_) => as_text,
        };
        Some(batch.and_then(|batch| batch.columns().iter().map(check).collect()))
    }
}

/// A column of a table in memory as texts. Lists are tokens, each on a line of its own, and what separates tokens cannot be part of one.
pub fn texts_of(column: &ArrayRef) -> Result<StringArray, String> {
    if is_list(column.data_type()) { lines(column, Some("a token has a line break in it")) } else { as_text(column) }
}

/// A column as strings: nulls are empty, numbers and dates are written out.
pub(super) fn as_text(column: &ArrayRef) -> Result<StringArray, String> {
    // Offsets may be too large for a smaller kind of array, although this part of the texts is not.
    if let Some(texts) = column.as_string_opt::<i64>() {
        return Ok(texts.iter().collect());
    }
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_cast = match column.data_type() {
        DataType::Dictionary(_, values) => is_text(values),
        kind => is_text(kind),
    };
    if is_cast {
        let cast = arrow_cast::cast(column, &DataType::Utf8).map_err(|error| error.to_string())?;
        if let Some(strings) = cast.as_any().downcast_ref::<StringArray>() {
            return Ok(strings.clone());
        }
    }
    if is_list(column.data_type()) {
        return lines(column, None);
    }
    // Large floating-point numbers are written out, as in other files.
    match column.data_type() {
        DataType::Float64 => return Ok(numbers(column.as_primitive::<Float64Type>())),
        DataType::Float32 => return Ok(numbers(column.as_primitive::<Float32Type>())),
        _ => {}
    }
    let column = &without_zone(column);
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column, &options).map_err(|error| error.to_string())?;
    let row = |row| if column.is_null(row) { None } else { Some(formatter.value(row).to_string()) };
    Ok((0..column.len()).map(row).collect())
}

/// Each list as lines, one for each item. Items with line breaks may be refused.
fn lines(column: &ArrayRef, refused: Option<&str>) -> Result<StringArray, String> {
    let list = |row: usize| match column.data_type() {
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        DataType::FixedSizeList(..) => column.as_fixed_size_list().value(row),
        _ => column.as_list::<i32>().value(row),
    };
    let text = |row: usize| -> Result<Option<String>, String> {
        if column.is_null(row) {
            return Ok(None);
        }
        let items = as_text(&list(row))?;
        let items: Vec<&str> = items.iter().flatten().collect();
        match refused {
            Some(reason) if items.iter().any(|item| item.contains(['\n', '\r'])) => Err(reason.to_owned()),
            _ => Ok(Some(items.join("\n"))),
        }
    };
    (0..column.len()).map(text).collect()
}

fn numbers<T: ArrowPrimitiveType<Native: std::fmt::Display>>(column: &PrimitiveArray<T>) -> StringArray {
    column.iter().map(|number| number.map(|number| number.to_string())).collect()
}

/// Points in time are written in UTC, whatever zone they are to be shown in.
fn without_zone(column: &ArrayRef) -> ArrayRef {
    fn plain<T: ArrowTimestampType>(column: &ArrayRef) -> ArrayRef {
        Arc::new(column.as_primitive::<T>().clone().with_timezone_opt(None::<Arc<str>>))
    }
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, Some(_)) => plain::<TimestampSecondType>(column),
        DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => plain::<TimestampMillisecondType>(column),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => plain::<TimestampMicrosecondType>(column),
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => plain::<TimestampNanosecondType>(column),
        _ => column.clone(),
    }
}

pub(super) fn parse<'a>(columns: &'a [StringArray], first_line: u64, fields: &Fields, largest: u64) -> Parsed<'a> {
    let rows = columns.first().map_or(0, Array::len);
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    (0..rows)
        .map(|row| {
            texts.clear();
            let value = |column: &'a StringArray| if column.is_null(row) { "" } else { column.value(row) };
            texts.extend(columns.iter().map(|column| Cow::Borrowed(value(column))));
            let line = first_line + row as u64;
            if texts.iter().map(|text| text.len() as u64).sum::<u64>() > largest {
                return Err(too_long(line, largest, texts.join(" ").as_bytes()));
            }
            fields.record(&texts, line)
        })
        .collect()
}
