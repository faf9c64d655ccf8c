//! The threshold as an exact number, and every bound that follows from it.
//!
//! All rounding of the crate happens in this file, in integers. In floating point some of these bounds come out one
//! too high, and pairs that lie on the threshold are lost (0.56 · 25 is 14, but not in binary).
//!
//! Notation as in the paper: |x| and |y| are the sizes, t = p/q is the threshold, α the least overlap of a pair.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Error, Measure, Result};

/// Thresholds have at most this many digits on either side, so that every bound fits 128-bit arithmetic.
const MAX_DIGITS: usize = 9;

/// An exact, non-negative number, read from a decimal (`0.8`) or a fraction (`4/5`).
///
/// ```
/// # use twinset::Threshold;
/// let t: Threshold = "0.80".parse()?;
/// assert_eq!(t, "4/5".parse()?);
/// assert_eq!(t.to_string(), "4/5");
/// assert!("0.3333333333".parse::<Threshold>().unwrap_err().to_string().contains("1/3"));
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Threshold {
    /// The fraction `numerator / denominator`; both at most 10⁹, the denominator not 0.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self> {
        let largest = 10u64.pow(MAX_DIGITS as u32);
        let text = || format!("{numerator}/{denominator}");
        if denominator == 0 {
            return Err(Error::NotAThreshold(text()));
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        if numerator > largest || denominator > largest {
            let simple = simplest_fraction(u128::from(numerator), u128::from(denominator), u128::from(largest));
            return Err(Error::TooManyDigits { text: text(), suggestion: simple });
        }
        Ok(Self { numerator, denominator })
    }

    /// Its numerator and its denominator.
    pub(crate) fn ratio(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// The nearest 64-bit float, for probabilities.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The whole number `value`, for measures that count; at most 10⁹.
    pub fn whole(value: u32) -> Result<Self> {
        Self::new(u64::from(value), 1)
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let bad = || Error::NotAThreshold(text.to_owned());
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if let Some((above, below)) = text.split_once('/') {
            let (above, below) = (above.trim(), below.trim());
            if above.is_empty() || below.is_empty() || !digits(above) || !digits(below) {
                return Err(bad());
            }
            let parse = |part: &str| part.parse::<u64>().map_err(|_| bad());
            return Self::new(parse(above)?, parse(below)?);
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if (whole.is_empty() && decimals.is_empty()) || !digits(whole) || !digits(decimals) {
            return Err(bad());
        }
        let (whole, decimals) = (whole.trim_start_matches('0'), decimals.trim_end_matches('0'));
        if whole.len() > MAX_DIGITS {
            return Err(Error::ThresholdTooLarge(text.to_owned()));
        }
        // More digits than these make no difference to the suggestion, and there is no other use for them.
        let decimals = &decimals[..decimals.len().min(2 * MAX_DIGITS)];
        let scale = 10u128.pow(decimals.len() as u32);
        let numerator = format!("0{whole}{decimals}").parse::<u128>().map_err(|_| bad())?;
        if decimals.len() > MAX_DIGITS || numerator > 10u128.pow(MAX_DIGITS as u32) {
            let suggestion = simplest_fraction(numerator, scale, scale);
            return Err(Error::TooManyDigits { text: text.to_owned(), suggestion });
        }
        Self::new(numerator as u64, scale as u64)
    }
}

impl TryFrom<&str> for Threshold {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        text.parse()
    }
}

/// A number means its shortest decimal text, so 0.8 is 4/5.
impl TryFrom<f64> for Threshold {
    type Error = Error;

    fn try_from(number: f64) -> Result<Self> {
        number.to_string().parse()
    }
}

/// A whole number, for measures that count.
impl TryFrom<u32> for Threshold {
    type Error = Error;

    fn try_from(number: u32) -> Result<Self> {
        Self::whole(number)
    }
}

impl TryFrom<i32> for Threshold {
    type Error = Error;

    fn try_from(number: i32) -> Result<Self> {
        number.to_string().parse()
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From text, or from a number by its shortest decimal text, so that 0.8 means 4/5.
impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            serde_json::Value::Number(number) => match number.as_f64() {
                Some(float) => float.to_string(),
                None => number.to_string(),
            },
            other => return Err(serde::de::Error::custom(Error::NotAThreshold(other.to_string()))),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which of two collections a record belongs to. A self-join knows only the left one.
///
/// See the example of [`Bounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first collection, or the only one.
    Left,
    /// The second collection.
    Right,
}

/// Whether one collection is joined with itself, or two with each other.
///
/// See the example of [`Bounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collections {
    /// A self-join.
    One,
    /// A join of two collections.
    Two,
}

/// A measure with its threshold, and all that can be concluded from the sizes of two sets.
///
/// Prefixes are for a join that visits sets in order of size: a probing set meets only sets that are not longer.
///
/// ```
/// use twinset::Measure;
/// use twinset::exact::{Bounds, Collections, Side};
///
/// let bounds = Bounds::new(Measure::Jaccard, "0.8".parse()?, Collections::One)?;
/// assert_eq!(bounds.partner_sizes(10, Side::Left), 8..=12);
/// assert_eq!(bounds.min_overlap(10, 10), 9);
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    rule: Rule,
    /// Numerator of the threshold, or the threshold itself where it counts.
    p: u64,
    /// Denominator of the threshold.
    q: u64,
}

/// The measures as the bounds see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Jaccard,
    Cosine,
    Dice,
    Overlap,
    /// The left set must be contained.
    LeftContained,
    /// Either of the two may be contained, as rows of a self-join can stand in both orders.
    EitherContained,
    Hamming,
    /// The q-grams, padded and numbered, of two strings within an edit distance.
    EditGrams {
        q: u32,
    },
}

impl Bounds {
    /// Checks the threshold against the measure.
    pub fn new(measure: Measure, threshold: Threshold, collections: Collections) -> Result<Self> {
        let Threshold { numerator: p, denominator: q } = threshold;
        let fits = match measure {
            Measure::Overlap => q == 1 && p >= 1,
            Measure::Hamming | Measure::Edit => q == 1,
            _ => 0 < p && p <= q,
        };
        if !fits {
            return Err(Error::ThresholdOutOfRange { measure, threshold: threshold.to_string() });
        }
        let rule = match measure {
            Measure::Jaccard => Rule::Jaccard,
            Measure::Cosine => Rule::Cosine,
            Measure::Dice => Rule::Dice,
            Measure::Overlap => Rule::Overlap,
            Measure::Containment if collections == Collections::Two => Rule::LeftContained,
            Measure::Containment => Rule::EitherContained,
            Measure::Hamming => Rule::Hamming,
            Measure::Edit => Rule::EditGrams { q: 1 },
        };
        Ok(Self { rule, p, q })
    }

    /// The same bounds for rows whose left record must be the contained one.
    pub(crate) fn one_way(self) -> Self {
        match self.rule {
            Rule::EitherContained => Self { rule: Rule::LeftContained, ..self },
            _ => self,
        }
    }

    /// The same edit distance, seen through q-grams of this length.
    pub(crate) fn with_gram_length(self, q: u32) -> Self {
        Self { rule: Rule::EditGrams { q }, ..self }
    }

    /// The same measure for pairs that are at least as similar as one with this value, which a float cannot tell
    /// exactly: the bounds are a little laxer, but never laxer than these.
    pub(crate) fn raised_to(self, value: f64) -> Self {
        let steps = 10u64.pow(MAX_DIGITS as u32);
        let (p, q) = match self.rule {
            Rule::Hamming | Rule::EditGrams { .. } => (self.p.min(value as u64), 1),
            Rule::Overlap => (self.p.max(value as u64), 1),
            _ => ((value * steps as f64) as u64, steps),
        };
        let is_count = q == 1;
        let p = if is_count { p } else { p.saturating_sub(1) };
        if !is_count && p * self.q <= self.p * q { self } else { Self { p, q, ..self } }
    }

    /// The threshold.
    pub(crate) fn threshold(self) -> Threshold {
        Threshold { numerator: self.p, denominator: self.q }
    }

    /// The threshold of a measure that counts.
    pub(crate) fn count(self) -> u32 {
        u32::try_from(self.p).unwrap_or(u32::MAX)
    }

    /// α: the least number of common tokens with which sets of these sizes form a pair.
    ///
    /// It can exceed both sizes, and then there is no such pair; it is 0 where sets of these sizes form a pair even
    /// if they share nothing.
    pub fn min_overlap(&self, left: u32, right: u32) -> u32 {
        let (x, y, p, q) = (u64::from(left), u64::from(right), self.p, self.q);
        let least = match self.rule {
            Rule::Jaccard => (p * (x + y)).div_ceil(p + q),
            // By definition the cosine with an empty set is 0, unless both are empty.
            Rule::Cosine if (x == 0) != (y == 0) => 1,
            Rule::Cosine => {
                let square = (square(p) * u128::from(x) * u128::from(y)).div_ceil(square(q));
                ceil_sqrt(square)
            }
            Rule::Dice => (p * (x + y)).div_ceil(2 * q),
            Rule::Overlap => p,
            Rule::LeftContained => (p * x).div_ceil(q),
            Rule::EitherContained => (p * x.min(y)).div_ceil(q),
            Rule::Hamming => (x + y).saturating_sub(p).div_ceil(2),
            Rule::EditGrams { q } => x.max(y).saturating_sub(p * u64::from(q)),
        };
        u32::try_from(least).unwrap_or(u32::MAX)
    }

    /// The sizes that a partner of a set of this size can have.
    pub fn partner_sizes(&self, size: u32, side: Side) -> RangeInclusive<u32> {
        let (x, p, q) = (u64::from(size), self.p, self.q);
        let (low, high) = match self.rule {
            Rule::Jaccard => ((p * x).div_ceil(q), q * x / p),
            Rule::Cosine => {
                let (p, q, x) = (square(p), square(q), u128::from(x));
                let clamp = |size: u128| u64::try_from(size).unwrap_or(u64::MAX);
                (clamp((p * x).div_ceil(q)), clamp(q * x / p))
            }
            Rule::Dice => ((p * x).div_ceil(2 * q - p), (2 * q - p) * x / p),
            Rule::Overlap => (p, u64::MAX),
            Rule::LeftContained if side == Side::Left => ((p * x).div_ceil(q), u64::MAX),
            Rule::LeftContained => (0, q * x / p),
            Rule::EitherContained => (0, u64::MAX),
            Rule::Hamming => (x.saturating_sub(p), x + p),
            Rule::EditGrams { .. } => (x.saturating_sub(p), x + p),
        };
        let clamp = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        clamp(low)..=clamp(high)
    }

    /// How many of its rarest tokens a set must look up to meet every partner that is not longer than itself and
    /// shares a token with it.
    pub fn probe_prefix(&self, size: u32, side: Side) -> u32 {
        let shortest = *self.partner_sizes(size, side).start();
        if shortest > size {
            return 0;
        }
        // α grows with the partner's size, so the shortest partner asks for the longest prefix.
        prefix(size, self.min_overlap_of(size, side, shortest.max(1)))
    }

    /// How many of its rarest tokens a set must have in the index to be met by every longer or equally long partner
    /// (the paper's Lemma 3).
    pub fn index_prefix(&self, size: u32, side: Side) -> u32 {
        prefix(size, self.min_overlap_of(size, side, size))
    }

    /// The largest Hamming distance of a pair with these sizes; `None` where the sizes alone exclude a pair.
    pub fn max_hamming(&self, left: u32, right: u32) -> Option<u32> {
        let most = u64::from(left) + u64::from(right);
        let distance = most.checked_sub(2 * u64::from(self.min_overlap(left, right)))?;
        u32::try_from(distance).ok()
    }

    /// Whether two sets of these sizes with so many common tokens form a pair, `left` standing on the left.
    pub fn accepts(&self, left: u32, right: u32, overlap: u32) -> bool {
        overlap >= self.min_overlap(left, right)
    }

    /// α for a set and the size of its partner on the other side.
    pub fn min_overlap_of(&self, size: u32, side: Side, partner: u32) -> u32 {
        match side {
            Side::Left => self.min_overlap(size, partner),
            Side::Right => self.min_overlap(partner, size),
        }
    }
}

/// The prefix that must share a token when at least `overlap` tokens are common (the paper's Lemma 1).
fn prefix(size: u32, overlap: u32) -> u32 {
    (size + 1).saturating_sub(overlap.max(1))
}

fn square(n: u64) -> u128 {
    u128::from(n) * u128::from(n)
}

fn ceil_sqrt(n: u128) -> u64 {
    let floor = n.isqrt();
    (if floor * floor == n { floor } else { floor + 1 }) as u64
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// The fraction with the smallest denominator within a unit of the last digit of `numerator / denominator`:
/// the first convergent that comes so close.
fn simplest_fraction(numerator: u128, denominator: u128, precision: u128) -> String {
    let (mut a, mut b) = (numerator, denominator);
    let (mut above, mut below) = ((0u128, 1u128), (1u128, 0u128));
    while b != 0 {
        let term = a / b;
        (a, b) = (b, a % b);
        above = (above.1, term.saturating_mul(above.1).saturating_add(above.0));
        below = (below.1, term.saturating_mul(below.1).saturating_add(below.0));
        let (p, q) = (above.1, below.1);
        let error = (p.saturating_mul(denominator)).abs_diff(numerator.saturating_mul(q));
        if p != 0 && q != 0 && error.saturating_mul(precision) <= denominator.saturating_mul(q) {
            return format!("{p}/{q}");
        }
    }
    "1/1000000000".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    fn bounds(measure: Measure, text: &str) -> Bounds {
        Bounds::new(measure, threshold(text), Collections::One).unwrap()
    }

    /// Where floating point puts the bound one too high.
    #[test]
    fn pairs_on_the_threshold_are_within_the_bounds() {
        assert_ne!((0.56f64 * 25.0).ceil(), 14.0);
        assert_eq!(*bounds(Measure::Jaccard, "0.56").partner_sizes(25, Side::Left).start(), 14);
        assert_eq!(bounds(Measure::Cosine, "0.8").min_overlap(5, 5), 4);
        assert_eq!(bounds(Measure::Dice, "2/3").min_overlap(3, 3), 2);
        assert_eq!(bounds(Measure::Jaccard, "1").min_overlap(7, 7), 7);
    }

    /// The closed forms that the paper gives, for every size.
    #[test]
    fn prefixes_match_the_papers_formulas() {
        for (p, q) in [(4u64, 5u64), (9, 10), (1, 3), (14, 25), (999, 1000), (1, 1), (7, 100)] {
            let t = Threshold::new(p, q).unwrap();
            let jaccard = Bounds::new(Measure::Jaccard, t, Collections::One).unwrap();
            let cosine = Bounds::new(Measure::Cosine, t, Collections::One).unwrap();
            for size in 1..400u64 {
                let x = size as u32;
                let expected = size - (p * size).div_ceil(q) + 1;
                assert_eq!(u64::from(jaccard.probe_prefix(x, Side::Left)), expected, "probe, jaccard {t}, {size}");
                let expected = size - (2 * p * size).div_ceil(p + q) + 1;
                assert_eq!(u64::from(jaccard.index_prefix(x, Side::Left)), expected, "index, jaccard {t}, {size}");
                let expected = size - (p * p * size).div_ceil(q * q) + 1;
                assert_eq!(u64::from(cosine.probe_prefix(x, Side::Left)), expected, "probe, cosine {t}, {size}");
                let expected = size - (p * size).div_ceil(q) + 1;
                assert_eq!(u64::from(cosine.index_prefix(x, Side::Left)), expected, "index, cosine {t}, {size}");
            }
        }
        let edit = bounds(Measure::Edit, "2").with_gram_length(3);
        assert_eq!(edit.probe_prefix(20, Side::Left), 3 * 2 + 1);
        let overlap = bounds(Measure::Overlap, "4");
        assert_eq!(overlap.probe_prefix(10, Side::Left), 10 - 4 + 1);
        assert_eq!(overlap.probe_prefix(3, Side::Left), 0);
    }

    #[test]
    fn largest_thresholds_and_sizes_do_not_overflow() {
        let t = threshold("0.999999999");
        for measure in Measure::of_sets().filter(|measure| !measure.is_count()) {
            for collections in [Collections::One, Collections::Two] {
                let bounds = Bounds::new(measure, t, collections).unwrap();
                assert!(bounds.min_overlap(u32::MAX, u32::MAX) > u32::MAX - 10, "{measure}");
                for side in [Side::Left, Side::Right] {
                    assert!(bounds.partner_sizes(u32::MAX, side).contains(&u32::MAX), "{measure}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_threshold_is_refused_with_a_remedy() {
        for text in ["abc", "NaN", "-1", "", ".", "1/", "/2", "1e-3", "1/0", "0,8", "½", "inf"] {
            assert!(matches!(text.parse::<Threshold>(), Err(Error::NotAThreshold(_))), "{text}");
        }
        for (text, suggestion) in [("0.66666666666", "2/3"), ("0.1428571428", "1/7"), ("1000000001/3000000004", "1/3")]
        {
            let message = text.parse::<Threshold>().unwrap_err().to_string();
            assert!(message.contains(suggestion), "{message}");
        }
        for (measure, text) in [
            (Measure::Jaccard, "0"),
            (Measure::Jaccard, "1.5"),
            (Measure::Overlap, "0"),
            (Measure::Overlap, "2.5"),
            (Measure::Hamming, "1/2"),
        ] {
            let message = Bounds::new(measure, threshold(text), Collections::One).unwrap_err().to_string();
            assert!(message.contains(measure.name()) && message.contains("give a "), "{message}");
        }
    }

    #[test]
    fn numbers_in_json_mean_their_shortest_decimal() {
        for (json, expected) in [("0.8", "4/5"), ("\"4/5\"", "4/5"), ("1", "1"), ("40.0", "40"), ("0.07", "7/100")] {
            assert_eq!(serde_json::from_str::<Threshold>(json).unwrap(), threshold(expected));
        }
    }
}
