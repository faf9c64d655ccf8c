//! Scan: compares the signatures of all pairs of suitable sizes.
//!
//! It looks at every pair, but at most of them for a nanosecond or two: sets in order of size, their signatures in
//! columns, compared in blocks that stay in the cache. Time O(n²), space a few words for each set. Prefer it where
//! tokens are frequent or the threshold is low, so that posting lists hold a good part of all sets.

use std::ops::Range;

use crate::join::exact::signature::{Columns, SignatureFilter};
use crate::join::exact::verify::overlap_from;
use crate::join::task::{BySide, Match, Partners, Task, add_free_pairs};
use crate::model::{CandidateCounts, Side};

pub(crate) struct Scan<'a> {
    task: &'a Task<'a>,
    screen: &'a SignatureFilter,
    rows: BySide<Rows>,
}

/// The sets of one side in order of size.
struct Rows {
    ranks: Vec<u32>,
    signatures: Columns,
    blocks: Vec<Block>,
}

/// Rows of similar sizes.
struct Block {
    positions: Range<u32>,
    /// The size classes of these rows.
    classes: Range<u32>,
}

/// A block ends where a size ends, once it has so many rows.
const SMALL_BLOCK: usize = 32;
/// A block with so many rows ends anyway: more would not stay in the cache.
const LARGE_BLOCK: usize = 256;

/// What a thread keeps from one chunk to the next.
#[derive(Default)]
pub(crate) struct State {
    near: Vec<u32>,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(task: &'a Task<'a>, screen: &'a SignatureFilter) -> Self {
        let rows = BySide::build(task.sets.collections(), |side| Rows::new(task, screen, side));
        Self { task, screen, rows }
    }

    /// The pairs of these sets with earlier ones.
    pub(crate) fn probe(&self, state: &mut State, ranks: Range<u32>, matches: &mut Vec<Match>) -> CandidateCounts {
        let (sets, bounds) = (self.task.sets, self.task.current_bounds());
        let (mut size, mut signature, mut partners) = (0, 0, Partners::default());
        let ranks: Vec<u32> = ranks.collect();
        let alike = |&a: &u32, &b: &u32| sets.class(a) == sets.class(b) && sets.side(a) == sets.side(b);
        for run in ranks.chunk_by(alike) {
            partners.prepare(sets, &bounds, run[0]);
            let own_size = sets.size(run[0]);
            let rows = self.rows.probed_by(sets.side(run[0]));
            let first = rows.ranks.partition_point(|&rank| rank < partners.first_rank()) as u32;
            let ends: Vec<u32> = run.iter().map(|&x| rows.ranks.partition_point(|&rank| rank < x) as u32).collect();
            let last = ends.last().copied().unwrap_or(0);
            let blocks = &rows.blocks[rows.blocks.partition_point(|block| block.positions.end <= first)..];
            for block in blocks.iter().take_while(|block| block.positions.start < last) {
                let classes =
                    block.classes.start.max(partners.first_class())..block.classes.end.min(sets.class(run[0]) + 1);
                let limit = classes.filter_map(|class| partners.of_class(class).max_distance(own_size)).max();
                let Some(limit) = limit else { continue };
                for (&x, &end) in run.iter().zip(&ends) {
                    let range = block.positions.start.max(first) as usize..block.positions.end.min(end) as usize;
                    size += range.len() as u64;
                    let start = range.start;
                    rows.signatures.near(self.screen.kernel, self.screen.short(x), range, limit, &mut state.near);
                    for at in state.near.drain(..) {
                        let y = rows.ranks[start + at as usize];
                        let needed = partners.of_class(sets.class(y)).min_overlap;
                        if self.screen.may_pair(sets, x, y, needed) {
                            signature += 1;
                            let overlap = overlap_from(sets.get(x), sets.get(y), 0, needed);
                            matches.extend(overlap.map(|overlap| Match { x, y, overlap }));
                        }
                    }
                }
            }
            for &x in run {
                add_free_pairs(self.task, &bounds, x, matches);
            }
        }
        CandidateCounts { size: Some(size), signature: Some(signature), ..CandidateCounts::default() }
    }
}

impl Rows {
    fn new(task: &Task<'_>, screen: &SignatureFilter, side: Side) -> Self {
        let sets = task.sets;
        let ranks: Vec<u32> = (0..sets.len() as u32).filter(|&rank| sets.side(rank) == side).collect();
        let signatures = screen.columns(&ranks);
        let mut blocks: Vec<Block> = Vec::new();
        for (position, &rank) in (0u32..).zip(&ranks) {
            let class = sets.class(rank);
            match blocks.last_mut() {
                Some(Block { positions, classes })
                    if positions.len() < SMALL_BLOCK || positions.len() < LARGE_BLOCK && classes.end == class + 1 =>
                {
                    (positions.end, classes.end) = (position + 1, class + 1);
                }
                _ => blocks.push(Block { positions: position..position + 1, classes: class..class + 1 }),
            }
        }
        Self { ranks, signatures, blocks }
    }
}
