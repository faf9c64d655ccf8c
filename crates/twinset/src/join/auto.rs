//! Auto: `scan` or `prefix`, for each range of sizes whichever should cost less.
//!
//! `scan` looks at every set of a suitable size; `prefix` looks up every token of the prefix and looks at the sets in
//! its posting list that have a suitable size. How many these are follows from the sizes of all sets and the lengths
//! of the lists; both are known before anything is compared.

use std::ops::Range;

use rayon::prelude::*;

use super::options::Algorithm;
use super::prefix::{self, Prefix, list_starts};
use super::probe::{Found, Partners, Task, chunks, each_chunk};
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
    /// The plan for `prefix`, for `scan`, or for whichever costs less.
    pub(super) fn new(task: &Task<'_>, algorithm: Algorithm) -> Self {
        let chunks = chunks(task);
        let mut plan = match algorithm {
            Algorithm::Scan => {
                let ways = vec![Way::Scan; chunks.len()];
                return Self { short: ShortLength::choose(task, usize::MAX), chunks, ways, starts: None, reason: None };
            }
            _ => {
                let starts = BySide::build(task.sets.collections(), |side| list_starts(task, side));
                let short = ShortLength::choose(task, words_for_postings(task, &starts));
                let ways = vec![Way::Prefix; chunks.len()];
                Self { short, chunks, ways, starts: Some(starts), reason: None }
            }
        };
        if algorithm != Algorithm::Prefix {
            plan.choose(task);
        }
        plan
    }

    /// Finds the cheapest way for each chunk.
    fn choose(&mut self, task: &Task<'_>) {
        let starts = self.starts.as_ref().expect("made with the plan");
        let index = cost::INDEX * postings(starts) as f64;
        let for_scan = ShortLength::choose(task, usize::MAX);
        let costs: Vec<(f64, f64)> =
            self.chunks.par_iter().map(|chunk| self.cost(task, for_scan, starts, chunk)).collect();
        let scan = costs.iter().map(|cost| cost.0).fold(0.0, |sum, cost| sum + cost);
        let prefix = index + costs.iter().map(|cost| cost.1).sum::<f64>();
        let mixed = index + costs.iter().map(|cost| cost.0.min(cost.1)).sum::<f64>();
        // Two ways need the room of both, which must be worth something.
        let is_mixed = mixed < (MIX_BELOW * scan.min(prefix)).min(scan.min(prefix) - MIX_SAVES);
        let cheapest = |&(by_scan, by_prefix): &(f64, f64)| match is_mixed {
            true if by_scan < by_prefix => Way::Scan,
            false if scan < prefix => Way::Scan,
            _ => Way::Prefix,
        };
        self.ways = costs.iter().map(cheapest).collect();
        if !self.uses(Way::Prefix) {
            (self.short, self.starts) = (for_scan, None);
        }
        let estimate = format!(
            "comparing all signatures should take {:.2} s, looking up prefixes {:.2} s",
            scan * 1e-9,
            prefix * 1e-9
        );
        self.reason = Some(match self.algorithm() {
            Algorithm::Auto if is_mixed => format!("{estimate}, {} {:.2} s", self.ranges(task), mixed * 1e-9),
            _ => estimate,
        });
    }

    /// What a chunk should cost by scan, and by prefix, judging by a few of its sets.
    fn cost(
        &self,
        task: &Task<'_>,
        for_scan: ShortLength,
        starts: &BySide<Vec<u64>>,
        chunk: &Range<u32>,
    ) -> (f64, f64) {
        let (sets, mut partners) = (task.sets, Partners::default());
        let (mut scan, mut prefix) = (0.0, 0.0);
        let step = chunk.len().div_ceil(SAMPLE);
        for x in chunk.clone().step_by(step) {
            partners.prepare(sets, task.bounds, x);
            let (side, suitable) = (sets.side(x), f64::from(x.saturating_sub(partners.first_rank())));
            scan += suitable * sets.share_of_others(side) * for_scan.cost;
            let share = suitable / sets.len() as f64;
            let length = task.bounds.probe_prefix(sets.size(x), side) as usize;
            let starts = starts.probed_by(side);
            for &token in sets.get(x)[..length].iter().filter(|&&token| token >= sets.unshared()) {
                let token = (token - sets.unshared()) as usize;
                let postings = (starts[token + 1] - starts[token]) as f64;
                prefix += cost::LOOK_UP + share * postings * (self.short.cost + cost::POSTING);
            }
        }
        (scan * step as f64, prefix * step as f64)
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

    /// The algorithm that does all the work, or `Auto` where both have a part, or none has anything to do.
    pub(super) fn algorithm(&self) -> Algorithm {
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
        each_chunk(task, &self.chunks, new_state, |states, chunk, matches| {
            let ranks = self.chunks[chunk].clone();
            match self.ways[chunk] {
                Way::Prefix => prefix.as_ref().expect("made above").probe(&mut states.0, ranks, matches),
                Way::Scan => scan.as_ref().expect("made above").probe(&mut states.1, ranks, matches),
            }
        })
    }
}

/// How many postings there are in all lists.
fn postings(starts: &BySide<Vec<u64>>) -> u64 {
    starts.iter().map(|starts| starts[starts.len() - 1]).sum()
}

/// How many words of a signature a posting can carry so that sets and lists take three times the room of the tokens.
fn words_for_postings(task: &Task<'_>, starts: &BySide<Vec<u64>>) -> usize {
    // Four bytes a token are the tokens themselves; some of the rest is for the signatures of the sets.
    const BYTES_PER_TOKEN: u64 = 7;
    let bytes = BYTES_PER_TOKEN * task.sets.tokens().len() as u64 / postings(starts).max(1);
    (bytes as usize).saturating_sub(size_of::<u32>()) / size_of::<u64>()
}
