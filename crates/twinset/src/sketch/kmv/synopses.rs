//! The synopses of a collection, in two flat arrays.

use rayon::prelude::*;

use super::Synopsis;
use crate::model::{Collections, Error, Result, TokenBlock, TokenSets};

/// The synopses of the records of one collection, or of two, the right one's records after the left one's.
///
/// See the example of [`count_estimates`](crate::estimate::count_estimates).
#[derive(Debug, Clone)]
pub struct Synopses {
    size: u32,
    /// Where each record's values end.
    ends: Vec<u64>,
    values: Vec<u64>,
    are_complete: Vec<bool>,
    /// How many of the records belong to the left collection; `None` for a single collection.
    left: Option<u32>,
}

impl Synopses {
    /// None yet, of this k.
    pub fn new(size: u32) -> Result<Self> {
        Synopsis::check_size(size)?;
        Ok(Self { size, ends: Vec::new(), values: Vec::new(), are_complete: Vec::new(), left: None })
    }

    /// Adds that of a record, with this k.
    pub fn push(&mut self, synopsis: Synopsis<'_>) {
        debug_assert!(synopsis.size() >= self.size);
        let synopsis = synopsis.truncated(self.size);
        self.values.extend_from_slice(synopsis.values());
        self.ends.push(self.values.len() as u64);
        self.are_complete.push(synopsis.is_complete());
    }

    /// Two collections as the left and the right one, with the smaller k of both.
    pub fn beside(left: &Self, right: &Self) -> Result<Self> {
        let mut both = Self::new(left.size.min(right.size))?;
        for side in [left, right] {
            (0..side.len()).for_each(|record| both.push(side.get(record)));
        }
        Ok(both.split_at(left.len() as u32))
    }

    /// The same records as two collections, the first `left` of them being the left one.
    pub fn split_at(self, left: u32) -> Self {
        Self { left: Some(left), ..self }
    }

    /// Those that blocks hold.
    pub fn of_blocks(blocks: impl IntoIterator<Item = TokenBlock>, size: u32) -> Result<Self> {
        let mut synopses = Self::new(size)?;
        let mut values = Vec::new();
        for block in blocks {
            for words in block.sketches() {
                let (pairs, mark) = words.as_chunks();
                values.clear();
                values.extend(pairs.iter().map(|&[high, low]| u64::from(high) << 32 | u64::from(low)));
                synopses.push(Synopsis::of_sorted(&values, size, mark.is_empty()));
            }
        }
        Ok(synopses)
    }

    /// That of a record.
    pub fn get(&self, record: usize) -> Synopsis<'_> {
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Synopsis::of_sorted(&self.values[start..self.ends[record] as usize], self.size, self.are_complete[record])
    }

    /// How many records there are, in both collections where there are two.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Their k.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// How many records the left, or only, collection has.
    pub fn left_len(&self) -> usize {
        self.left.map_or(self.len(), |left| left as usize)
    }

    /// One collection, or two.
    pub fn collections(&self) -> Collections {
        if self.left.is_some() { Collections::Two } else { Collections::One }
    }

    /// The left, or only, collection by itself, but only those of its records that pass.
    pub fn left_where(&self, passes: impl Fn(u32) -> bool) -> Self {
        let mut kept =
            Self { size: self.size, ends: Vec::new(), values: Vec::new(), are_complete: Vec::new(), left: None };
        let records = (0..self.left_len()).filter(|&record| passes(record as u32));
        records.for_each(|record| kept.push(self.get(record)));
        kept
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        8 * self.values.len() as u64 + 9 * self.ends.len() as u64
    }

    /// The values as tokens.
    pub(crate) fn to_sets(&self) -> Result<TokenSets> {
        if self.values.len() > u32::MAX as usize {
            return Err(Error::TooMany { what: "values of synopses", limit: u64::from(u32::MAX) });
        }
        let mut places: Vec<(u64, u32)> = self.values.iter().copied().zip(0..).collect();
        places.par_sort_unstable();
        let mut ids = vec![0; self.values.len()];
        for (id, equal) in (0u32..).zip(places.chunk_by(|a, b| a.0 == b.0)) {
            equal.iter().for_each(|&(_, place)| ids[place as usize] = id);
        }
        drop(places);
        let starts = std::iter::once(&0).chain(&self.ends);
        let records = starts.zip(&self.ends).map(|(&start, &end)| ids[start as usize..end as usize].iter().copied());
        let sets = TokenSets::from_ids(records)?;
        Ok(match self.left {
            Some(left) => sets.split_at(left),
            None => sets,
        })
    }
}

/// A synopsis as a block holds it: the halves of its values, and a mark if the set has more.
pub(crate) fn words_of(synopsis: Synopsis<'_>) -> impl Iterator<Item = u32> {
    let halves = synopsis.values().iter().flat_map(|&value| [(value >> 32) as u32, value as u32]);
    halves.chain((!synopsis.is_complete()).then_some(u32::MAX))
}
