//! Auto: `scan` or `prefix`, for each range of sizes whichever should cost less; `ppjoin` where neither is needed.
//!
//! `scan` looks at every set of a suitable size; `prefix` looks up every token of the prefix and looks at the sets in
//! its posting list that have a suitable size. How many these are follows from the sizes of all sets and the lengths
//! of the lists; both are known before anything is compared.

use std::ops::Range;

use rayon::prelude::*;

use crate::join::Algorithm;
use crate::join::exact::prefix::{self, Prefix};
use crate::join::exact::scan::{self, Scan};
use crate::join::exact::signature::{ShortLength, SignatureFilter, list_starts};
use crate::join::task::{BySide, Found, Partners, Task, chunks, each_chunk};
use crate::model::Result;

/// What the steps cost, in nanoseconds, on a processor of 2021. Only their relations matter.
mod cost {
    /// Looking up a token.
    pub(crate) const LOOK_UP: f64 = 120.0;
    /// Reading a posting, beyond what comparing its signature costs where all are read in order.
    pub(crate) const POSTING: f64 = 2.0;
    /// Making a posting, with its signature.
    pub(crate) const INDEX: f64 = 30.0;
    /// Making signatures, for each token.
    pub(crate) const SIGNATURES: f64 = 7.0;
    /// How many times the cost of looking up prefixes `ppjoin` has, which makes none.
    pub(crate) const PPJOIN: f64 = 1.45;
}

/// Which algorithm joins each range of sizes, and why.
pub(crate) struct Plan {
    short: ShortLength,
    chunks: Vec<Range<u32>>,
    /// How each chunk is joined.
    strategies: Vec<Strategy>,
    /// Where the posting lists start, if that was looked at.
    starts: Option<BySide<Vec<u64>>>,
    reason: Option<String>,
    /// Whether this should take less time, signatures included, than `ppjoin`.
    needs_signatures: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Prefix,
    Scan,
}

/// Both algorithms are used where that should take less than this part of the time of either.
const MIX_BELOW: f64 = 0.9;
/// And save this much, in nanoseconds.
const MIX_SAVES: f64 = 2e7;
/// How many sets of a chunk are looked at to estimate its cost.
const SAMPLE: usize = 16;

impl Plan {
    /// The plan for `scan`.
    pub(crate) fn scan(task: &Task<'_>) -> Self {
        let (chunks, short) = (chunks(task), ShortLength::choose(task, usize::MAX));
        Self {
            short,
            strategies: vec![Strategy::Scan; chunks.len()],
            chunks,
            starts: None,
            reason: None,
            needs_signatures: true,
        }
    }

    /// The plan for `prefix`.
    pub(crate) fn prefix(task: &Task<'_>) -> Self {
        let starts = BySide::build(task.sets.collections(), |side| list_starts(task, side));
        let (chunks, short) = (chunks(task), ShortLength::choose(task, words_for_postings(task, &starts)));
        Self {
            short,
            strategies: vec![Strategy::Prefix; chunks.len()],
            chunks,
            starts: Some(starts),
            reason: None,
            needs_signatures: true,
        }
    }

    /// The plan that should take least time.
    pub(crate) fn cheapest(task: &Task<'_>) -> Self {
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
        // Both together need the memory of both, which must be worth it.
        if mixed < (MIX_BELOW * scan.min(prefix)).min(scan.min(prefix) - MIX_SAVES) {
            let strategy = |&(by_scan, by_prefix): &(f64, f64)| {
                if by_scan < by_prefix { Strategy::Scan } else { Strategy::Prefix }
            };
            by_prefix.strategies = costs.iter().map(strategy).collect();
            by_prefix.reason = Some(format!("{estimate}, {} {:.2} s", by_prefix.ranges(task), mixed * 1e-9));
            return by_prefix;
        }
        // Only these two algorithms use the rising bound of a top-K join.
        let with_signatures = scan.min(prefix) + cost::SIGNATURES * task.sets.tokens().len() as f64;
        let is_long = cost::PPJOIN * prefix > with_signatures;
        let needs_signatures = is_long || task.top_k.is_some();
        Self { reason: Some(estimate), needs_signatures, ..if scan < prefix { by_scan } else { by_prefix } }
    }

    /// Which algorithm joins which sizes.
    fn ranges(&self, task: &Task<'_>) -> String {
        let chunks: Vec<_> = self.chunks.iter().zip(&self.strategies).collect();
        let runs = chunks.chunk_by(|a, b| a.1 == b.1).map(|run| {
            let (first, last) = (run[0].0.start, run[run.len() - 1].0.end - 1);
            let name = if *run[0].1 == Strategy::Scan { "scan" } else { "prefix" };
            format!("{name} for sets of {} to {} tokens", task.sets.size(first), task.sets.size(last))
        });
        runs.collect::<Vec<_>>().join(" and ")
    }

    /// The algorithm that does all the work, or `Auto` where both have a part; `PpJoin` where there is so little to do
    /// that signatures are not worth making.
    pub(crate) fn algorithm(&self) -> Algorithm {
        if !self.needs_signatures {
            return Algorithm::PpJoin;
        }
        match (self.uses(Strategy::Prefix), self.uses(Strategy::Scan)) {
            (true, false) => Algorithm::Prefix,
            (false, true) => Algorithm::Scan,
            _ => Algorithm::Auto,
        }
    }

    fn uses(&self, strategy: Strategy) -> bool {
        self.strategies.contains(&strategy)
    }

    /// Why this plan was chosen, if there was a choice.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Joins as planned.
    pub(crate) fn run(mut self, task: &Task<'_>) -> Result<Found> {
        let screen = SignatureFilter::new(task, self.short);
        let prefix = self.starts.take().map(|starts| Prefix::new(task, &screen, starts));
        let scan = self.uses(Strategy::Scan).then(|| Scan::new(task, &screen));
        let new_state = || (prefix::State::default(), scan::State::default());
        let mut found = each_chunk(task, &self.chunks, new_state, |states, chunk, matches| {
            let ranks = self.chunks[chunk].clone();
            match self.strategies[chunk] {
                Strategy::Prefix => prefix.as_ref().expect("made above").probe(&mut states.0, ranks, matches),
                Strategy::Scan => scan.as_ref().expect("made above").probe(&mut states.1, ranks, matches),
            }
        })?;
        // Only scan counts pairs of suitable sizes, and here it did not see all of them.
        found.candidates.size = found.candidates.size.filter(|_| prefix.is_none());
        Ok(found)
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
pub(crate) const MOST_ROOM: u64 = 3;

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
    use crate::join::task::Groups;
    use crate::join::task::Match;
    use crate::join::task::OrderedSets;
    use crate::model::{Bounds, Collections, Measure, Run, TokenSets};

    #[test]
    fn scan_and_prefix_together_find_what_each_finds_alone() {
        let windows = (0..2000u32).map(|seed| {
            let start = seed.wrapping_mul(2_654_435_761) >> 21;
            start..start + 12 + seed % 17
        });
        let sets = TokenSets::from_ids(windows).unwrap();
        let run = Run::default();
        let bounds = Bounds::new(Measure::Jaccard, "0.7".parse().unwrap(), Collections::One).unwrap();
        let groups = Groups::of_sets(&sets, &bounds, false);
        let ordered = OrderedSets::new(&sets, &groups);
        let task = Task::new(&ordered, &bounds, 2, &run);
        let sorted = |plan: Plan| {
            let mut matches: Vec<Match> = plan.run(&task).unwrap().matches.concat();
            matches.sort_unstable_by_key(|found| (found.x, found.y));
            matches
        };
        let mut mixed = Plan::prefix(&task);
        assert!(mixed.chunks.len() > 3);
        mixed.strategies.iter_mut().step_by(2).for_each(|strategy| *strategy = Strategy::Scan);
        assert_eq!(mixed.algorithm(), Algorithm::Auto);
        let expected = sorted(Plan::scan(&task));
        assert!(expected.len() > 1000);
        assert!(sorted(mixed) == expected && sorted(Plan::prefix(&task)) == expected);
    }
}
