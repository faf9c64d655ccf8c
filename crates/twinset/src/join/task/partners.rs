//! What sets require of their partners.

use crate::join::task::OrderedSets;
use crate::model::{Bounds, Side};

/// What a set of one size requires of its partners, by their size class. Sets come in order of size, so it seldom changes.
pub(crate) struct Partners {
    size: u32,
    side: Side,
    /// The first class listed; the last is the set's own.
    first_class: u32,
    first_rank: u32,
    by_class: Vec<Partner>,
}

/// What a partner of a certain size must fulfil.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partner {
    pub(crate) size: u32,
    /// α, or more than any set has where the pair is free and found elsewhere.
    pub(crate) min_overlap: u32,
    pub(crate) index_prefix: u32,
}

impl Default for Partners {
    fn default() -> Self {
        Self { size: u32::MAX, side: Side::Left, first_class: 0, first_rank: 0, by_class: Vec::new() }
    }
}

impl Partners {
    /// Makes the list for a set, unless the last one was of the same size and side. The bounds must be the same too.
    pub(crate) fn prepare(&mut self, sets: &OrderedSets<'_>, bounds: &Bounds, rank: u32) {
        let (size, side) = (sets.size(rank), sets.side(rank));
        if (self.size, self.side) == (size, side) {
            return;
        }
        (self.size, self.side) = (size, side);
        let smallest = (*bounds.partner_sizes(size, side).start()).max(1);
        let own = sets.class(rank);
        self.first_class = sets.sizes()[..=own as usize].partition_point(|&size| size < smallest) as u32;
        self.first_rank = sets.first_of(self.first_class);
        self.by_class.clear();
        self.by_class.extend(sets.sizes()[self.first_class as usize..=own as usize].iter().map(|&partner| Partner {
            size: partner,
            min_overlap: match bounds.min_overlap_of(size, side, partner) {
                0 => u32::MAX,
                least => least,
            },
            index_prefix: bounds.index_prefix(partner, other(side)),
        }));
    }

    /// The first rank of a partner.
    pub(crate) fn first_rank(&self) -> u32 {
        self.first_rank
    }

    /// The first size class of a partner.
    pub(crate) fn first_class(&self) -> u32 {
        self.first_class
    }

    pub(crate) fn of_class(&self, class: u32) -> Partner {
        self.by_class[(class - self.first_class) as usize]
    }

    /// The partners of each class, from the first on.
    pub(crate) fn by_class(&self) -> &[Partner] {
        &self.by_class
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
    }
}

impl Partner {
    /// The largest Hamming distance that a set of this size may have from such a partner.
    pub(crate) fn max_distance(&self, size: u32) -> Option<u32> {
        max_distance(size, self.size, self.min_overlap)
    }
}

/// The largest Hamming distance of sets of these sizes with so many common tokens.
pub(crate) fn max_distance(size: u32, other: u32, overlap: u32) -> Option<u32> {
    u32::try_from((u64::from(size) + u64::from(other)).checked_sub(2 * u64::from(overlap))?).ok()
}
