//! Records whose tokens have ids, but no ranks yet.

use std::borrow::Cow;

use super::Result;
use crate::support::Spill;

/// In place of the id of a token that is known to occur once. All other ids are smaller.
pub(crate) const SINGLE: u32 = u32::MAX;

/// A run of tokenised records, to be made into [`TokenSets`](super::TokenSets) together with others.
///
/// See the example of [`Tokenizer`](crate::tokenize::Tokenizer).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenBlock {
    /// How many ids each record has.
    pub(crate) lengths: Vec<u32>,
    /// The ids of all records, one after the other, unless they lie in the tokenizer's temporary file.
    pub(crate) ids: Vec<u32>,
    /// Where they lie in the file.
    pub(crate) spilled: Option<u64>,
    /// Records that do not count any more, though their ids are still there.
    pub(super) removed: Vec<usize>,
}

impl TokenBlock {
    /// Keeps only the records whose positions in the block pass.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let positions = (0..self.lengths.len()).filter(|position| self.removed.binary_search(position).is_err());
        let removed: Vec<usize> =
            positions.enumerate().filter(|&(now, _)| !keep(now)).map(|(_, position)| position).collect();
        self.removed.extend(removed);
        self.removed.sort_unstable();
    }

    /// Returns the number of records without tokens.
    pub fn empty_records(&self) -> u64 {
        self.lengths().filter(|&length| length == 0).count() as u64
    }

    /// How many ids each record that counts has.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.lengths
            .iter()
            .enumerate()
            .filter(|(at, _)| self.removed.binary_search(at).is_err())
            .map(|(_, &length)| length)
    }

    /// A block of sketches; a record without tokens has an empty one.
    pub fn of_sketches(sketches: impl IntoIterator<Item = Vec<u32>>) -> Self {
        let mut block = Self::default();
        for sketch in sketches {
            block.lengths.push(sketch.len() as u32);
            block.ids.extend(sketch);
        }
        block
    }

    /// The sketch of each record, if it is sketches that the block holds, and they are in memory.
    pub fn sketches(&self) -> impl Iterator<Item = &[u32]> {
        let counts = |at: &usize| self.removed.binary_search(at).is_err();
        self.records().enumerate().filter(move |(at, _)| counts(at)).map(|(_, sketch)| sketch)
    }

    /// The ids of each record, which are in memory.
    pub(crate) fn records(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.ids.as_slice();
        self.lengths.iter().map(move |&length| {
            let (record, others) = rest.split_at(length as usize);
            rest = others;
            record
        })
    }

    /// Keeps only the ids that pass, which are in memory.
    pub(crate) fn squeeze(&mut self, keep: impl Fn(u32) -> bool) {
        let (mut end, mut kept) = (0, 0);
        for length in &mut self.lengths {
            let (start, before) = (end, kept);
            end += *length as usize;
            for at in start..end {
                self.ids[kept] = self.ids[at];
                kept += usize::from(keep(self.ids[at]));
            }
            *length = (kept - before) as u32;
        }
        self.ids.truncate(kept);
    }

    /// Moves the ids to a file: to a place that was theirs before, or to its end.
    pub(crate) fn spill(&mut self, file: &Spill, place: Option<u64>) -> Result<()> {
        let ids = std::mem::take(&mut self.ids);
        self.spilled = Some(match place {
            Some(place) => {
                file.write(place, &ids)?;
                place
            }
            None => file.append(&ids)?,
        });
        Ok(())
    }

    /// The block with its ids in memory, and only the records that count.
    pub(crate) fn load(mut self, spill: Option<&Spill>) -> Result<Self> {
        if let Some(start) = self.spilled.take() {
            self.ids = vec![0; self.lengths.iter().map(|&length| length as usize).sum()];
            spill.expect("a spilled block has a file").read(start, &mut self.ids)?;
        }
        if self.removed.is_empty() {
            return Ok(self);
        }
        let (mut lengths, mut ids) = (Vec::new(), Vec::new());
        for (position, record) in self.records().enumerate() {
            if self.removed.binary_search(&position).is_err() {
                lengths.push(record.len() as u32);
                ids.extend_from_slice(record);
            }
        }
        Ok(Self { lengths, ids, ..Self::default() })
    }

    /// The same from a block that is kept, to be read again.
    pub(crate) fn loaded(&self, spill: Option<&Spill>) -> Result<Cow<'_, Self>> {
        match self.spilled.is_none() && self.removed.is_empty() {
            true => Ok(Cow::Borrowed(self)),
            false => self.clone().load(spill).map(Cow::Owned),
        }
    }
}
