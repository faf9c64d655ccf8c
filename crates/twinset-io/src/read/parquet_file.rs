//! A parquet file as its reader sees it: what would lie behind its end is an error.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// An open file. The reader takes nothing for something it may skip, and would skip what a few bytes announce for hours.
pub(crate) struct ParquetFile(pub(crate) File);

impl Length for ParquetFile {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for ParquetFile {
    type T = BufReader<UntilEnd>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(UntilEnd(file)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Room is made for all of them first.
        if start.saturating_add(length as u64) > self.len() {
            return Err(ParquetError::EOF(format!("there are no {length} bytes from byte {start} on")));
        }
        self.0.get_bytes(start, length)
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
