//! A collection as sets of tokens, in two flat arrays.

use super::{Collections, Error, Result, Side};

/// Records as sets of token ids, each sorted from rare to frequent.
///
/// A token id is the token's rank by the number of records that have it, so a smaller id is a rarer token. One value
/// holds one collection, or the two collections of a join, the right one's records after the left one's: ids mean the
/// same token in both.
///
/// ```
/// # use twinset::TokenSets;
/// // Token 7 occurs twice and 9 once, so 9 comes first.
/// let sets = TokenSets::from_ids([vec![7, 9], vec![7]])?;
/// assert_eq!(sets.get(0), [0, 1]);
/// assert_eq!(sets.get(1), [1]);
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TokenSets {
    /// Where each record's tokens start; one more entry than there are records.
    offsets: Vec<u64>,
    tokens: Vec<u32>,
    /// How many of the records belong to the left collection; `None` for a single collection.
    left: Option<u32>,
    /// How many different tokens there are.
    distinct: u32,
    /// How many of them occur in a single record; they have the smallest ids.
    singletons: u32,
}

impl TokenSets {
    /// One collection of records that are already sets of some ids. Repeated ids count once.
    pub fn from_ids<I, R>(records: I) -> Result<Self>
    where
        I: IntoIterator<Item = R>,
        R: IntoIterator<Item = u32>,
    {
        let (mut offsets, mut tokens) = (vec![0], Vec::new());
        for record in records {
            let start = tokens.len();
            tokens.extend(record);
            tokens[start..].sort_unstable();
            let mut kept = start;
            for at in start..tokens.len() {
                if kept == start || tokens[kept - 1] != tokens[at] {
                    tokens[kept] = tokens[at];
                    kept += 1;
                }
            }
            tokens.truncate(kept);
            offsets.push(tokens.len() as u64);
        }
        let ids = tokens.iter().max().map_or(0, |&largest| largest as usize + 1);
        Ok(Self::rank(offsets, tokens, ids)?.0)
    }

    /// The same records as two collections, the first `left` of them being the left one.
    pub fn split_at(mut self, left: u32) -> Self {
        assert!(left as usize <= self.len(), "the left collection cannot have more records than there are");
        self.left = Some(left);
        self
    }

    /// Turns arbitrary ids below `ids` into ranks by document frequency, ties in order of first occurrence.
    ///
    /// Each record's ids are unique. The order of first occurrence does not depend on how the ids were given out, so
    /// the ranks are the same whatever the number of threads. Also returns the rank of each id.
    pub(crate) fn rank(offsets: Vec<u64>, mut tokens: Vec<u32>, ids: usize) -> Result<(Self, Vec<u32>)> {
        use rayon::prelude::*;

        if offsets.len() > u32::MAX as usize {
            return Err(Error::TooMany { what: "records", limit: u64::from(u32::MAX) - 1 });
        }
        let mut frequency = vec![0u32; ids];
        let mut seen = Vec::new();
        for &token in &tokens {
            let count = &mut frequency[token as usize];
            if *count == 0 {
                seen.push(token);
            }
            *count += 1;
        }
        // Ranks by a counting sort over the frequencies; within a frequency, in order of first occurrence.
        let most = frequency.iter().max().map_or(0, |&most| most as usize);
        let mut next = vec![0u32; most + 2];
        for &token in &seen {
            next[frequency[token as usize] as usize + 1] += 1;
        }
        let singletons = next.get(2).copied().unwrap_or(0);
        let distinct = seen.len() as u32;
        for bucket in 1..next.len() {
            next[bucket] += next[bucket - 1];
        }
        let mut rank = frequency;
        for &token in &seen {
            let slot = &mut next[rank[token as usize] as usize];
            rank[token as usize] = *slot;
            *slot += 1;
        }
        drop(seen);

        let mut records = Vec::with_capacity(offsets.len() - 1);
        let mut rest = tokens.as_mut_slice();
        for ends in offsets.windows(2) {
            let (record, others) = rest.split_at_mut((ends[1] - ends[0]) as usize);
            records.push(record);
            rest = others;
        }
        records.into_par_iter().with_min_len(256).for_each(|record| {
            for token in record.iter_mut() {
                *token = rank[*token as usize];
            }
            record.sort_unstable();
        });
        Ok((Self { offsets, tokens, left: None, distinct, singletons }, rank))
    }

    /// The number of records, of both collections where there are two.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One collection, or two.
    pub fn collections(&self) -> Collections {
        if self.left.is_some() { Collections::Two } else { Collections::One }
    }

    /// How many records the left, or only, collection has.
    pub fn left_len(&self) -> usize {
        self.left.map_or(self.len(), |left| left as usize)
    }

    /// The collection that a record belongs to.
    pub fn side(&self, record: usize) -> Side {
        if record < self.left_len() { Side::Left } else { Side::Right }
    }

    /// A record's tokens, from rare to frequent.
    pub fn get(&self, record: usize) -> &[u32] {
        &self.tokens[self.start(record)..self.start(record + 1)]
    }

    /// How many tokens a record has.
    pub fn size(&self, record: usize) -> u32 {
        (self.offsets[record + 1] - self.offsets[record]) as u32
    }

    /// All tokens of all records, one after the other.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Where a record's tokens start in [`tokens`](Self::tokens).
    pub fn start(&self, record: usize) -> usize {
        self.offsets[record] as usize
    }

    /// How many different tokens there are.
    pub fn distinct_tokens(&self) -> u32 {
        self.distinct
    }

    /// How many tokens occur in a single record. They have the smallest ids, and no pair can share them.
    pub fn singletons(&self) -> u32 {
        self.singletons
    }
}
