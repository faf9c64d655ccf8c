//! Labels: pairs whose labels begin alike in one of several trees.
//!
//! A bit of a label is a bit of the smallest hash of a set's tokens, so two sets have it in common with the probability
//! (1 + J) / 2. Sets whose labels of some tree agree are compared, so what is found is exact; what is not in any tree
//! together is missed, and how often that happens was computed beforehand (`sketch/lsh.rs`). Time grows with the sets
//! that share labels, space with sets times trees.

use rayon::prelude::*;

use crate::join::exact::overlap_at_least;
use crate::join::task::{Found, Match, Partners, Task, each_set};
use crate::model::{CandidateCounts, Result};
use crate::sketch::{MinHasher, low_bit};

/// How sets are labelled.
///
/// See the example of [`EstimateOptions`](crate::estimate::EstimateOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LshPlan {
    /// How many trees.
    pub trees: u32,
    /// How many bits of the labels must agree.
    pub length: u32,
    /// What the hash functions depend on.
    pub seed: u64,
}

/// The sets in the order of their labels in one tree.
struct Tree {
    labels: Vec<u64>,
    order: Vec<u32>,
    /// Where each set stands in the order.
    places: Vec<u32>,
}

pub(crate) fn join(task: &Task<'_>, how: &LshPlan) -> Result<Found> {
    let sets = task.sets;
    let ranks = 0..sets.len() as u32;
    let tree = |tree: u32| {
        let minima = MinHasher::new(how.length, how.seed.wrapping_add(u64::from(tree) << 32), task.run.portable);
        let of_set = |(hashes, sketch): &mut (Vec<u32>, Vec<u32>), rank: u32| {
            // Any numbers that differ where tokens do.
            hashes.clear();
            hashes.extend(sets.get(rank).iter().map(|token| token.wrapping_mul(0x9e37_79b9)));
            sketch.clear();
            minima.append(hashes, sketch);
            sketch.iter().fold(0, |label, &smallest| label << 1 | low_bit(smallest))
        };
        let labels: Vec<u64> = ranks.clone().into_par_iter().map_init(Default::default, of_set).collect();
        let mut order: Vec<u32> = ranks.clone().collect();
        order.par_sort_unstable_by_key(|&rank| (labels[rank as usize], rank));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &rank)| places[rank as usize] = place);
        Tree { labels, order, places }
    };
    let trees: Vec<Tree> = (0..how.trees).map(tree).collect();
    let new_state = || (vec![u32::MAX; sets.len()], Partners::default());
    each_set(task, new_state, |(met_by, partners), x, matches| {
        let bounds = task.current_bounds();
        partners.prepare(sets, &bounds, x);
        let mut verified = 0;
        for tree in trees.iter().filter(|_| sets.size(x) > 0) {
            let before = tree.order[..tree.places[x as usize] as usize].iter().rev();
            let alike = before.take_while(|&&y| tree.labels[y as usize] == tree.labels[x as usize]);
            for &y in alike.take_while(|&&y| y >= partners.first_rank()) {
                if sets.are_of_one_side(x, y) || std::mem::replace(&mut met_by[y as usize], x) == x {
                    continue;
                }
                let needed = partners.of_class(sets.class(y)).min_overlap;
                verified += 1;
                let overlap = overlap_at_least(sets.get(x), sets.get(y), needed);
                matches.extend(overlap.map(|overlap| Match { x, y, overlap }));
            }
        }
        CandidateCounts { label: Some(verified), ..CandidateCounts::default() }
    })
}
