//! Counts pairs without keeping them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::join::task::{Groups, Match, OrderedSets};
use crate::model::{Bounds, Collections, Measure};

/// The number of rows so far.
pub(crate) struct PairCount<'a> {
    sets: &'a OrderedSets<'a>,
    groups: &'a Groups,
    /// For containment in a self-join, tells in which directions a pair holds.
    direction: Option<Bounds>,
    rows: AtomicU64,
}

impl<'a> PairCount<'a> {
    pub(crate) fn new(measure: Measure, bounds: &Bounds, sets: &'a OrderedSets<'a>, groups: &'a Groups) -> Self {
        let is_one = groups.collections() == Collections::One;
        let direction = (measure == Measure::Containment && is_one).then(|| bounds.one_way());
        Self { sets, groups, direction, rows: AtomicU64::new(0) }
    }

    /// Takes these matches away, and counts the rows that they stand for.
    pub(crate) fn take(&self, matches: &mut Vec<Match>) {
        let rows = |Match { x, y, overlap }: Match| {
            let members = |group: u32| self.groups.members(group).len() as u64;
            let (size_x, size_y) = (self.sets.size(x), self.sets.size(y));
            let directions = self.direction.map_or(1, |bounds| {
                u64::from(bounds.accepts(size_x, size_y, overlap)) + u64::from(bounds.accepts(size_y, size_x, overlap))
            });
            directions * members(x) * members(y)
        };
        self.rows.fetch_add(matches.drain(..).map(rows).sum(), Ordering::Relaxed);
    }

    pub(crate) fn rows(self) -> u64 {
        self.rows.into_inner()
    }
}
