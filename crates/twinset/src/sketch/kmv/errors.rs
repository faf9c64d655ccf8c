//! How far estimates by synopses are off, and how many values they need.

use super::{Comparison, Condition};
use crate::model::{Error, Measure, Result, Threshold};
use crate::sketch::min_agreement;

/// ε: by what share of the truth an estimate from this comparison is off with at most the probability `risk`, by Chebyshev's
/// inequality. `at` is the true value, or the threshold that it reaches; for overlap and hamming it is the true Jaccard similarity.
///
/// ```
/// # use twinset::estimate::{Comparison, error_bound};
/// # use twinset::Measure;
/// // k = 128 at 0.8: in nine of ten cases an estimate is off by 14% at most.
/// let comparison = Comparison { left: 110, right: 110, common: 92, last: Some(1 << 40) };
/// assert!((error_bound(&comparison, Measure::Jaccard, 0.8, 0.1) - 0.1398).abs() < 1e-4);
/// ```
pub fn error_bound(comparison: &Comparison, measure: Measure, at: f64, risk: f64) -> f64 {
    if comparison.is_exact() {
        return 0.0;
    }
    let k = f64::from(comparison.compared());
    // The relative variance of a share in a sample.
    let of_share = |share: f64, sample: f64| (1.0 - share) / (sample * share);
    let of_count = |share: f64| ((k - 1.0) / share + 1.0) / (k * (k - 2.0).max(0.0));
    let variance = match measure {
        // An error of jaccard makes a smaller one of dice.
        Measure::Dice => of_share(at / (2.0 - at), k),
        Measure::Jaccard | Measure::Edit => of_share(at, k),
        Measure::Containment => of_share(at, f64::from(comparison.left)),
        // The geometric mean of two containments, neither of which is below the square of the cosine.
        Measure::Cosine => 2.0 * of_share(at * at, f64::from(comparison.left.min(comparison.right))),
        Measure::Overlap => of_count(at),
        Measure::Hamming => of_count(1.0 - at),
    };
    (variance / risk).sqrt()
}

/// ε of a number of different values that a synopsis with this k estimates.
///
/// See the example of [`error_bound`].
pub fn count_error(k: u32, risk: f64) -> f64 {
    (1.0 / ((f64::from(k) - 2.0).max(0.0) * risk)).sqrt()
}

/// k: how many values a synopsis needs so that an estimate from t on is off by more than the share `error` with at most the
/// probability `risk`, by Chebyshev's inequality.
///
/// ```
/// # use twinset::estimate::kmv_size;
/// assert_eq!(kmv_size(0.05, 0.1, 0.8), 1000);
/// ```
pub fn kmv_size(error: f64, risk: f64, threshold: f64) -> u64 {
    // A hair of slack, as 0.05² is not exact in binary.
    ((1.0 - threshold) / (threshold * error * error * risk) * (1.0 - 1e-12)).ceil() as u64
}

/// How low an estimate by synopses with this k may be, so that a pair on the threshold is found with this probability at
/// least. The number of common values among those compared is not more spread than a binomial one.
///
/// ```
/// # use twinset::estimate::{Condition, lowest_estimate};
/// # use twinset::Measure;
/// let condition = Condition::new(Measure::Jaccard, "0.8".parse()?, 0)?;
/// assert_eq!(lowest_estimate(&condition, 128, 0.99)?, "91/128".parse()?); // 91 of 128
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn lowest_estimate(condition: &Condition, k: u32, probability: f64) -> Result<Threshold> {
    let (measure, t) = (condition.measure(), condition.threshold().as_f64());
    let jaccard = match measure {
        Measure::Jaccard => t,
        Measure::Dice => t / (2.0 - t),
        other => {
            let expected = "a measure whose estimates keep a promise: jaccard or dice";
            return Err(Error::BadOption { text: other.to_string(), expected });
        }
    };
    if !(probability > 0.0 && probability < 1.0) {
        return Err(Error::BadOption { text: probability.to_string(), expected: "a probability between 0 and 1" });
    }
    let agree = min_agreement(jaccard, k, probability).map_err(|_| Error::BadOption {
        text: format!("synopses of {k} values"),
        expected: "enough to find such pairs with that probability; raise --size, or ask for less",
    })?;
    let (agree, k) = (u64::from(agree), u64::from(k));
    let lowest = match measure {
        Measure::Dice => Threshold::new(2 * agree, k + agree)?,
        _ => Threshold::new(agree, k)?,
    };
    Ok(if lowest.as_f64() < t { lowest } else { condition.threshold() })
}
