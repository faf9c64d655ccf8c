//! Posting lists that carry signatures.

use std::ops::Range;

use rayon::prelude::*;

use crate::join::exact::signature::{Columns, SignatureFilter};
use crate::join::task::Task;
use crate::model::Side;

/// For each token, the sets of one side that have it in their prefix, in order of size.
pub(crate) struct PostingLists {
    /// Tokens below this cannot be shared by a pair, and have no list.
    pub(crate) first_token: u32,
    /// Where each token's list starts.
    starts: Vec<u64>,
    pub(crate) ranks: Vec<u32>,
    pub(crate) signatures: Columns,
}

impl PostingLists {
    /// Where a token's list lies.
    pub(crate) fn list(&self, token: u32) -> Range<usize> {
        let token = (token - self.first_token) as usize;
        self.starts[token] as usize..self.starts[token + 1] as usize
    }

    /// Makes the lists, which start where `list_starts` says.
    pub(crate) fn new(task: &Task<'_>, screen: &SignatureFilter, side: Side, starts: Vec<u64>) -> Self {
        let first_token = task.sets.unshared();
        let mut ranks = vec![0; starts[starts.len() - 1] as usize];
        let (mut parts, mut rest) = (Vec::new(), ranks.as_mut_slice());
        for tokens in token_ranges(task, side) {
            let starts = &starts[(tokens.start - first_token) as usize..=(tokens.end - first_token) as usize];
            let (part, others) = rest.split_at_mut((starts[starts.len() - 1] - starts[0]) as usize);
            parts.push((tokens, starts, part));
            rest = others;
        }
        parts.into_par_iter().for_each(|(tokens, starts, ranks)| {
            let mut next = starts.to_vec();
            each_posting(task, side, &tokens, |token, rank| {
                ranks[(next[token] - starts[0]) as usize] = rank;
                next[token] += 1;
            });
        });
        let signatures = screen.columns(&ranks);
        Self { first_token, starts, ranks, signatures }
    }
}

/// Where each token's list starts, counted from the first token that has one, and the end of the last.
pub(crate) fn list_starts(task: &Task<'_>, side: Side) -> Vec<u64> {
    let lengths = token_ranges(task, side).into_par_iter().map(|tokens| {
        let mut lengths = vec![0u64; tokens.len()];
        each_posting(task, side, &tokens, |token, _| lengths[token] += 1);
        lengths
    });
    let mut starts = lengths.collect::<Vec<_>>().concat();
    let mut end = 0;
    for start in &mut starts {
        end += std::mem::replace(start, end);
    }
    starts.push(end);
    starts
}

/// The tokens that can have lists, in a range for each thread with about as many postings as the others.
fn token_ranges(task: &Task<'_>, side: Side) -> Vec<Range<u32>> {
    const SAMPLE: usize = 256;
    let sets = task.sets;
    let step = sets.len().div_ceil(SAMPLE).max(1);
    let mut sample: Vec<u32> = Vec::new();
    for rank in (0..sets.len() as u32).step_by(step).filter(|&rank| sets.side(rank) == side) {
        let length = task.bounds.index_prefix(sets.size(rank), side) as usize;
        sample.extend(sets.get(rank)[..length].iter().filter(|&&token| token >= sets.unshared()));
    }
    sample.sort_unstable();
    let parts = rayon::current_num_threads();
    let mut bounds = vec![sets.unshared()];
    bounds.extend((1..parts).filter_map(|part| sample.get(part * sample.len() / parts)));
    bounds.push(sets.distinct_tokens());
    bounds.windows(2).map(|range| range[0]..range[1]).collect()
}

/// Goes through the indexed prefixes of one side's sets, in order of size, for tokens of a range.
/// Tokens are counted from the first of the range.
fn each_posting(task: &Task<'_>, side: Side, tokens: &Range<u32>, mut push: impl FnMut(usize, u32)) {
    let sets = task.sets;
    for rank in (0..sets.len() as u32).filter(|&rank| sets.side(rank) == side) {
        let length = task.bounds.index_prefix(sets.size(rank), side) as usize;
        let prefix = &sets.get(rank)[..length];
        let from = prefix.partition_point(|&token| token < tokens.start);
        for &token in prefix[from..].iter().take_while(|&&token| token < tokens.end) {
            push((token - tokens.start) as usize, rank);
        }
    }
}
