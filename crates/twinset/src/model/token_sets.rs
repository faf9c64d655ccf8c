//! A collection as sets of tokens, in two flat arrays.

use rayon::prelude::*;

use super::{Collections, Error, Result, SINGLE, Side, TokenBlock};

/// Records as sets of token ids, each sorted from rare to frequent.
///
/// A token id is the token's rank by the number of records that have it, so a smaller id is a rarer token; but tokens
/// that no pair can share come first. One value
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
    /// How many of them no two records share that could form a pair; they have the smallest ids.
    unshared: u32,
}

impl TokenSets {
    /// One collection of records that are already sets of some ids. Repeated ids count once.
    pub fn from_ids<I, R>(records: I) -> Result<Self>
    where
        I: IntoIterator<Item = R>,
        R: IntoIterator<Item = u32>,
    {
        const RECORDS: usize = 4096;
        let (mut blocks, mut block) = (Vec::new(), TokenBlock::default());
        let mut largest = None;
        for record in records {
            let start = block.ids.len();
            block.ids.extend(record);
            let record = &mut block.ids[start..];
            record.sort_unstable();
            largest = largest.max(record.last().copied());
            let mut kept = 0;
            for at in 0..record.len() {
                if kept == 0 || record[kept - 1] != record[at] {
                    record[kept] = record[at];
                    kept += 1;
                }
            }
            block.ids.truncate(start + kept);
            block.lengths.push(kept as u32);
            if block.lengths.len() == RECORDS {
                blocks.push(std::mem::take(&mut block));
            }
        }
        blocks.push(block);
        Ok(Self::rank(blocks, largest.map_or(0, |id| id as usize + 1))?.0)
    }

    /// The same records as two collections, the first `left` of them being the left one.
    ///
    /// Tokens that occur in one of the two only come before all others, so that records with nothing in the other
    /// collection are recognised at a glance. Ids change by that: they are no longer those of the tokens' names.
    pub fn split_at(self, left: u32) -> Self {
        assert!(left as usize <= self.len(), "the left collection cannot have more records than there are");
        let sizes: Vec<u32> = (0..self.len()).map(|record| self.size(record)).collect();
        Self::of_ranked(&sizes, self.tokens, self.distinct, Some(left))
    }

    /// The left, or only, collection by itself, but only those of its records that pass.
    pub(crate) fn left_where(&self, passes: impl Fn(u32) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.left_len()).filter(|&record| passes(record as u32)).collect();
        let sizes: Vec<u32> = kept.iter().map(|&record| self.size(record)).collect();
        let tokens = kept.iter().flat_map(|&record| self.get(record)).copied().collect();
        Self::of_ranked(&sizes, tokens, self.distinct, None)
    }

    /// Records whose tokens are ranks below `limit` already, but only few of these occur. The first `left` form the left
    /// collection, if there are two.
    pub(crate) fn of_ranked(sizes: &[u32], mut tokens: Vec<u32>, limit: u32, left: Option<u32>) -> Self {
        let mut offsets = vec![0];
        for &size in sizes {
            offsets.push(offsets[offsets.len() - 1] + u64::from(size));
        }
        // Which tokens occur: once and again in one collection, or in the left and in the right of two.
        let (mut first, mut second) = (Occurring::new(limit), Occurring::new(limit));
        match left {
            None => tokens.iter().filter(|&&token| !first.insert(token)).for_each(|&token| {
                second.insert(token);
            }),
            Some(left) => {
                let (left, right) = tokens.split_at(offsets[left as usize] as usize);
                left.iter().for_each(|&token| {
                    first.insert(token);
                });
                right.iter().for_each(|&token| {
                    second.insert(token);
                });
            }
        }
        let shared = first.combine(&second, |a, b| a & b).counted();
        let unshared = first.combine(&second, |a, b| a ^ b).counted();
        each_record(&offsets, &mut tokens, &|record| {
            for token in record.iter_mut() {
                *token = match shared.rank(*token) {
                    Some(rank) => unshared.total + rank,
                    None => unshared.rank(*token).expect("every token occurs"),
                };
            }
            record.sort_unstable();
        });
        Self { offsets, tokens, left, distinct: unshared.total + shared.total, unshared: unshared.total }
    }

    /// Turns ids, which are below a limit or [`SINGLE`], into ranks by document frequency, ties in order of first
    /// occurrence.
    ///
    /// Each record's ids are unique. The order of first occurrence does not depend on how the ids were given out, so
    /// the ranks are the same whatever the number of threads. Also returns the rank of each id below the limit, which
    /// means something if there are no single ones.
    pub(crate) fn rank(blocks: Vec<TokenBlock>, limit: usize) -> Result<(Self, Vec<u32>)> {
        let mut offsets = vec![0];
        let mut end = 0;
        for &length in blocks.iter().flat_map(|block| &block.lengths) {
            end += u64::from(length);
            offsets.push(end);
        }
        if offsets.len() > u32::MAX as usize {
            return Err(Error::TooMany { what: "records", limit: u64::from(u32::MAX) - 1 });
        }
        let (frequency, seen) = frequencies(&blocks, limit);
        // Ranks by a counting sort over the frequencies; within a frequency, in order of first occurrence.
        let most = frequency.iter().max().map_or(0, |&most| most as usize);
        let mut next = vec![0u32; most + 2];
        for &token in &seen {
            next[frequency[token as usize] as usize + 1] += 1;
        }
        let (once, several) = (next.get(2).copied().unwrap_or(0), seen.len() as u32);
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
        // Single ones stand among those that were found to occur once, in order of occurrence as well.
        let is_single = |id: u32| id == SINGLE || rank[id as usize] < once;
        let singles: u64 =
            blocks.par_iter().map(|block| block.ids.iter().filter(|&&id| id == SINGLE).count() as u64).sum();
        if singles + limit as u64 > u64::from(SINGLE) {
            return Err(Error::TooMany { what: "different tokens", limit: u64::from(SINGLE) });
        }
        let count = |block: &TokenBlock| block.ids.iter().filter(|&&id| is_single(id)).count() as u32;
        let counts: Vec<u32> = if singles > 0 { blocks.par_iter().map(count).collect() } else { vec![0; blocks.len()] };

        let mut tokens = vec![0; end as usize];
        let mut rest = tokens.as_mut_slice();
        let mut parts = Vec::with_capacity(blocks.len());
        let mut first_single = 0;
        for (block, count) in blocks.into_iter().zip(counts) {
            let (part, others) = rest.split_at_mut(block.ids.len());
            rest = others;
            parts.push((block, part, first_single));
            first_single += count;
        }
        // Each block is freed once it is copied.
        parts.into_par_iter().for_each(|(block, part, mut next_single)| {
            for (token, &id) in part.iter_mut().zip(&block.ids) {
                *token = match singles > 0 && is_single(id) {
                    true => {
                        next_single += 1;
                        next_single - 1
                    }
                    false => singles as u32 + rank[id as usize],
                };
            }
            let mut rest = part;
            for &length in &block.lengths {
                let (record, others) = rest.split_at_mut(length as usize);
                record.sort_unstable();
                rest = others;
            }
        });
        let (distinct, unshared) = (singles as u32 + several, singles as u32 + once);
        Ok((Self { offsets, tokens, left: None, distinct, unshared }, rank))
    }

    /// The same as a block of records with ids.
    pub(crate) fn into_block(self) -> TokenBlock {
        let lengths = (0..self.len()).map(|record| self.size(record)).collect();
        TokenBlock { lengths, ids: self.tokens, ..TokenBlock::default() }
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

    /// How many tokens no pair can share, as they occur in a single record, or in one of two collections only. They
    /// have the smallest ids.
    pub fn unshared(&self) -> u32 {
        self.unshared
    }
}

/// Calls `change` for each record's tokens, on all threads.
fn each_record(offsets: &[u64], tokens: &mut [u32], change: &(impl Fn(&mut [u32]) + Sync)) {
    const FEW: usize = 1024;
    let records = offsets.len() - 1;
    if records > FEW {
        let middle = records / 2;
        let (left, right) = tokens.split_at_mut((offsets[middle] - offsets[0]) as usize);
        let (before, after) = (&offsets[..=middle], &offsets[middle..]);
        rayon::join(|| each_record(before, left, change), || each_record(after, right, change));
        return;
    }
    let mut rest = tokens;
    for record in offsets.windows(2) {
        let (own, others) = rest.split_at_mut((record[1] - record[0]) as usize);
        change(own);
        rest = others;
    }
}

/// A set of tokens below a limit, as a bitmap.
struct Occurring {
    words: Vec<u64>,
}

impl Occurring {
    fn new(limit: u32) -> Self {
        Self { words: vec![0; limit as usize / 64 + 1] }
    }

    /// Adds a token; tells whether it is new.
    fn insert(&mut self, token: u32) -> bool {
        let (word, bit) = (&mut self.words[token as usize / 64], 1 << (token % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn combine(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(&a, &b)| combine(a, b)).collect() }
    }

    fn counted(self) -> Counted {
        let mut total = 0;
        let before = self.words.iter().map(|word| {
            total += word.count_ones();
            total - word.count_ones()
        });
        let before = before.collect();
        Counted { words: self.words, before, total }
    }
}

/// The same, with the number of tokens before each word.
struct Counted {
    words: Vec<u64>,
    before: Vec<u32>,
    total: u32,
}

impl Counted {
    /// How many tokens of the set are smaller, if the token is one of them.
    fn rank(&self, token: u32) -> Option<u32> {
        let (word, bit) = (self.words[token as usize / 64], 1u64 << (token % 64));
        (word & bit != 0).then(|| self.before[token as usize / 64] + (word & (bit - 1)).count_ones())
    }
}

/// How often each id below a limit occurs, and these ids in order of first occurrence.
fn frequencies(blocks: &[TokenBlock], limit: usize) -> (Vec<u32>, Vec<u32>) {
    let count = |blocks: &[TokenBlock]| {
        let (mut frequency, mut seen) = (vec![0u32; limit], Vec::new());
        for &id in blocks.iter().flat_map(|block| &block.ids) {
            let Some(count) = frequency.get_mut(id as usize) else { continue };
            if *count == 0 {
                seen.push(id);
            }
            *count += 1;
        }
        (frequency, seen)
    };
    // Each part needs a table of its own, which pays where tokens are many and different ones few.
    let tokens: usize = blocks.iter().map(|block| block.ids.len()).sum();
    let parts = if tokens / 16 > limit { rayon::current_num_threads() } else { 1 };
    let parts: Vec<_> = blocks.par_chunks(blocks.len().div_ceil(parts).max(1)).map(count).collect();
    parts
        .into_iter()
        .reduce(|(mut frequency, mut seen), (more, later)| {
            seen.extend(later.into_iter().filter(|&id| frequency[id as usize] == 0));
            frequency.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
            (frequency, seen)
        })
        .unwrap_or((vec![0; limit], Vec::new()))
}
