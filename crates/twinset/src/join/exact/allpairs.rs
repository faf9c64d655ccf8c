//! All-Pairs (Bayardo, Ma and Srikant 2007, as the PPJoin paper presents it): size and prefix filtering.
//!
//! Two sets with enough common tokens share one among their rarest, so only sets that meet in their prefixes are
//! verified. Time grows with the number of candidates, space with the prefixes. Outcome as a yardstick: `ppjoin` looks
//! at the same postings and verifies fewer.

use crate::join::exact::prefix_index::PrefixIndex;
use crate::join::exact::verify::{Prefixed, verify};
use crate::join::task::{BySide, Found, Match, Partners, Task, add_free_pairs, each_set};
use crate::model::{CandidateCounts, Result};

/// Common tokens so far, by rank, and the ranks that have any.
struct State {
    counts: Vec<u32>,
    touched: Vec<u32>,
    partners: Partners,
}

pub(crate) fn join(task: &Task<'_>) -> Result<Found> {
    let (sets, bounds) = (task.sets, task.bounds);
    let prefix = |size, side| bounds.probe_prefix(size, side);
    let indexes = BySide::build(sets.collections(), |side| PrefixIndex::build(sets, side, prefix));
    let new_state = || State { counts: vec![0; sets.len()], touched: Vec::new(), partners: Partners::default() };
    each_set(task, new_state, |state, rank, matches| {
        let (x, side) = (sets.get(rank), sets.side(rank));
        let prefix_x = prefix(x.len() as u32, side);
        state.partners.prepare(sets, bounds, rank);
        let index = indexes.probed_by(side);
        let first = state.partners.first_rank();
        for &token in &x[..prefix_x as usize] {
            for posting in index.postings(token, first, rank) {
                let count = &mut state.counts[posting.rank as usize];
                if *count == 0 {
                    state.touched.push(posting.rank);
                }
                *count += 1;
            }
        }
        let mut candidates = 0;
        for y_rank in state.touched.drain(..) {
            let found = std::mem::take(&mut state.counts[y_rank as usize]);
            let y = sets.get(y_rank);
            let needed = state.partners.of_class(sets.class(y_rank)).min_overlap;
            if needed == u32::MAX {
                continue;
            }
            candidates += 1;
            let prefix_y = prefix(y.len() as u32, sets.side(y_rank));
            let (x, y) = (Prefixed { set: x, prefix: prefix_x }, Prefixed { set: y, prefix: prefix_y });
            if let Some(overlap) = verify(x, y, found, needed) {
                matches.push(Match { x: rank, y: y_rank, overlap });
            }
        }
        add_free_pairs(task, bounds, rank, matches);
        CandidateCounts { prefix: Some(candidates), ..CandidateCounts::default() }
    })
}
