//! Copies records of a web archive: the pages that are wanted, and all that is no page.

use twinset::Run;

use super::{Fate, Records, Sides};
use crate::read::{Archive, Entry, InputFile, ReadOptions, archive_failure};
use crate::{Output, Result};

pub(super) fn copy(
    input: &InputFile,
    options: &ReadOptions,
    records: &mut Records<'_>,
    sides: &mut Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    let mut archive = Archive::open(input, options, run)?;
    let (mut kept, mut removed) = (Members::new(&mut sides.kept), sides.removed.as_mut().map(Members::new));
    while let Some(entry) = archive.next().map_err(|error| archive_failure(input, &error))? {
        run.check()?;
        match entry {
            Entry::Page => match (fate(records.next_ordinal()), &mut removed) {
                (Some(Fate::Kept), _) => kept.add(&mut archive)?,
                (Some(Fate::Removed), Some(removed)) => removed.add(&mut archive)?,
                (Some(Fate::Removed), None) | (None, _) => {}
            },
            Entry::TooLong | Entry::LongHeader | Entry::Cut => {
                records.next_ordinal();
            }
            Entry::Other => kept.add(&mut archive)?,
        }
    }
    Ok(())
}

/// An archive that is written. Where it is compressed, each record is a member of its own, as readers of archives expect.
struct Members<'a> {
    output: &'a mut Output,
    is_empty: bool,
}

impl<'a> Members<'a> {
    fn new(output: &'a mut Output) -> Self {
        Self { output, is_empty: true }
    }

    fn add(&mut self, archive: &mut Archive) -> Result<()> {
        let begun = if std::mem::take(&mut self.is_empty) { Ok(()) } else { self.output.begin_member() };
        begun.and_then(|()| archive.write(self.output)).map_err(|error| self.output.failure(&error))
    }
}
