//! Pairs of different sets, and the records that they stand for.

use std::collections::HashMap;

use super::{Link, Links, selection};
use crate::join::task::{Groups, Match};
use crate::model::{Bounds, Collections, Measure, Pair, Result, Run};

/// Which groups of identical records form pairs.
pub(crate) struct GroupPairs {
    measure: Measure,
    groups: Groups,
    /// Where each group's neighbours start.
    starts: Vec<u64>,
    neighbours: Vec<Neighbour>,
    values: Values,
    /// Whether a pair may hold in one direction only: that is containment in a self-join.
    is_directed: bool,
    /// Records pair only within the same class.
    classes: Option<Vec<u32>>,
}

#[derive(Clone, Copy)]
struct Neighbour {
    group: u32,
    /// The overlap of the sets; the place of their value where there are estimates.
    overlap: u32,
}

/// What tells the values of pairs.
pub(crate) enum Values {
    /// The sizes of sets and their overlaps; the bounds say whether two members of a group form a pair, as a set may be smaller
    /// than the overlap asked for.
    Overlaps { sizes: Vec<u32>, bounds: Bounds },
    /// Estimates.
    Estimates {
        /// Of each match the value of its first set with the second, and that of the second with the first; not a number where
        /// they form no pair in that direction.
        between: Vec<[f64; 2]>,
        /// The value of two members of each group, if they form a pair.
        within: Vec<Option<f64>>,
    },
}

impl GroupPairs {
    pub(crate) fn new(measure: Measure, groups: Groups, matches: Vec<Vec<Match>>, values: Values) -> Self {
        let symmetric = groups.collections() == Collections::One;
        let left_len = groups.left_len();
        let is_left = |group: u32| (groups.members(group)[0] as usize) < left_len;
        // In a self-join both sets of a match have the other as a neighbour; otherwise only the left one has.
        let ends = |m: &Match| {
            let (first, second) = if symmetric || is_left(m.x) { (m.x, m.y) } else { (m.y, m.x) };
            [Some((first, second)), symmetric.then_some((second, first))]
        };
        let mut starts = vec![0u64; groups.len() + 2];
        for m in matches.iter().flatten() {
            for (group, _) in ends(m).into_iter().flatten() {
                starts[group as usize + 2] += 1;
            }
        }
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        let mut neighbours = vec![Neighbour { group: 0, overlap: 0 }; starts[groups.len() + 1] as usize];
        for m in matches.into_iter().flatten() {
            for (group, other) in ends(&m).into_iter().flatten() {
                let next = &mut starts[group as usize + 1];
                neighbours[*next as usize] = Neighbour { group: other, overlap: m.overlap };
                *next += 1;
            }
        }
        starts.pop();
        let is_directed = measure == Measure::Containment && symmetric;
        Self { measure, groups, starts, neighbours, values, is_directed, classes: None }
    }

    /// Leaves only pairs whose records have the same class.
    pub(crate) fn set_classes(&mut self, classes: Vec<u32>) {
        self.classes = Some(classes);
    }

    pub(crate) fn records(&self) -> u64 {
        self.groups.records() as u64
    }

    pub(crate) fn empty_records(&self) -> u64 {
        self.groups.empty() as u64
    }

    pub(crate) fn without_partner(&self) -> u64 {
        self.groups.without_partner() as u64
    }

    pub(crate) fn distinct_sets(&self) -> u64 {
        self.groups.len() as u64
    }

    /// The pairs, sorted by left record and then by right record.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        (0..self.groups.left_len() as u32).flat_map(|left| self.partners_of(left))
    }

    /// Pairs in which each record occurs at most once, chosen from the most similar down, ties in input order.
    pub(crate) fn best(&self, measure: Measure) -> Vec<Pair> {
        if self.classes.is_some() {
            let offset = self.right_offset() as usize;
            return selection::best(self.iter().collect(), measure, offset, self.groups.records());
        }
        self.best_of_groups()
    }

    /// The same from the pairs of groups, without expanding them: identical records have a pair for each two of them.
    fn best_of_groups(&self) -> Vec<Pair> {
        let two = self.groups.collections() == Collections::Two;
        let mut edges: Vec<(f64, u32, u32)> = Vec::new();
        for group in 0..self.groups.len() as u32 {
            let own = (!two).then(|| self.value_within(group)).flatten().map(|value| (value, group, group));
            let others = self.neighbours_of(group).iter();
            edges.extend(others.filter_map(|other| Some((self.value(group, other)?, group, other.group))).chain(own));
        }
        let sign = if self.measure.is_distance() { 1.0 } else { -1.0 };
        edges.sort_unstable_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)).then((a.1, a.2).cmp(&(b.1, b.2))));

        let mut best = Vec::new();
        let mut taken = vec![false; self.groups.records()];
        // For each group, how many of its first members are taken.
        let mut cursors = vec![0; self.groups.len()];
        for equal in edges.chunk_by(|a, b| a.0 == b.0) {
            let edges_of = |group: u32| {
                let start = equal.partition_point(|edge| edge.1 < group);
                equal[start..].iter().take_while(move |edge| edge.1 == group)
            };
            let groups = equal.chunk_by(|a, b| a.1 == b.1).map(|edges| edges[0].1);
            let mut lefts: Vec<(u32, u32)> = groups
                .flat_map(|group| self.groups.members(group).iter().map(move |&record| (record, group)))
                .collect();
            lefts.retain(|&(record, _)| !taken[record as usize]);
            lefts.sort_unstable();
            for (left, group) in lefts {
                if taken[left as usize] {
                    continue;
                }
                // A free record before this one that is as similar would have chosen it, so the first free one is next.
                let first_free = edges_of(group).filter_map(|&(_, _, other)| {
                    let (members, cursor) = (self.groups.members(other), &mut cursors[other as usize]);
                    while members.get(*cursor).is_some_and(|&record| taken[record as usize]) {
                        *cursor += 1;
                    }
                    members[*cursor..].iter().copied().find(|&record| record != left && !taken[record as usize])
                });
                if let Some(right) = first_free.min() {
                    (taken[left as usize], taken[right as usize]) = (true, true);
                    best.push(Pair { left, right: right - self.right_offset(), value: equal[0].0 });
                }
            }
        }
        best
    }

    /// What the positions of right records start from.
    pub(crate) fn right_offset(&self) -> u32 {
        if self.groups.collections() == Collections::Two { self.groups.left_len() as u32 } else { 0 }
    }

    fn neighbours_of(&self, group: u32) -> &[Neighbour] {
        &self.neighbours[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The pairs whose left record is this one, by right record.
    fn partners_of(&self, left: u32) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let Some(own) = self.groups.of(left as usize) else { return pairs };
        // A symmetric pair is listed at its earlier record only.
        let two = self.groups.collections() == Collections::Two;
        let first = if two || self.is_directed { 0 } else { left + 1 };
        let offset = self.right_offset();
        let mut add = |other: u32, value: f64| {
            let members = self.groups.members(other);
            for &record in &members[members.partition_point(|&record| record < first)..] {
                let same = |classes: &Vec<u32>| classes[left as usize] == classes[record as usize];
                if record != left && self.classes.as_ref().is_none_or(same) {
                    pairs.push(Pair { left, right: record - offset, value });
                }
            }
        };
        for neighbour in self.neighbours_of(own) {
            if let Some(value) = self.value(own, neighbour) {
                add(neighbour.group, value);
            }
        }
        if !two && let Some(value) = self.value_within(own) {
            add(own, value);
        }
        pairs.sort_unstable_by_key(|pair| pair.right);
        pairs
    }

    /// The pairs of a self-join as a graph: a node for each group or, if there are classes, for each class in it.
    pub(crate) fn links(&self, run: &Run) -> Result<Links> {
        let (mut nodes, mut twins) = (Vec::with_capacity(self.groups.records()), Vec::new());
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        let mut classes_of: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.groups.len()];
        for record in 0..self.groups.records() {
            let (next, class) = (twins.len() as u32, self.classes.as_ref().map_or(0, |classes| classes[record]));
            let Some(group) = self.groups.of(record) else {
                twins.push(None);
                nodes.push(next);
                continue;
            };
            nodes.push(*numbers.entry((group, class)).or_insert_with(|| {
                twins.push(self.value_within(group));
                classes_of[group as usize].push((class, next));
                next
            }));
        }
        let links = || {
            (0..self.groups.len() as u32).flat_map(|group| {
                let later = self.neighbours_of(group).iter().filter(move |neighbour| neighbour.group > group);
                later.flat_map({
                    let (classes_of, numbers) = (&classes_of, &numbers);
                    move |&Neighbour { group: other, overlap }| {
                        // Containment links in either direction.
                        let there = self.value(group, &Neighbour { group: other, overlap });
                        let back = self.value(other, &Neighbour { group, overlap });
                        let value = there.into_iter().chain(back).fold(f64::MIN, f64::max);
                        let shared = classes_of[group as usize]
                            .iter()
                            .filter_map(move |&(class, node)| numbers.get(&(other, class)).map(|&other| (node, other)));
                        shared.map(move |nodes| Ok(Link { nodes, value }))
                    }
                })
            })
        };
        Links::new(self.measure, nodes, twins, links, run)
    }

    /// The value of a group and a neighbour, if they form a pair in this direction.
    fn value(&self, group: u32, neighbour: &Neighbour) -> Option<f64> {
        let &Neighbour { group: other, overlap } = neighbour;
        match &self.values {
            Values::Overlaps { sizes, bounds } => {
                let (size, size_other) = (sizes[group as usize], sizes[other as usize]);
                let is_pair = !self.is_directed || bounds.one_way().accepts(size, size_other, overlap);
                is_pair.then(|| self.measure.value(size, size_other, overlap))
            }
            Values::Estimates { between, .. } => {
                // The first set of a match is the later one.
                let value = between[overlap as usize][usize::from(group < other)];
                (!value.is_nan()).then_some(value)
            }
        }
    }

    /// The value of two members of a group, if they form a pair.
    fn value_within(&self, group: u32) -> Option<f64> {
        match &self.values {
            Values::Overlaps { .. } if self.measure == Measure::Edit => Some(0.0),
            Values::Overlaps { sizes, bounds } => {
                let size = sizes[group as usize];
                bounds.accepts(size, size, size).then(|| self.measure.value(size, size, size))
            }
            Values::Estimates { within, .. } => within[group as usize],
        }
    }

    /// How many pairs there are, whatever the classes.
    pub(crate) fn len(&self) -> u64 {
        let members = |group: u32| self.groups.members(group).len() as u64;
        let two = self.groups.collections() == Collections::Two;
        let mut ordered = 0;
        for group in 0..self.groups.len() as u32 {
            for neighbour in self.neighbours_of(group) {
                if self.value(group, neighbour).is_some() {
                    ordered += members(group) * members(neighbour.group);
                }
            }
            if !two && self.value_within(group).is_some() {
                ordered += members(group) * (members(group) - 1);
            }
        }
        // Neighbours of a symmetric self-join stand at both ends.
        if two || self.is_directed { ordered } else { ordered / 2 }
    }
}
