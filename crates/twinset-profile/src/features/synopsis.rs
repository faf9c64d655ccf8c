//! A synopsis whose values know how often they occurred, and what they stand for.

use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use twinset::Result;
use twinset::estimate::Synopsis;
use twinset::support::salted;

/// The smallest values of a feature with their counts and texts, in memory that does not grow with the feature.
#[derive(Debug, Clone)]
pub(crate) struct CountedSynopsis {
    size: usize,
    /// At most twice as many as are kept in the end.
    values: HashMap<u64, ValueCount, BuildHasherDefault<SaltedHasher>>,
    /// Larger values are not among the smallest.
    limit: u64,
    is_complete: bool,
}

/// A value that is kept.
#[derive(Debug, Clone)]
pub(crate) struct ValueCount {
    /// How often it occurred.
    pub(crate) count: u64,
    /// The beginning of what it stands for.
    pub(crate) text: Box<str>,
}

/// Values are hashes already, but of texts that anybody may have chosen.
#[derive(Debug, Clone, Default)]
pub(crate) struct SaltedHasher(u64);

impl Hasher for SaltedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only values are hashed");
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = salted(value);
    }
}

/// Of a text, so many bytes are kept.
pub(crate) const LONGEST: usize = 60;

/// The beginning of a text.
pub(crate) fn beginning(text: &[u8]) -> String {
    if text.len() <= LONGEST {
        return String::from_utf8_lossy(text).into_owned();
    }
    let text = String::from_utf8_lossy(&text[..LONGEST]);
    format!("{}…", text.trim_end_matches('\u{fffd}'))
}

impl CountedSynopsis {
    pub(crate) fn new(size: u32) -> Result<Self> {
        Synopsis::check_size(size)?;
        Ok(Self { size: size as usize, values: HashMap::default(), limit: u64::MAX, is_complete: true })
    }

    /// Adds a value that stands for a text.
    #[inline]
    pub(crate) fn insert(&mut self, value: u64, text: &[u8]) {
        if value > self.limit {
            return;
        }
        if let Some(counted) = self.values.get_mut(&value) {
            counted.count += 1;
            return;
        }
        self.values.insert(value, ValueCount { count: 1, text: beginning(text).into() });
        if self.values.len() > 2 * self.size {
            self.shrink();
        }
    }

    /// Counts a value that was added before so many times more.
    pub(crate) fn repeat(&mut self, value: u64, times: u64) {
        if let Some(counted) = self.values.get_mut(&value) {
            counted.count += times;
        }
    }

    /// Whether all values of the feature are kept so far.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn shrink(&mut self) {
        let mut values: Vec<u64> = self.values.keys().copied().collect();
        let (_, &mut limit, _) = values.select_nth_unstable(self.size - 1);
        self.limit = limit;
        self.is_complete = false;
        self.values.retain(|&value, _| value <= limit);
    }

    /// The smallest values in order, and whether these are all.
    pub(crate) fn finish(mut self) -> (Vec<(u64, ValueCount)>, bool) {
        if self.values.len() > self.size {
            self.shrink();
        }
        let mut values: Vec<(u64, ValueCount)> = self.values.into_iter().collect();
        values.sort_unstable_by_key(|(value, _)| *value);
        (values, self.is_complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_a_synopsis_with_their_counts() {
        let numbers =
            |count: u64| (0..count).map(|number: u64| number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for (distinct, repeats) in [(0, 1), (1, 5), (64, 2), (65, 2), (128, 3), (129, 1), (5000, 3)] {
            let mut counted = CountedSynopsis::new(64).unwrap();
            let mut plain = twinset::estimate::SynopsisBuilder::new(64).unwrap();
            for _ in 0..repeats {
                for value in numbers(distinct) {
                    counted.insert(value, value.to_string().as_bytes());
                    plain.insert(value);
                }
            }
            let (values, is_complete) = counted.finish();
            assert_eq!(values.iter().map(|(value, _)| *value).collect::<Vec<_>>(), plain.synopsis().values());
            assert_eq!(is_complete, plain.synopsis().is_complete(), "{distinct}");
            assert!(
                values.iter().all(|(value, counted)| counted.count == repeats && *counted.text == *value.to_string())
            );
        }
    }
}
