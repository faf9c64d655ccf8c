//! The watermark of an index in SQLite: the number of the last change that was acknowledged, in a small file beside the database.
//!
//! SQLite takes a corrupt write-ahead log for one that ends before an interrupted change, and a database whose log is lost for one
//! that never had it. A database that is behind its watermark has lost changes.
//!
//! The number is written to two slots in turn, each with a checksum, so that an interrupted write leaves the number before it. It is
//! written after the change is durable, and not synced: a watermark that is too low, or lost, only detects less.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::backend::{from_bytes, to_bytes};

pub(super) struct Watermark {
    file: PathBuf,
}

const FILE: &str = "labels.watermark";
/// The bytes of a number and its checksum.
const PLACE: u64 = 16;

impl Watermark {
    pub(super) fn of(folder: &Path) -> Self {
        Self { file: folder.join(FILE) }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the number of the last acknowledged change; 0 if unknown.
    pub(super) fn read(&self) -> u64 {
        let mut bytes = Vec::new();
        let read = File::open(&self.file).and_then(|file| file.take(2 * PLACE).read_to_end(&mut bytes));
        let numbers = bytes.chunks_exact(PLACE as usize).filter_map(from_bytes).flatten();
        read.map_or(0, |_| numbers.max().unwrap_or(0))
    }

    /// Records that a change was acknowledged.
    pub(super) fn raise(&self, number: u64) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.file)?;
        file.seek(SeekFrom::Start(number % 2 * PLACE))?;
        file.write_all(&to_bytes(&[number]))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_last_number_that_is_whole_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let watermark = Watermark::of(folder.path());
        assert_eq!(watermark.read(), 0);
        for number in 1..=5 {
            watermark.raise(number).unwrap();
            assert_eq!(watermark.read(), number);
        }
        let whole = fs::read(watermark.file()).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 8;
            fs::write(watermark.file(), &bytes).unwrap();
            let is_last = at >= PLACE as usize;
            assert_eq!(watermark.read(), if is_last { 4 } else { 5 }, "byte {at}");
            fs::write(watermark.file(), &whole[..at]).unwrap();
            assert_eq!(watermark.read(), if is_last { 4 } else { 0 }, "cut to {at}");
        }
    }
}
