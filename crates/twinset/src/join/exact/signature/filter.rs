//! The signature test of `scan` and `prefix`, with signatures of two lengths.
//!
//! A short signature turns away most pairs at the cost of a few instructions each; what passes is tested by a long
//! one; what passes that is verified. Longer signatures turn away more and cost more. How much more depends on the
//! data and the threshold, so the short length is chosen by what it would have cost for a sample of pairs. The long one
//! follows from the average size: few pairs come to it.

use rayon::prelude::*;

use crate::join::exact::signature::{Bits, Columns, Kernel, Signatures};
use crate::join::task::{OrderedSets, Task, max_distance};
use crate::support::prefetch;

/// Lengths, in words, of the short signature.
const SHORT: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];
/// The long signature has so many bits for each token of an average set, which is an eighth of the room of the tokens,
/// or up to a quarter as its length is a power of two.
const LONG_BITS: usize = 4;
/// But no more words than that.
const LONGEST: usize = 128;
/// How many sets are looked at to choose the short length.
const SAMPLE: usize = 128;

/// What the steps cost, in nanoseconds, on a processor of 2021. Only their relations matter.
mod cost {
    /// Comparing a word of two short signatures.
    pub(crate) const SHORT_WORD: f64 = 0.2;
    /// Comparing two short signatures, whatever their length.
    pub(crate) const SHORT: f64 = 0.4;
    /// Comparing two long signatures, which may have to be fetched.
    pub(crate) const LONG: f64 = 16.0;
}

pub(crate) struct SignatureFilter {
    pub(crate) kernel: Kernel,
    short: Signatures,
    long: Signatures,
}

/// How long the short signature is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortLength {
    words: usize,
    /// The estimated cost of a pair of suitable sizes, in nanoseconds.
    pub(crate) cost: f64,
}

impl SignatureFilter {
    pub(crate) fn new(task: &Task<'_>, short: ShortLength) -> Self {
        let kernel = Kernel::new(task.run.portable);
        let long = (LONG_BITS * task.sets.average_size()).div_ceil(64).next_power_of_two().clamp(2, LONGEST);
        Self { kernel, short: Signatures::new(task.sets, short.words), long: Signatures::new(task.sets, long) }
    }

    /// A set's short signature.
    pub(crate) fn short(&self, rank: u32) -> &[u64] {
        self.short.get(rank)
    }

    /// The short signatures of these sets, ready to be compared with one.
    pub(crate) fn columns(&self, ranks: &[u32]) -> Columns {
        Columns::of(&self.short, ranks)
    }

    /// Fetches a set's long signature into the cache.
    pub(crate) fn fetch_long(&self, rank: u32) {
        prefetch(self.long.get(rank));
    }

    /// Whether two sets that passed the short test can have so many common tokens, by their long signatures.
    pub(crate) fn may_pair(&self, sets: &OrderedSets<'_>, x: u32, y: u32, needed: u32) -> bool {
        let limit = max_distance(sets.size(x), sets.size(y), needed);
        limit.is_some_and(|limit| self.kernel.distance(self.long.get(x), self.long.get(y)) <= limit)
    }
}

impl ShortLength {
    /// The length of at most so many words with which a sample of pairs would have cost least.
    pub(crate) fn choose(task: &Task<'_>, longest: usize) -> Self {
        let (sets, bounds, kernel) = (task.sets, task.bounds, Kernel::new(task.run.portable));
        let count = sets.len().min(SAMPLE);
        let sample: Vec<u32> = (0..count).map(|at| (at * sets.len() / count) as u32).collect();
        // Pairs of suitable sizes, by their places in the sample, and how much they may differ.
        let mut pairs: Vec<(usize, usize, u32)> = Vec::new();
        for (i, &x) in sample.iter().enumerate() {
            let (size, side) = (sets.size(x), sets.side(x));
            let sizes = bounds.partner_sizes(size, side);
            for (j, other) in sample[..i].iter().map(|&y| sets.size(y)).enumerate() {
                let limit = max_distance(size, other, bounds.min_overlap_of(size, side, other));
                pairs.extend(limit.filter(|_| sizes.contains(&other)).map(|limit| (i, j, limit)));
            }
        }
        let with_length = |&words: &usize| {
            let bits = Bits::new(sets, words);
            let mut signatures = vec![0; words * count];
            signatures.chunks_exact_mut(words).zip(&sample).for_each(|(signature, &rank)| {
                bits.write(sets.get(rank), signature);
            });
            let signature = |at: usize| &signatures[at * words..][..words];
            let passes = |&&(i, j, limit): &&(usize, usize, u32)| kernel.distance(signature(i), signature(j)) <= limit;
            let passed = pairs.iter().filter(passes).count() as f64 / pairs.len().max(1) as f64;
            Self { words, cost: cost::SHORT + cost::SHORT_WORD * words as f64 + cost::LONG * passed }
        };
        let lengths = &SHORT[..SHORT.partition_point(|&words| words <= longest).max(1)];
        let lengths: Vec<Self> = lengths.par_iter().map(with_length).collect();
        lengths.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there are lengths to choose from")
    }
}
