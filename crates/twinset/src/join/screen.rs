//! The signature test of `scan` and `prefix`: two lengths of signatures, chosen by a sample of the sets.
//!
//! A short signature turns away most pairs at the cost of a few instructions each; what passes is tested by a long
//! one; what passes that is verified. Longer signatures turn away more and cost more. How much more depends on the
//! data and the threshold, so both lengths are chosen by what they would have cost for a sample of pairs.

use super::probe::{Partner, Task};
use super::sets::OrderedSets;
use super::signature::{Bits, Columns, Kernel, Signatures, distance};
use super::verify::overlap_from;
use crate::model::Bounds;

/// Lengths, in words, of the short signature.
const SHORT: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];
/// Lengths, in words, of the long one.
const LONG: [usize; 9] = [2, 4, 8, 12, 16, 24, 32, 64, 128];
/// How many sets are looked at to choose among them.
const SAMPLE: usize = 192;

/// What the steps cost, in nanoseconds, on a processor of 2021. Only their relations matter.
pub(super) mod cost {
    /// Comparing a word of two short signatures.
    pub(in super::super) const SHORT_WORD: f64 = 0.15;
    /// Comparing two short signatures, whatever their length.
    pub(in super::super) const SHORT: f64 = 0.2;
    /// Comparing a word of two long signatures, which may have to be fetched.
    pub(in super::super) const LONG_WORD: f64 = 0.4;
    /// Comparing two long signatures, whatever their length.
    pub(in super::super) const LONG: f64 = 8.0;
    /// Merging two sets, for each token of both.
    pub(in super::super) const MERGE_TOKEN: f64 = 0.7;
    /// Merging two sets, whatever their size.
    pub(in super::super) const MERGE: f64 = 40.0;
}

pub(super) struct Screen {
    pub(super) kernel: Kernel,
    short: Signatures,
    long: Signatures,
    /// The estimated cost of a pair of suitable sizes, in nanoseconds.
    pub(super) cost: f64,
}

impl Screen {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let kernel = Kernel::new(task.run.portable);
        let (short, long, cost) = choose_lengths(task.sets, task.bounds, kernel);
        Self { kernel, short: Signatures::new(task.sets, short), long: Signatures::new(task.sets, long), cost }
    }

    /// A set's short signature.
    pub(super) fn short(&self, rank: u32) -> &[u64] {
        self.short.get(rank)
    }

    /// The short signatures of these sets, ready to be compared with one.
    pub(super) fn columns(&self, length: usize) -> Columns {
        Columns::new(self.short.words(), length)
    }

    /// The overlap of a pair that passed the short test, if it is enough, and whether it had to be counted.
    /// The two are known to share no token before these positions.
    pub(super) fn verify(&self, sets: &OrderedSets<'_>, pair: [(u32, usize); 2], needed: u32) -> (bool, Option<u32>) {
        let [(x, i), (y, j)] = pair;
        let (own, other) = (sets.get(x), sets.get(y));
        let Some(limit) = max_distance(own.len() as u32, other.len() as u32, needed) else { return (false, None) };
        if distance(self.kernel, self.long.get(x), self.long.get(y)) > limit {
            return (false, None);
        }
        (true, overlap_from(&own[i..], &other[j..], 0, needed))
    }
}

/// The largest Hamming distance of sets of these sizes with so many common tokens.
pub(super) fn max_distance(size: u32, other: u32, overlap: u32) -> Option<u32> {
    u32::try_from((u64::from(size) + u64::from(other)).checked_sub(2 * u64::from(overlap))?).ok()
}

impl Partner {
    /// The largest Hamming distance that a set of this size may have from such a partner.
    pub(super) fn max_distance(&self, size: u32) -> Option<u32> {
        max_distance(size, self.size, self.min_overlap)
    }
}

/// The lengths with which a sample of pairs would have cost least, and what a pair cost.
fn choose_lengths(sets: &OrderedSets<'_>, bounds: &Bounds, kernel: Kernel) -> (usize, usize, f64) {
    let count = sets.len().min(SAMPLE);
    let sample: Vec<u32> = (0..count).map(|at| (at * sets.len() / count) as u32).collect();
    let signatures = |words: &[usize]| -> Vec<Vec<Vec<u64>>> {
        let of_length = |&words: &usize| {
            let bits = Bits::new(sets, words);
            let signature = |&rank: &u32| {
                let mut signature = vec![0; words];
                bits.write(sets.get(rank), &mut signature);
                signature
            };
            sample.iter().map(signature).collect()
        };
        words.iter().map(of_length).collect()
    };
    let tokens: u64 = sample.iter().map(|&rank| u64::from(sets.size(rank))).sum();
    // A long signature takes at most half the room of the tokens.
    let longest = (tokens as usize / count.max(1) / 4).max(LONG[0]);
    let long_lengths = &LONG[..LONG.partition_point(|&words| words <= longest)];
    let (short, long) = (signatures(&SHORT), signatures(long_lengths));
    let (mut pairs, mut merged_tokens) = (0u64, 0u64);
    let (mut pass_short, mut pass_long) = ([0u64; SHORT.len()], [0u64; LONG.len()]);
    for (i, &x) in sample.iter().enumerate() {
        for (j, &y) in sample[..i].iter().enumerate() {
            let (size, side, other) = (sets.size(x), sets.side(x), sets.size(y));
            if !bounds.partner_sizes(size, side).contains(&other) {
                continue;
            }
            let Some(limit) = max_distance(size, other, bounds.min_overlap_of(size, side, other)) else { continue };
            pairs += 1;
            merged_tokens += u64::from(size + other);
            let passes =
                |signatures: &Vec<Vec<u64>>| u64::from(distance(kernel, &signatures[i], &signatures[j]) <= limit);
            pass_short.iter_mut().zip(&short).for_each(|(count, short)| *count += passes(short));
            pass_long.iter_mut().zip(&long).for_each(|(count, long)| *count += passes(long));
        }
    }
    let pairs = pairs.max(1) as f64;
    let merge = cost::MERGE + cost::MERGE_TOKEN * merged_tokens as f64 / pairs;
    let mut best = (SHORT[0], LONG[0], f64::INFINITY);
    for (&short, &pass_short) in SHORT.iter().zip(&pass_short) {
        for (&long, &pass_long) in long_lengths.iter().zip(&pass_long) {
            let compare = cost::SHORT + cost::SHORT_WORD * short as f64;
            let compare_long = (cost::LONG + cost::LONG_WORD * long as f64) * pass_short as f64 / pairs;
            let cost = compare + compare_long + merge * pass_long.min(pass_short) as f64 / pairs;
            if cost < best.2 {
                best = (short, long, cost);
            }
        }
    }
    best
}
