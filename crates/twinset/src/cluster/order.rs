//! The order in which records are kept: of each group the record that comes first. Ties are in input order.

use std::cmp::Reverse;

use crate::join::Links;
use crate::support::Strings;

/// The order in which records are kept.
#[derive(Debug, Clone, Copy, Default)]
pub enum Order<'a> {
    /// That of the input.
    #[default]
    Input,
    /// Records with many pairs first.
    Degree,
    /// This one, of all records.
    Ranked(&'a [u32]),
}

/// Records with long texts first.
pub fn by_length(lengths: &[u32]) -> Vec<u32> {
    sorted(lengths.len(), |record| Reverse(lengths[record as usize]))
}

/// Records with many pairs first.
pub(crate) fn by_degree(links: &Links) -> Vec<u32> {
    let degrees: Vec<u64> = (0..links.len() as u32).map(|node| links.degree(node)).collect();
    sorted(links.records(), |record| Reverse(degrees[links.node(record) as usize]))
}

/// Records with large, or small, values of a field first: as numbers if all that are there are numbers, otherwise as
/// text. Those without a value come last.
pub fn by_field(values: &Strings, largest: bool) -> Vec<u32> {
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
    order
}

fn sorted<K: Ord>(records: usize, key: impl Fn(u32) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = (0..records as u32).collect();
    order.sort_by_key(|&record| key(record));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbers_if_all_are_and_text_otherwise() {
        let order = |values: &[&str], largest| by_field(&values.iter().collect(), largest);
        assert_eq!(order(&["9", "10", "", "-1", "1e1"], true), [1, 4, 0, 3, 2]);
        assert_eq!(order(&["9", "10", "", "-1", "1e1"], false), [3, 0, 1, 4, 2]);
        assert_eq!(order(&["2024-05", "2023", ""], true), [0, 1, 2]);
        assert_eq!(order(&["9", "10", "x"], false), [1, 0, 2]);
        assert_eq!(order(&["9007199254740992", "9007199254740993", "nan"], true), [1, 0, 2]);
        assert_eq!(order(&["-0.0", "0", "0.5"], true), [2, 0, 1]);
    }
}
