//! Labels of token sets: k bits for each of l trees, the same for ever.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::promise::{label_length, trees_for};
use crate::model::{Error, Result, Threshold};
use crate::tokenize::{Minima, low_bit};

/// How many labels a set has, how long they are, and what their hash functions depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LabelOptions {
    /// How many trees: the labels of a record
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.trees, help_heading = "Method"))]
    pub trees: u32,
    /// How many bits a label has
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.bits, help_heading = "Method"))]
    pub bits: u32,
}

const DEFAULTS: LabelOptions = LabelOptions { trees: 20, bits: 50 };
const MOST_TREES: u32 = 1000;

impl Default for LabelOptions {
    fn default() -> Self {
        DEFAULTS
    }
}

impl LabelOptions {
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
        match label_length(threshold.as_f64(), probability, self.trees, self.bits) {
            0 => Err(Error::TooFewTrees { trees: self.trees, needed: trees_for(threshold.as_f64(), probability) }),
            length => Ok(length),
        }
    }
}

/// Labels sets.
pub struct Labeler {
    options: LabelOptions,
    minima: Minima,
}

impl Labeler {
    /// Labels of the same options and seed can be compared.
    pub fn new(options: LabelOptions, seed: u64) -> Result<Self> {
        options.check()?;
        Ok(Self { options, minima: Minima::new(options.trees * options.bits, seed, false) })
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
/// # use twinset::estimate::same_beginning;
/// assert_eq!(same_beginning(5, 64), 5..=5);
/// assert_eq!(same_beginning(5, 62), 4..=7);
/// assert_eq!(same_beginning(-1, 1), i64::MIN..=-1);
/// ```
pub fn same_beginning(label: i64, bits: u32) -> RangeInclusive<i64> {
    let rest = (u64::MAX.checked_shr(bits).unwrap_or(0)) as i64;
    label & !rest..=label | rest
}
