//! A bound that rises as better pairs are found, for joins that want only the most similar ones.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::groups::Groups;
use super::probe::Match;
use super::sets::OrderedSets;
use crate::model::{Bounds, Collections, Measure, Side};

/// The bounds that a pair must meet to be among the `wanted` best, as far as is known.
pub(super) struct RisingBounds<'a> {
    wanted: u64,
    measure: Measure,
    sets: &'a OrderedSets<'a>,
    groups: &'a Groups,
    known: Mutex<Known>,
}

struct Known {
    bounds: Bounds,
    /// The value of the least similar pair that can still be among the best; `None` until enough pairs are known.
    worst: Option<f64>,
    /// How many pairs of records have each value, the most similar first.
    pairs: BTreeMap<u64, u64>,
    total: u64,
}

impl<'a> RisingBounds<'a> {
    pub(super) fn new(
        wanted: usize,
        measure: Measure,
        bounds: &Bounds,
        sets: &'a OrderedSets<'a>,
        groups: &'a Groups,
    ) -> Self {
        let known = Known { bounds: *bounds, worst: None, pairs: BTreeMap::new(), total: 0 };
        let rising = Self { wanted: wanted as u64, measure, sets, groups, known: Mutex::new(known) };
        if groups.collections() == Collections::One {
            rising.add_identical();
        }
        rising
    }

    /// The bounds by now.
    pub(super) fn bounds(&self) -> Bounds {
        self.known.lock().expect("no thread panics with it").bounds
    }

    /// Notes these matches, and takes out those that are not among the best.
    pub(super) fn keep_best(&self, matches: &mut Vec<Match>) {
        let mut known = self.known.lock().expect("no thread panics with it");
        for found in &*matches {
            let members = |group: u32| self.groups.members(group).len() as u64;
            let values = self.values(found);
            for value in values.into_iter().flatten() {
                known.add(self.measure, value, members(found.x) * members(found.y));
            }
        }
        known.rise(self.measure, self.wanted);
        drop(known);
        self.drop_others(matches);
    }

    /// Takes out the matches that are not among the best.
    pub(super) fn drop_others(&self, matches: &mut Vec<Match>) {
        let known = self.known.lock().expect("no thread panics with it");
        let may_be_best = |value| known.may_be_best(self.measure, value);
        matches.retain(|found| self.values(found).into_iter().flatten().any(may_be_best));
    }

    /// The values of the rows that a match stands for: one, or one for each direction of containment.
    fn values(&self, found: &Match) -> [Option<f64>; 2] {
        if self.measure == Measure::Edit {
            return [Some(f64::from(found.overlap)), None];
        }
        let (x, y) = (self.sets.size(found.x), self.sets.size(found.y));
        let value = |left, right| Some(self.measure.value(left, right, found.overlap));
        match (self.measure, self.groups.collections()) {
            (Measure::Containment, Collections::One) => [value(x, y), value(y, x)],
            (Measure::Containment, Collections::Two) if self.sets.side(found.x) == Side::Right => [value(y, x), None],
            _ => [value(x, y), None],
        }
    }

    /// Identical records are pairs that no algorithm has to find.
    fn add_identical(&self) {
        let mut known = self.known.lock().expect("no thread panics with it");
        for group in 0..self.groups.len() as u32 {
            let members = self.groups.members(group).len() as u64;
            let size = self.sets.size(group);
            if members > 1 && (self.measure == Measure::Edit || known.bounds.accepts(size, size, size)) {
                let value = if self.measure == Measure::Edit { 0.0 } else { self.measure.value(size, size, size) };
                // Containment has rows in both directions; counting half of them only lets the bound rise later.
                known.add(self.measure, value, members * (members - 1) / 2);
            }
        }
        known.rise(self.measure, self.wanted);
    }
}

impl Known {
    fn add(&mut self, measure: Measure, value: f64, pairs: u64) {
        if self.may_be_best(measure, value) {
            *self.pairs.entry(key(measure, value)).or_default() += pairs;
            self.total += pairs;
        }
    }

    fn may_be_best(&self, measure: Measure, value: f64) -> bool {
        self.worst.is_none_or(|worst| key(measure, value) <= key(measure, worst))
    }

    /// Forgets values that cannot be among the best any more, and raises the bounds to the worst that can.
    fn rise(&mut self, measure: Measure, wanted: u64) {
        while let Some(last) = self.pairs.last_entry()
            && self.total - last.get() >= wanted
        {
            self.total -= last.remove();
        }
        let Some((&last, _)) = self.pairs.last_key_value() else { return };
        let worst = value(measure, last);
        if self.total >= wanted && self.worst != Some(worst) {
            self.worst = Some(worst);
            self.bounds = self.bounds.raised_to(worst);
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
