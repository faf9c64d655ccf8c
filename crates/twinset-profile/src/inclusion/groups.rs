//! Groups of features that have the same synopsis, each of which is represented by its first.
//!
//! Thousands of columns with the same few values have millions of pairs, which all say the same. A group of n features has n rows at most:
//! each against the first.

use std::collections::HashMap;

use crate::features::Feature;

/// Features by their synopses. One without values is alone.
pub(crate) struct Groups {
    /// The first feature of each feature's group.
    first: Vec<usize>,
    /// The features of a group, in order, by its first.
    members: Vec<Vec<usize>>,
    /// Whether the synopsis of a feature has all its values, so that those of its group are equal for sure.
    is_complete: Vec<bool>,
}

impl Groups {
    pub(crate) fn new(features: &[Feature]) -> Self {
        let mut known: HashMap<(bool, bool, &[u64]), usize> = HashMap::new();
        let mut first = Vec::with_capacity(features.len());
        let mut members = vec![Vec::new(); features.len()];
        for (at, feature) in features.iter().enumerate() {
            let own = match feature.values.is_empty() {
                true => at,
                false => *known.entry((feature.is_tokens, feature.is_complete, &feature.values)).or_insert(at),
            };
            first.push(own);
            members[own].push(at);
        }
        Self { first, members, is_complete: features.iter().map(|feature| feature.is_complete).collect() }
    }

    /// The first features of all groups, in order.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = usize> {
        self.first.iter().enumerate().filter(|(at, first)| at == *first).map(|(at, _)| at)
    }

    /// The features of a group, by its first.
    pub(crate) fn members(&self, first: usize) -> &[usize] {
        &self.members[first]
    }

    /// The feature that stands for another, which is equal for sure.
    fn representative(&self, feature: usize) -> usize {
        if self.is_complete[feature] { self.first[feature] } else { feature }
    }

    /// Whether it is said of these two that the left is contained in the right: between groups only of those that stand for them; within a
    /// group of each and the first, and of the first and the second.
    pub(crate) fn is_listed(&self, left: usize, right: usize) -> bool {
        self.is_within(left, right)
            || self.representative(left) == left && self.representative(right) == right && left != right
    }

    /// Whether two equal features are listed for their group.
    pub(crate) fn is_within(&self, left: usize, right: usize) -> bool {
        let first = self.representative(left);
        let is_second = || self.members[first].get(1) == Some(&right);
        first == self.representative(right) && left != right && (right == first || left == first && is_second())
    }
}
