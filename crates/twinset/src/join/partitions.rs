//! A join of sets that lie in a temporary file, part by part.
//!
//! The sets are in order of size. A part is as much of them as fits in memory together with another part and the index
//! over both. Each part is joined with itself and with those after it whose sizes are not too large. Every such join is
//! an ordinary one; what it finds is written out as records.

use std::ops::Range;
use std::sync::Mutex;

use crate::join::results::{JoinResult, PairCollector};
use crate::join::task::{Groups, Match, OrderedSets, Task};
use crate::join::{Algorithm, JoinOptions, Output, find};
use crate::model::{Bounds, Collections, Measure, Pair, Part, Result, Run, Side, SpilledSets, Stats, TokenSets};

/// What a token of a part takes, in bytes: itself, its copy for the join of two parts, and the index over both.
const BYTES_PER_TOKEN: u64 = 20;

pub(crate) fn join(
    sets: &SpilledSets,
    bounds: &Bounds,
    options: &JoinOptions,
    wanted: Output,
    run: &Run,
) -> Result<JoinResult> {
    let memory = run.memory.unwrap_or(u64::MAX);
    // Two parts take three quarters of the memory, waiting pairs a sixteenth; the rest is for the program itself.
    let parts = sets.parts(memory / 4 * 3 / BYTES_PER_TOKEN / 2);
    let collector = Mutex::new(PairCollector::new(run, memory / 16, wanted == Output::Count));
    let chosen_because =
        (options.algorithm == Algorithm::Auto).then(|| "each join of two parts chose for itself".to_owned());
    let stats = Stats {
        algorithm: options.algorithm.name().to_owned(),
        chosen_because,
        records: sets.len() as u64,
        empty_records: if options.empty { 0 } else { sets.empty() as u64 },
        tokens: sets.tokens(),
        distinct_tokens: u64::from(sets.distinct_tokens()),
        parts: Some(parts.len() as u64),
        ..Stats::default()
    };
    // One bar for all parts.
    let quiet = Run { progress: None, memory: None, ..run.clone() };
    let mut partition_join = PartitionJoin { sets, bounds, options, run: &quiet, collector: &collector, stats };
    run.begin("join", Some(parts.len() as u64));
    for (at, first) in parts.iter().enumerate() {
        let part = sets.load(first.clone())?;
        partition_join.join_with_itself(&part)?;
        let reached = parts[at + 1..].iter().take_while(|second| partition_join.may_pair(first, second));
        for second in reached.cloned().collect::<Vec<_>>() {
            partition_join.join_with_later(&part, &sets.load(second)?)?;
        }
        run.advance(1);
    }
    let stats = partition_join.stats;
    let list = collector.into_inner().expect("no thread panicked with it").finish();
    let offset = if sets.collections() == Collections::Two { sets.left_len() } else { 0 };
    Ok(JoinResult::of_list(options.measure, list, offset, stats))
}

struct PartitionJoin<'a> {
    sets: &'a SpilledSets,
    bounds: &'a Bounds,
    options: &'a JoinOptions,
    run: &'a Run,
    collector: &'a Mutex<PairCollector>,
    stats: Stats,
}

impl PartitionJoin<'_> {
    /// Whether sets of a part may pair with sets of a later one, as far as sizes go.
    fn may_pair(&self, first: &Range<u32>, second: &Range<u32>) -> bool {
        let (largest, smallest) = (self.sets.size(first.end - 1), self.sets.size(second.start));
        [Side::Left, Side::Right].iter().any(|&side| *self.bounds.partner_sizes(smallest, side).start() <= largest)
    }

    fn join_with_itself(&mut self, part: &Part) -> Result<()> {
        match self.sets.collections() {
            Collections::One => self.join_one(part),
            Collections::Two => {
                let (left, right) = part.split(self.sets.left_len() as u32);
                self.stats.distinct_sets += self.join_two(&left, &right, self.bounds)?;
                Ok(())
            }
        }
    }

    fn join_with_later(&mut self, first: &Part, second: &Part) -> Result<()> {
        let left_len = self.sets.left_len() as u32;
        match (self.sets.collections(), self.options.measure) {
            (Collections::One, Measure::Containment) => {
                // Rows are ordered: either part's sets may be the contained ones.
                let bounds = self.bounds.one_way();
                self.join_two(first, second, &bounds)?;
                self.join_two(second, first, &bounds)?;
            }
            (Collections::One, _) => {
                self.join_two(first, second, self.bounds)?;
            }
            (Collections::Two, _) => {
                let (first, second) = (first.split(left_len), second.split(left_len));
                self.join_two(&first.0, &second.1, self.bounds)?;
                self.join_two(&second.0, &first.1, self.bounds)?;
            }
        }
        Ok(())
    }

    fn join_one(&mut self, part: &Part) -> Result<()> {
        let sets = TokenSets::of_ranked(&part.sizes, part.tokens.clone(), self.sets.distinct_tokens(), None);
        let groups = self.find(&sets, &part.records, self.bounds)?;
        self.stats.distinct_sets += groups.len() as u64;
        for group in 0..groups.len() as u32 {
            let members = groups.members(group);
            let size = sets.size(members[0] as usize);
            if members.len() > 1 && self.bounds.accepts(size, size, size) {
                let value = self.options.measure.value(size, size, size);
                for (at, &left) in members.iter().enumerate() {
                    for &right in &members[at + 1..] {
                        let (left, right) = (part.records[left as usize], part.records[right as usize]);
                        self.push(left, right, value)?;
                        if self.options.measure == Measure::Containment {
                            self.push(right, left, value)?;
                        }
                    }
                    self.run.check()?;
                }
            }
        }
        Ok(())
    }

    /// Joins sets of one part, or side, with those of another. Returns how many different ones took part.
    fn join_two(&mut self, left: &Part, right: &Part, bounds: &Bounds) -> Result<u64> {
        let sizes = [left.sizes.as_slice(), &right.sizes].concat();
        let tokens = [left.tokens.as_slice(), &right.tokens].concat();
        let records = [left.records.as_slice(), &right.records].concat();
        let split = Some(left.records.len() as u32);
        let sets = TokenSets::of_ranked(&sizes, tokens, self.sets.distinct_tokens(), split);
        Ok(self.find(&sets, &records, bounds)?.len() as u64)
    }

    /// Joins sets in memory, and collects the pairs of different ones. `records` are their ordinals.
    fn find(&mut self, sets: &TokenSets, records: &[u32], bounds: &Bounds) -> Result<Groups> {
        let groups = Groups::of_sets(sets, bounds, self.options.empty);
        let ordered = OrderedSets::new(sets, &groups);
        let collect = |matches: &mut Vec<Match>| -> Result<()> {
            for Match { x, y, overlap } in matches.drain(..) {
                let is_left = |rank: u32| ordered.side(rank) == Side::Left;
                let (left, right) = if is_left(x) { (x, y) } else { (y, x) };
                for &left in groups.members(left) {
                    for &right in groups.members(right) {
                        self.push_both(sets, records, left, right, overlap)?;
                    }
                }
            }
            Ok(())
        };
        let task = Task { collect: Some(&collect), ..Task::new(&ordered, bounds, self.options.max_depth, self.run) };
        let (_, stats) = find(self.options, &task)?;
        self.stats.candidates += stats.candidates;
        Ok(groups)
    }

    /// Collects the rows of two different sets of a join in memory.
    fn push_both(&self, sets: &TokenSets, records: &[u32], x: u32, y: u32, overlap: u32) -> Result<()> {
        let (size_x, size_y) = (sets.size(x as usize), sets.size(y as usize));
        let measure = self.options.measure;
        let (left, right) = (records[x as usize], records[y as usize]);
        let ordered_rows = measure == Measure::Containment && sets.collections() == Collections::One;
        if !ordered_rows {
            return self.push(left, right, measure.value(size_x, size_y, overlap));
        }
        let bounds = self.bounds.one_way();
        if bounds.accepts(size_x, size_y, overlap) {
            self.push_ordered(left, right, measure.value(size_x, size_y, overlap))?;
        }
        if bounds.accepts(size_y, size_x, overlap) {
            self.push_ordered(right, left, measure.value(size_y, size_x, overlap))?;
        }
        Ok(())
    }

    /// Collects a pair of records, the earlier one on the left unless the measure or the collections tell otherwise.
    fn push(&self, left: u32, right: u32, value: f64) -> Result<()> {
        match (self.sets.collections(), self.options.measure) {
            (Collections::Two, _) => self.push_ordered(left, right - self.sets.left_len() as u32, value),
            (Collections::One, Measure::Containment) => self.push_ordered(left, right, value),
            (Collections::One, _) => self.push_ordered(left.min(right), left.max(right), value),
        }
    }

    fn push_ordered(&self, left: u32, right: u32, value: f64) -> Result<()> {
        self.collector.lock().expect("no thread panics with it").push(Pair { left, right, value })
    }
}
