//! Prefix: prefix filtering at full speed.
//!
//! As in All-Pairs, two sets meet only where they share one of their rare tokens. But postings carry the short
//! signatures of their sets, so a posting list is read as `scan` reads all sets, and only what is near is looked at.
//! Nothing is counted: a pair is verified where it is first met, which is at its first common token, and the position
//! of that token bounds the sizes worth reading. Time grows with the postings in the prefixes, space with the indexed
//! prefixes (Lemma 3). Prefer it where tokens are rare or the threshold is high.

use super::probe::{Found, Match, Partners, Task, add_free_pairs, each_set};
use super::screen::Screen;
use super::sets::BySide;
use super::signature::Columns;
use crate::model::{Candidates, Result, Side};

pub(super) fn join(task: &Task<'_>) -> Result<Found> {
    let screen = Screen::new(task);
    let prefix = Prefix::new(task, &screen);
    each_set(task, || State::new(task), |state, rank, matches| prefix.probe(state, rank, matches))
}

pub(super) struct Prefix<'a> {
    task: &'a Task<'a>,
    screen: &'a Screen,
    lists: BySide<Lists>,
}

/// For each token, the sets of one side that have it in their prefix, in order of size.
struct Lists {
    /// Tokens below this occur in one record only, and have no list.
    first_token: u32,
    /// Where each token's list starts.
    starts: Vec<u64>,
    ranks: Vec<u32>,
    signatures: Columns,
}

/// Lists of at most this length are read whole, which is faster than looking for the part wanted.
const SHORT_LIST: usize = 16;

/// What a thread keeps from one set to the next.
pub(super) struct State {
    partners: Partners,
    /// For each position of the probing set's prefix, how far it reaches.
    reach: Vec<Reach>,
    /// For each set, the last one that met it.
    met_by: Vec<u32>,
    near: Vec<u32>,
}

/// What can begin at a position of the prefix.
struct Reach {
    /// The first rank that is too long for its first common token to stand here.
    end: u32,
    /// The largest Hamming distance of a partner before that, if there is one.
    limit: Option<u32>,
}

impl State {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let met_by = vec![u32::MAX; task.sets.len()];
        Self { partners: Partners::new(), reach: Vec::new(), met_by, near: Vec::new() }
    }

    fn prepare(&mut self, task: &Task<'_>, rank: u32) {
        let sets = task.sets;
        if !self.partners.prepare(sets, task.bounds, rank) {
            return;
        }
        let (size, side) = (sets.size(rank), sets.side(rank));
        let limits = self.partners.by_class().iter().scan(None, |most: &mut Option<u32>, partner| {
            *most = (*most).max(partner.max_distance(size));
            Some(*most)
        });
        let limits: Vec<Option<u32>> = limits.collect();
        let mut classes = limits.len();
        self.reach.clear();
        for position in 0..task.bounds.probe_prefix(size, side) {
            // What follows the first common token, and itself, must be enough; longer partners ask for more.
            let is_enough = |class: usize| {
                let needed = self.partners.by_class()[class].min_overlap;
                needed <= size - position || needed == u32::MAX
            };
            while classes > 0 && !is_enough(classes - 1) {
                classes -= 1;
            }
            let end = sets.first_of(self.partners.first_class() + classes as u32);
            self.reach.push(Reach { end, limit: classes.checked_sub(1).and_then(|last| limits[last]) });
        }
    }
}

impl<'a> Prefix<'a> {
    pub(super) fn new(task: &'a Task<'a>, screen: &'a Screen) -> Self {
        let lists = BySide::build(task.sets.collections(), |side| Lists::new(task, screen, side));
        Self { task, screen, lists }
    }

    /// The pairs of a set with earlier ones.
    pub(super) fn probe(&self, state: &mut State, x: u32, matches: &mut Vec<Match>) -> Candidates {
        let sets = self.task.sets;
        state.prepare(self.task, x);
        let State { partners, reach, met_by, near } = state;
        let lists = self.lists.probed_by(sets.side(x));
        let first = partners.first_rank();
        let mut signature = 0;
        for (i, (&token, reach)) in sets.get(x).iter().zip(&*reach).enumerate() {
            let (Some(token_index), Some(limit)) = (token.checked_sub(lists.first_token), reach.limit) else {
                continue;
            };
            let end = reach.end.min(x);
            let list = lists.starts[token_index as usize] as usize..lists.starts[token_index as usize + 1] as usize;
            let range = if list.len() <= SHORT_LIST {
                list
            } else {
                let ranks = &lists.ranks[list.clone()];
                let from = ranks.partition_point(|&rank| rank < first);
                let to = from + ranks[from..].partition_point(|&rank| rank < end);
                list.start + from..list.start + to
            };
            lists.signatures.near(self.screen.kernel, self.screen.short(x), range, limit, near);
            for position in near.drain(..) {
                let y = lists.ranks[position as usize];
                if y < first || y >= end || met_by[y as usize] == x {
                    continue;
                }
                met_by[y as usize] = x;
                let needed = partners.of_class(sets.class(y)).min_overlap;
                let j = sets.get(y).partition_point(|&other| other < token);
                let (counted, overlap) = self.screen.verify(sets, [(x, i), (y, j)], needed);
                signature += u64::from(counted);
                matches.extend(overlap.map(|overlap| Match { x, y, overlap }));
            }
        }
        add_free_pairs(self.task, x, matches);
        Candidates { signature: Some(signature), ..Candidates::default() }
    }
}

impl Lists {
    fn new(task: &Task<'_>, screen: &Screen, side: Side) -> Self {
        let sets = task.sets;
        let first_token = sets.singletons();
        let each_posting = |push: &mut dyn FnMut(u32, u32)| {
            for rank in (0..sets.len() as u32).filter(|&rank| sets.side(rank) == side) {
                let length = task.bounds.index_prefix(sets.size(rank), side) as usize;
                for &token in sets.get(rank)[..length].iter().filter(|&&token| token >= first_token) {
                    push(token - first_token, rank);
                }
            }
        };
        let mut starts = vec![0u64; (sets.distinct_tokens() - first_token) as usize + 1];
        each_posting(&mut |token, _| starts[token as usize] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += std::mem::replace(start, end);
        }
        let mut ranks = vec![0; end as usize];
        let mut signatures = screen.columns(ranks.len());
        let mut columns: Vec<&mut [u64]> = signatures.columns_mut().collect();
        each_posting(&mut |token, rank| {
            let at = starts[token as usize] as usize;
            ranks[at] = rank;
            for (column, &word) in columns.iter_mut().zip(screen.short(rank)) {
                column[at] = word;
            }
            starts[token as usize] += 1;
        });
        // Each start has moved to its end, which is the next one's start.
        starts.rotate_right(1);
        starts[0] = 0;
        Self { first_token, starts, ranks, signatures }
    }
}
