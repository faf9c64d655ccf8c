//! Prefix: prefix filtering at full speed.
//!
//! As in All-Pairs, two sets meet only where they share one of their rare tokens. But postings carry the short
//! signatures of their sets, so a posting list is read as `scan` reads all sets, and only what is near is looked at.
//! Nothing is counted: a pair is verified where it is first met, which is at its first common token, and the position
//! of that token bounds the sizes worth reading. A thread takes many sets of similar size at a time and goes through
//! them token by token, so that a posting list is fetched once for all of them. Time grows with the postings in the
//! prefixes, space with the indexed prefixes (Lemma 3). Prefer it where tokens are rare or the threshold is high.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

use crate::join::exact::signature::{PostingLists, SignatureFilter};
use crate::join::exact::verify::overlap_from;
use crate::join::task::{BySide, Match, OrderedSets, Partners, Task, add_free_pairs};
use crate::model::{Bounds, CandidateCounts, Side};
use crate::support::prefetch;

pub(crate) struct Prefix<'a> {
    task: &'a Task<'a>,
    screen: &'a SignatureFilter,
    lists: BySide<PostingLists>,
}

/// What a thread keeps from one chunk to the next.
#[derive(Default)]
pub(crate) struct State {
    /// For each set, the last one that met it.
    met_by: Vec<u32>,
    probes: Vec<Probe>,
    near: Vec<u32>,
    met: Vec<Candidate>,
    /// Pairs that were met not long ago, by a hash.
    recent: Vec<u64>,
    by_set: Vec<Candidate>,
}

/// A token of a set's prefix, to be looked up. Probes are ordered by token, then by set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Probe(u64);

/// How a set of a chunk and a position in its prefix are written into one number, the set first.
#[derive(Clone, Copy)]
struct Places {
    position_bits: u32,
}

impl Places {
    fn of_chunk(sets: usize) -> Self {
        Self { position_bits: 32 - sets.next_power_of_two().trailing_zeros() }
    }

    /// Chunks have few enough sets, and tokens, for both to fit; a single set may have any number of tokens.
    fn place(self, set: u32, position: u32) -> u32 {
        debug_assert_eq!(u64::from(position) >> self.position_bits, 0);
        (u64::from(set) << self.position_bits) as u32 | position
    }

    fn set(self, place: u32) -> u32 {
        (u64::from(place) >> self.position_bits) as u32
    }

    fn position(self, place: u32) -> u32 {
        place - self.place(self.set(place), 0)
    }
}

impl Probe {
    fn new(token: u32, place: u32) -> Self {
        Self(u64::from(token) << 32 | u64::from(place))
    }

    fn token(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn place(self) -> u32 {
        self.0 as u32
    }
}

/// A set whose short signature is near, and who met it where.
#[derive(Clone, Copy)]
struct Candidate {
    place: u32,
    y: u32,
}

/// The table of pairs met not long ago has two to the power of this many places.
const RECENT_BITS: u32 = 15;
/// So many postings are held to the same limit.
const PIECE: usize = 128;
/// How many posting lists are fetched ahead.
const LISTS_AHEAD: usize = 8;
/// So many are held before they are verified; few in debug builds, so that tests come this way.
const MOST_MET: usize = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 18 };

/// The sets that a thread looks up together, all of one side.
struct Chunk<'a> {
    sets: &'a [u32],
    places: Places,
    /// What they require of partners, for each different size.
    requirements: Vec<Requirements>,
    /// The requirements of each set, by their place in that list.
    requirements_of: Vec<u32>,
}

impl Chunk<'_> {
    /// Returns what a set requires of its partners.
    fn of(&self, set: u32) -> &Requirements {
        &self.requirements[self.requirements_of[set as usize] as usize]
    }
}

/// What sets of one size and side require of their partners.
struct Requirements {
    partners: Partners,
    /// For each partner's class, the largest Hamming distance of a partner of this class or an earlier one, and of this
    /// class or a later one.
    limits: Vec<(Option<u32>, Option<u32>)>,
    /// For each position of the prefix, the first rank that is too long for its first common token to stand there.
    reach: Vec<u32>,
}

impl Requirements {
    fn new(sets: &OrderedSets<'_>, bounds: &Bounds, rank: u32) -> Self {
        let mut partners = Partners::default();
        partners.prepare(sets, bounds, rank);
        let (size, side) = (sets.size(rank), sets.side(rank));
        let own = partners.by_class().iter().map(|partner| partner.max_distance(size));
        let mut limits: Vec<(Option<u32>, Option<u32>)> = own.map(|own| (own, own)).collect();
        for class in 1..limits.len() {
            limits[class].0 = limits[class].0.max(limits[class - 1].0);
        }
        for class in (1..limits.len()).rev() {
            limits[class - 1].1 = limits[class - 1].1.max(limits[class].1);
        }
        let mut classes = partners.by_class().len();
        let reach = |position: u32| {
            // What follows the first common token, and itself, must be enough; longer partners require more.
            let is_enough = |class: usize| {
                let needed = partners.by_class()[class].min_overlap;
                needed <= size - position || needed == u32::MAX
            };
            while classes > 0 && !is_enough(classes - 1) {
                classes -= 1;
            }
            sets.first_of(partners.first_class() + classes as u32)
        };
        let reach = (0..bounds.probe_prefix(size, side)).map(reach).collect();
        Self { partners, limits, reach }
    }

    /// A Hamming distance that no partner of these classes exceeds, if they can have a partner.
    fn limit(&self, classes: RangeInclusive<u32>) -> Option<u32> {
        let limits = |class: u32| self.limits[(class - self.partners.first_class()) as usize];
        limits(*classes.end()).0.min(limits(*classes.start()).1)
    }
}

impl<'a> Prefix<'a> {
    /// Makes the lists, which start where `list_starts` says.
    pub(crate) fn new(task: &'a Task<'a>, screen: &'a SignatureFilter, starts: BySide<Vec<u64>>) -> Self {
        let lists = starts.map(|side, starts| PostingLists::new(task, screen, side, starts));
        Self { task, screen, lists }
    }

    /// The pairs of these sets with earlier ones.
    pub(crate) fn probe(&self, state: &mut State, ranks: Range<u32>, matches: &mut Vec<Match>) -> CandidateCounts {
        state.met_by.resize(self.task.sets.len(), u32::MAX);
        let (mut signature, bounds) = (0, self.task.current_bounds());
        for side in [Side::Left, Side::Right] {
            let sets: Vec<u32> = ranks.clone().filter(|&rank| self.task.sets.side(rank) == side).collect();
            if !sets.is_empty() {
                signature += self.probe_side(state, &sets, side, &bounds, matches);
            }
        }
        for x in ranks {
            add_free_pairs(self.task, &bounds, x, matches);
        }
        CandidateCounts { signature: Some(signature), ..CandidateCounts::default() }
    }

    /// The same for sets of one side. Returns how many pairs were verified.
    fn probe_side(&self, state: &mut State, xs: &[u32], side: Side, bounds: &Bounds, matches: &mut Vec<Match>) -> u64 {
        let sets = self.task.sets;
        let lists = self.lists.probed_by(side);
        let State { probes, met, recent, near, by_set, met_by } = state;
        recent.clear();
        recent.resize(1 << RECENT_BITS, u64::MAX);
        let places = Places::of_chunk(xs.len());
        let mut chunk = Chunk { sets: xs, places, requirements: Vec::new(), requirements_of: Vec::new() };
        probes.clear();
        for (set, &x) in (0u32..).zip(xs) {
            if set == 0 || sets.class(xs[set as usize - 1]) != sets.class(x) {
                chunk.requirements.push(Requirements::new(sets, bounds, x));
            }
            chunk.requirements_of.push(chunk.requirements.len() as u32 - 1);
            let tokens = (0u32..).zip(sets.get(x)).zip(&chunk.of(set).reach);
            let first = chunk.of(set).partners.first_rank();
            let listed = tokens.filter(|((_, token), reach)| **token >= lists.first_token && **reach > first);
            probes.extend(listed.map(|((position, &token), _)| Probe::new(token, places.place(set, position))));
        }
        probes.sort_unstable();

        let (mut signature, begin, mut pauses) = (0, matches.len(), 0);
        let mut ahead = probes.chunk_by(|a, b| a.token() == b.token()).map(|probes| lists.list(probes[0].token()));
        let mut upcoming = VecDeque::new();
        for probes in probes.chunk_by(|a, b| a.token() == b.token()) {
            while upcoming.len() <= LISTS_AHEAD
                && let Some(list) = ahead.next()
            {
                prefetch(&lists.ranks[list.clone()]);
                lists.signatures.fetch(list.start);
                upcoming.push_back(list);
            }
            let list = upcoming.pop_front().expect("every group of probes has a list");
            let ranks = &lists.ranks[list.clone()];
            // The part of the list that has the right sizes moves on with the probing sets.
            let mut from =
                ranks.partition_point(|&rank| rank < chunk.of(places.set(probes[0].place())).partners.first_rank());
            let mut to = from + ranks[from..].partition_point(|&rank| rank < xs[0]);
            for &probe in probes {
                let place = probe.place();
                let (set, position) = (places.set(place), places.position(place));
                let (x, requirements) = (xs[set as usize], chunk.of(set));
                let reach = requirements.reach[position as usize];
                from += ranks[from..].iter().take_while(|&&rank| rank < requirements.partners.first_rank()).count();
                to = to.max(from);
                to += ranks[to..].iter().take_while(|&&rank| rank < x).count();
                let end = if reach < x { from + ranks[from..to].partition_point(|&rank| rank < reach) } else { to };
                for start in (from..end).step_by(PIECE) {
                    let end = end.min(start + PIECE);
                    let classes = sets.class(ranks[start])..=sets.class(ranks[end - 1]);
                    let Some(limit) = requirements.limit(classes) else { continue };
                    let range = list.start + start..list.start + end;
                    lists.signatures.near(self.screen.kernel, self.screen.short(x), range, limit, near);
                    for at in near.drain(..) {
                        let y = ranks[start + at as usize];
                        // A pair that is met again soon is not noted again.
                        let pair = u64::from(set) << 32 | u64::from(y);
                        let slot = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize;
                        if std::mem::replace(&mut recent[slot], pair) != pair {
                            met.push(Candidate { place, y });
                        }
                    }
                }
                if met.len() > MOST_MET {
                    signature += self.verify(&chunk, met, by_set, met_by, matches);
                    pauses += 1;
                }
            }
        }
        signature += self.verify(&chunk, met, by_set, met_by, matches);
        if pauses > 0 {
            // A pair that was met again later was counted without its first common tokens.
            let mut found = matches.split_off(begin);
            found.sort_unstable_by_key(|m| (m.x, m.y, Reverse(m.overlap)));
            found.dedup_by_key(|m| (m.x, m.y));
            matches.append(&mut found);
        }
        signature
    }

    /// Verifies what was met, and empties it. Returns how many pairs had to be counted.
    fn verify(
        &self,
        chunk: &Chunk<'_>,
        met: &mut Vec<Candidate>,
        by_set: &mut Vec<Candidate>,
        met_by: &mut [u32],
        matches: &mut Vec<Match>,
    ) -> u64 {
        let sets = self.task.sets;
        // Order by set; those of one set stay in the order of its tokens.
        let mut starts = vec![0u32; chunk.sets.len() + 1];
        for met in &*met {
            starts[chunk.places.set(met.place) as usize + 1] += 1;
        }
        for set in 0..chunk.sets.len() {
            starts[set + 1] += starts[set];
        }
        by_set.clear();
        by_set.resize(met.len(), Candidate { place: 0, y: 0 });
        for met in met.drain(..) {
            let next = &mut starts[chunk.places.set(met.place) as usize];
            by_set[*next as usize] = met;
            *next += 1;
        }
        let (mut counted, mut new) = (0, Vec::<Candidate>::new());
        let set_of = |met: &Candidate| chunk.places.set(met.place);
        for of_set in by_set.chunk_by(|a, b| set_of(a) == set_of(b)) {
            let (x, requirements) = (chunk.sets[set_of(&of_set[0]) as usize], chunk.of(set_of(&of_set[0])));
            let own = sets.get(x);
            // Step by step for all, so that the processor waits for many places in memory at once.
            new.clear();
            new.extend(of_set.iter().filter(|met| std::mem::replace(&mut met_by[met.y as usize], x) != x));
            new.iter().for_each(|met| self.screen.fetch_long(met.y));
            let needed = |y: u32| requirements.partners.of_class(sets.class(y)).min_overlap;
            new.retain(|met| self.screen.may_pair(sets, x, met.y, needed(met.y)));
            new.iter().for_each(|met| prefetch(sets.get(met.y)));
            counted += new.len() as u64;
            for &Candidate { place, y } in &new {
                let position = chunk.places.position(place);
                let other = sets.get(y);
                let j = other.partition_point(|&other| other < own[position as usize]);
                let overlap = overlap_from(&own[position as usize..], &other[j..], 0, needed(y));
                matches.extend(overlap.map(|overlap| Match { x, y, overlap }));
            }
        }
        counted
    }
}
