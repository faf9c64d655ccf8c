//! Exact similarity joins: every pair at or above the threshold, none missing.
//!
//! Identical records are grouped first, the different sets are put in order of size (`sets`), one of the algorithms
//! finds the pairs among them, and the groups are expanded at the end (`joined`).
//!
//! | algorithm | file | filters |
//! |---|---|---|
//! | `naive` | `naive` | none |
//! | `allpairs` | `allpairs` | size, prefix |
//! | `ppjoin` | `ppjoin` | size, prefix, positional |
//! | `ppjoin+` | `ppjoin`, `suffix` | size, prefix, positional, suffix |
//! | `prefix` | `prefix`, `screen` | size, prefix, positional, signature |
//! | `scan` | `scan`, `screen` | size, signature |
//! | `auto` | `auto` | `prefix` or `scan`, for each range of sizes, or `ppjoin` |
//!
//! With labels (`labels`) pairs may be missed, with a known probability. Synopses (`synopses`) are sets of values themselves, whose
//! pairs are then compared as synopses. Edit distance runs the same algorithms on q-grams and checks what they let through (`edit`).

mod allpairs;
mod auto;
mod edit;
mod grouped;
mod groups;
mod index;
mod joined;
mod kernel;
mod labels;
mod links;
mod listed;
mod lists;
mod naive;
mod options;
mod partners;
mod parts;
mod ppjoin;
mod prefix;
mod prepared;
mod probe;
mod rising;
mod scan;
mod screen;
mod select;
mod sets;
mod signature;
mod suffix;
mod synopses;
mod tally;
mod verify;

pub use joined::Joined;
pub use labels::Labelling;
pub use links::{Links, ValuedPairs};
pub use options::{Algorithm, Estimating, JoinOptions};
pub use prepared::Prepared;
pub(crate) use suffix::suffix_filter;
pub(crate) use synopses::count as count_synopses;
pub(crate) use verify::overlap_at_least;

use std::time::Instant;

use self::auto::Plan;
use self::grouped::{Grouped, Values};
use self::groups::Groups;
use self::probe::{Match, Task};
use self::rising::RisingBounds;
use self::sets::OrderedSets;
use self::tally::Tally;
use crate::model::{
    Bounds, CandidateCounts, Collections, Error, Measure, Pair, Result, Run, SpilledSets, Stats, Strings, Synopses,
    TokenSets,
};
use crate::tokenize::is_blank;

/// What is joined.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Token sets, for every measure but edit distance.
    Sets(&'a TokenSets),
    /// Token sets that do not fit in memory, for the same measures.
    Spilled(&'a SpilledSets),
    /// Texts, for edit distance.
    Texts {
        /// The records' texts.
        texts: &'a Strings,
        /// How many of them form the left collection, where there are two.
        left: Option<usize>,
    },
    /// Synopses of sets, for every measure but edit distance. The values of pairs are estimates.
    Synopses(&'a Synopses),
}

impl Input<'_> {
    /// How many records there are, in both collections where there are two.
    pub fn len(&self) -> usize {
        match self {
            Self::Sets(sets) => sets.len(),
            Self::Spilled(sets) => sets.len(),
            Self::Texts { texts, .. } => texts.len(),
            Self::Synopses(synopses) => synopses.len(),
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many records the left, or only, collection has.
    pub fn left_len(&self) -> usize {
        match self {
            Self::Sets(sets) => sets.left_len(),
            Self::Spilled(sets) => sets.left_len(),
            Self::Texts { texts, left } => left.unwrap_or(texts.len()),
            Self::Synopses(synopses) => synopses.left_len(),
        }
    }

    /// The value of a record and one that is identical, if they form a pair.
    pub(crate) fn twin_value(&self, record: u32, bounds: &Bounds, options: &JoinOptions) -> Option<f64> {
        if let Self::Synopses(synopses) = self {
            let condition = options.condition().ok()?;
            let comparison = synopses.get(record as usize).compare(synopses.get(record as usize));
            let is_pair = comparison.left > 0 && condition.accepts(&comparison);
            return is_pair.then(|| comparison.value(options.measure));
        }
        let (size, is_edit) = (self.size(record), options.measure == Measure::Edit);
        let is_pair = (options.empty || size > 0) && (is_edit || bounds.accepts(size, size, size));
        is_pair.then(|| options.measure.value(size, size, if is_edit { 0 } else { size }))
    }

    /// How many tokens, or bytes of text, a record has; 0 if there is nothing to compare.
    pub(crate) fn size(&self, record: u32) -> u32 {
        match self {
            Self::Sets(sets) => sets.size(record as usize),
            Self::Spilled(sets) => sets.size_of(record),
            Self::Texts { texts, .. } => {
                let text = texts.get(record as usize);
                if is_blank(text) { 0 } else { text.len() as u32 }
            }
            Self::Synopses(synopses) => synopses.get(record as usize).values().len() as u32,
        }
    }

    /// The value of the measure for two records, if their sets are within the bounds.
    pub(crate) fn value_within(&self, measure: Measure, bounds: &Bounds, left: u32, right: u32) -> Result<Option<f64>> {
        let of_sets = |x: &[u32], y: &[u32]| {
            let (overlap, sizes) = (verify::overlap(x, y), (x.len() as u32, y.len() as u32));
            bounds.accepts(sizes.0, sizes.1, overlap).then(|| measure.value(sizes.0, sizes.1, overlap))
        };
        match self {
            Self::Sets(sets) => Ok(of_sets(sets.get(left as usize), sets.get(right as usize))),
            Self::Spilled(sets) => Ok(of_sets(&sets.get(left)?, &sets.get(right)?)),
            Self::Texts { .. } | Self::Synopses(_) => Err(Error::WrongInput { measure }),
        }
    }

    /// The value of the measure for two records, whatever the threshold; of containment's two directions, the larger.
    pub(crate) fn value(&self, measure: Measure, left: u32, right: u32) -> Result<f64> {
        let of_sets = |x: &[u32], y: &[u32]| {
            let (overlap, sizes) = (verify::overlap(x, y), (x.len() as u32, y.len() as u32));
            let value = measure.value(sizes.0, sizes.1, overlap);
            if measure == Measure::Containment { value.max(measure.value(sizes.1, sizes.0, overlap)) } else { value }
        };
        if left == right && !measure.is_count() {
            return Ok(1.0);
        }
        if left == right && measure.is_distance() {
            return Ok(0.0);
        }
        Ok(match self {
            Self::Sets(sets) => of_sets(sets.get(left as usize), sets.get(right as usize)),
            Self::Spilled(sets) => of_sets(&sets.get(left)?, &sets.get(right)?),
            Self::Texts { texts, .. } => edit::distance(texts.get(left as usize), texts.get(right as usize)) as f64,
            Self::Synopses(synopses) => {
                let comparison = synopses.get(left as usize).compare(synopses.get(right as usize));
                let (there, back) = (comparison.value(measure), comparison.swapped().value(measure));
                if measure == Measure::Containment { there.max(back) } else { there }
            }
        })
    }

    /// One collection, or two.
    pub fn collections(&self) -> Collections {
        match self {
            Self::Sets(sets) => sets.collections(),
            Self::Spilled(sets) => sets.collections(),
            Self::Texts { left: None, .. } => Collections::One,
            Self::Texts { left: Some(_), .. } => Collections::Two,
            Self::Synopses(synopses) => synopses.collections(),
        }
    }
}

/// What is kept of the pairs that a join finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of them.
    All,
    /// So many of the most similar, ties in input order.
    Best(usize),
    /// Their number.
    Count,
}

/// Finds all pairs within the bounds by the algorithm that the options name.
pub(crate) fn join(
    input: Input<'_>,
    bounds: &Bounds,
    options: &JoinOptions,
    wanted: Wanted,
    run: &Run,
) -> Result<Joined> {
    let begin = Instant::now();
    let mut joined = match (input, options.measure) {
        (Input::Texts { texts, left }, Measure::Edit) => edit::join(texts, left, bounds, options, wanted, run)?,
        (Input::Sets(sets), measure) if measure != Measure::Edit => {
            let groups = Groups::of_sets(sets, bounds, options.empty);
            let ordered = OrderedSets::new(sets, &groups);
            let max_depth = options.max_depth;
            let task = Task { sets: &ordered, bounds, run, max_depth, refine: None, rising: None, collect: None };
            let (matches, kept) = find_and_keep(options, &task, &groups, wanted)?;
            let sizes = ordered.into_sizes();
            let values = Values::Overlaps { sizes, bounds: *bounds };
            Joined::new(measure, Grouped::new(measure, groups, matches, values), kept)
        }
        (Input::Spilled(sets), measure) if measure != Measure::Edit => parts::join(sets, bounds, options, wanted, run)?,
        (Input::Synopses(sets), measure) if measure != Measure::Edit => {
            synopses::join(sets, bounds, options, wanted, run)?
        }
        _ => return Err(Error::WrongInput { measure: options.measure }),
    };
    joined.stats.seconds.join = begin.elapsed().as_secs_f64();
    Ok(joined)
}

/// What is known of a join's pairs beside its matches.
struct Kept {
    /// The best pairs, if only these were wanted.
    best: Option<Vec<Pair>>,
    /// The number of rows, if only that was wanted; identical records are not among them.
    counted: u64,
    stats: Stats,
}

/// Runs the algorithm that the options name, and keeps what is wanted: there are no matches unless it is all.
fn find_and_keep(
    options: &JoinOptions,
    task: &Task<'_>,
    groups: &Groups,
    wanted: Wanted,
) -> Result<(Vec<Vec<Match>>, Kept)> {
    let Task { sets, bounds, .. } = *task;
    match wanted {
        Wanted::All => {
            let (matches, stats) = find(options, task)?;
            Ok((matches, Kept { best: None, counted: 0, stats }))
        }
        Wanted::Best(wanted) => {
            let rising = RisingBounds::new(wanted, options.measure, bounds, sets, groups);
            let (_, stats) = find(options, &Task { rising: Some(&rising), ..*task })?;
            Ok((Vec::new(), Kept { best: Some(rising.into_pairs()), counted: 0, stats }))
        }
        Wanted::Count => {
            let tally = Tally::new(options.measure, bounds, sets, groups);
            let count = |matches: &mut Vec<Match>| {
                tally.take(matches);
                Ok(())
            };
            let (_, stats) = find(options, &Task { collect: Some(&count), ..*task })?;
            Ok((Vec::new(), Kept { best: None, counted: tally.rows(), stats }))
        }
    }
}

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
    let task =
        Task { sets: &ordered, bounds, run, max_depth: options.max_depth, refine: None, rising: None, collect: None };
    let plan = Plan::cheapest(&task);
    (plan.algorithm(), plan.reason().map(str::to_owned))
}

/// Runs one algorithm on sets in order of size, and tells what it did.
fn find(options: &JoinOptions, task: &Task<'_>) -> Result<(Vec<Vec<Match>>, Stats)> {
    if let Some(labels) = &options.labels {
        let labels_bytes = 16 * u64::from(labels.trees) * task.sets.len() as u64;
        task.run.check_memory(task.sets.bytes() + labels_bytes)?;
        let (matches, candidates) = labels::join(task, labels)?;
        return Ok((matches, stats_of("labels", None, task, candidates)));
    }
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
    let (matches, candidates) = match algorithm {
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
    Ok((matches, stats_of(ran.name(), chosen_because, task, candidates)))
}

fn stats_of(algorithm: &str, chosen_because: Option<String>, task: &Task<'_>, candidates: CandidateCounts) -> Stats {
    Stats {
        algorithm: algorithm.to_owned(),
        chosen_because,
        tokens: task.sets.tokens().len() as u64,
        distinct_tokens: u64::from(task.sets.distinct_tokens()),
        candidates,
        ..Stats::default()
    }
}
