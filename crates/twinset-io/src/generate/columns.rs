//! Made-up table columns: of very unequal sizes, some of which share values with others.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{GenerateOptions, check_shares, spelled_word};
use crate::Result;

/// Makes up one column after the other. Their values are computed when they are asked for, and none is kept.
pub struct Columns {
    options: GenerateOptions,
    random: ChaCha8Rng,
    /// Columns that can still be copied, each with those that were copied from it.
    originals: Vec<Vec<(u64, Range)>>,
    made: u64,
}

/// A made-up column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its number, from 1.
    pub number: u64,
    range: Range,
    /// Earlier columns that are near duplicates of it, and their Jaccard similarities.
    pub duplicates: Vec<(u64, f64)>,
}

/// Some values of a domain: those with numbers from one to another. Besides, the first so many plain numbers, as codes, years and
/// counts of all kinds have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    domain: u64,
    from: u64,
    to: u64,
    numbers: u64,
}

/// How many columns there are for each domain that many share.
const COLUMNS_OF_DOMAIN: u64 = 200;
/// The share of columns with values of such a domain.
const SHARING: f64 = 0.2;
/// The largest share of a column's values that are plain numbers, and how many these are at most.
const NUMBERED: f64 = 0.4;
const NUMBERS: u64 = 1000;
/// The sizes have a Pareto distribution, cut off at a million: a mean of about 300, a median of about 18.
const SMALLEST: f64 = 7.7;
const LARGEST: f64 = 1_000_000.0;
const EXPONENT: f64 = 0.8;
/// How many originals are remembered; a copy is of one of the latest.
const REMEMBERED: usize = 100_000;
/// How many columns a table has.
const TABLE: u64 = 10;

impl Columns {
    /// Checks the options.
    pub fn new(options: &GenerateOptions) -> Result<Self> {
        check_shares(options)?;
        let random = ChaCha8Rng::seed_from_u64(options.seed);
        Ok(Self { options: options.clone(), random, originals: Vec::new(), made: 0 })
    }

    /// What a column is called.
    pub fn name(number: u64) -> String {
        format!("table{}.column{}", (number - 1) / TABLE + 1, (number - 1) % TABLE + 1)
    }

    fn original(&mut self) -> Range {
        let uniform: f64 = self.random.random_range(f64::MIN_POSITIVE..1.0);
        let size = (SMALLEST * uniform.powf(-1.0 / EXPONENT)).min(LARGEST) as u64;
        let numbers = (size as f64 * NUMBERED * self.random.random::<f64>()) as u64;
        let numbers = numbers.min(NUMBERS);
        let (domain, from) = if self.random.random_bool(SHARING) {
            let domains = (self.options.records / COLUMNS_OF_DOMAIN).max(1);
            (1 + self.random.random_range(0..domains), self.random.random_range(0..=size))
        } else {
            (self.options.records + self.made, 0)
        };
        Range { domain, from, to: from + size - numbers, numbers }
    }
}

impl Iterator for Columns {
    type Item = Column;

    fn next(&mut self) -> Option<Column> {
        if self.made == self.options.records {
            return None;
        }
        self.made += 1;
        let number = self.made;
        if !self.originals.is_empty() && self.random.random_bool(self.options.duplicates) {
            let chosen = self.random.random_range(0..self.originals.len());
            let of = self.originals[chosen][0].1;
            // Copied with some values left out at one end, and others added at the other.
            let share = 4.0 * self.options.edits * self.random.random::<f64>();
            let shift = ((of.to - of.from) as f64 * share.min(1.0)).round() as u64;
            let range = Range { from: of.from + shift, to: of.to + shift, ..of };
            let family = &mut self.originals[chosen];
            let duplicates = family.iter().map(|&(earlier, other)| (earlier, range.jaccard(other))).collect();
            family.push((number, range));
            return Some(Column { number, range, duplicates });
        }
        let range = self.original();
        let family = vec![(number, range)];
        if self.originals.len() < REMEMBERED {
            self.originals.push(family);
        } else {
            let replaced = self.random.random_range(0..REMEMBERED);
            self.originals[replaced] = family;
        }
        Some(Column { number, range, duplicates: Vec::new() })
    }
}

impl Column {
    /// How many values it has, all different.
    pub fn size(&self) -> u64 {
        self.range.size()
    }

    /// Calls `visit` for each of its values. There is no white space in them.
    pub fn for_each_value(&self, mut visit: impl FnMut(&str)) {
        let Range { domain, from, to, numbers } = self.range;
        for (prefix, range) in [(String::new(), 0..numbers), (format!("{}-", spelled_word(domain as u32)), from..to)] {
            let (start, mut value) = (prefix.len(), prefix);
            for number in range {
                value.truncate(start);
                write!(value, "{number}").expect("a string takes everything");
                visit(&value);
            }
        }
    }
}

impl Range {
    fn size(self) -> u64 {
        self.to - self.from + self.numbers
    }

    /// With another of the same domain.
    fn jaccard(self, other: Self) -> f64 {
        let common = self.to.min(other.to).saturating_sub(self.from.max(other.from)) + self.numbers.min(other.numbers);
        let all = self.size() + other.size() - common;
        common as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn columns_are_as_large_and_as_alike_as_they_say() {
        let options = GenerateOptions { records: 20_000, ..GenerateOptions::default() };
        let columns: Vec<Column> = Columns::new(&options).unwrap().collect();
        let total: u64 = columns.iter().map(Column::size).sum();
        let mean = total as f64 / columns.len() as f64;
        assert!((150.0..600.0).contains(&mean), "{mean}");
        assert!(columns.iter().any(|column| column.size() >= 100_000));
        let set = |number: u64| {
            let mut values = BTreeSet::new();
            columns[number as usize - 1].for_each_value(|value| {
                values.insert(value.to_owned());
            });
            values
        };
        let mut checked = 0;
        for column in columns.iter().filter(|column| column.size() < 1000) {
            for &(earlier, similarity) in column.duplicates.iter().take(3) {
                let (x, y) = (set(column.number), set(earlier));
                assert_eq!(similarity, x.intersection(&y).count() as f64 / x.union(&y).count() as f64);
                checked += 1;
            }
        }
        assert!(checked > 1000);
    }
}
