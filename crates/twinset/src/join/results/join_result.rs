//! The pairs that a join found, in memory or not.

use super::selection;
use crate::join::results::{GroupPairs, Link, Links, PairCollector, PairList};
use crate::join::{Input, JoinOptions, Outcome};
use crate::model::{Bounds, Measure, Pair, Result, Run, Stats};

/// The pairs of a join, in the order of their records.
///
/// Identical records are kept as groups, so a million pairs among them take little room; [`iter`](Self::iter) expands
/// them one left record at a time. Where the memory is limited and the pairs are many, they lie in temporary files.
///
/// See the example of [`join`](crate::exact::join).
pub struct JoinResult {
    measure: Measure,
    pairs: Storage,
    /// What the join did.
    pub stats: Stats,
}

/// How the pairs are stored.
enum Storage {
    Groups(Box<GroupPairs>),
    List {
        list: PairList,
        /// Records pair only within the same class.
        classes: Option<Vec<u32>>,
        /// What the positions of right records start from, and the number of all records.
        offset: usize,
        records: usize,
    },
}

impl JoinResult {
    /// The pairs of a join in memory; if only the best were wanted, these; if only their number, none but it.
    pub(crate) fn new(measure: Measure, grouped: GroupPairs, Outcome { top, counted, mut stats }: Outcome) -> Self {
        stats.records = grouped.records();
        stats.empty_records = grouped.empty_records();
        stats.without_partner = grouped.without_partner();
        stats.distinct_sets = grouped.distinct_sets();
        if let Some(top) = top {
            let offset = grouped.right_offset() as usize;
            return Self::of_list(measure, PairList::of(top), offset, stats);
        }
        stats.pairs = grouped.len() + counted;
        Self { measure, pairs: Storage::Groups(Box::new(grouped)), stats }
    }

    pub(crate) fn of_list(measure: Measure, list: PairList, offset: usize, mut stats: Stats) -> Self {
        stats.pairs = list.len();
        let records = stats.records as usize;
        Self { measure, pairs: Storage::List { list, classes: None, offset, records }, stats }
    }

    /// The same pairs, but only those whose records have the same class.
    pub(crate) fn within_classes(mut self, own: Vec<u32>) -> Result<Self> {
        assert_eq!(own.len() as u64, self.stats.records, "there must be one class for each record");
        match &mut self.pairs {
            Storage::Groups(grouped) => grouped.set_classes(own),
            Storage::List { classes, .. } => *classes = Some(own),
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
        let mut collector = PairCollector::new(run, run.memory.unwrap_or(u64::MAX) / 16, false);
        let offset = match &self.pairs {
            Storage::Groups(grouped) => grouped.right_offset() as usize,
            Storage::List { offset, .. } => *offset,
        };
        for pair in self.iter() {
            let pair = pair?;
            if let Some(value) = input.value_within(measure, bounds, pair.left, pair.right + offset as u32)? {
                collector.push(Pair { value, ..pair })?;
            }
            run.check()?;
        }
        Ok(Self::of_list(measure, collector.finish(), offset, self.stats.clone()))
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
            Storage::Groups(grouped) => Box::new(grouped.iter().map(Ok)),
            Storage::List { list, classes: None, .. } => Box::new(list.iter()),
            Storage::List { list, classes: Some(classes), offset, .. } => {
                let same = move |pair: &Pair| classes[pair.left as usize] == classes[pair.right as usize + offset];
                Box::new(list.iter().filter(move |pair| pair.as_ref().map_or(true, same)))
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
            (None, Storage::Groups(grouped)) => grouped.links(run),
            (None, Storage::List { .. }) => {
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
            (Some(k), true) => Some(selection::top(self.best()?.into_iter().map(Ok), k, self.measure)?),
        })
    }

    /// The `k` most similar pairs, most similar first, ties in input order.
    pub fn top(&self, k: usize) -> Result<Vec<Pair>> {
        selection::top(self.iter(), k, self.measure)
    }

    /// Pairs in which each record occurs at most once, chosen from the most similar down, ties in input order. They
    /// are returned in input order.
    pub fn best(&self) -> Result<Vec<Pair>> {
        let mut best = match &self.pairs {
            Storage::Groups(grouped) => grouped.best(self.measure),
            Storage::List { offset, records, .. } => {
                selection::best(self.iter().collect::<Result<_>>()?, self.measure, *offset, *records)
            }
        };
        best.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok(best)
    }
}
