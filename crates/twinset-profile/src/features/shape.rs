//! The shape of a feature: what every one of its values keeps to. A value that does not cannot be among them.

use serde::{Deserialize, Serialize};

use crate::features::synopsis::LONGEST;
use crate::features::value::{Class, NormalizedValue, Normalizer};

/// What all values of a feature keep to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// The classes of its values, a bit each.
    pub(crate) classes: u8,
    numbers: Option<Range<f64>>,
    moments: Option<Range<f64>>,
    texts: Option<Range<()>>,
    /// The shortest and the longest text.
    lengths: Option<(u32, u32)>,
    /// The bytes that texts begin with, and end with, a bit each.
    firsts: [u64; 4],
    lasts: [u64; 4],
}

/// The smallest and the largest value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Range<O> {
    low: (O, Vec<u8>),
    high: (O, Vec<u8>),
}

impl Range<f64> {
    #[inline]
    fn add(range: &mut Option<Self>, order: f64, text: &[u8]) {
        match range {
            None => *range = Some(Self { low: (order, text.to_vec()), high: (order, text.to_vec()) }),
            Some(range) => {
                if order < range.low.0 {
                    range.low = (order, text.to_vec());
                } else if order > range.high.0 {
                    range.high = (order, text.to_vec());
                }
            }
        }
    }

    fn holds(range: Option<&Self>, order: f64) -> bool {
        range.is_some_and(|range| range.low.0 <= order && order <= range.high.0)
    }

    fn is_within(inner: Option<&Self>, outer: Option<&Self>) -> bool {
        inner.is_none_or(|inner| Self::holds(outer, inner.low.0) && Self::holds(outer, inner.high.0))
    }
}

impl Range<()> {
    #[inline]
    fn add_text(range: &mut Option<Self>, text: &[u8]) {
        match range {
            None => *range = Some(Self { low: ((), text.to_vec()), high: ((), text.to_vec()) }),
            Some(range) => {
                let replace = |own: &mut Vec<u8>| {
                    own.clear();
                    own.extend_from_slice(text);
                };
                if text < range.low.1.as_slice() {
                    replace(&mut range.low.1);
                } else if text > range.high.1.as_slice() {
                    replace(&mut range.high.1);
                }
            }
        }
    }

    fn holds_text(range: Option<&Self>, text: &[u8]) -> bool {
        range.is_some_and(|range| range.low.1.as_slice() <= text && text <= range.high.1.as_slice())
    }
}

/// A text of so many bytes may have been cut.
const CUT: usize = LONGEST - 6;

/// A value of a sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SampleValue {
    pub(crate) text: String,
    /// How often it occurs.
    pub(crate) count: u64,
    class: u8,
    order: f64,
    /// Whether this may not be all of it.
    is_cut: bool,
    /// Whether it may have been written differently.
    is_odd: bool,
}

impl SampleValue {
    pub(crate) fn new(text: &[u8], count: u64, rules: Normalizer) -> Self {
        let mut buffer = Vec::new();
        let normal = rules.apply(text, &mut buffer);
        let text = String::from_utf8_lossy(text).into_owned();
        let is_cut = text.len() >= CUT;
        let is_odd = text.contains('\u{fffd}');
        Self { text, count, class: normal.class.bit(), order: normal.order, is_cut, is_odd }
    }
}

fn bit(byte: u8) -> (usize, u64) {
    (usize::from(byte >> 6), 1 << (byte & 63))
}

impl Shape {
    /// Takes a value in.
    #[inline]
    pub(crate) fn add(&mut self, value: &NormalizedValue<'_>) {
        self.classes |= value.class.bit();
        match value.class {
            Class::Integer | Class::Decimal => Range::add(&mut self.numbers, value.order, value.text),
            Class::Date | Class::Timestamp => Range::add(&mut self.moments, value.order, value.text),
            Class::Boolean | Class::Text => {
                Range::add_text(&mut self.texts, value.text);
                let length = value.text.len() as u32;
                let lengths = self.lengths.get_or_insert((length, length));
                *lengths = (lengths.0.min(length), lengths.1.max(length));
                if let (Some(&first), Some(&last)) = (value.text.first(), value.text.last()) {
                    let ((first_at, first), (last_at, last)) = (bit(first), bit(last));
                    self.firsts[first_at] |= first;
                    self.lasts[last_at] |= last;
                }
            }
        }
    }

    /// Whether all values of this shape may be of the other.
    pub(crate) fn fits_into(&self, other: &Self) -> bool {
        let subset = |own: &[u64; 4], other: &[u64; 4]| own.iter().zip(other).all(|(own, other)| own & !other == 0);
        let text_fits = self.texts.as_ref().is_none_or(|own| {
            let holds = |text: &[u8]| Range::holds_text(other.texts.as_ref(), text);
            holds(&own.low.1) && holds(&own.high.1)
        });
        let length_fits = self.lengths.is_none_or(|(shortest, longest)| {
            other.lengths.is_some_and(|(low, high)| low <= shortest && longest <= high)
        });
        self.classes & !other.classes == 0
            && Range::is_within(self.numbers.as_ref(), other.numbers.as_ref())
            && Range::is_within(self.moments.as_ref(), other.moments.as_ref())
            && text_fits
            && length_fits
            && subset(&self.firsts, &other.firsts)
            && subset(&self.lasts, &other.lasts)
    }

    /// Whether a value may be of this shape.
    pub(crate) fn may_hold(&self, value: &SampleValue) -> bool {
        let text = value.text.as_bytes();
        let has = |set: &[u64; 4], byte: u8| set[bit(byte).0] & bit(byte).1 != 0;
        let begins = text.first().is_none_or(|&first| has(&self.firsts, first));
        if value.is_odd {
            return true;
        }
        if value.is_cut {
            // It is long, and may be a number.
            let is_long_enough = self.lengths.is_some_and(|(_, longest)| longest as usize >= CUT - 6);
            let may_be_number = text.first().is_some_and(|first| first.is_ascii_digit() || b"+-.".contains(first));
            return may_be_number || begins && is_long_enough;
        }
        if self.classes & value.class == 0 {
            return false;
        }
        if value.class & (Class::Integer.bit() | Class::Decimal.bit()) != 0 {
            return Range::holds(self.numbers.as_ref(), value.order);
        }
        if value.class & (Class::Date.bit() | Class::Timestamp.bit()) != 0 {
            return Range::holds(self.moments.as_ref(), value.order);
        }
        let length = text.len() as u32;
        let is_whole_possible = || {
            Range::holds_text(self.texts.as_ref(), text)
                && text.last().is_none_or(|&last| has(&self.lasts, last))
                && self.lengths.is_some_and(|(low, high)| low <= length && length <= high)
        };
        begins && is_whole_possible()
    }

    /// The smallest and the largest value: numbers come before dates, and these before texts.
    pub(crate) fn extremes(&self) -> (Option<String>, Option<String>) {
        let text = |bytes: &Vec<u8>| crate::features::synopsis::beginning(bytes);
        let numbers = self.numbers.as_ref().map(|range| (text(&range.low.1), text(&range.high.1)));
        let moments = self.moments.as_ref().map(|range| (text(&range.low.1), text(&range.high.1)));
        let texts = self.texts.as_ref().map(|range| (text(&range.low.1), text(&range.high.1)));
        let all = [numbers, moments, texts];
        let low = all.iter().flatten().next().map(|(low, _)| low.clone());
        let high = all.iter().flatten().next_back().map(|(_, high)| high.clone());
        (low, high)
    }

    /// How much of the range of numbers or dates of another this one spans, if both have only these.
    pub(crate) fn spans(&self, other: &Self) -> Option<f64> {
        let pair = match (&self.numbers, &other.numbers, &self.moments, &other.moments) {
            (Some(own), Some(other), None, _) => (own, other),
            (None, _, Some(own), Some(other)) => (own, other),
            _ => return None,
        };
        let width = |range: &Range<f64>| range.high.0 - range.low.0;
        if self.texts.is_some() {
            return None;
        }
        Some(if width(pair.1) > 0.0 { (width(pair.0) / width(pair.1)).clamp(0.0, 1.0) } else { 1.0 })
    }
}
