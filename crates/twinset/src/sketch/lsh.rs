//! Labels of token sets: k bits for each of l trees, the same for ever.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{MinHasher, low_bit};
use crate::model::{Error, Result, Threshold};

/// How many labels a set has, how long they are, and what their hash functions depend on.
///
/// See the example of [`Labeler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LshOptions {
    /// How many trees: the labels of a record
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.trees, help_heading = "Method"))]
    pub trees: u32,
    /// How many bits a label has
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.bits, help_heading = "Method"))]
    pub bits: u32,
}

const DEFAULTS: LshOptions = LshOptions { trees: 20, bits: 50 };
const MOST_TREES: u32 = 1000;

impl Default for LshOptions {
    fn default() -> Self {
        DEFAULTS
    }
}

impl LshOptions {
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<()> {
        let bad = |number: u32, expected| Err(Error::BadOption { text: number.to_string(), expected });
        match (self.trees, self.bits) {
            (1..=MOST_TREES, 1..=64) => Ok(()),
            (1..=MOST_TREES, bits) => bad(bits, "a number of bits: 1 to 64"),
            (trees, _) => bad(trees, "a number of trees: 1 to 1000"),
        }
    }

    /// k': how many bits must agree, so that a pair on the threshold is found with this probability.
    pub fn length(&self, threshold: Threshold, probability: f64) -> Result<u32> {
        if !(probability > 0.0 && probability < 1.0) {
            let expected = "a probability between 0 and 1";
            return Err(Error::BadOption { text: probability.to_string(), expected });
        }
        match lsh_bits(threshold.as_f64(), probability, self.trees, self.bits) {
            0 => Err(Error::TooFewTrees { trees: self.trees, needed: lsh_trees(threshold.as_f64(), probability) }),
            length => Ok(length),
        }
    }
}

/// Labels sets.
///
/// ```
/// use twinset::estimate::{Labeler, LshOptions};
///
/// let labeler = Labeler::new(LshOptions { trees: 3, bits: 50 }, 0)?;
/// assert_eq!(labeler.labels(&[1, 2, 3]).len(), 3);
/// assert!(labeler.labels(&[]).is_empty());
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct Labeler {
    options: LshOptions,
    minima: MinHasher,
}

impl Labeler {
    /// Labels of the same options and seed can be compared.
    pub fn new(options: LshOptions, seed: u64) -> Result<Self> {
        options.check()?;
        Ok(Self { options, minima: MinHasher::new(options.trees * options.bits, seed, false) })
    }

    /// The labels of a set of token hashes, one for each tree: their bits from the highest on, as signed numbers in the
    /// order of the bits. A set without tokens has none.
    pub fn labels(&self, hashes: &[u64]) -> Vec<i64> {
        if hashes.is_empty() {
            return Vec::new();
        }
        let hashes: Vec<u32> = hashes.iter().map(|&hash| hash as u32).collect();
        let mut smallest = Vec::with_capacity((self.options.trees * self.options.bits) as usize);
        self.minima.append(&hashes, &mut smallest);
        let label = |of_tree: &[u32]| {
            let bits = of_tree.iter().fold(0, |label, &smallest| label << 1 | low_bit(smallest));
            (bits << (64 - self.options.bits)) as i64 ^ i64::MIN
        };
        smallest.chunks(self.options.bits as usize).map(label).collect()
    }
}

/// The labels that have the same first bits as this one.
///
/// ```
/// # use twinset::estimate::label_range;
/// assert_eq!(label_range(5, 64), 5..=5);
/// assert_eq!(label_range(5, 62), 4..=7);
/// assert_eq!(label_range(-1, 1), i64::MIN..=-1);
/// ```
pub fn label_range(label: i64, bits: u32) -> RangeInclusive<i64> {
    let rest = (u64::MAX.checked_shr(bits).unwrap_or(0)) as i64;
    label & !rest..=label | rest
}

/// The probability that one of `trees` labels of a pair with this similarity has the same first `bits` bits.
///
/// See the example of [`lsh_bits`].
pub fn lsh_recall(similarity: f64, trees: u32, bits: u32) -> f64 {
    let one_tree = ((1.0 + similarity) / 2.0).powi(bits as i32);
    1.0 - (1.0 - one_tree).powi(trees as i32)
}

/// k': how many bits of the labels may be compared so that a pair of this similarity is found with this probability; 0 if
/// that many trees cannot promise it.
///
/// ```
/// # use twinset::estimate::lsh_bits;
/// assert_eq!(lsh_bits(0.9, 0.9, 20, 50), 43);
/// ```
pub fn lsh_bits(similarity: f64, probability: f64, trees: u32, bits: u32) -> u32 {
    if similarity >= 1.0 {
        return bits;
    }
    let one_tree = 1.0 - (1.0 - probability).powf(1.0 / f64::from(trees));
    let length = (one_tree.ln() / ((1.0 + similarity) / 2.0).ln()).floor();
    length.clamp(0.0, f64::from(bits)) as u32
}

/// How many trees it takes at least to find a pair of this similarity with this probability.
///
/// ```
/// # use twinset::estimate::{lsh_bits, lsh_trees};
/// let trees = lsh_trees(0.3, 0.99999);
/// assert!(lsh_bits(0.3, 0.99999, trees, 50) >= 1 && lsh_bits(0.3, 0.99999, trees - 1, 50) == 0);
/// ```
pub fn lsh_trees(similarity: f64, probability: f64) -> u32 {
    let enough = (1..=u32::MAX).find(|&trees| lsh_bits(similarity, probability, trees, 1) >= 1);
    enough.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_promise() {
        for (similarity, probability) in [(0.8, 0.9), (0.9, 0.95), (0.7, 0.99)] {
            let bits = lsh_bits(similarity, probability, 20, 50);
            assert!(lsh_recall(similarity, 20, bits) >= probability);
            assert!(bits == 50 || lsh_recall(similarity, 20, bits + 1) < probability);
        }
    }
}
