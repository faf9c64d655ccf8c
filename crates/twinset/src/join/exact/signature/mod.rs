//! Bitmaps that tell quickly that two sets are too different.
//!
//! Every token of a set toggles one bit. Where two bitmaps differ in a bit, the sets differ in at least one of the
//! tokens behind it, so the number of differing bits is at most the sets' Hamming distance. Tokens are dealt to the
//! bits in order of frequency, forth and back, so that the frequent ones have bits of their own and every bit differs
//! about as often as the others.

mod filter;
mod kernel;
mod posting_lists;

pub(crate) use filter::{ShortLength, SignatureFilter};
pub(crate) use posting_lists::{PostingLists, list_starts};

use std::ops::Range;

use rayon::prelude::*;

use self::kernel::{Kernel, STEP};
use crate::join::task::OrderedSets;
use crate::support::prefetch;

/// How token ids become bits of a signature of some length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits {
    /// The most frequent token.
    last_token: u32,
    /// How many bits there are.
    count: u32,
    /// 2⁶⁴ divided by that, rounded up, to divide by multiplication.
    reciprocal: u64,
}

impl Bits {
    pub(crate) fn new(sets: &OrderedSets<'_>, words: usize) -> Self {
        let count = 64 * words as u32;
        let reciprocal = u64::MAX / u64::from(count) + 1;
        Self { last_token: sets.distinct_tokens().saturating_sub(1), count, reciprocal }
    }

    /// Writes a set's signature to words that were zero.
    pub(crate) fn write(self, set: &[u32], signature: &mut [u64]) {
        for &token in set {
            let from_end = self.last_token - token;
            let round = ((u128::from(self.reciprocal) * u128::from(from_end)) >> 64) as u32;
            let place = from_end - round * self.count;
            let bit = if round.is_multiple_of(2) { place } else { self.count - 1 - place };
            signature[(bit / 64) as usize] ^= 1 << (bit % 64);
        }
    }
}

/// The signatures of all sets, one after the other.
pub(crate) struct Signatures {
    words: usize,
    all: Vec<u64>,
}

impl Signatures {
    pub(crate) fn new(sets: &OrderedSets<'_>, words: usize) -> Self {
        let bits = Bits::new(sets, words);
        let mut all = vec![0; words * sets.len()];
        all.par_chunks_mut(words).enumerate().for_each(|(rank, signature)| {
            bits.write(sets.get(rank as u32), signature);
        });
        Self { words, all }
    }

    pub(crate) fn get(&self, rank: u32) -> &[u64] {
        &self.all[rank as usize * self.words..][..self.words]
    }
}

/// Short signatures in a row, to be compared with one signature: first words of all, second words of all, and so on.
pub(crate) struct Columns {
    width: usize,
    length: usize,
    /// From the start of one word's column to that of the next.
    stride: usize,
    words: Vec<u64>,
}

impl Columns {
    /// Room for so many signatures of so many words.
    fn new(width: usize, length: usize) -> Self {
        // A step may read past the end. An odd number of cache lines keeps the columns out of each other's way.
        let stride = ((length + STEP).div_ceil(STEP) | 1) * STEP;
        Self { width, length, stride, words: vec![0; stride * width] }
    }

    /// Columns of the signatures of these sets.
    pub(crate) fn of(signatures: &Signatures, ranks: &[u32]) -> Self {
        const AT_ONCE: usize = 4096;
        let mut columns = Self::new(signatures.words, ranks.len());
        for (word, column) in columns.words.chunks_exact_mut(columns.stride).enumerate() {
            let parts = column.par_chunks_mut(AT_ONCE).zip(ranks.par_chunks(AT_ONCE));
            parts.for_each(|(column, ranks)| {
                column.iter_mut().zip(ranks).for_each(|(slot, &rank)| *slot = signatures.get(rank)[word]);
            });
        }
        columns
    }

    /// Fetches the signatures from a position on into the cache.
    pub(crate) fn fetch(&self, position: usize) {
        self.words.chunks_exact(self.stride).for_each(|column| prefetch(&column[position..]));
    }

    /// Adds to `near` the positions, counted from the start of the range, whose signatures differ from `own` in at most
    /// `limit` bits.
    pub(crate) fn near(&self, kernel: Kernel, own: &[u64], range: Range<usize>, limit: u32, near: &mut Vec<u32>) {
        assert!(own.len() == self.width && range.end <= self.length);
        kernel.near(&self.words, self.stride, own, range, limit, near);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length, limit and range, with signatures that differ in few and in many bits.
    #[test]
    fn all_kernels_see_the_same() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for words in [1, 2, 3, 8, 24] {
            let own: Vec<u64> = (0..words).map(|_| random()).collect();
            let sparse = |word: u64, a: u64, b: u64, c: u64| word ^ (a & b & c);
            let all =
                (0..50).flat_map(|_| own.clone()).map(|word| sparse(word, random(), random(), random())).collect();
            let signatures = Signatures { words, all };
            let columns = Columns::of(&signatures, &(0..50).collect::<Vec<u32>>());
            for (range, limit) in [(0..50, 8 * words as u32), (3..4, u32::MAX), (7..7, 64), (5..29, 7 * words as u32)] {
                let near = |kernel| {
                    let mut near = Vec::new();
                    columns.near(kernel, &own, range.clone(), limit, &mut near);
                    near
                };
                let distances = range.clone().map(|rank| Kernel::Portable.distance(&own, signatures.get(rank as u32)));
                let expected: Vec<u32> = (0..).zip(distances).filter(|&(_, d)| d <= limit).map(|(at, _)| at).collect();
                assert_eq!(near(Kernel::Portable), expected);
                assert_eq!(near(Kernel::new(false)), expected);
            }
            let (a, b) = (signatures.get(0), signatures.get(1));
            assert_eq!(Kernel::new(false).distance(a, b), Kernel::Portable.distance(a, b));
        }
    }

    #[test]
    fn differing_bits_never_exceed_the_distance() {
        let bits = Bits { last_token: 999, count: 128, reciprocal: u64::MAX / 128 + 1 };
        let signature = |set: &[u32]| {
            let mut signature = [0; 2];
            bits.write(set, &mut signature);
            signature
        };
        let x: Vec<u32> = (0..1000).step_by(7).collect();
        for removed in 0..x.len() {
            let y: Vec<u32> = x.iter().copied().enumerate().filter(|&(at, _)| at > removed).map(|(_, t)| t).collect();
            let differing = Kernel::Portable.distance(&signature(&x), &signature(&y)) as usize;
            assert!(differing <= removed + 1 && (removed > 0 || differing == 1));
        }
        // The most frequent tokens have bits of their own.
        assert_eq!(signature(&(872..1000).collect::<Vec<u32>>()), [u64::MAX; 2]);
    }
}
