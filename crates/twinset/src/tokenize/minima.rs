//! Sketches: the smallest hashes of a record's tokens under many permutations.

#![allow(unsafe_code, reason = "vector instructions")]

/// Turns the token hashes of a record into its sketch: entry `i` is the smallest value that permutation `i` gives any of
/// them. Two sets agree in an entry with the probability of their Jaccard similarity.
///
/// The permutations of 32-bit numbers are a fixed mixing function (that of MurmurHash3) after an exclusive or with a seed
/// of their own. They are the same on every machine, for ever.
pub(crate) struct Minima {
    seeds: Vec<u32>,
    portable: bool,
}

/// Entries that are computed together.
const LANES: usize = 16;

impl Minima {
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
                Minima::new(permutations, 7, portable).append(&hashes, &mut sketch);
                sketch
            };
            assert_eq!(sketch(true), sketch(false));
            let by_definition = |seed: &u32| hashes.iter().map(|hash| mix(hash ^ seed)).min().unwrap();
            let seeds = Minima::new(permutations, 7, true).seeds;
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
}
