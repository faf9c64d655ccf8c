//! Compares every pair. The definition that the others are held to.
//!
//! Time O(n² · size), no space. For tests, and for a handful of records.

use crate::join::exact::verify::overlap;
use crate::join::task::{Found, Match, Task, each_set};
use crate::model::{CandidateCounts, Result};

pub(crate) fn join(task: &Task<'_>) -> Result<Found> {
    let (sets, bounds) = (task.sets, task.bounds);
    each_set(
        task,
        || (),
        |(), x, matches| {
            let mut compared = 0;
            for y in sets.others_before(x) {
                compared += 1;
                let common = overlap(sets.get(x), sets.get(y));
                let needed = bounds.min_overlap_of(sets.size(x), sets.side(x), sets.size(y));
                // What sets stand for is checked without asking the sets.
                if common >= needed || task.refine.is_some() {
                    matches.push(Match { x, y, overlap: common });
                }
            }
            CandidateCounts { all: Some(compared), ..CandidateCounts::default() }
        },
    )
}
