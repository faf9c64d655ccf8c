//! Synopses: pairs whose smallest values tell that their sets are alike.
//!
//! A synopsis is itself a set of at most k values, and a pair must share enough of them. So the exact join of these sets gives
//! the candidates, and each is compared by the k smallest values of its union. It returns what comparing all pairs would.
//! Time is that of the join; space that of the values as tokens, and of the pairs.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::join::results::{GroupPairs, Values};
use crate::join::task::{Groups, Match, OrderedSets, Refine, Task};
use crate::join::{JoinOptions, JoinResult, Outcome, Output, find};
use crate::model::{Bounds, Collections, Error, Measure, Result, Run, Stats, Threshold, TokenSets};
use crate::sketch::{Comparison, Condition, Synopses, Synopsis};

/// Which pairs of synopses a join accepts, besides the threshold.
///
/// See the example of [`EstimateOptions`](crate::estimate::EstimateOptions).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KmvPlan {
    /// How many values the sets share at least, as far as that can be estimated.
    pub min_overlap: u32,
    /// How low an estimate may be, if that is below the threshold.
    pub lowest: Option<Threshold>,
}

pub(crate) fn join(
    synopses: &Synopses,
    bounds: &Bounds,
    options: &JoinOptions,
    wanted: Output,
    run: &Run,
) -> Result<JoinResult> {
    // With `top` the threshold is another than that of the options.
    let condition = JoinOptions { threshold: Some(bounds.threshold()), ..options.clone() }.condition()?;
    let (sets, groups) = grouped(synopses, run)?;
    let pairs = Pairs { synopses, groups: &groups };
    let value = |comparison: &Comparison| match condition.accepts(comparison) {
        true => comparison.value(options.measure),
        false => f64::NAN,
    };
    let values = |x: u32, y: u32| pairs.rows(x, y).map(|row| row.map_or(f64::NAN, |comparison| value(&comparison)));
    let counts = [AtomicU64::new(0)];
    let (mut matches, stats) = match wanted {
        Output::Count => {
            let count = |matches: &mut Vec<Match>| pairs.tally(matches, &[condition], &counts);
            candidates(&sets, &groups, &condition, options, &count, synopses.size(), run)?
        }
        Output::All | Output::Top(_) => {
            let refine = |matches: &mut Vec<Match>| {
                matches.retain(|found| values(found.x, found.y).iter().any(|value| !value.is_nan()));
            };
            candidates(&sets, &groups, &condition, options, &refine, synopses.size(), run)?
        }
    };
    let of_list = |list: &Vec<Match>| list.iter().map(|found| values(found.x, found.y)).collect::<Vec<_>>();
    let between = matches.par_iter().map(of_list).collect::<Vec<_>>().concat();
    if between.len() > u32::MAX as usize {
        return Err(Error::TooMany { what: "pairs of different synopses", limit: u64::from(u32::MAX) });
    }
    (0..).zip(matches.iter_mut().flatten()).for_each(|(place, found)| found.overlap = place);
    let within =
        (0..groups.len() as u32).map(|group| Some(value(&pairs.within(group))).filter(|value| !value.is_nan()));
    let values = Values::Estimates { between, within: within.collect() };
    let grouped = GroupPairs::new(options.measure, groups, matches, values);
    let [counted] = counts.map(AtomicU64::into_inner);
    Ok(JoinResult::new(options.measure, grouped, Outcome { top: None, counted, stats }))
}

/// How many rows each of the conditions accepts, which are of one measure. No pair is kept.
pub(crate) fn count(synopses: &Synopses, conditions: &[Condition], run: &Run) -> Result<Vec<u64>> {
    let order = |a: &&Condition, b: &&Condition| {
        a.measure().order(a.lowest().as_f64(), b.lowest().as_f64()).then(b.min_overlap().cmp(&a.min_overlap()))
    };
    let Some(laxest) = conditions.iter().max_by(order) else { return Ok(Vec::new()) };
    let (sets, groups) = grouped(synopses, run)?;
    let pairs = Pairs { synopses, groups: &groups };
    let counts: Vec<AtomicU64> = conditions.iter().map(|_| AtomicU64::new(0)).collect();
    let count = |matches: &mut Vec<Match>| pairs.tally(matches, conditions, &counts);
    candidates(&sets, &groups, laxest, &JoinOptions::default(), &count, synopses.size(), run)?;
    if synopses.collections() == Collections::One {
        for group in 0..groups.len() as u32 {
            let members = groups.members(group).len() as u64;
            let rows = members * (members - 1);
            let rows = if laxest.measure() == Measure::Containment { rows } else { rows / 2 };
            tally(&pairs.within(group), rows, conditions, &counts);
        }
    }
    Ok(counts.into_iter().map(AtomicU64::into_inner).collect())
}

/// Adds rows to the counts of the conditions that accept them.
fn tally(comparison: &Comparison, rows: u64, conditions: &[Condition], counts: &[AtomicU64]) {
    for (condition, count) in conditions.iter().zip(counts) {
        if condition.accepts(comparison) {
            count.fetch_add(rows, Ordering::Relaxed);
        }
    }
}

fn grouped(synopses: &Synopses, run: &Run) -> Result<(TokenSets, Groups)> {
    // Values, their places while they are sorted, and tokens.
    run.check_memory(3 * synopses.bytes())?;
    Ok((synopses.to_sets()?, Groups::of_synopses(synopses)))
}

/// Groups of equal synopses, to be compared.
struct Pairs<'a> {
    synopses: &'a Synopses,
    groups: &'a Groups,
}

impl<'a> Pairs<'a> {
    fn of_group(&self, group: u32) -> Synopsis<'a> {
        self.synopses.get(self.groups.members(group)[0] as usize)
    }

    /// How two groups compare in each of the rows that their records can form: the first with the second, and the other way
    /// round. Between two collections there is one.
    fn rows(&self, x: u32, y: u32) -> [Option<Comparison>; 2] {
        let comparison = self.of_group(x).compare(self.of_group(y));
        let is_left = self.groups.members(x)[0] < self.groups.members(y)[0];
        match self.groups.collections() {
            Collections::One => [Some(comparison), Some(comparison.swapped())],
            Collections::Two if is_left => [Some(comparison), None],
            Collections::Two => [None, Some(comparison.swapped())],
        }
    }

    /// Takes these matches away, and counts the rows that they stand for.
    fn tally(&self, matches: &mut Vec<Match>, conditions: &[Condition], counts: &[AtomicU64]) {
        // A pair of a symmetric measure is one row, in whichever order its records stand.
        let is_directed = conditions.iter().any(|condition| condition.measure() == Measure::Containment);
        for Match { x, y, .. } in matches.drain(..) {
            let members = |group: u32| self.groups.members(group).len() as u64;
            let rows = self.rows(x, y).into_iter().flatten().take(if is_directed { 2 } else { 1 });
            rows.for_each(|row| tally(&row, members(x) * members(y), conditions, counts));
        }
    }

    /// How two members of a group compare.
    fn within(&self, group: u32) -> Comparison {
        self.of_group(group).compare(self.of_group(group))
    }
}

/// The pairs of different synopses that share enough values, as far as `refine` keeps them.
fn candidates(
    sets: &TokenSets,
    groups: &Groups,
    condition: &Condition,
    options: &JoinOptions,
    refine: &Refine<'_>,
    size: u32,
    run: &Run,
) -> Result<(Vec<Vec<Match>>, Stats)> {
    let ordered = OrderedSets::new(sets, groups);
    let (measure, threshold) = condition.of_values(size)?;
    let bounds = Bounds::new(measure, threshold, groups.collections())?;
    let task = Task { refine: Some(refine), ..Task::new(&ordered, &bounds, options.max_depth, run) };
    let (matches, mut stats) = find(options, &task)?;
    stats.algorithm = format!("kmv ({})", stats.algorithm);
    Ok((matches, stats))
}
