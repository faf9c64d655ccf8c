//! MinHash sketches: the smallest hashes of a set's tokens under many permutations.

#![allow(unsafe_code, reason = "vector instructions")]

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::model::{Error, Result};

/// Turns the token hashes of a record into its sketch: entry `i` is the smallest value that permutation `i` gives any of
/// them. Two sets agree in an entry with the probability of their Jaccard similarity.
///
/// The permutations of 32-bit numbers are a fixed mixing function (that of MurmurHash3) after an exclusive or with a seed
/// of their own. They are the same on every machine, for ever.
pub(crate) struct MinHasher {
    seeds: Vec<u32>,
    portable: bool,
}

/// How MinHash sketches are made. Only sketches of the same settings can be compared.
///
/// See the example of [`minhash`](crate::tokenize::Tokenizer::minhash).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinHashSettings {
    /// How many permutations there are: the entries of a sketch.
    pub permutations: u32,
    /// The seed of the permutations.
    pub seed: u64,
}

/// Entries that are computed together.
const LANES: usize = 16;

impl MinHasher {
    pub(crate) fn new(permutations: u32, seed: u64, portable: bool) -> Self {
        let mut state = seed;
        let seeds = (0..permutations).map(|_| (next_random(&mut state) >> 32) as u32).collect();
        Self { seeds, portable }
    }

    /// Appends the sketch of a record that has at least one token.
    pub(crate) fn append(&self, hashes: &[u32], sketch: &mut Vec<u32>) {
        #[cfg(target_arch = "x86_64")]
        if !self.portable && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just asked whether it has these instructions.
            return unsafe { self.append_avx2(hashes, sketch) };
        }
        let _ = self.portable;
        self.append_plain(hashes, sketch);
    }

    /// The same code, which the compiler turns into wider instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn append_avx2(&self, hashes: &[u32], sketch: &mut Vec<u32>) {
        self.append_plain(hashes, sketch);
    }

    #[inline(always)]
    fn append_plain(&self, hashes: &[u32], sketch: &mut Vec<u32>) {
        for seeds in self.seeds.chunks(LANES) {
            let mut lanes = [0; LANES];
            lanes[..seeds.len()].copy_from_slice(seeds);
            let mut smallest = [u32::MAX; LANES];
            for &hash in hashes {
                for (smallest, seed) in smallest.iter_mut().zip(lanes) {
                    *smallest = (*smallest).min(mix(hash ^ seed));
                }
            }
            sketch.extend_from_slice(&smallest[..seeds.len()]);
        }
    }
}

/// p(r): the probability that the sketches of a pair with similarity r agree in at least `agree` of their entries.
///
/// ```
/// # use twinset::estimate::minhash_recall;
/// assert!((minhash_recall(0.9, 90, 100) - 0.583).abs() < 5e-4);
/// assert!((minhash_recall(0.8, 90, 100) - 0.0057).abs() < 5e-5);
/// ```
pub fn minhash_recall(similarity: f64, agree: u32, permutations: u32) -> f64 {
    if agree == 0 {
        return 1.0;
    }
    let binomial = Binomial::new(similarity.clamp(0.0, 1.0), u64::from(permutations));
    binomial.map_or(0.0, |binomial| binomial.sf(u64::from(agree) - 1))
}

/// The largest number of equal entries to ask for, so that a pair of this similarity is found with this probability.
///
/// See the example of [`minhash_recall`].
pub fn min_agreement(similarity: f64, permutations: u32, probability: f64) -> Result<u32> {
    let (mut enough, mut too_many) = (0, permutations + 1);
    while too_many - enough > 1 {
        let agree = u32::midpoint(enough, too_many);
        let is_found = minhash_recall(similarity, agree, permutations) >= probability;
        (enough, too_many) = if is_found { (agree, too_many) } else { (enough, agree) };
    }
    Some(enough).filter(|&enough| enough > 0).ok_or_else(|| {
        let text = format!("{permutations} permutations");
        Error::BadOption {
            text,
            expected: "enough to find such pairs with that probability; allow more --permutations",
        }
    })
}

/// A bit of a minimum, mixed once more: minima are small numbers, and their upper bits are nearly always 0.
pub(crate) fn low_bit(smallest: u32) -> u64 {
    u64::from(mix(smallest ^ 0x9e37_79b9) & 1)
}

/// The finalizer of MurmurHash3 for 32 bits.
#[inline(always)]
fn mix(mut value: u32) -> u32 {
    value ^= value >> 16;
    value = value.wrapping_mul(0x85eb_ca6b);
    value ^= value >> 13;
    value = value.wrapping_mul(0xc2b2_ae35);
    value ^ value >> 16
}

/// SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_are_the_same_on_every_machine() {
        let hashes: Vec<u32> = (0..1000u32).map(|number| number.wrapping_mul(0x9e37_79b9)).collect();
        for permutations in [1, 15, 16, 100, 128] {
            let sketch = |portable| {
                let mut sketch = Vec::new();
                MinHasher::new(permutations, 7, portable).append(&hashes, &mut sketch);
                sketch
            };
            assert_eq!(sketch(true), sketch(false));
            let by_definition = |seed: &u32| hashes.iter().map(|hash| mix(hash ^ seed)).min().unwrap();
            let seeds = MinHasher::new(permutations, 7, true).seeds;
            assert_eq!(sketch(true), seeds.iter().map(by_definition).collect::<Vec<_>>());
        }
    }

    /// Values of the published reference implementations.
    #[test]
    fn the_mixing_functions_are_the_published_ones() {
        assert_eq!(mix(0), 0);
        assert_eq!(mix(1), 0x514e_28b7);
        let mut state = 1_234_567;
        assert_eq!(next_random(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(next_random(&mut state), 3_203_168_211_198_807_973);
    }

    /// Figures of the paper, by its formula.
    #[test]
    fn the_curve_is_that_of_the_paper() {
        let p = |similarity| minhash_recall(similarity, 90, 100);
        assert!((p(0.95) - 0.988).abs() < 1e-3);
        assert!((p(0.96) - 0.9978).abs() < 5e-5);
        assert!((p(0.5) / 1.5e-17 - 1.0).abs() < 0.05, "{}", p(0.5));
        assert_eq!((p(0.0), p(1.0)), (0.0, 1.0));
    }

    #[test]
    fn the_agreement_asked_for_keeps_the_promise_and_is_the_largest() {
        for permutations in [10, 64, 100, 256] {
            for threshold in [0.5, 0.7, 0.8, 0.9, 0.99] {
                for probability in [0.5, 0.9, 0.99] {
                    let agree = min_agreement(threshold, permutations, probability).unwrap();
                    assert!(minhash_recall(threshold, agree, permutations) >= probability);
                    assert!(agree == permutations || minhash_recall(threshold, agree + 1, permutations) < probability);
                }
            }
        }
        assert!(min_agreement(0.1, 2, 0.99).is_err());
    }
}
