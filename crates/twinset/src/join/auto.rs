//! Auto: `scan` or `prefix`, for each range of sizes whichever should cost less; `ppjoin` where neither is needed.
//!
//! `scan` looks at every set of a suitable size; `prefix` looks up every token of the prefix and looks at the sets in
//! its posting list that have a suitable size. How many these are follows from the sizes of all sets and the lengths
//! of the lists; both are known before anything is compared.

use std::ops::Range;

use rayon::prelude::*;

use super::lists::list_starts;
use super::options::Algorithm;
use super::partners::Partners;
use super::prefix::{self, Prefix};
use super::probe::{Found, Task, chunks, each_chunk};
use super::scan::{self, Scan};
use super::screen::{Screen, ShortLength};
use super::sets::BySide;
use crate::model::Result;

/// What the steps cost, in nanoseconds, on a processor of 2021. Only their relations matter.
mod cost {
    /// Looking up a token.
    pub(super) const LOOK_UP: f64 = 120.0;
    /// Reading a posting, beyond what comparing its signature costs where all are read in order.
    pub(super) const POSTING: f64 = 2.0;
    /// Making a posting, with its signature.
    pub(super) const INDEX: f64 = 30.0;
    /// Making signatures, for each token.
    pub(super) const SIGNATURES: f64 = 7.0;
    /// How many times the cost of looking up prefixes `ppjoin` has, which makes none.
    pub(super) const PPJOIN: f64 = 1.45;
}

/// Which way each range of sizes is joined, and why.
pub(super) struct Plan {
    short: ShortLength,
    chunks: Vec<Range<u32>>,
    /// The way of each chunk.
    ways: Vec<Way>,
    /// Where the posting lists start, if that was looked at.
    starts: Option<BySide<Vec<u64>>>,
    reason: Option<String>,
    /// Whether this should take less time, signatures included, than `ppjoin`.
    needs_signatures: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Prefix,
    Scan,
}

/// Both ways are used where that should take less than this part of the time of either.
const MIX_BELOW: f64 = 0.9;
/// And save this much, in nanoseconds.
const MIX_SAVES: f64 = 2e7;
/// How many sets of a chunk are looked at to estimate its cost.
const SAMPLE: usize = 16;

impl Plan {
    /// The plan for `scan`.
    pub(super) fn scan(task: &Task<'_>) -> Self {
        let (chunks, short) = (chunks(task), ShortLength::choose(task, usize::MAX));
        Self { short, ways: vec![Way::Scan; chunks.len()], chunks, starts: None, reason: None, needs_signatures: true }
    }

    /// The plan for `prefix`.
    pub(super) fn prefix(task: &Task<'_>) -> Self {
        let starts = BySide::build(task.sets.collections(), |side| list_starts(task, side));
        let (chunks, short) = (chunks(task), ShortLength::choose(task, words_for_postings(task, &starts)));
        Self {
            short,
            ways: vec![Way::Prefix; chunks.len()],
            chunks,
            starts: Some(starts),
            reason: None,
            needs_signatures: true,
        }
    }

    /// The plan that should take least time.
    pub(super) fn cheapest(task: &Task<'_>) -> Self {
        let (by_scan, mut by_prefix) = (Self::scan(task), Self::prefix(task));
        let starts = by_prefix.starts.as_ref().expect("made with the plan");
        let index = cost::INDEX * postings(starts) as f64;
        let cost = |chunk: &Range<u32>| cost(task, starts, by_prefix.short.cost, chunk);
        let costs: Vec<(f64, f64)> = by_prefix.chunks.par_iter().map(cost).collect();
        // Without posting lists signatures can be longer. No chunks must cost 0, not the −0 that sums begin with.
        let longer = by_scan.short.cost / by_prefix.short.cost;
        let sum = |cost: &dyn Fn(&(f64, f64)) -> f64| costs.iter().map(cost).fold(0.0, |sum, cost| sum + cost);
        let scan = longer * sum(&|cost| cost.0);
        let prefix = index + sum(&|cost| cost.1);
        let mixed = index + sum(&|cost| cost.0.min(cost.1));
        let estimate = format!(
            "comparing all signatures should take {:.2} s, looking up prefixes {:.2} s",
            scan * 1e-9,
            prefix * 1e-9
        );
        // Two ways need the room of both, which must be worth something.
        if mixed < (MIX_BELOW * scan.min(prefix)).min(scan.min(prefix) - MIX_SAVES) {
            let way = |&(by_scan, by_prefix): &(f64, f64)| if by_scan < by_prefix { Way::Scan } else { Way::Prefix };
            by_prefix.ways = costs.iter().map(way).collect();
            by_prefix.reason = Some(format!("{estimate}, {} {:.2} s", by_prefix.ranges(task), mixed * 1e-9));
            return by_prefix;
        }
        // A bound that rises is heeded by these two ways only.
        let with_signatures = scan.min(prefix) + cost::SIGNATURES * task.sets.tokens().len() as f64;
        let is_long = cost::PPJOIN * prefix > with_signatures;
        let needs_signatures = is_long || task.rising.is_some();
        Self { reason: Some(estimate), needs_signatures, ..if scan < prefix { by_scan } else { by_prefix } }
    }

    /// Which sizes are joined which way.
    fn ranges(&self, task: &Task<'_>) -> String {
        let chunks: Vec<_> = self.chunks.iter().zip(&self.ways).collect();
        let runs = chunks.chunk_by(|a, b| a.1 == b.1).map(|run| {
            let (first, last) = (run[0].0.start, run[run.len() - 1].0.end - 1);
            let way = if *run[0].1 == Way::Scan { "scan" } else { "prefix" };
            format!("{way} for sets of {} to {} tokens", task.sets.size(first), task.sets.size(last))
        });
        runs.collect::<Vec<_>>().join(" and ")
    }

    /// The algorithm that does all the work, or `Auto` where both ways have a part; `PpJoin` where there is so little to do
    /// that signatures are not worth making.
    pub(super) fn algorithm(&self) -> Algorithm {
        if !self.needs_signatures {
            return Algorithm::PpJoin;
        }
        match (self.uses(Way::Prefix), self.uses(Way::Scan)) {
            (true, false) => Algorithm::Prefix,
            (false, true) => Algorithm::Scan,
            _ => Algorithm::Auto,
        }
    }

    fn uses(&self, way: Way) -> bool {
        self.ways.contains(&way)
    }

    /// Why this plan was chosen, if there was a choice.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Joins as planned.
    pub(super) fn run(mut self, task: &Task<'_>) -> Result<Found> {
        let screen = Screen::new(task, self.short);
        let prefix = self.starts.take().map(|starts| Prefix::new(task, &screen, starts));
        let scan = self.uses(Way::Scan).then(|| Scan::new(task, &screen));
        let new_state = || (prefix::State::default(), scan::State::default());
        let (matches, mut candidates) = each_chunk(task, &self.chunks, new_state, |states, chunk, matches| {
            let ranks = self.chunks[chunk].clone();
            match self.ways[chunk] {
                Way::Prefix => prefix.as_ref().expect("made above").probe(&mut states.0, ranks, matches),
                Way::Scan => scan.as_ref().expect("made above").probe(&mut states.1, ranks, matches),
            }
        })?;
        // Only scan counts pairs of suitable sizes, and here it did not see all of them.
        candidates.size = candidates.size.filter(|_| prefix.is_none());
        Ok((matches, candidates))
    }
}

/// What a chunk should cost by scan, and by prefix, judging by a few of its sets, if a comparison costs that much.
fn cost(task: &Task<'_>, starts: &BySide<Vec<u64>>, comparison: f64, chunk: &Range<u32>) -> (f64, f64) {
    let (sets, mut partners) = (task.sets, Partners::default());
    let (mut scan, mut prefix) = (0.0, 0.0);
    let step = chunk.len().div_ceil(SAMPLE);
    for x in chunk.clone().step_by(step) {
        partners.prepare(sets, task.bounds, x);
        let (side, suitable) = (sets.side(x), f64::from(x.saturating_sub(partners.first_rank())));
        scan += suitable * sets.share_of_others(side) * comparison;
        let share = suitable / sets.len() as f64;
        let length = task.bounds.probe_prefix(sets.size(x), side) as usize;
        let starts = starts.probed_by(side);
        for &token in sets.get(x)[..length].iter().filter(|&&token| token >= sets.unshared()) {
            let token = (token - sets.unshared()) as usize;
            let postings = (starts[token + 1] - starts[token]) as f64;
            prefix += cost::LOOK_UP + share * postings * (comparison + cost::POSTING);
        }
    }
    (scan * step as f64, prefix * step as f64)
}

/// How many postings there are in all lists.
fn postings(starts: &BySide<Vec<u64>>) -> u64 {
    starts.iter().map(|starts| starts[starts.len() - 1]).sum()
}

/// Sets, signatures and lists take at most so many times the room of the sets.
pub(super) const MOST_ROOM: u64 = 3;

/// How many words of a signature a posting can carry within that room.
fn words_for_postings(task: &Task<'_>, starts: &BySide<Vec<u64>>) -> usize {
    // Of twelve bytes a token, four are the tokens themselves, and some are for the signatures of the sets.
    const BYTES_PER_TOKEN: u64 = 7;
    let bytes = BYTES_PER_TOKEN * task.sets.tokens().len() as u64 / postings(starts).max(1);
    (bytes as usize).saturating_sub(size_of::<u32>()) / size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::groups::Groups;
    use crate::join::probe::Match;
    use crate::join::sets::OrderedSets;
    use crate::model::{Bounds, Collections, Measure, Run, TokenSets};

    #[test]
    fn both_ways_together_find_what_each_finds_alone() {
        let windows = (0..2000u32).map(|seed| {
            let start = seed.wrapping_mul(2_654_435_761) >> 21;
            start..start + 12 + seed % 17
        });
        let sets = TokenSets::from_ids(windows).unwrap();
        let run = Run::default();
        let bounds = Bounds::new(Measure::Jaccard, "0.7".parse().unwrap(), Collections::One).unwrap();
        let groups = Groups::of_sets(&sets, &bounds, false);
        let ordered = OrderedSets::new(&sets, &groups);
        let task = Task {
            sets: &ordered,
            bounds: &bounds,
            run: &run,
            max_depth: 2,
            refine: None,
            rising: None,
            collect: None,
        };
        let sorted = |plan: Plan| {
            let mut matches: Vec<Match> = plan.run(&task).unwrap().0.concat();
            matches.sort_unstable_by_key(|found| (found.x, found.y));
            matches
        };
        let mut mixed = Plan::prefix(&task);
        assert!(mixed.chunks.len() > 3);
        mixed.ways.iter_mut().step_by(2).for_each(|way| *way = Way::Scan);
        assert_eq!(mixed.algorithm(), Algorithm::Auto);
        let expected = sorted(Plan::scan(&task));
        assert!(expected.len() > 1000);
        assert!(sorted(mixed) == expected && sorted(Plan::prefix(&task)) == expected);
    }
}
