//! Copies some of the records of files, each as it stood.

#[cfg(feature = "parquet")]
mod memory;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "rdf")]
mod rdf;
mod target;
#[cfg(feature = "web")]
mod warc;

pub use target::Target;

use std::io::Write;

use twinset::Run;

use crate::collection::{Collection, FileLayout};
use crate::read::{Format, InputFile, Inputs, Piece, ReadOptions, for_each_piece, format_of, whole_file};
use crate::{Output, Result};

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes to the first target.
    Kept,
    /// It goes to the second.
    Removed,
}

/// Copies the records of the left, or only, collection: those kept to the first target, the others to the second, if there
/// is one. What is no record, such as a header, goes to both; what was rejected, to neither.
pub fn copy_records(
    (inputs, collection): (&Inputs, &Collection),
    options: &ReadOptions,
    (mut kept, mut removed): (Target, Option<Target>),
    fate: impl Fn(u32) -> Fate,
    run: &Run,
) -> Result<()> {
    #[cfg(feature = "rdf")]
    if let Some(file) = inputs.files.first()
        && format_of(file, options)?.is_rdf()
    {
        return rdf::copy((inputs, collection), options, (kept, removed), fate, run);
    }
    let mut first = 0;
    for (at, (file, layout)) in inputs.files.iter().zip(&collection.layout[0]).enumerate() {
        run.check()?;
        let format = format_of(file, options)?;
        let mut records = Records { layout, position: 0, left_out: 0, next: first };
        if format == Format::Html {
            // A page is a whole file, which is there or not.
            let target = match records.next_ordinal().map(&fate) {
                Some(Fate::Kept) => Some(&mut kept),
                Some(Fate::Removed) => removed.as_mut(),
                None => None,
            };
            if let Some(target) = target {
                let mut output = target.open(at)?;
                write(&mut output, &whole_file(file, options, run)?)?;
                output.finish()?;
            }
            first = records.first_of_next_file();
            continue;
        }
        let mut sides =
            Sides { kept: kept.open(at)?, removed: removed.as_mut().map(|target| target.open(at)).transpose()? };
        let fate = |ordinal: Option<u32>| ordinal.map(&fate);
        match format {
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::copy(file, options, &mut records, &mut sides, fate, run)?,
            #[cfg(feature = "web")]
            Format::Warc => warc::copy(file, options, &mut records, &mut sides, fate, run)?,
            _ => copy_pieces(file, options, &mut records, &mut sides, fate, run)?,
        }
        first = records.first_of_next_file();
        sides.finish()?;
    }
    Ok(())
}

/// Copies lines or rows.
fn copy_pieces(
    file: &InputFile,
    options: &ReadOptions,
    records: &mut Records<'_>,
    sides: &mut Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    let mut last = None;
    for_each_piece(file, options, run, |piece| {
        match piece {
            Piece::Mark(bytes, _) | Piece::Around(bytes) => sides.around(bytes, records.position == 0)?,
            Piece::Record(bytes) => {
                last = fate(records.next_ordinal());
                last.map_or(Ok(()), |fate| sides.record(bytes, fate))?;
            }
            Piece::End(bytes) if records.position == 0 => sides.around(bytes, true)?,
            Piece::End(bytes) => last.map_or(Ok(()), |fate| sides.record(bytes, fate))?,
        }
        Ok(run.check()?)
    })
}

/// Where the records of one file go.
struct Sides {
    kept: Output,
    removed: Option<Output>,
}

impl Sides {
    fn around(&mut self, bytes: &[u8], is_before_all: bool) -> Result<()> {
        write(&mut self.kept, bytes)?;
        // Blank lines between records stay with those that are kept.
        let removed = self.removed.as_mut().filter(|_| is_before_all);
        removed.map_or(Ok(()), |output| write(output, bytes))
    }

    /// Where records of a fate go, if anywhere.
    fn of(&mut self, fate: Fate) -> Option<&mut Output> {
        match fate {
            Fate::Kept => Some(&mut self.kept),
            Fate::Removed => self.removed.as_mut(),
        }
    }

    fn record(&mut self, bytes: &[u8], fate: Fate) -> Result<()> {
        self.of(fate).map_or(Ok(()), |output| write(output, bytes))
    }

    fn finish(self) -> Result<()> {
        self.kept.finish()?;
        self.removed.map_or(Ok(()), Output::finish)
    }
}

fn write(output: &mut Output, bytes: &[u8]) -> Result<()> {
    output.write_all(bytes).map_err(|error| output.failure(&error))
}

/// Finds the ordinals of a file's records.
struct Records<'a> {
    layout: &'a FileLayout,
    /// How many records of the file were seen.
    position: u64,
    /// How many of these were left out of the collection.
    left_out: usize,
    /// The ordinal of the next that was not.
    next: u32,
}

impl Records<'_> {
    /// The ordinal of the next record, if it is in the collection.
    fn next_ordinal(&mut self) -> Option<u32> {
        let position = self.position;
        self.position += 1;
        if position >= self.layout.records {
            return None;
        }
        if self.layout.left_out.get(self.left_out) == Some(&position) {
            self.left_out += 1;
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    fn first_of_next_file(&self) -> u32 {
        let rest = self.layout.records.saturating_sub(self.position);
        self.next + (rest - (self.layout.left_out.len() - self.left_out) as u64) as u32
    }
}
