//! Numbers that do not fit in memory, in a temporary file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

type Result<T> = std::result::Result<T, SpillError>;

/// Why a temporary file could not be written or read.
#[derive(Debug)]
pub(crate) struct SpillError(pub(crate) std::io::Error);

/// A temporary file of 32-bit numbers. It has no name, so nothing is left of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Spill {
    file: Mutex<File>,
    /// How many numbers there are, or are about to be.
    length: AtomicU64,
}

impl Spill {
    /// Creates an empty file in a folder, or in the system's folder for temporary files.
    pub(crate) fn create(folder: Option<&Path>) -> Result<Self> {
        let file = folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in).map_err(SpillError)?;
        Ok(Self { file: Mutex::new(file), length: AtomicU64::new(0) })
    }

    /// Adds numbers at the end, and tells where they begin.
    pub(crate) fn append(&self, numbers: &[u32]) -> Result<u64> {
        let start = self.length.fetch_add(numbers.len() as u64, Ordering::Relaxed);
        self.write(start, numbers)?;
        Ok(start)
    }

    /// Writes numbers from a place on.
    pub(crate) fn write(&self, start: u64, numbers: &[u32]) -> Result<()> {
        self.length.fetch_max(start + numbers.len() as u64, Ordering::Relaxed);
        self.at(start, |file| file.write_all(bytemuck::cast_slice(numbers)))
    }

    /// Reads numbers from a place on.
    pub(crate) fn read(&self, start: u64, numbers: &mut [u32]) -> Result<()> {
        self.at(start, |file| file.read_exact(bytemuck::cast_slice_mut(numbers)))
    }

    fn at(&self, start: u64, work: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<()> {
        let mut file = self.file.lock().expect("no thread panics with the file");
        file.seek(SeekFrom::Start(4 * start)).and_then(|_| work(&mut file)).map_err(SpillError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_append_beside_each_other() {
        let spill = Spill::create(None).unwrap();
        let append = |number: u32| (number, spill.append(&vec![number; 1000]).unwrap());
        let starts: Vec<(u32, u64)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| scope.spawn(move || (0..200).map(|at| append(200 * thread + at)).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        for (number, start) in starts {
            let mut numbers = vec![0; 1000];
            spill.read(start, &mut numbers).unwrap();
            assert_eq!(numbers, vec![number; 1000]);
        }
    }
}
