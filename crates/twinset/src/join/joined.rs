//! The pairs that a join found, in memory or not.

use super::grouped::Grouped;
use super::links::{Link, Links};
use super::listed::{Collector, Listed};
use super::{Input, JoinOptions, Kept, select};
use crate::model::{Bounds, Measure, Pair, Result, Run, Stats};

/// The pairs of a join, in the order of their records.
///
/// Identical records are kept as groups, so a million pairs among them take little room; [`iter`](Self::iter) expands
/// them one left record at a time. Where the memory is limited and the pairs are many, they lie in temporary files.
pub struct Joined {
    measure: Measure,
    pairs: Pairs,
    /// What the join did.
    pub stats: Stats,
}

enum Pairs {
    Grouped(Box<Grouped>),
    Listed {
        listed: Listed,
        /// Records pair only within the same class.
        classes: Option<Vec<u32>>,
        /// What the positions of right records start from, and the number of all records.
        offset: usize,
        records: usize,
    },
}

impl Joined {
    /// The pairs of a join in memory; if only the best were wanted, these; if only their number, none but it.
    pub(super) fn new(measure: Measure, grouped: Grouped, Kept { best, counted, mut stats }: Kept) -> Self {
        stats.records = grouped.records();
        stats.empty_records = grouped.empty_records();
        stats.without_partner = grouped.without_partner();
        stats.distinct_sets = grouped.distinct_sets();
        if let Some(best) = best {
            let offset = grouped.right_offset() as usize;
            return Self::listed(measure, Listed::of(best), offset, stats);
        }
        stats.pairs = grouped.len() + counted;
        Self { measure, pairs: Pairs::Grouped(Box::new(grouped)), stats }
    }

    pub(super) fn listed(measure: Measure, listed: Listed, offset: usize, mut stats: Stats) -> Self {
        stats.pairs = listed.len();
        let records = stats.records as usize;
        Self { measure, pairs: Pairs::Listed { listed, classes: None, offset, records }, stats }
    }

    /// The same pairs, but only those whose records have the same class.
    pub(crate) fn within_classes(mut self, own: Vec<u32>) -> Result<Self> {
        assert_eq!(own.len() as u64, self.stats.records, "there must be one class for each record");
        match &mut self.pairs {
            Pairs::Grouped(grouped) => grouped.set_classes(own),
            Pairs::Listed { classes, .. } => *classes = Some(own),
        }
        let mut pairs = 0;
        for pair in self.iter() {
            pair?;
            pairs += 1;
        }
        self.stats.pairs = pairs;
        Ok(self)
    }

    /// The pairs whose token sets are within the bounds, with the values of these.
    pub(crate) fn verified(&self, input: Input<'_>, bounds: &Bounds, measure: Measure, run: &Run) -> Result<Self> {
        let mut collector = Collector::new(run, run.memory.unwrap_or(u64::MAX) / 16, false);
        let offset = match &self.pairs {
            Pairs::Grouped(grouped) => grouped.right_offset() as usize,
            Pairs::Listed { offset, .. } => *offset,
        };
        for pair in self.iter() {
            let pair = pair?;
            if let Some(value) = input.value_within(measure, bounds, pair.left, pair.right + offset as u32)? {
                collector.push(Pair { value, ..pair })?;
            }
            run.check()?;
        }
        Ok(Self::listed(measure, collector.finish(), offset, self.stats.clone()))
    }

    /// The measure of the pairs' values.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// How many pairs there are.
    pub fn len(&self) -> u64 {
        self.stats.pairs
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs, sorted by left record and then by right record. Only reading a temporary file can fail.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Result<Pair>> + '_> {
        match &self.pairs {
            Pairs::Grouped(grouped) => Box::new(grouped.iter().map(Ok)),
            Pairs::Listed { listed, classes: None, .. } => Box::new(listed.iter()),
            Pairs::Listed { listed, classes: Some(classes), offset, .. } => {
                let same = move |pair: &Pair| classes[pair.left as usize] == classes[pair.right as usize + offset];
                Box::new(listed.iter().filter(move |pair| pair.as_ref().map_or(true, same)))
            }
        }
    }

    /// The pairs of a self-join as a graph; only those selected, if there is a selection. `twin_value` is that of a
    /// record and one that is identical, if they form a pair.
    pub(crate) fn links(
        &self,
        selected: Option<&[Pair]>,
        twin_value: impl Fn(u32) -> Option<f64>,
        run: &Run,
    ) -> Result<Links> {
        let of_pair = |pair: Pair| Link { nodes: (pair.left, pair.right), value: pair.value };
        let records = 0..self.stats.records as u32;
        let nodes = records.clone().collect();
        let twins = || records.map(&twin_value).collect();
        match (selected, &self.pairs) {
            (Some(pairs), _) => {
                Links::new(self.measure, nodes, twins(), || pairs.iter().map(|&pair| Ok(of_pair(pair))), run)
            }
            (None, Pairs::Grouped(grouped)) => grouped.links(run),
            (None, Pairs::Listed { .. }) => {
                Links::new(self.measure, nodes, twins(), || self.iter().map(|pair| pair.map(of_pair)), run)
            }
        }
    }

    /// The pairs that `top` and `best` of the options leave, in the order in which they are shown; `None` if neither is
    /// given, and all pairs are wanted.
    pub fn selected(&self, options: &JoinOptions) -> Result<Option<Vec<Pair>>> {
        Ok(match (options.top, options.best) {
            (None, false) => None,
            (Some(k), false) => Some(self.top(k)?),
            (None, true) => Some(self.best()?),
            (Some(k), true) => Some(select::top(self.best()?.into_iter().map(Ok), k, self.measure)?),
        })
    }

    /// The `k` most similar pairs, most similar first, ties in input order.
    pub fn top(&self, k: usize) -> Result<Vec<Pair>> {
        select::top(self.iter(), k, self.measure)
    }

    /// Pairs in which each record occurs at most once, chosen from the most similar down, ties in input order. They
    /// are returned in input order.
    pub fn best(&self) -> Result<Vec<Pair>> {
        let mut best = match &self.pairs {
            Pairs::Grouped(grouped) => grouped.best(self.measure),
            Pairs::Listed { offset, records, .. } => {
                select::best(self.iter().collect::<Result<_>>()?, self.measure, *offset, *records)
            }
        };
        best.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok(best)
    }
}
