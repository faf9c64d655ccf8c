//! The different sets of a join in order of size, and what is made for each side.

use crate::join::task::Groups;
use crate::model::{Collections, Side, TokenSets};

/// The different sets in order of size. A set's position in this order is its rank.
pub(crate) struct OrderedSets<'a> {
    tokens: &'a [u32],
    /// Where each set's tokens start.
    starts: Vec<u64>,
    /// The different sizes, in order.
    sizes: Vec<u32>,
    /// The first rank of each different size, and the number of sets.
    size_starts: Vec<u32>,
    /// The position of each set's size among the different sizes.
    classes: Vec<u32>,
    /// The collection of each set; empty for a self-join.
    sides: Vec<Side>,
    /// The ranks of each collection's sets; empty for a self-join.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    distinct_tokens: u32,
    unshared: u32,
}

impl<'a> OrderedSets<'a> {
    pub(crate) fn new(sets: &'a TokenSets, groups: &Groups) -> Self {
        let firsts = || (0..groups.len()).map(|group| groups.members(group as u32)[0] as usize);
        let sides = match groups.collections() {
            Collections::One => Vec::new(),
            Collections::Two => firsts().map(|record| sets.side(record)).collect(),
        };
        let (mut sizes, mut size_starts, mut classes) = (Vec::new(), Vec::new(), Vec::with_capacity(groups.len()));
        for (rank, record) in firsts().enumerate() {
            let size = sets.size(record);
            if sizes.last() != Some(&size) {
                sizes.push(size);
                size_starts.push(rank as u32);
            }
            classes.push(sizes.len() as u32 - 1);
        }
        size_starts.push(groups.len() as u32);
        let of_side = |side: Side| {
            let ranks = (0u32..).zip(&sides).filter(|&(_, &own)| own == side);
            ranks.map(|(rank, _)| rank).collect::<Vec<u32>>()
        };
        Self {
            tokens: sets.tokens(),
            starts: firsts().map(|record| sets.start(record) as u64).collect(),
            sizes,
            size_starts,
            classes,
            lefts: of_side(Side::Left),
            rights: of_side(Side::Right),
            sides,
            distinct_tokens: sets.distinct_tokens(),
            unshared: sets.unshared(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn get(&self, rank: u32) -> &'a [u32] {
        &self.tokens[self.starts[rank as usize] as usize..][..self.size(rank) as usize]
    }

    pub(crate) fn size(&self, rank: u32) -> u32 {
        self.sizes[self.classes[rank as usize] as usize]
    }

    /// Which part of all sets a set of this side may pair with, as far as collections go.
    pub(crate) fn share_of_others(&self, side: Side) -> f64 {
        match self.collections() {
            Collections::One => 1.0,
            Collections::Two => {
                let others = if side == Side::Left { &self.rights } else { &self.lefts };
                others.len() as f64 / self.len() as f64
            }
        }
    }

    /// The average number of tokens of a set.
    pub(crate) fn average_size(&self) -> usize {
        let classes = self.sizes.iter().zip(self.size_starts.windows(2));
        let tokens: u64 = classes.map(|(&size, ranks)| u64::from(size) * u64::from(ranks[1] - ranks[0])).sum();
        tokens as usize / self.len().max(1)
    }

    /// The different sizes, in order. A position in this list is a size class.
    pub(crate) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The size class of a set.
    pub(crate) fn class(&self, rank: u32) -> u32 {
        self.classes[rank as usize]
    }

    /// The first rank of a size class; of the one after the last, the number of sets.
    pub(crate) fn first_of(&self, class: u32) -> u32 {
        self.size_starts[class as usize]
    }

    pub(crate) fn side(&self, rank: u32) -> Side {
        self.sides.get(rank as usize).copied().unwrap_or(Side::Left)
    }

    pub(crate) fn collections(&self) -> Collections {
        if self.sides.is_empty() { Collections::One } else { Collections::Two }
    }

    /// Whether two sets cannot form a pair, as they are of the same of two collections.
    pub(crate) fn are_of_one_side(&self, x: u32, y: u32) -> bool {
        !self.sides.is_empty() && self.side(x) == self.side(y)
    }

    /// The earlier sets that a set may form a pair with as far as their collections go.
    pub(crate) fn others_before(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let others = if self.side(rank) == Side::Left { &self.rights } else { &self.lefts };
        let all = if self.sides.is_empty() { 0..rank } else { 0..0 };
        all.chain(others.iter().copied().take_while(move |&other| other < rank))
    }

    /// About how many bytes the sets take.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.tokens.len() as u64 + 16 * self.len() as u64
    }

    /// About how many bytes they take with an index over prefixes of these lengths.
    pub(crate) fn bytes_with_index(&self, prefix: impl Fn(u32, Side) -> u32) -> u64 {
        let postings = |rank: u32| u64::from(prefix(self.size(rank), self.side(rank)));
        let postings: u64 = (0..self.len() as u32).map(postings).sum();
        self.bytes() + 8 * (postings + u64::from(self.distinct_tokens - self.unshared))
    }

    /// The tokens of all records, those of identical ones included.
    pub(crate) fn tokens(&self) -> &[u32] {
        self.tokens
    }

    pub(crate) fn distinct_tokens(&self) -> u32 {
        self.distinct_tokens
    }

    pub(crate) fn unshared(&self) -> u32 {
        self.unshared
    }

    /// The size of each set, by rank.
    pub(crate) fn into_sizes(self) -> Vec<u32> {
        let mut sizes = self.classes;
        sizes.iter_mut().for_each(|class| *class = self.sizes[*class as usize]);
        sizes
    }
}

/// What a join probes: one for a self-join, one of each collection otherwise.
pub(crate) struct BySide<T> {
    left: T,
    right: Option<T>,
}

impl<T> BySide<T> {
    pub(crate) fn build(collections: Collections, build: impl Fn(Side) -> T) -> Self {
        let right = (collections == Collections::Two).then(|| build(Side::Right));
        Self { left: build(Side::Left), right }
    }

    pub(crate) fn map<U>(self, mut map: impl FnMut(Side, T) -> U) -> BySide<U> {
        BySide { left: map(Side::Left, self.left), right: self.right.map(|right| map(Side::Right, right)) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.left).chain(&self.right)
    }

    /// What a set of this side probes.
    pub(crate) fn probed_by(&self, side: Side) -> &T {
        match (&self.right, side) {
            (Some(right), Side::Left) => right,
            _ => &self.left,
        }
    }
}
