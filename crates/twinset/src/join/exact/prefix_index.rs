//! An inverted index over the prefixes of the sets.
//!
//! It is built as a whole before the first probe, so that probes can run in parallel. Postings stand in order of
//! rank, so a probe that reads only those before its own rank sees what the paper's growing index would have shown.

use crate::join::task::OrderedSets;
use crate::model::Side;

/// Where a token stands in a set's prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) rank: u32,
    /// Counted from 0.
    pub(crate) position: u32,
}

/// For each token, the sets that have it in their prefix.
pub(crate) struct PrefixIndex {
    /// Tokens below this cannot be shared by a pair, and have no postings.
    first_token: u32,
    /// Where each token's postings start.
    starts: Vec<u64>,
    postings: Vec<Posting>,
}

impl PrefixIndex {
    /// Indexes the first `prefix(size, side)` tokens of every set of a side.
    pub(crate) fn build(sets: &OrderedSets<'_>, side: Side, prefix: impl Fn(u32, Side) -> u32) -> Self {
        let first_token = sets.unshared();
        let mut starts = vec![0u64; (sets.distinct_tokens() - first_token) as usize + 1];
        let each_posting = |push: &mut dyn FnMut(usize, Posting)| {
            for rank in (0..sets.len() as u32).filter(|&rank| sets.side(rank) == side) {
                let set = sets.get(rank);
                let length = prefix(set.len() as u32, side) as usize;
                for (position, &token) in set[..length].iter().enumerate().filter(|&(_, &token)| token >= first_token) {
                    push((token - first_token) as usize, Posting { rank, position: position as u32 });
                }
            }
        };
        each_posting(&mut |token, _| starts[token] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += std::mem::replace(start, end);
        }
        let mut postings = vec![Posting { rank: 0, position: 0 }; end as usize];
        each_posting(&mut |token, posting| {
            postings[starts[token] as usize] = posting;
            starts[token] += 1;
        });
        // Each start has moved to its end, which is the next one's start.
        starts.rotate_right(1);
        starts[0] = 0;
        Self { first_token, starts, postings }
    }

    /// The postings of a token whose ranks lie in `from..to`.
    pub(crate) fn postings(&self, token: u32, from: u32, to: u32) -> &[Posting] {
        let Some(token) = token.checked_sub(self.first_token) else { return &[] };
        let list = &self.postings[self.starts[token as usize] as usize..self.starts[token as usize + 1] as usize];
        let start = list.partition_point(|posting| posting.rank < from);
        let end = start + list[start..].partition_point(|posting| posting.rank < to);
        &list[start..end]
    }
}
