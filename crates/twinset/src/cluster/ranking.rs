//! Which record of a group is kept: the one that comes first in an order of all records. Ties are in input order.

use std::cmp::Reverse;

use crate::join::Links;
use crate::model::{Error, Result};
use crate::support::Strings;

/// The order in which records are kept: of each group the first.
///
/// See the example of [`Ranking`].
#[derive(Debug, Clone, Copy, Default)]
pub enum Order<'a> {
    /// That of the input.
    #[default]
    Input,
    /// Records with many pairs first.
    Degree,
    /// This one.
    Ranked(&'a Ranking),
}

/// All records of a collection, those first that are rather kept.
///
/// ```
/// # use twinset::exact::Ranking;
/// assert_eq!(Ranking::by_length(&[4, 9, 9]).records(), [1, 2, 0]);
/// assert!(Ranking::new(vec![2, 0, 1]).is_ok());
/// assert!(Ranking::new(vec![2, 0, 0]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking(Vec<u32>);

impl Ranking {
    /// A ranking from a list of records. Each record, numbered from 0, must occur exactly once.
    pub fn new(records: Vec<u32>) -> Result<Self> {
        let mut sorted = records.clone();
        sorted.sort_unstable();
        match sorted.into_iter().eq(0..records.len() as u32) {
            true => Ok(Self(records)),
            false => Err(Error::Conflict("a ranking must have the position of each record once")),
        }
    }

    /// Ranks records with long texts first.
    pub fn by_length(lengths: &[u32]) -> Self {
        Self::by_key(lengths.len(), |record| Reverse(lengths[record as usize]))
    }

    /// Ranks records with many pairs first.
    pub(crate) fn by_degree(links: &Links) -> Self {
        let degrees: Vec<u64> = (0..links.len() as u32).map(|node| links.degree(node)).collect();
        Self::by_key(links.records(), |record| Reverse(degrees[links.node(record) as usize]))
    }

    /// Ranks records with large, or small, values of a field first: as numbers if all values are numbers, otherwise as text.
    /// Records without a value come last.
    pub fn by_value(values: &Strings, largest: bool) -> Self {
        let value = |record: u32| values.get(record as usize).trim();
        let is_missing = |record: u32| value(record).is_empty() || value(record).eq_ignore_ascii_case("nan");
        let there = || (0..values.len() as u32).filter(|&record| !is_missing(record));
        // Whole numbers are compared exactly, others as floats.
        let are_whole = there().all(|record| value(record).parse::<i128>().is_ok());
        let are_numbers = are_whole || there().all(|record| value(record).parse::<f64>().is_ok());
        let records = if are_numbers { values.len() as u32 } else { 0 };
        let wholes: Vec<i128> = (0..records).map(|record| value(record).parse().unwrap_or(0)).collect();
        let reals: Vec<f64> = (0..records).map(|record| value(record).parse().unwrap_or(0.0) + 0.0).collect();
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|&a, &b| {
            let ascending = match (are_whole, are_numbers) {
                (true, _) => wholes[a as usize].cmp(&wholes[b as usize]),
                (_, true) => reals[a as usize].total_cmp(&reals[b as usize]),
                _ => value(a).cmp(value(b)),
            };
            is_missing(a).cmp(&is_missing(b)).then(if largest { ascending.reverse() } else { ascending })
        });
        Self(order)
    }

    fn by_key<K: Ord>(records: usize, key: impl Fn(u32) -> K) -> Self {
        let mut order: Vec<u32> = (0..records as u32).collect();
        order.sort_by_key(|&record| key(record));
        Self(order)
    }

    /// Ranks only some of the records, which are in ascending order, by their places among these.
    pub(crate) fn of_subset(&self, subset: &[u32]) -> Self {
        let place = |record: &u32| subset.binary_search(record).ok().map(|place| place as u32);
        Self(self.0.iter().filter_map(place).collect())
    }

    /// Returns the records in their order.
    pub fn records(&self) -> &[u32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbers_if_all_are_and_text_otherwise() {
        let order = |values: &[&str], largest| Ranking::by_value(&values.iter().collect(), largest).0;
        assert_eq!(order(&["9", "10", "", "-1", "1e1"], true), [1, 4, 0, 3, 2]);
        assert_eq!(order(&["9", "10", "", "-1", "1e1"], false), [3, 0, 1, 4, 2]);
        assert_eq!(order(&["2024-05", "2023", ""], true), [0, 1, 2]);
        assert_eq!(order(&["9", "10", "x"], false), [1, 0, 2]);
        assert_eq!(order(&["9007199254740992", "9007199254740993", "nan"], true), [1, 0, 2]);
        assert_eq!(order(&["-0.0", "0", "0.5"], true), [2, 0, 1]);
    }
}
