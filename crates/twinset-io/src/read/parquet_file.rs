//! A parquet file as its reader sees it: what would lie behind its end, and what is announced and not there, is an error.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::FOOTER_SIZE;
use parquet::file::reader::{ChunkReader, Length};
use thrift::TConfiguration;
use thrift::protocol::{TCompactInputProtocol, TInputProtocol, TType};

/// An open file. The reader takes nothing for something it may skip, and would skip what a few bytes announce for hours: values behind
/// the end, and lists of truth values, for which it asks no byte at all. So every structure is walked through before, byte by byte.
pub(crate) struct ParquetFile(pub(crate) File);

impl ParquetFile {
    fn read_from(&self, start: u64) -> Result<BufReader<UntilEnd>> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(UntilEnd(file)))
    }

    /// Where the metadata end, and eight bytes follow that tell how long they are.
    fn end_of_metadata(&self) -> u64 {
        self.len().saturating_sub(FOOTER_SIZE as u64)
    }
}

/// Walks through the structure with which these bytes begin.
fn check_structure(bytes: impl Read) -> Result<()> {
    TCompactInputProtocol::with_config(bytes, TConfiguration::no_limits())
        .skip(TType::Struct)
        .map_err(|error| ParquetError::General(format!("a header is damaged: {error}")))
}

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<UntilEnd>;

    /// The header of a page, or how long the metadata are.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        if start != self.end_of_metadata() {
            check_structure(self.read_from(start)?)?;
        }
        self.read_from(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Room is made for all of them first.
        if start.saturating_add(length as u64) > self.len() {
            return Err(ParquetError::EOF(format!("there are no {length} bytes from byte {start} on")));
        }
        let bytes = self.0.get_bytes(start, length)?;
        if start + length as u64 == self.end_of_metadata() {
            check_structure(bytes.as_ref())?;
        }
        Ok(bytes)
    }
}

/// What lies before the end of a file.
pub(crate) struct UntilEnd(File);

impl Read for UntilEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use arrow_array::{Int32Array, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn rows(bytes: &[u8]) -> Result<usize> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let batches = ParquetRecordBatchReaderBuilder::try_new(ParquetFile(file))?.build()?;
        batches.map(|batch| Ok(batch?.num_rows())).sum()
    }

    #[test]
    fn lists_that_are_announced_and_not_there_are_refused() {
        let batch = RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![3, 1, 4])) as _)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let whole = writer.into_inner().unwrap();
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
}
