//! Synopses: pairs whose smallest values tell that their sets are alike.
//!
//! A synopsis is itself a set of at most k values, and a pair must share enough of them. So the exact join of these sets gives
//! the candidates, and each is compared by the k smallest values of its union. It returns what comparing all pairs would.
//! Time is that of the join; space that of the values as tokens, and of the pairs.

use super::grouped::{Estimates, Grouped};
use super::groups::Groups;
use super::probe::{Match, Task};
use super::sets::OrderedSets;
use super::{JoinOptions, Joined, Kept, find};
use crate::model::{Bounds, Collections, Result, Run, Synopses};

pub(super) fn join(synopses: &Synopses, bounds: &Bounds, options: &JoinOptions, run: &Run) -> Result<Joined> {
    // The bounds are those of one threshold; with `top` it is another than that of the options.
    let condition = JoinOptions { threshold: Some(bounds.threshold()), ..options.clone() }.condition()?;
    // Values, their places while they are sorted, and tokens.
    run.check_memory(3 * synopses.bytes())?;
    let sets = synopses.to_sets()?;
    let groups = Groups::of_synopses(synopses);
    let ordered = OrderedSets::new(&sets, &groups);
    let of_group = |group: u32| synopses.get(groups.members(group)[0] as usize);
    let both_ways = |x: u32, y: u32| {
        let comparison = of_group(x).compare(of_group(y));
        [comparison, comparison.swapped()]
            .map(|comparison| if condition.accepts(&comparison) { comparison.value(options.measure) } else { f64::NAN })
    };
    // In a self-join a row can stand in either order; between two collections only the left record is the contained one.
    let is_pair = |x: u32, y: u32| {
        let [there, back] = both_ways(x, y);
        match (groups.collections(), groups.members(x)[0] < groups.members(y)[0]) {
            (Collections::One, _) => !there.is_nan() || !back.is_nan(),
            (Collections::Two, true) => !there.is_nan(),
            (Collections::Two, false) => !back.is_nan(),
        }
    };
    let refine = |matches: &mut Vec<Match>| matches.retain(|found| is_pair(found.x, found.y));
    let (measure, threshold) = condition.of_values(synopses.size())?;
    let of_values = Bounds::new(measure, threshold, synopses.collections())?;
    let task = Task {
        sets: &ordered,
        bounds: &of_values,
        run,
        max_depth: options.max_depth,
        refine: Some(&refine),
        rising: None,
        collect: None,
    };
    let (mut matches, mut stats) = find(options, &task)?;
    stats.algorithm = format!("synopses ({})", stats.algorithm);
    let mut between = Vec::new();
    for found in matches.iter_mut().flatten() {
        found.overlap = between.len() as u32;
        between.push(both_ways(found.x, found.y));
    }
    let within = (0..groups.len() as u32).map(|group| {
        let comparison = of_group(group).compare(of_group(group));
        condition.accepts(&comparison).then(|| comparison.value(options.measure))
    });
    let estimates = Estimates { between, within: within.collect() };
    let sizes = ordered.into_sizes();
    let grouped = Grouped::new(options.measure, bounds, groups, sizes, matches, Some(estimates));
    Ok(Joined::new(options.measure, grouped, Kept { best: None, counted: 0, stats }))
}
