//! Columns of a parquet file, or of a table in memory, as text.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringViewArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use twinset::Run;

use super::block::Parsed;
use super::fields::{Fields, Wanted};
use super::inputs::InputFile;
use super::lines::too_long;
use super::parquet_file::ParquetFile;
use super::{ReadOptions, stream};
use crate::guard::guarded;
use crate::memory::MemoryTable;
use crate::{Error, Result};

/// Rows that are read at a time.
const ROWS: usize = 2048;

/// Columns of some rows, as text.
pub(super) type Columns = Vec<StringViewArray>;

/// How many rows they have.
pub(super) fn rows(columns: &Columns) -> u64 {
    columns.first().map_or(0, |column| column.len() as u64)
}

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
fn of_table(table: Arc<MemoryTable>, name: &str, wanted: &Wanted) -> Result<(Batches, Fields)> {
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

/// The first two columns of a table, as text.
pub(super) fn first_texts(table: &MemoryTable, name: &str) -> Result<Vec<(String, String)>> {
    let fail = |reason: String| Error::File { file: name.to_owned(), reason };
    let mut pairs = Vec::new();
    for batch in &table.batches {
        let [left, right, ..] = batch.columns() else { return Err(fail("two columns of ids are needed".to_owned())) };
        let (left, right) = (as_text(left).map_err(fail)?, as_text(right).map_err(fail)?);
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        pairs.extend(left.iter().zip(&right).map(|(left, right)| (text(left), text(right))));
    }
    Ok(pairs)
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Opens a file or a table, and finds the wanted fields in its schema. The reader panics at some of what a damaged file can hold.
pub(super) fn open(input: &InputFile, options: &ReadOptions, wanted: &Wanted, run: &Run) -> Result<(Batches, Fields)> {
    if let Some(table) = &input.table {
        return of_table(table.clone(), &input.title(), wanted);
    }
    let (path, file) = (&input.path, parquet_file(input, options, run)?);
    guarded(|| open_unguarded(path, file, wanted)).unwrap_or_else(|| Err(Error::file(path, DAMAGED)))
}

/// Parquet is read from its end, so standard input is put into a temporary file first.
pub(crate) fn parquet_file(input: &InputFile, options: &ReadOptions, run: &Run) -> Result<ParquetFile> {
    let opened = |file: File| ParquetFile::new(file, &options.limits);
    let fail = |error: io::Error| Error::file(&input.path, format!("cannot be opened: {error}"));
    if !input.is_standard() {
        return File::open(&input.path).map(opened).map_err(fail);
    }
    if let Some(spool) = &input.spool {
        return stream::reopened(spool).map(opened).map_err(fail);
    }
    let mut file = run.spill.as_ref().map_or_else(tempfile::tempfile, tempfile::tempfile_in).map_err(fail)?;
    io::copy(&mut io::stdin(), &mut file).map_err(fail)?;
    file.rewind().map_err(fail)?;
    Ok(opened(file))
}

pub(super) const DAMAGED: &str = "not a whole parquet file: it is damaged";

fn open_unguarded(path: &Path, file: ParquetFile, wanted: &Wanted) -> Result<(Batches, Fields)> {
    let fail = |error: parquet::errors::ParquetError| Error::file(path, format!("not a whole parquet file: {error}"));
    let builder = file.rows().map_err(fail)?;
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
    pub(super) fn next_block(&mut self) -> Option<Result<Columns, String>> {
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
pub fn texts_of(column: &ArrayRef) -> Result<StringViewArray, String> {
    if is_list(column.data_type()) { lines(column, Some("a token has a line break in it")) } else { as_text(column) }
}

/// A column as strings: nulls and NaN are missing, numbers and dates are written out. Texts stay where they are.
pub(super) fn as_text(column: &ArrayRef) -> Result<StringViewArray, String> {
    let cast = |kind: &DataType| arrow_cast::cast(column, kind).map_err(|error| error.to_string());
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match column.data_type() {
        // Views do not reach as far as these texts may lie, so that they are copied.
        DataType::LargeUtf8 if column.as_string::<i64>().values().len() >= u32::MAX as usize => {
            return Ok(column.as_string::<i64>().iter().collect());
        }
        DataType::Dictionary(_, values) if !is_text(values) => return as_text(&cast(values)?),
        DataType::Utf8 => return Ok(column.as_string::<i32>().into()),
        DataType::LargeUtf8 => return Ok(column.as_string::<i64>().into()),
        DataType::Utf8View => return Ok(column.as_string_view().clone()),
        DataType::Dictionary(..) => return Ok(cast(&DataType::Utf8View)?.as_string_view().clone()),
        kind if is_list(kind) => return lines(column, None),
        // Large floating-point numbers are written out, as in other files.
        DataType::Float64 => return Ok(numbers(column.as_primitive::<Float64Type>(), |number| number.is_nan())),
        DataType::Float32 => return Ok(numbers(column.as_primitive::<Float32Type>(), |number| number.is_nan())),
        DataType::Float16 => return as_text(&cast(&DataType::Float32)?),
        // Arrow writes them in the same way, but slowly.
        DataType::Int8 => return Ok(numbers(column.as_primitive::<Int8Type>(), |_| false)),
        DataType::Int16 => return Ok(numbers(column.as_primitive::<Int16Type>(), |_| false)),
        DataType::Int32 => return Ok(numbers(column.as_primitive::<Int32Type>(), |_| false)),
        DataType::Int64 => return Ok(numbers(column.as_primitive::<Int64Type>(), |_| false)),
        DataType::UInt8 => return Ok(numbers(column.as_primitive::<UInt8Type>(), |_| false)),
        DataType::UInt16 => return Ok(numbers(column.as_primitive::<UInt16Type>(), |_| false)),
        DataType::UInt32 => return Ok(numbers(column.as_primitive::<UInt32Type>(), |_| false)),
        DataType::UInt64 => return Ok(numbers(column.as_primitive::<UInt64Type>(), |_| false)),
        _ => {}
    }
    let column = &without_zone(column);
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column, &options).map_err(|error| error.to_string())?;
    let row = |row| if column.is_null(row) { None } else { Some(formatter.value(row).to_string()) };
    Ok((0..column.len()).map(row).collect())
}

/// Each list as lines, one for each item. Items with line breaks may be refused.
fn lines(column: &ArrayRef, refused: Option<&str>) -> Result<StringViewArray, String> {
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

/// Numbers; what is none of them is missing.
fn numbers<T: ArrowPrimitiveType<Native: Display>>(
    column: &PrimitiveArray<T>,
    is_none: fn(&T::Native) -> bool,
) -> StringViewArray {
    column.iter().map(|number| number.filter(|number| !is_none(number)).map(|number| number.to_string())).collect()
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

pub(super) fn parse<'a>(columns: &'a Columns, first_line: u64, fields: &Fields, largest: u64) -> Parsed<'a> {
    let rows = columns.first().map_or(0, Array::len);
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    (0..rows)
        .map(|row| {
            texts.clear();
            let value = |column: &'a StringViewArray| if column.is_null(row) { "" } else { column.value(row) };
            texts.extend(columns.iter().map(|column| Cow::Borrowed(value(column))));
            let line = first_line + row as u64;
            if texts.iter().map(|text| text.len() as u64).sum::<u64>() > largest {
                return Err(too_long(line, largest, texts.join(" ").as_bytes()));
            }
            fields.record(&texts, line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{DictionaryArray, Int32Array, LargeStringArray};

    use super::*;

    /// Together they have more than the two gigabytes that offsets of 32 bits reach.
    #[test]
    fn many_large_texts_stay_where_they_are() {
        let text = "x".repeat((1 << 20) + 1);
        let values = Arc::new(LargeStringArray::from_iter_values([&text]));
        let column: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(vec![0; ROWS]), values));
        let texts = as_text(&column).unwrap();
        let again = as_text(&(Arc::new(texts.clone()) as ArrayRef)).unwrap();
        for texts in [texts, again] {
            assert_eq!((texts.len(), texts.value(ROWS - 1)), (ROWS, text.as_str()));
            assert!(texts.get_buffer_memory_size() < 8 << 20, "they are not copied");
        }
    }
}
