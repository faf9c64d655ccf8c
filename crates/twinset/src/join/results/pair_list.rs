//! Pairs one by one, in temporary files where there are too many for the memory allowed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::{Pair, Result, Run};
use crate::support::Spill;

/// Collects pairs in any order.
pub(crate) struct PairCollector {
    run: Run,
    count_only: bool,
    /// Pairs that are not written yet.
    recent: Vec<Pair>,
    /// So many of them are held in memory.
    most_recent: usize,
    spill: Option<Spill>,
    /// Sorted pairs in the file: where they begin, and how many they are.
    sorted: Vec<(u64, u64)>,
    length: u64,
}

/// Pairs in order of their records.
pub(crate) struct PairList {
    /// Sorted, after or between those in the file.
    recent: Vec<Pair>,
    spill: Option<Spill>,
    sorted: Vec<(u64, u64)>,
    length: u64,
}

/// How many numbers of the file a pair takes.
const NUMBERS: usize = 4;

impl PairCollector {
    /// Holds so many bytes of pairs in memory, or just counts them.
    pub(crate) fn new(run: &Run, bytes: u64, count_only: bool) -> Self {
        let most_recent = (bytes as usize / size_of::<Pair>()).max(1024);
        Self {
            run: run.clone(),
            count_only,
            recent: Vec::new(),
            most_recent,
            spill: None,
            sorted: Vec::new(),
            length: 0,
        }
    }

    pub(crate) fn push(&mut self, pair: Pair) -> Result<()> {
        self.length += 1;
        if self.count_only {
            return Ok(());
        }
        self.recent.push(pair);
        if self.recent.len() < self.most_recent {
            return Ok(());
        }
        sort(&mut self.recent);
        let spill = match &self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::create(self.run.spill.as_deref())?),
        };
        let mut start = None;
        for some in self.recent.chunks(1 << 14) {
            let numbers: Vec<u32> = some.iter().flat_map(to_numbers).collect();
            let written = spill.append(&numbers)?;
            start.get_or_insert(written);
        }
        self.sorted.push((start.unwrap_or(0), self.recent.len() as u64));
        self.recent.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> PairList {
        sort(&mut self.recent);
        PairList { recent: self.recent, spill: self.spill, sorted: self.sorted, length: self.length }
    }
}

impl PairList {
    /// These pairs, all in memory.
    pub(crate) fn of(mut pairs: Vec<Pair>) -> Self {
        sort(&mut pairs);
        Self { length: pairs.len() as u64, recent: pairs, spill: None, sorted: Vec::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// The pairs in order of their records.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<Pair>> + '_ {
        let in_file = self.sorted.iter().map(|&(start, length)| Source {
            spill: self.spill.as_ref(),
            start,
            left: length,
            ready: Vec::new().into_iter(),
        });
        let in_memory = Source { spill: None, start: 0, left: 0, ready: self.recent.clone().into_iter() };
        let mut sources: Vec<Source<'_>> = in_file.chain([in_memory]).collect();
        // The next pair of each source.
        let mut heads = BinaryHeap::new();
        let mut failed = None;
        for (number, source) in sources.iter_mut().enumerate() {
            match source.next() {
                Ok(pair) => heads.extend(pair.map(|pair| Reverse(Head { pair, number }))),
                Err(error) => failed = Some(error),
            }
        }
        std::iter::from_fn(move || {
            if let Some(error) = failed.take() {
                heads.clear();
                return Some(Err(error));
            }
            let Reverse(Head { pair, number }) = heads.pop()?;
            match sources[number].next() {
                Ok(next) => heads.extend(next.map(|pair| Reverse(Head { pair, number }))),
                Err(error) => failed = Some(error),
            }
            Some(Ok(pair))
        })
    }
}

/// Sorted pairs that are read a few at a time.
struct Source<'a> {
    spill: Option<&'a Spill>,
    start: u64,
    /// How many are still in the file.
    left: u64,
    ready: std::vec::IntoIter<Pair>,
}

impl Source<'_> {
    fn next(&mut self) -> Result<Option<Pair>> {
        const AT_ONCE: u64 = 4096;
        if let Some(pair) = self.ready.next() {
            return Ok(Some(pair));
        }
        let (Some(spill), some) = (self.spill, self.left.min(AT_ONCE)) else { return Ok(None) };
        let mut numbers = vec![0; some as usize * NUMBERS];
        spill.read(self.start, &mut numbers)?;
        self.start += numbers.len() as u64;
        self.left -= some;
        self.ready = numbers.as_chunks().0.iter().map(from_numbers).collect::<Vec<_>>().into_iter();
        Ok(self.ready.next())
    }
}

/// A pair, ordered by its records.
struct Head {
    pair: Pair,
    number: usize,
}

impl Head {
    fn key(&self) -> (u32, u32, usize) {
        (self.pair.left, self.pair.right, self.number)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

fn sort(pairs: &mut [Pair]) {
    pairs.sort_unstable_by_key(|pair| (pair.left, pair.right));
}

fn to_numbers(pair: &Pair) -> [u32; NUMBERS] {
    let bits = pair.value.to_bits();
    [pair.left, pair.right, bits as u32, (bits >> 32) as u32]
}

fn from_numbers(&[left, right, low, high]: &[u32; NUMBERS]) -> Pair {
    Pair { left, right, value: f64::from_bits(u64::from(high) << 32 | u64::from(low)) }
}
