//! A parquet file as its reader sees it: what would lie behind its end, what is announced and not there, and what is larger than
//! allowed, is an error.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use parquet::file::FOOTER_SIZE;
use parquet::file::reader::{ChunkReader, Length};

use super::parquet_page::{Pages, check_structure};
use crate::Limits;

/// An open file. The reader takes nothing for something it may skip, and would skip what a few bytes announce for hours: values behind
/// the end, and lists of truth values, for which it asks no byte at all. So every structure is walked through before, byte by byte.
/// And it unpacks some pages to whatever they hold, so these are unpacked before, to see that they hold no more than is allowed.
pub(crate) struct ParquetFile {
    file: File,
    pages: Arc<Pages>,
    /// How its pages are packed, in all ways that there are: nothing that the file tells of one of them can be trusted.
    packings: Vec<Compression>,
}

impl ParquetFile {
    pub(crate) fn new(file: File, limits: &Limits) -> Self {
        Self { file, pages: Arc::new(Pages::new(limits.parquet_page)), packings: Vec::new() }
    }

    /// What the file tells of itself.
    pub(crate) fn metadata(&mut self) -> Result<ArrowReaderMetadata> {
        let metadata = ArrowReaderMetadata::load(self, ArrowReaderOptions::new())?;
        let columns = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
        let mut packings: Vec<Compression> = Vec::new();
        for packing in columns.map(|column| column.compression()) {
            if !packings.contains(&packing) {
                packings.push(packing);
            }
        }
        self.packings = packings;
        Ok(metadata)
    }

    /// Reads texts where they lie: one that occurs in many rows is in memory once.
    pub(crate) fn rows(mut self) -> Result<ParquetRecordBatchReaderBuilder<Self>> {
        let metadata = self.metadata()?;
        let view = |field: &Arc<Field>| match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => Arc::new(Field::clone(field).with_data_type(DataType::Utf8View)),
            _ => field.clone(),
        };
        let fields: Vec<Arc<Field>> = metadata.schema().fields().iter().map(view).collect();
        let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?;
        Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(self, metadata))
    }

    /// Where the metadata end, and eight bytes follow that tell how long they are.
    fn end_of_metadata(&self) -> u64 {
        self.len().saturating_sub(FOOTER_SIZE as u64)
    }
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        Length::len(&self.file)
    }
}

impl ChunkReader for ParquetFile {
    type T = FromHere;

    /// The header of a page, or how long the metadata are.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let pages = (start != self.end_of_metadata()).then(|| self.pages.clone());
        Ok(FromHere { inner: BufReader::new(UntilEnd(file)), start, unchecked: pages })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Room is made for all of them first.
        if start.saturating_add(length as u64) > self.len() {
            return Err(ParquetError::EOF(format!("there are no {length} bytes from byte {start} on")));
        }
        let bytes = self.file.get_bytes(start, length)?;
        if start + length as u64 == self.end_of_metadata() {
            check_structure(bytes.as_ref())?;
        }
        self.pages.check(start, &bytes, &self.packings)?;
        Ok(bytes)
    }
}

/// What lies from a place on. If it is the header of a page, it is checked before it is read: also a reader that has the header already
/// asks for this, and then for nothing of it.
pub(crate) struct FromHere {
    inner: BufReader<UntilEnd>,
    start: u64,
    unchecked: Option<Arc<Pages>>,
}

impl Read for FromHere {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(pages) = self.unchecked.take() {
            pages.check_header(&mut self.inner).map_err(io::Error::other)?;
            self.inner.seek(SeekFrom::Start(self.start))?;
        }
        self.inner.read(buffer)
    }
}

/// What lies before the end of a file.
struct UntilEnd(File);

impl Read for UntilEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }
}

impl Seek for UntilEnd {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.0.seek(place)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;

    fn rows(bytes: &[u8]) -> Result<usize> {
        rows_within(bytes, Limits::default().parquet_page)
    }

    fn rows_within(bytes: &[u8], parquet_page: u64) -> Result<usize> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let batches = ParquetFile::new(file, &Limits { parquet_page, ..Limits::default() }).rows()?.build()?;
        batches.map(|batch| Ok(batch?.num_rows())).sum()
    }

    fn file_of(column: ArrayRef, properties: WriterProperties) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter([("column", column)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn lists_that_are_announced_and_not_there_are_refused() {
        let whole = file_of(Arc::new(Int32Array::from(vec![3, 1, 4])), WriterProperties::default());
        assert_eq!(rows(&whole).unwrap(), 3);
        // Fields that nobody knows, each a list of two billion truth values.
        let lists = [&b"\xf9\xf2\xff\xff\xff\xff\x07"[..], &b"\x19\xf2\xff\xff\xff\xff\x07".repeat(999)].concat();
        let (pages, tail) = whole.split_at(whole.len() - FOOTER_SIZE);
        let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) + lists.len() as u32;
        let (pages, last) = pages.split_at(pages.len() - 1);
        let in_metadata = [pages, &lists, last, &length.to_le_bytes(), &tail[4..]].concat();
        let in_a_page = [&whole[..4], &lists, &whole[4..]].concat();
        for bytes in [in_metadata, in_a_page] {
            let reason = rows(&bytes).unwrap_err().to_string();
            assert!(reason.contains("a header is damaged"), "{reason}");
        }
    }

    /// A reader of lists looks at the header of the next page before it asks for it.
    #[test]
    fn lists_may_lie_on_many_pages() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for number in 0..5000 {
            lists.append_value([Some(format!("{number}")), Some(format!("x{number}"))]);
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_data_page_row_count_limit(100)
                .set_write_batch_size(50);
            assert_eq!(rows(&file_of(lists.clone(), properties.build())).unwrap(), lists.len());
        }
    }

    #[test]
    fn pages_that_unpack_to_too_much_are_refused() {
        const PAGE: usize = 3 << 20;
        // The page holds the length of the text as well, in four bytes.
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(PAGE - 4)]));
        let packings = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::BROTLI(Default::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
            Compression::ZSTD(Default::default()),
        ];
        for packing in packings {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                let properties = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_dictionary_enabled(false)
                    .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
                    .set_encoding(parquet::basic::Encoding::PLAIN)
                    .set_compression(packing);
                let file = file_of(text.clone(), properties.build());
                let (edge, beyond) = ((PAGE..PAGE + 64), PAGE - 1);
                let taken = edge.into_iter().find(|&most| rows_within(&file, most as u64).is_ok());
                let reason = rows_within(&file, beyond as u64).unwrap_err().to_string();
                assert!(taken.is_some() && reason.contains("parquet-page"), "{packing} {version:?} {taken:?} {reason}");
            }
        }
    }

    #[test]
    fn a_text_of_many_rows_is_in_memory_once() {
        let text = "x".repeat((1 << 20) + 100_000);
        let column: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|_| &text)));
        let file = file_of(column, WriterProperties::builder().set_dictionary_page_size_limit(1 << 30).build());
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(&file).unwrap();
        let rows = ParquetFile::new(input, &Limits::default()).rows().unwrap();
        for batch in rows.with_batch_size(2048).build().unwrap() {
            assert!(batch.unwrap().get_array_memory_size() < 8 << 20, "it is not copied");
        }
    }
}
