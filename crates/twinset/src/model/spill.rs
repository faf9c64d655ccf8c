//! Numbers that do not fit in memory, in a temporary file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Mutex;

use super::{Error, Result, Run};

/// A temporary file of 32-bit numbers. It has no name, so nothing is left of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Spill {
    file: Mutex<Opened>,
}

#[derive(Debug)]
struct Opened {
    file: File,
    /// How many numbers there are.
    length: u64,
}

impl Spill {
    /// An empty file in the run's folder for temporary files.
    pub(crate) fn create(run: &Run) -> Result<Self> {
        let file = run.spill.as_ref().map_or_else(tempfile::tempfile, tempfile::tempfile_in).map_err(failure)?;
        Ok(Self { file: Mutex::new(Opened { file, length: 0 }) })
    }

    /// Adds numbers at the end, and tells where they begin.
    pub(crate) fn append(&self, numbers: &[u32]) -> Result<u64> {
        let start = self.opened().length;
        self.write(start, numbers)?;
        Ok(start)
    }

    /// Writes numbers from a place on.
    pub(crate) fn write(&self, start: u64, numbers: &[u32]) -> Result<()> {
        let mut opened = self.opened();
        opened.file.seek(SeekFrom::Start(4 * start)).map_err(failure)?;
        opened.file.write_all(bytemuck::cast_slice(numbers)).map_err(failure)?;
        opened.length = opened.length.max(start + numbers.len() as u64);
        Ok(())
    }

    /// Reads numbers from a place on.
    pub(crate) fn read(&self, start: u64, numbers: &mut [u32]) -> Result<()> {
        let mut opened = self.opened();
        opened.file.seek(SeekFrom::Start(4 * start)).map_err(failure)?;
        opened.file.read_exact(bytemuck::cast_slice_mut(numbers)).map_err(failure)
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, Opened> {
        self.file.lock().expect("no thread panics with the file")
    }
}

fn failure(error: std::io::Error) -> Error {
    Error::Spill { reason: error.to_string() }
}
