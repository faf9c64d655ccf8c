//! What every algorithm is given, the different sets in order of size, and the loop that visits each set once on all threads.

mod groups;
mod ordered_sets;
mod partners;

pub(crate) use groups::Groups;
pub(crate) use ordered_sets::{BySide, OrderedSets};
pub(crate) use partners::{Partner, Partners, max_distance};

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::join::exact::overlap;
use crate::join::results::TopK;
use crate::model::{Bounds, CandidateCounts, Result, Run, Stats};

/// What an algorithm is given.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) sets: &'a OrderedSets<'a>,
    pub(crate) bounds: &'a Bounds,
    pub(crate) run: &'a Run,
    pub(crate) max_depth: u32,
    /// A further check of what was found, where sets stand for something else. It is given matches in order of their
    /// sets, and keeps those that pass.
    pub(crate) refine: Option<&'a Refine<'a>>,
    /// Where only the best pairs are wanted, takes matches away and keeps these.
    pub(crate) top_k: Option<&'a TopK<'a>>,
    /// Takes matches away as they are found, where they are not to pile up in memory.
    pub(crate) collect: Option<&'a Collect<'a>>,
}

impl<'a> Task<'a> {
    /// A task that returns all matches.
    pub(crate) fn new(sets: &'a OrderedSets<'a>, bounds: &'a Bounds, max_depth: u32, run: &'a Run) -> Self {
        Self { sets, bounds, run, max_depth, refine: None, top_k: None, collect: None }
    }

    /// The statistics of a join by this algorithm.
    pub(crate) fn stats(&self, algorithm: &str, candidates: CandidateCounts) -> Stats {
        Stats {
            algorithm: algorithm.to_owned(),
            tokens: self.sets.tokens().len() as u64,
            distinct_tokens: u64::from(self.sets.distinct_tokens()),
            candidates,
            ..Stats::default()
        }
    }

    /// The bounds by now: those of the task, or stricter ones that are known to be enough.
    pub(crate) fn current_bounds(&self) -> Bounds {
        self.top_k.map_or(*self.bounds, TopK::bounds)
    }
}

pub(crate) type Collect<'a> = dyn Fn(&mut Vec<Match>) -> Result<()> + Sync + 'a;
pub(crate) type Refine<'a> = dyn Fn(&mut Vec<Match>) + Sync + 'a;

/// Two sets, by rank, that form a pair. The first is the later one in order of size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// The number of common tokens; for edit distance, the distance.
    pub(crate) overlap: u32,
}

/// What an algorithm finds.
pub(crate) struct Found {
    /// Matches, in the lists in which threads found them.
    pub(crate) matches: Vec<Vec<Match>>,
    pub(crate) candidates: CandidateCounts,
}

/// What one thread did: matches by chunk, and all its candidates.
type WorkDone = (Vec<(usize, Vec<Match>)>, CandidateCounts);

/// Sets that are next to each other in order of size, for a thread to take at a time: many, for algorithms that gain
/// from that, but few enough to share the work among a machine's threads.
pub(crate) fn chunks(task: &Task<'_>) -> Vec<Range<u32>> {
    const MOST_SETS: usize = 1024;
    const MOST_TOKENS: u64 = 1 << 20;
    // What is found for a chunk waits for its further check all at once, and may be much more than passes it.
    let most_sets = if task.refine.is_some() { 64 } else { (task.sets.len() / 64).clamp(64, MOST_SETS) };
    let mut chunks: Vec<Range<u32>> = Vec::new();
    let mut tokens = 0;
    for rank in 0..task.sets.len() as u32 {
        tokens += u64::from(task.sets.size(rank));
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < most_sets && tokens <= MOST_TOKENS => chunk.end = rank + 1,
            _ => {
                chunks.push(rank..rank + 1);
                tokens = u64::from(task.sets.size(rank));
            }
        }
    }
    chunks
}

/// Calls `probe` for every set, with a state of the thread's own. Matches come out in the same order whatever the
/// number of threads.
pub(crate) fn each_set<S, N, P>(task: &Task<'_>, new_state: N, probe: P) -> Result<Found>
where
    N: Fn() -> S + Sync,
    P: Fn(&mut S, u32, &mut Vec<Match>) -> CandidateCounts + Sync,
{
    const CHUNK: u32 = 64;
    let sets = task.sets.len() as u32;
    let chunks: Vec<_> = (0..sets).step_by(CHUNK as usize).map(|first| first..sets.min(first + CHUNK)).collect();
    each_chunk(task, &chunks, new_state, |state, chunk, matches| {
        let mut candidates = CandidateCounts::default();
        for x in chunks[chunk].clone() {
            candidates += probe(state, x, matches);
        }
        candidates
    })
}

/// The same for each of the chunks, which are given by their numbers.
pub(crate) fn each_chunk<S, N, P>(task: &Task<'_>, chunks: &[Range<u32>], new_state: N, probe: P) -> Result<Found>
where
    N: Fn() -> S + Sync,
    P: Fn(&mut S, usize, &mut Vec<Match>) -> CandidateCounts + Sync,
{
    task.run.begin("join", Some(task.sets.len() as u64));
    // The longest sets are the most work, so they are handed out first.
    let remaining = AtomicUsize::new(chunks.len());
    let worker = |_| -> Result<WorkDone> {
        let (mut state, mut found, mut candidates) = (new_state(), Vec::new(), CandidateCounts::default());
        while let Ok(before) = remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        {
            task.run.check()?;
            let chunk = before - 1;
            let mut matches = Vec::new();
            candidates += probe(&mut state, chunk, &mut matches);
            if let Some(refine) = task.refine {
                matches.sort_unstable_by_key(|found| (found.x, found.y));
                refine(&mut matches);
            }
            if let Some(top_k) = task.top_k {
                top_k.take(&mut matches);
            }
            if let Some(collect) = task.collect {
                collect(&mut matches)?;
            }
            if !matches.is_empty() {
                matches.shrink_to_fit();
                found.push((chunk, matches));
            }
            task.run.advance(chunks[chunk].len() as u64);
        }
        Ok((found, candidates))
    };
    let parts: Vec<_> = (0..rayon::current_num_threads()).into_par_iter().map(worker).collect::<Result<_>>()?;
    let mut candidates = CandidateCounts::default();
    let mut chunks = Vec::new();
    for (found, counted) in parts {
        candidates += counted;
        chunks.extend(found);
    }
    chunks.sort_unstable_by_key(|&(chunk, _)| chunk);
    let matches: Vec<Vec<Match>> = chunks.into_iter().map(|(_, matches)| matches).collect();
    Ok(Found { matches, candidates })
}

/// Adds the earlier sets that can form a pair with `x` without sharing a token, which no index finds: small sets at a
/// large Hamming or edit distance, and the empty set, which is contained in every set.
pub(crate) fn add_free_pairs(task: &Task<'_>, bounds: &Bounds, x: u32, matches: &mut Vec<Match>) {
    let (sets, size, side) = (task.sets, task.sets.size(x), task.sets.side(x));
    for y in sets.others_before(x) {
        let free = bounds.min_overlap_of(size, side, sets.size(y)) == 0;
        if free && bounds.partner_sizes(size, side).contains(&sets.size(y)) {
            matches.push(Match { x, y, overlap: overlap(sets.get(x), sets.get(y)) });
        }
        // Longer sets are not free if this one is not. For empty ones it depends on the side.
        if !free && sets.size(y) > 0 {
            break;
        }
    }
}
