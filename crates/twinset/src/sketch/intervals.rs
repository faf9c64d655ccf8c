//! Confidence intervals of estimates.

use std::collections::HashMap;

use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::gamma_lr;

use super::kmv::{Comparison, Synopsis, share_below};
use crate::model::Measure;

/// A similarity, or another number, that was estimated, and where the true one lies.
///
/// See the example of [`Interval::of_agreement`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub similarity: f64,
    /// The true similarity is not smaller, in all but 2.5% of cases.
    pub low: f64,
    /// Nor larger, in all but 2.5%.
    pub high: f64,
}

impl Interval {
    /// For two sketches that agree in so many of their entries: the exact 95% interval of Clopper and Pearson. It is for a
    /// pair fixed beforehand; of pairs that were chosen as they agree in many entries, more are overestimated.
    ///
    /// ```
    /// # use twinset::estimate::Interval;
    /// let interval = Interval::of_agreement(90, 100);
    /// assert_eq!(interval.similarity, 0.9);
    /// assert!((interval.low - 0.8238).abs() < 1e-4 && (interval.high - 0.9510).abs() < 1e-4);
    /// ```
    pub fn of_agreement(agreeing: u32, of: u32) -> Self {
        let (low, high) = share(agreeing, of, 0.025);
        Self { similarity: f64::from(agreeing) / f64::from(of), low, high }
    }
}

/// Where the true values lie that synopses estimate: 95% intervals, for sets fixed beforehand.
///
/// The values compared are a sample of the union, without replacement, so what share of the union is common, or what share of
/// one side, has the exact interval of Clopper and Pearson for the counts, which is a little wide for such samples. How many
/// values the union has follows from the largest of them, whose distribution is a beta distribution; it tells nothing
/// about the shares, so the intervals of both combine to that of their product.
///
/// ```
/// use twinset::Measure;
/// use twinset::estimate::{Comparison, Intervals};
///
/// let comparison = Comparison { left: 110, right: 110, common: 92, last: Some(1 << 40) };
/// let interval = Intervals::new(Measure::Jaccard).of(&comparison);
/// assert!(interval.low < interval.similarity && interval.similarity < interval.high);
/// ```
pub struct Intervals {
    measure: Measure,
    /// What was computed for numbers and tails, as these repeat.
    shares: HashMap<(u32, u32, u64), (f64, f64)>,
    /// The same of quantiles of the gamma distribution, by its shape and the tail.
    quantiles: HashMap<(u32, u64), (f64, f64)>,
}

/// So many are remembered.
const REMEMBERED: usize = 100_000;

/// One side of what an interval may miss.
const TAIL: f64 = 0.025;
/// The same where two independent intervals must both hold: (1 − √0.95) / 2.
const TAIL_OF_TWO: f64 = 0.012_660_283_4;
/// The same where two intervals must both hold that may depend on each other.
const TAIL_OF_EITHER: f64 = TAIL / 2.0;

impl Intervals {
    /// For estimates of this measure.
    pub fn new(measure: Measure) -> Self {
        Self { measure, shares: HashMap::new(), quantiles: HashMap::new() }
    }

    /// The estimate for a pair, and its interval.
    pub fn of(&mut self, comparison: &Comparison) -> Interval {
        let estimate = comparison.value(self.measure);
        let (Some(last), compared) = (comparison.last, comparison.compared()) else {
            return Interval { similarity: estimate, low: estimate, high: estimate };
        };
        let &Comparison { left, right, common, .. } = comparison;
        let dice = |jaccard: f64| 2.0 * jaccard / (1.0 + jaccard);
        let (low, high) = match self.measure {
            Measure::Jaccard | Measure::Edit => self.share(common, compared, TAIL),
            Measure::Dice => {
                let (low, high) = self.share(common, compared, TAIL);
                (dice(low), dice(high))
            }
            Measure::Containment => self.share(common, left, TAIL),
            Measure::Cosine => {
                let of_left = self.share(common, left, TAIL_OF_EITHER);
                let of_right = self.share(common, right, TAIL_OF_EITHER);
                ((of_left.0 * of_right.0).sqrt(), (of_left.1 * of_right.1).sqrt())
            }
            Measure::Overlap | Measure::Hamming => {
                let counted = if self.measure == Measure::Overlap { common } else { compared - common };
                let share = self.share(counted, compared, TAIL_OF_TWO);
                let union = self.count(compared, last, TAIL_OF_TWO);
                (share.0 * union.0, share.1 * union.1)
            }
        };
        Interval { similarity: estimate, low, high }
    }

    /// How many values a set has, and its interval.
    pub fn distinct(&mut self, synopsis: Synopsis<'_>) -> Interval {
        let estimate = synopsis.distinct();
        let (low, high) = match synopsis.values().last() {
            Some(&last) if !synopsis.is_complete() => self.count(synopsis.size(), last, TAIL),
            _ => (estimate, estimate),
        };
        Interval { similarity: estimate, low, high }
    }

    /// How many values two sets have together, and its interval.
    pub fn union(&mut self, comparison: &Comparison) -> Interval {
        let estimate = comparison.union();
        let counted = comparison.last.map(|last| self.count(comparison.compared(), last, TAIL));
        let (low, high) = counted.unwrap_or((estimate, estimate));
        Interval { similarity: estimate, low, high }
    }

    /// A share of which a sample of `of` has `counted`.
    fn share(&mut self, counted: u32, of: u32, tail: f64) -> (f64, f64) {
        if self.shares.len() > REMEMBERED {
            self.shares.clear();
        }
        *self.shares.entry((counted, of, tail.to_bits())).or_insert_with(|| share(counted, of, tail))
    }

    /// How many values there are if the k-th smallest is this one.
    fn count(&mut self, k: u32, kth: u64, tail: f64) -> (f64, f64) {
        let (low, high) = *self.quantiles.entry((k, tail.to_bits())).or_insert_with(|| gamma_quantiles(k, tail));
        let below = share_below(kth);
        if below < 1e-6 {
            // So few values are as small that their number has the distribution of Poisson, as good as exactly.
            return (low / below, high / below);
        }
        // The probability that k values or more of so many are as small.
        let k = f64::from(k);
        let enough = |count: f64| beta_reg(k, (count - k + 1.0).max(f64::MIN_POSITIVE), below);
        // The interval lies within that of Poisson.
        let from = (low / below).max(k);
        let lowest = bisect(from, (k / below).max(from), |count| enough(count) >= tail);
        let highest = bisect((k - 1.0) / below, (high / below).max(k), |count| enough(count) >= 1.0 - tail);
        // Of a set with little more than k values the estimate can be a little lower than what is possible.
        (lowest.min((k - 1.0) / below), highest)
    }
}

/// The interval of Clopper and Pearson.
fn share(counted: u32, of: u32, tail: f64) -> (f64, f64) {
    let (a, n) = (f64::from(counted), f64::from(of));
    let quantile = |shape_a: f64, shape_b: f64, at: f64| Beta::new(shape_a, shape_b).map(|beta| beta.inverse_cdf(at));
    let low = if counted == 0 { Ok(0.0) } else { quantile(a, n - a + 1.0, tail) };
    let high = if counted >= of { Ok(1.0) } else { quantile(a + 1.0, n - a, 1.0 - tail) };
    (low.unwrap_or(0.0), high.unwrap_or(1.0))
}

/// Between which numbers a variable of the gamma distribution with this shape lies, but for so much on each side.
fn gamma_quantiles(shape: u32, tail: f64) -> (f64, f64) {
    let shape = f64::from(shape);
    let most = shape + 12.0 * shape.sqrt() + 40.0;
    let at = |quantile: f64| bisect(0.0, most, |value| gamma_lr(shape, value.max(f64::MIN_POSITIVE)) >= quantile);
    (at(tail), at(1.0 - tail))
}

/// The smallest number of a range for which something holds, if it holds from there on, to ten digits.
fn bisect(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while to - from > 1e-9 * to.max(1.0) {
        let middle = f64::midpoint(from, to);
        if holds(middle) { to = middle } else { from = middle }
    }
    to
}
