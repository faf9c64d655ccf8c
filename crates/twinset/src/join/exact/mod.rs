//! Exact joins: one file per algorithm.

mod allpairs;
mod auto;
pub(crate) mod edit;
mod naive;
mod ppjoin;
mod prefix;
mod prefix_index;
mod scan;
mod signature;
mod suffix;
mod verify;

pub(crate) use edit::distance as edit_distance;
pub(crate) use suffix::suffix_filter;
pub(crate) use verify::{overlap, overlap_at_least};

use self::auto::Plan;
use super::task::{Found, Groups, Match, OrderedSets, Task};
use super::{Algorithm, JoinOptions};
use crate::model::{Bounds, Result, Run, Stats, TokenSets};

/// The algorithm that would join these sets, and why, if the options leave it open.
pub(crate) fn choose(
    sets: &TokenSets,
    bounds: &Bounds,
    options: &JoinOptions,
    run: &Run,
) -> (Algorithm, Option<String>) {
    if options.algorithm != Algorithm::Auto {
        return (options.algorithm, None);
    }
    let groups = Groups::of_sets(sets, bounds, options.empty);
    let ordered = OrderedSets::new(sets, &groups);
    let plan = Plan::cheapest(&Task::new(&ordered, bounds, options.max_depth, run));
    (plan.algorithm(), plan.reason().map(str::to_owned))
}

/// Runs the algorithm that the options name.
pub(crate) fn find(options: &JoinOptions, task: &Task<'_>) -> Result<(Vec<Vec<Match>>, Stats)> {
    let algorithm = options.algorithm;
    let needed = match algorithm {
        Algorithm::Naive => task.sets.bytes(),
        Algorithm::AllPairs => task.sets.bytes_with_index(|size, side| task.bounds.probe_prefix(size, side)),
        Algorithm::PpJoin | Algorithm::PpJoinPlus => {
            task.sets.bytes_with_index(|size, side| task.bounds.index_prefix(size, side))
        }
        Algorithm::Auto | Algorithm::Prefix | Algorithm::Scan => auto::MOST_ROOM * task.sets.bytes(),
    };
    task.run.check_memory(needed)?;
    let (mut ran, mut chosen_because) = (algorithm, None);
    let Found { matches, candidates } = match algorithm {
        Algorithm::Naive => naive::join(task)?,
        Algorithm::AllPairs => allpairs::join(task)?,
        Algorithm::PpJoin => ppjoin::join(task, None)?,
        Algorithm::PpJoinPlus => ppjoin::join(task, Some(task.max_depth))?,
        Algorithm::Auto | Algorithm::Prefix | Algorithm::Scan => {
            let plan = match algorithm {
                Algorithm::Scan => Plan::scan(task),
                Algorithm::Prefix => Plan::prefix(task),
                _ => Plan::cheapest(task),
            };
            if algorithm == Algorithm::Auto {
                (ran, chosen_because) = (plan.algorithm(), plan.reason().map(str::to_owned));
            }
            if ran == Algorithm::PpJoin { ppjoin::join(task, None)? } else { plan.run(task)? }
        }
    };
    Ok((matches, Stats { chosen_because, ..task.stats(ran.name(), candidates) }))
}
