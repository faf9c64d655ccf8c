//! What a search finds.

use super::plan::{Plan, Values};
use crate::join::{JoinResult, OwnedInput};
use crate::model::{Pair, Result, Stats};
use crate::pipeline::{DedupResult, Representative};

/// Two records that are near duplicates.
///
/// See the example of [`Search`](crate::Search).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    /// The left record's position in its collection, from 0. In one collection, the earlier record.
    pub left: usize,
    /// The right record's position in its collection, from 0.
    pub right: usize,
    /// The value of the measure: a similarity, or a distance. It is an estimate if the method estimates.
    pub similarity: f64,
    /// The true value is not smaller, in all but 2.5% of cases; of an exact value, the same.
    pub low: f64,
    /// The true value is not larger, in all but 2.5% of cases; of an exact value, the same.
    pub high: f64,
}

impl SimilarPair {
    pub(super) fn new(pair: &Pair, values: &mut Values<'_>) -> Self {
        let interval = values.interval(pair.value, pair.left, pair.right + values.right_offset());
        Self {
            left: pair.left as usize,
            right: pair.right as usize,
            similarity: interval.similarity,
            low: interval.low,
            high: interval.high,
        }
    }
}

/// The pairs that a search found, in the order of their records; with [`top`](super::Search::top), the most similar first.
///
/// Identical records are kept as groups, so a million pairs among them take little room until they are iterated.
///
/// See the example of [`Search`](crate::Search).
pub struct Pairs<'a> {
    joined: JoinResult,
    /// What is left of them by `top` and `best`.
    selected: Option<Vec<Pair>>,
    plan: Plan,
    prepared: OwnedInput<'a>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(joined: JoinResult, plan: &Plan, prepared: OwnedInput<'a>) -> Result<Self> {
        Ok(Self { selected: joined.selected(plan.selection())?, joined, plan: plan.clone(), prepared })
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> u64 {
        self.selected.as_ref().map_or(self.joined.len(), |pairs| pairs.len() as u64)
    }

    /// Returns whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the pairs. Only reading a temporary file, which a memory limit may need, can fail.
    pub fn iter(&self) -> impl Iterator<Item = Result<SimilarPair>> + '_ {
        let mut values = self.plan.values(self.joined.measure(), self.prepared.synopses());
        let pairs: Box<dyn Iterator<Item = Result<Pair>> + '_> = match &self.selected {
            Some(pairs) => Box::new(pairs.iter().copied().map(Ok)),
            None => self.joined.iter(),
        };
        pairs.map(move |pair| Ok(SimilarPair::new(&pair?, &mut values)))
    }

    /// Returns what the join did.
    pub fn stats(&self) -> &Stats {
        &self.joined.stats
    }
}

impl<'p> IntoIterator for &'p Pairs<'_> {
    type Item = Result<SimilarPair>;
    type IntoIter = Box<dyn Iterator<Item = Result<SimilarPair>> + 'p>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// The record that stands for another one.
///
/// See the example of [`Search::dedup`](crate::Search::dedup).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// It, by its position in its collection: the record itself, if it is kept.
    pub representative: Representative,
    /// How similar the record is to it.
    pub similarity: f64,
    /// The true value is not smaller, in all but 2.5% of cases; of an exact value, the same.
    pub low: f64,
    /// The true value is not larger, in all but 2.5% of cases; of an exact value, the same.
    pub high: f64,
}

/// A collection without its near duplicates.
///
/// See the example of [`Search::dedup`](crate::Search::dedup).
#[derive(Debug, Clone)]
pub struct Groups {
    groups: Vec<Group>,
    stats: Stats,
}

impl Groups {
    pub(super) fn new(deduped: DedupResult, values: &mut Values<'_>, left: Option<usize>) -> Self {
        let offset = left.unwrap_or(0) as u32;
        let group = |(record, (&representative, &value)): (u32, (&Representative, &f64))| {
            let interval = match representative {
                Representative::Own(own) if own == record => values.interval_of_twins(value),
                Representative::Own(own) => values.interval(value, record, own),
                Representative::Other(other) => values.interval(value, record, other + offset),
            };
            Group { representative, similarity: interval.similarity, low: interval.low, high: interval.high }
        };
        let groups = (0..).zip(deduped.representatives.iter().zip(&deduped.values)).map(group).collect();
        Self { groups, stats: deduped.stats }
    }

    /// Returns whether a record is kept.
    pub fn is_kept(&self, record: usize) -> bool {
        self.groups[record].representative == Representative::Own(record as u32)
    }

    /// Iterates over the positions of the records that are kept.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.groups.len()).filter(|&record| self.is_kept(record))
    }

    /// Iterates over the positions of the records that are removed.
    pub fn removed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.groups.len()).filter(|&record| !self.is_kept(record))
    }

    /// Returns for each record which one stands for it.
    pub fn of_records(&self) -> &[Group] {
        &self.groups
    }

    /// Returns what the join did.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}
