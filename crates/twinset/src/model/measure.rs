//! How the likeness of two token sets is expressed.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::Error;

/// A similarity or a distance between two records.
///
/// See the example of [`Search`](crate::Search).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Measure {
    /// Common tokens by all tokens, |x ∩ y| / |x ∪ y|.
    #[default]
    Jaccard,
    /// Common tokens by the geometric mean of the sizes, |x ∩ y| / √(|x|·|y|).
    Cosine,
    /// Common tokens by the mean of the sizes, 2·|x ∩ y| / (|x| + |y|).
    Dice,
    /// The number of common tokens, |x ∩ y|.
    Overlap,
    /// The share of the left record's tokens that the right one has, |left ∩ right| / |left|.
    Containment,
    /// The number of tokens that only one of the two has, |(x − y) ∪ (y − x)|.
    Hamming,
    /// The fewest characters to insert, delete or replace that turn one text into the other.
    Edit,
}

impl Measure {
    /// Every measure, in the order of the documentation.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The measures that compare token sets: all but edit distance.
    pub fn of_sets() -> impl Iterator<Item = Measure> {
        Self::ALL.iter().copied().filter(|&measure| measure != Measure::Edit)
    }

    /// The name, as in `--measure`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a smaller value means more alike.
    pub fn is_distance(self) -> bool {
        matches!(self, Measure::Hamming | Measure::Edit)
    }

    /// Whether the value counts something, so that thresholds are whole numbers.
    pub fn is_count(self) -> bool {
        matches!(self, Measure::Overlap | Measure::Hamming | Measure::Edit)
    }

    /// Whether a value reaches a threshold, both being floats. A cosine is irrational, and on the threshold it may lie a
    /// hair below it.
    pub fn reaches(self, value: f64, threshold: f64) -> bool {
        match self {
            _ if self.is_distance() => value <= threshold,
            Measure::Cosine => value >= threshold * (1.0 - 4.0 * f64::EPSILON),
            _ => value >= threshold,
        }
    }

    /// The order of values from the most alike down.
    pub fn order(self, a: f64, b: f64) -> std::cmp::Ordering {
        if self.is_distance() { a.total_cmp(&b) } else { b.total_cmp(&a) }
    }

    /// Whether the first value means more alike than the second.
    pub(crate) fn is_better(self, value: f64, than: f64) -> bool {
        if self.is_distance() { value < than } else { value > than }
    }

    /// The thresholds that make sense, in words.
    pub fn thresholds(self) -> &'static str {
        match self {
            Measure::Overlap => "a whole number from 1",
            Measure::Hamming | Measure::Edit => "a whole number from 0",
            _ => "a number above 0 and at most 1, for example 0.8 or 4/5",
        }
    }

    /// The value for two sets of these sizes with so many common tokens.
    ///
    /// Two empty sets are alike by definition, and an empty left set is contained in every set. Edit distance is not
    /// a function of sets; for it, `overlap` is taken to be the distance.
    pub fn value(self, left: u32, right: u32, overlap: u32) -> f64 {
        let (x, y, o) = (f64::from(left), f64::from(right), f64::from(overlap));
        match self {
            Measure::Overlap | Measure::Edit => o,
            Measure::Hamming => x + y - 2.0 * o,
            Measure::Containment if left == 0 => 1.0,
            _ if left == 0 && right == 0 => 1.0,
            Measure::Jaccard => o / (x + y - o),
            Measure::Cosine if overlap == 0 => 0.0,
            // Of the exact ratio, so that equal cosines are equal floats.
            Measure::Cosine => (o * o / (x * y)).sqrt(),
            Measure::Dice => 2.0 * o / (x + y),
            Measure::Containment => o / x,
        }
    }
}
