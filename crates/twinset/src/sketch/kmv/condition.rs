//! Which pairs of synopses are wanted, and what values they must share for that.

use super::Comparison;
use crate::model::{Bounds, Collections, Error, Measure, Result, Threshold};

/// Which pairs of synopses are wanted: those whose estimate reaches a threshold.
///
/// See the example of [`count_estimates`](crate::estimate::count_estimates).
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    measure: Measure,
    threshold: Threshold,
    bounds: Bounds,
    /// The same for what is an estimate, where this is to miss less.
    lowered: (Threshold, Bounds),
    min_overlap: u32,
}

impl Condition {
    /// Checks the threshold against the measure. `min_overlap` is how many values the sets must share besides, as far as that
    /// can be estimated.
    pub fn new(measure: Measure, threshold: Threshold, min_overlap: u32) -> Result<Self> {
        if measure == Measure::Edit {
            return Err(Error::BadOption {
                text: measure.to_string(),
                expected: "what synopses estimate: all but edit",
            });
        }
        // With two collections, containment is that of the left one.
        let bounds = Bounds::new(measure, threshold, Collections::Two)?;
        Ok(Self { measure, threshold, bounds, lowered: (threshold, bounds), min_overlap })
    }

    /// The same, but estimates may be as low as this, and the overlap is not estimated. What is no estimate must fulfil the whole
    /// condition. A threshold that is not lower changes nothing.
    pub fn lowered(self, threshold: Threshold) -> Result<Self> {
        let bounds = Bounds::new(self.measure, threshold, Collections::Two)?;
        let is_laxer = self.measure.order(self.threshold.as_f64(), threshold.as_f64()).is_lt();
        Ok(if is_laxer { Self { lowered: (threshold, bounds), ..self } } else { self })
    }

    fn is_lowered(&self) -> bool {
        self.lowered.0 != self.threshold
    }

    /// The measure.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The threshold.
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// How low an estimate may be.
    pub fn lowest(&self) -> Threshold {
        self.lowered.0
    }

    /// How many values the sets must share besides.
    pub fn min_overlap(&self) -> u32 {
        self.min_overlap
    }

    /// The least Jaccard similarity of sets that reach the threshold, as far as it is estimated, if it tells one.
    pub fn least_jaccard(&self) -> Option<f64> {
        let t = self.lowered.0.as_f64();
        match self.measure {
            Measure::Jaccard => Some(t),
            Measure::Dice => Some(t / (2.0 - t)),
            Measure::Cosine => Some(t * t),
            Measure::Overlap | Measure::Containment | Measure::Hamming | Measure::Edit => None,
        }
    }

    /// Whether a pair of sets that compare like this is wanted.
    pub fn accepts(&self, comparison: &Comparison) -> bool {
        let (threshold, bounds) = if comparison.is_exact() { (self.threshold, self.bounds) } else { self.lowered };
        let is_alike = match self.measure.is_count() {
            true => self.measure.reaches(comparison.value(self.measure), threshold.as_f64()),
            false => comparison.common > 0 && bounds.accepts(comparison.left, comparison.right, comparison.common),
        };
        let is_free = self.min_overlap == 0 || self.is_lowered() && !comparison.is_exact();
        is_alike && (is_free || comparison.value(Measure::Overlap) >= f64::from(self.min_overlap))
    }

    /// How many values a synopsis must share with one of so many values, so that the pair can be accepted; k is the size of
    /// both. If it is 0, a pair may be accepted that shares none.
    pub fn least_common(&self, values: u32, k: u32) -> u32 {
        let (p, q) = self.lowered.0.ratio();
        let (p, q, values) = (u128::from(p), u128::from(q), u128::from(values));
        let least = match self.measure {
            Measure::Jaccard => (p * values).div_ceil(q),
            Measure::Dice => (p * values).div_ceil(2 * q - p),
            Measure::Cosine => (p * p * values).div_ceil(q * q),
            Measure::Hamming => values.saturating_sub(p * u128::from(k) / u128::from(k - 1)),
            Measure::Overlap | Measure::Containment | Measure::Edit => 1,
        };
        // Where the overlap counts as well, some value must be shared.
        u32::try_from(least).unwrap_or(u32::MAX).max(self.min_overlap.min(1))
    }

    /// What the values of two synopses of this size, as sets, must fulfil at least: a measure and its threshold.
    pub(crate) fn of_values(&self, k: u32) -> Result<(Measure, Threshold)> {
        // A threshold that is a little lower lets no pair go.
        const STEPS: u64 = 1_000_000;
        let lowered = |threshold: f64| {
            let steps = (threshold * STEPS as f64).floor() as u64;
            Threshold::new(steps.saturating_sub(1).max(1), STEPS)
        };
        // Shared values are at least j times those of the larger synopsis, so at least j times their mean number.
        if let Some(jaccard) = self.least_jaccard() {
            let is_exact = self.measure == Measure::Jaccard;
            return Ok((Measure::Dice, if is_exact { self.lowered.0 } else { lowered(jaccard)? }));
        }
        Ok(match self.measure {
            Measure::Hamming => {
                let most = 2 * self.lowered.0.ratio().0 * u64::from(k) / u64::from(k - 1);
                (Measure::Hamming, Threshold::whole(u32::try_from(most).unwrap_or(u32::MAX).min(1_000_000_000))?)
            }
            _ => (Measure::Overlap, Threshold::whole(1)?),
        })
    }
}
