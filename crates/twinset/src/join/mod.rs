//! Similarity joins: token sets in, pairs out.
//!
//! Identical records are grouped first, and the different sets are put in order of size ([`task`]). One of the algorithms finds
//! the pairs among them ([`exact`], [`estimate`]); the groups are expanded to records while the pairs are read ([`results`]).
//!
//! | algorithm | file in `exact/` | filters |
//! |---|---|---|
//! | `naive` | `naive` | none |
//! | `allpairs` | `allpairs` | size, prefix |
//! | `ppjoin` | `ppjoin` | size, prefix, positional |
//! | `ppjoin+` | `ppjoin`, `suffix` | size, prefix, positional, suffix |
//! | `prefix` | `prefix`, `signature/` | size, prefix, positional, signature |
//! | `scan` | `scan`, `signature/` | size, signature |
//! | `auto` | `auto` | `prefix` or `scan`, for each range of sizes, or `ppjoin` |
//!
//! MinHash joins are exact joins of sketches by overlap. LSH (`estimate/lsh`) may miss pairs, with a known probability. KMV
//! (`estimate/kmv`) joins synopses as sets of values, then compares the pairs as synopses. Edit distance (`exact/edit`) runs the
//! same algorithms on q-grams and verifies the candidates. Sets that do not fit in memory are joined part by part (`partitions`).

mod estimate;
mod exact;
mod input;
mod options;
mod partitions;
mod results;
mod task;

pub(crate) use estimate::count_synopses;
pub use estimate::{EstimateOptions, KmvPlan, LshPlan, Method};
pub(crate) use exact::{choose, overlap_at_least, suffix_filter};
pub use input::{Input, OwnedInput};
pub use options::{Algorithm, JoinOptions};
pub use results::{JoinResult, Links, ValuedPairs};

use std::time::Instant;

use self::exact::edit;
use self::results::{GroupPairs, PairCount, TopK, Values};
use self::task::{Found, Groups, Match, OrderedSets, Task};
use crate::model::{Bounds, Error, Measure, Pair, Result, Run, Stats};

/// What a join returns of the pairs that it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// All of them.
    All,
    /// So many of the most similar, ties in input order.
    Top(usize),
    /// Their number.
    Count,
}

/// Finds all pairs within the bounds by the algorithm that the options name.
pub(crate) fn join(
    input: Input<'_>,
    bounds: &Bounds,
    options: &JoinOptions,
    wanted: Output,
    run: &Run,
) -> Result<JoinResult> {
    let begin = Instant::now();
    let mut joined = match (input, options.measure) {
        (Input::Texts { texts, left }, Measure::Edit) => edit::join(texts, left, bounds, options, wanted, run)?,
        (Input::Sets(sets), measure) if measure != Measure::Edit => {
            let groups = Groups::of_sets(sets, bounds, options.empty);
            let ordered = OrderedSets::new(sets, &groups);
            let task = Task::new(&ordered, bounds, options.max_depth, run);
            let (matches, kept) = find_and_keep(options, &task, &groups, wanted)?;
            let sizes = ordered.into_sizes();
            let values = Values::Overlaps { sizes, bounds: *bounds };
            JoinResult::new(measure, GroupPairs::new(measure, groups, matches, values), kept)
        }
        (Input::Spilled(sets), measure) if measure != Measure::Edit => {
            partitions::join(sets, bounds, options, wanted, run)?
        }
        (Input::Synopses(sets), measure) if measure != Measure::Edit => {
            estimate::kmv::join(sets, bounds, options, wanted, run)?
        }
        _ => return Err(Error::WrongInput { measure: options.measure }),
    };
    joined.stats.seconds.join = begin.elapsed().as_secs_f64();
    Ok(joined)
}

/// What is known of a join's pairs beside its matches.
pub(crate) struct Outcome {
    /// The most similar pairs, if only these were wanted.
    top: Option<Vec<Pair>>,
    /// The number of rows, if only that was wanted; identical records are not among them.
    counted: u64,
    stats: Stats,
}

/// Runs the algorithm that the options name, and keeps what is wanted: there are no matches unless it is all.
fn find_and_keep(
    options: &JoinOptions,
    task: &Task<'_>,
    groups: &Groups,
    wanted: Output,
) -> Result<(Vec<Vec<Match>>, Outcome)> {
    let Task { sets, bounds, .. } = *task;
    match wanted {
        Output::All => {
            let (matches, stats) = find(options, task)?;
            Ok((matches, Outcome { top: None, counted: 0, stats }))
        }
        Output::Top(wanted) => {
            let top_k = TopK::new(wanted, options.measure, bounds, sets, groups);
            let (_, stats) = find(options, &Task { top_k: Some(&top_k), ..*task })?;
            Ok((Vec::new(), Outcome { top: Some(top_k.into_pairs()), counted: 0, stats }))
        }
        Output::Count => {
            let pairs = PairCount::new(options.measure, bounds, sets, groups);
            let count = |matches: &mut Vec<Match>| {
                pairs.take(matches);
                Ok(())
            };
            let (_, stats) = find(options, &Task { collect: Some(&count), ..*task })?;
            Ok((Vec::new(), Outcome { top: None, counted: pairs.rows(), stats }))
        }
    }
}

/// Finds the matches by LSH if the options say so, otherwise by an exact algorithm.
fn find(options: &JoinOptions, task: &Task<'_>) -> Result<(Vec<Vec<Match>>, Stats)> {
    if let Some(lsh) = &options.lsh {
        let labels_bytes = 16 * u64::from(lsh.trees) * task.sets.len() as u64;
        task.run.check_memory(task.sets.bytes() + labels_bytes)?;
        let Found { matches, candidates } = estimate::lsh::join(task, lsh)?;
        return Ok((matches, task.stats("lsh", candidates)));
    }
    exact::find(options, task)
}
