//! The probabilities that go with sketches, labels and synopses.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::model::{Condition, Error, Measure, Result, Threshold};

/// A similarity, or another number, that was estimated, and where the true one lies.
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
        let (low, high) = super::intervals::share(agreeing, of, 0.025);
        Self { similarity: f64::from(agreeing) / f64::from(of), low, high }
    }
}

/// p(r): the probability that the sketches of a pair with similarity r agree in at least `agree` of their entries.
///
/// ```
/// # use twinset::estimate::found_by_agreement;
/// assert!((found_by_agreement(0.9, 90, 100) - 0.583).abs() < 5e-4);
/// assert!((found_by_agreement(0.8, 90, 100) - 0.0057).abs() < 5e-5);
/// ```
pub fn found_by_agreement(similarity: f64, agree: u32, permutations: u32) -> f64 {
    if agree == 0 {
        return 1.0;
    }
    let binomial = Binomial::new(similarity.clamp(0.0, 1.0), u64::from(permutations));
    binomial.map_or(0.0, |binomial| binomial.sf(u64::from(agree) - 1))
}

/// The largest number of equal entries to ask for, so that a pair of this similarity is found with this probability.
pub fn agreement(similarity: f64, permutations: u32, probability: f64) -> Result<u32> {
    let (mut enough, mut too_many) = (0, permutations + 1);
    while too_many - enough > 1 {
        let agree = u32::midpoint(enough, too_many);
        let is_found = found_by_agreement(similarity, agree, permutations) >= probability;
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

/// The probability that one of `trees` labels of a pair with this similarity has the same first `bits` bits.
pub fn found_by_labels(similarity: f64, trees: u32, bits: u32) -> f64 {
    let one_tree = ((1.0 + similarity) / 2.0).powi(bits as i32);
    1.0 - (1.0 - one_tree).powi(trees as i32)
}

/// k': how many bits of the labels may be compared so that a pair of this similarity is found with this probability; 0 if
/// that many trees cannot promise it.
///
/// ```
/// # use twinset::estimate::label_length;
/// assert_eq!(label_length(0.9, 0.9, 20, 50), 43);
/// ```
pub fn label_length(similarity: f64, probability: f64, trees: u32, bits: u32) -> u32 {
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
/// # use twinset::estimate::{label_length, trees_for};
/// let trees = trees_for(0.3, 0.99999);
/// assert!(label_length(0.3, 0.99999, trees, 50) >= 1 && label_length(0.3, 0.99999, trees - 1, 50) == 0);
/// ```
pub fn trees_for(similarity: f64, probability: f64) -> u32 {
    let enough = (1..=u32::MAX).find(|&trees| label_length(similarity, probability, trees, 1) >= 1);
    enough.unwrap_or(u32::MAX)
}

/// k: how many values a synopsis needs so that an estimate from t on is off by more than the share `error` with at most the
/// probability `risk`, by Chebyshev's inequality.
///
/// ```
/// # use twinset::estimate::synopsis_size;
/// assert_eq!(synopsis_size(0.05, 0.1, 0.8), 1000);
/// ```
pub fn synopsis_size(error: f64, risk: f64, threshold: f64) -> u64 {
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
    let agree = agreement(jaccard, k, probability).map_err(|_| Error::BadOption {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the paper, by its formula.
    #[test]
    fn the_curve_is_that_of_the_paper() {
        let p = |similarity| found_by_agreement(similarity, 90, 100);
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
                    let agree = agreement(threshold, permutations, probability).unwrap();
                    assert!(found_by_agreement(threshold, agree, permutations) >= probability);
                    assert!(
                        agree == permutations || found_by_agreement(threshold, agree + 1, permutations) < probability
                    );
                }
            }
        }
        assert!(agreement(0.1, 2, 0.99).is_err());
    }

    #[test]
    fn labels_keep_their_promise() {
        for (similarity, probability) in [(0.8, 0.9), (0.9, 0.95), (0.7, 0.99)] {
            let bits = label_length(similarity, probability, 20, 50);
            assert!(found_by_labels(similarity, 20, bits) >= probability);
            assert!(bits == 50 || found_by_labels(similarity, 20, bits + 1) < probability);
        }
    }
}
