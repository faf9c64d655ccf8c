//! PPJoin and PPJoin+ (Xiao, Wang, Lin and Yu 2008): All-Pairs with positional, and suffix, filtering.
//!
//! The position of a common token tells how many more can follow in either set. Where that is too few, the candidate
//! is dropped before it is verified. PPJoin+ looks into the suffixes as well when it first meets a candidate. Time
//! grows with the postings in the prefixes, space with the indexed prefixes (Lemma 3). Prefer it where tokens are
//! rare or the threshold is high; the suffix filter pays only for long sets that meet often.

use crate::join::exact::prefix_index::PrefixIndex;
use crate::join::exact::suffix::suffix_filter;
use crate::join::exact::verify::{Prefixed, verify};
use crate::join::task::{BySide, Found, Match, Partner, Partners, Task, add_free_pairs, each_set};
use crate::model::{CandidateCounts, Result};

/// Marks a candidate that cannot become a pair (the paper's A[y] = −∞).
const PRUNED: u32 = u32::MAX;

/// Common tokens so far, by rank (the paper's A), and the ranks that were met.
struct State {
    counts: Vec<u32>,
    touched: Vec<u32>,
    partners: Partners,
}

/// `max_depth` of the suffix filter, or `None` for plain PPJoin.
pub(crate) fn join(task: &Task<'_>, max_depth: Option<u32>) -> Result<Found> {
    let (sets, bounds) = (task.sets, task.bounds);
    let indexes = BySide::build(sets.collections(), |side| {
        PrefixIndex::build(sets, side, |size, side| bounds.index_prefix(size, side))
    });
    let new_state = || State { counts: vec![0; sets.len()], touched: Vec::new(), partners: Partners::default() };
    each_set(task, new_state, |state, rank, matches| {
        let State { counts, touched, partners } = state;
        let (x, side) = (sets.get(rank), sets.side(rank));
        let size_x = x.len() as u32;
        let prefix_x = bounds.probe_prefix(size_x, side);
        partners.prepare(sets, bounds, rank);
        let index = indexes.probed_by(side);
        let first = partners.first_rank();
        let (mut met, mut positional) = (0, 0);
        for (i, &token) in (0u32..).zip(&x[..prefix_x as usize]) {
            for posting in index.postings(token, first, rank) {
                let (j, count) = (posting.position, &mut counts[posting.rank as usize]);
                if *count == PRUNED {
                    continue;
                }
                let Partner { size: size_y, min_overlap: needed, .. } = partners.of_class(sets.class(posting.rank));
                let is_new = *count == 0;
                if is_new {
                    touched.push(posting.rank);
                    met += u64::from(needed != u32::MAX);
                }
                // This token, and at most all that follow it in the set with fewer left.
                let bound = *count + (size_x - i).min(size_y - j);
                if bound < needed {
                    *count = PRUNED;
                    continue;
                }
                *count += 1;
                if is_new && let Some(max_depth) = max_depth {
                    // Before their first common token the two share nothing: i + j tokens of the distance are spent.
                    let distance = i64::from(size_x + size_y - 2 * needed) - i64::from(i + j);
                    let y = sets.get(posting.rank);
                    let (rest_x, rest_y) = (&x[i as usize + 1..], &y[j as usize + 1..]);
                    if suffix_filter(rest_x, rest_y, distance, max_depth) > distance {
                        *count = PRUNED;
                        positional += 1;
                    }
                }
            }
        }
        let mut candidates = 0;
        for y_rank in touched.drain(..) {
            let found = std::mem::take(&mut counts[y_rank as usize]);
            if found == PRUNED {
                continue;
            }
            candidates += 1;
            let y = sets.get(y_rank);
            let partner = partners.of_class(sets.class(y_rank));
            let (x, y) = (Prefixed { set: x, prefix: prefix_x }, Prefixed { set: y, prefix: partner.index_prefix });
            if let Some(overlap) = verify(x, y, found, partner.min_overlap) {
                matches.push(Match { x: rank, y: y_rank, overlap });
            }
        }
        add_free_pairs(task, bounds, rank, matches);
        CandidateCounts {
            prefix: Some(met),
            positional: Some(candidates + positional),
            suffix: max_depth.map(|_| candidates),
            ..CandidateCounts::default()
        }
    })
}
