//! Records whose tokens have ids, but no ranks yet.

use std::borrow::Cow;

use super::{Result, Spill};

/// A run of tokenised records, to be made into [`TokenSets`](super::TokenSets) together with others.
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

    /// How many ids each record that counts has.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.lengths
            .iter()
            .enumerate()
            .filter(|(at, _)| self.removed.binary_search(at).is_err())
            .map(|(_, &length)| length)
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
        let (mut lengths, mut ids, mut start) = (Vec::new(), Vec::new(), 0);
        for (position, &length) in self.lengths.iter().enumerate() {
            let end = start + length as usize;
            if self.removed.binary_search(&position).is_err() {
                lengths.push(length);
                ids.extend_from_slice(&self.ids[start..end]);
            }
            start = end;
        }
        Ok(Self { lengths, ids, ..Self::default() })
    }

    /// The same from a block that is kept, to be read again.
    pub(crate) fn loaded(&self, spill: &Spill) -> Result<Cow<'_, Self>> {
        match self.spilled.is_none() && self.removed.is_empty() {
            true => Ok(Cow::Borrowed(self)),
            false => self.clone().load(Some(spill)).map(Cow::Owned),
        }
    }
}
