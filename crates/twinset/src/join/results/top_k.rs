//! The most similar pairs so far, and the bound that rises with them.

use std::collections::BinaryHeap;
use std::sync::Mutex;

use crate::join::task::{Groups, Match, OrderedSets};
use crate::model::{Bounds, Collections, Measure, Pair, Side};

/// Keeps the `wanted` most similar pairs of records, ties in input order, and the bounds that a better one must meet.
pub(crate) struct TopK<'a> {
    wanted: usize,
    measure: Measure,
    /// What every pair must meet, for rows whose left record is the contained one.
    least: Bounds,
    sets: &'a OrderedSets<'a>,
    groups: &'a Groups,
    state: Mutex<State>,
}

struct State {
    bounds: Bounds,
    /// The worst one on top.
    best: BinaryHeap<Row>,
}

/// A pair, in order of likeness: a key made of the value, the left record, the right record.
type Row = (u64, u32, u32);

impl<'a> TopK<'a> {
    pub(crate) fn new(
        wanted: usize,
        measure: Measure,
        bounds: &Bounds,
        sets: &'a OrderedSets<'a>,
        groups: &'a Groups,
    ) -> Self {
        let state = Mutex::new(State { bounds: *bounds, best: BinaryHeap::new() });
        let top_k = Self { wanted, measure, least: bounds.one_way(), sets, groups, state };
        if groups.collections() == Collections::One {
            // Identical records are pairs that no algorithm has to find.
            for group in 0..groups.len() as u32 {
                let size = sets.size(group);
                if measure == Measure::Edit || bounds.accepts(size, size, size) {
                    let overlap = if measure == Measure::Edit { 0 } else { size };
                    top_k.offer(&Match { x: group, y: group, overlap });
                }
            }
        }
        top_k
    }

    /// The bounds by now.
    pub(crate) fn bounds(&self) -> Bounds {
        self.state.lock().expect("no thread panics with it").bounds
    }

    /// Takes these matches away, and keeps what is among the best.
    pub(crate) fn take(&self, matches: &mut Vec<Match>) {
        matches.drain(..).for_each(|found| self.offer(&found));
    }

    /// The best pairs, in no order.
    pub(crate) fn into_pairs(self) -> Vec<Pair> {
        let best = self.state.into_inner().expect("no thread panicked with it").best;
        best.into_iter().map(|(key, left, right)| Pair { left, right, value: value(self.measure, key) }).collect()
    }

    fn offer(&self, found: &Match) {
        let is_two = self.groups.collections() == Collections::Two;
        let (x, y) = match self.sets.side(found.x) {
            Side::Right => (found.y, found.x),
            Side::Left => (found.x, found.y),
        };
        let value = |left: u32, right: u32| match self.measure {
            Measure::Edit => f64::from(found.overlap),
            _ => self.measure.value(self.sets.size(left), self.sets.size(right), found.overlap),
        };
        let (own, other) = (self.groups.members(x), self.groups.members(y));
        if is_two {
            let offset = self.groups.left_len() as u32;
            self.offer_rows(value(x, y), own.iter().flat_map(|&l| other.iter().map(move |&r| (l, r - offset))));
        } else if self.measure == Measure::Containment {
            // Rows are ordered, and either direction may hold.
            for (left, right) in [(x, y), (y, x)].into_iter().take(if x == y { 1 } else { 2 }) {
                if self.least.accepts(self.sets.size(left), self.sets.size(right), found.overlap) {
                    let (lefts, rights) = (self.groups.members(left), self.groups.members(right));
                    let rows =
                        lefts.iter().flat_map(|&l| rights.iter().filter(move |&&r| r != l).map(move |&r| (l, r)));
                    self.offer_rows(value(left, right), rows);
                }
            }
        } else {
            // Each record with the later ones of the other group, in the order of both groups' records.
            let mut lefts: Vec<(u32, &[u32])> = own.iter().map(|&left| (left, other)).collect();
            if x != y {
                lefts.extend(other.iter().map(|&left| (left, own)));
                lefts.sort_unstable_by_key(|&(left, _)| left);
            }
            let later = |(left, others): (u32, &'a [u32])| {
                others[others.partition_point(|&right| right <= left)..].iter().map(move |&right| (left, right))
            };
            self.offer_rows(value(x, y), lefts.into_iter().flat_map(later));
        }
    }

    /// Offers rows of the same value, which come in input order: after the first that is too late no other is wanted.
    fn offer_rows(&self, value: f64, rows: impl Iterator<Item = (u32, u32)>) {
        let mut state = self.state.lock().expect("no thread panics with it");
        let key = key(self.measure, value);
        for (left, right) in rows {
            let row = (key, left, right);
            if state.best.len() < self.wanted {
                state.best.push(row);
            } else {
                match state.best.peek_mut() {
                    Some(mut worst) if row < *worst => *worst = row,
                    _ => break,
                }
            }
        }
        if state.best.len() == self.wanted
            && let Some(&(worst, ..)) = state.best.peek()
        {
            state.bounds = state.bounds.raised_to(self::value(self.measure, worst));
        }
    }
}

/// Values as integers in order of likeness, the most similar first. No value is negative.
fn key(measure: Measure, value: f64) -> u64 {
    if measure.is_distance() { value.to_bits() } else { !value.to_bits() }
}

fn value(measure: Measure, key: u64) -> f64 {
    f64::from_bits(if measure.is_distance() { key } else { !key })
}
