//! Near duplicates among records that arrive one by one.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashTable;
use rapidfuzz::distance::levenshtein;

use crate::join::{JoinOptions, overlap_at_least};
use crate::model::{Bounds, Collections, Error, Measure, Result, Side};
use crate::tokenize::{CutScratch, Cutter, Key, TokenOptions, is_blank};

/// Decides on each record as it arrives: it is kept unless it is a near duplicate of one that was kept before.
///
/// The decision is exact. It needs no look at the future: tokens are ordered by when they were first seen, the newest
/// first, which is nearly from rare to frequent, and any fixed order serves the prefix filter.
///
/// ```
/// use twinset::exact::JoinOptions;
/// use twinset::{Stream, TokenOptions};
///
/// let mut stream = Stream::new(&JoinOptions::at("0.7".parse()?), &TokenOptions::default(), None)?;
/// assert!(stream.arrive("the cat sat")?.is_none());
/// assert!(stream.arrive("a dog")?.is_none());
/// let near = stream.arrive("the cat sat down")?.unwrap();
/// assert_eq!((near.record, near.value), (0, 0.75));
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct Stream {
    measure: Measure,
    bounds: Bounds,
    empty: bool,
    /// So many of the records kept last are remembered.
    window: usize,
    cutter: Cutter,
    scratch: CutScratch,
    arrived: u64,
    /// Of them, those without tokens, which take no part.
    empty_records: u64,
    /// The records kept, and the number of the first of them among all that were ever kept.
    kept: VecDeque<KeptRecord>,
    first: u64,
    /// The numbers of the records kept, by size.
    by_size: BTreeMap<u32, VecDeque<u64>>,
    /// The tokens of the records kept, by hash, and those that are free to be used again.
    table: HashTable<u32>,
    tokens: Vec<Token>,
    free: Vec<u32>,
}

/// A record that arrived is near one that was kept.
///
/// See the example of [`Stream`](crate::Stream).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The position among all records that arrived of the most similar one kept.
    pub record: u64,
    /// The value of the measure.
    pub value: f64,
}

struct KeptRecord {
    /// Its position among all records that arrived.
    record: u64,
    size: u32,
    /// Its tokens from new to old: the last possible number minus a token's place.
    tokens: Vec<u32>,
    /// Its text, for edit distance.
    text: String,
    /// The last record that was compared with it.
    compared_with: u64,
}

struct Token {
    hash: u64,
    text: Box<[u8]>,
    repeat: u32,
    /// How many of the records kept have it.
    records: u32,
    /// The numbers of those that have it in their prefix.
    list: VecDeque<u64>,
}

/// What arrived, cut into tokens.
struct Arrival {
    size: u32,
    /// Tokens that some record kept has, in order.
    known: Vec<u32>,
    /// The others.
    unknown: Vec<(u64, Box<[u8]>, u32)>,
}

impl Stream {
    /// Nothing is kept yet. With a window, only so many of the records kept last are remembered.
    pub fn new(join: &JoinOptions, tokens: &TokenOptions, window: Option<usize>) -> Result<Self> {
        tokens.check_measure(join.measure)?;
        let threshold = join.threshold.ok_or(Error::NoThreshold)?;
        let mut bounds = Bounds::new(join.measure, threshold, Collections::One)?;
        let mut cutter = Cutter::of_tokens(tokens)?;
        if join.measure == Measure::Edit {
            // Longer grams are rarer, but an edit spoils more of them.
            let length = if bounds.count() <= 2 { 3 } else { 2 };
            cutter = Cutter::padded_grams(length);
            bounds = bounds.with_gram_length(length as u32);
        }
        Ok(Self {
            measure: join.measure,
            bounds,
            empty: join.empty,
            window: window.unwrap_or(usize::MAX),
            cutter,
            scratch: CutScratch::default(),
            arrived: 0,
            empty_records: 0,
            kept: VecDeque::new(),
            first: 0,
            by_size: BTreeMap::new(),
            table: HashTable::new(),
            tokens: Vec::new(),
            free: Vec::new(),
        })
    }

    /// Decides on the next record: `None` if it is kept.
    pub fn arrive(&mut self, text: &str) -> Result<Option<Near>> {
        let arrived = self.cut(text)?;
        let record = self.arrived;
        self.arrived += 1;
        let is_empty = if self.measure == Measure::Edit { is_blank(text) } else { arrived.size == 0 };
        if is_empty && !self.empty {
            self.empty_records += 1;
            return Ok(None);
        }
        let near = self.nearest(&arrived, text);
        if near.is_none() {
            self.keep(arrived, text, record);
        }
        Ok(near)
    }

    /// Returns the number of records without tokens, which took no part.
    pub fn empty_records(&self) -> u64 {
        self.empty_records
    }

    /// How many records are remembered.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no record is remembered.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    fn cut(&mut self, text: &str) -> Result<Arrival> {
        let mut arrived = Arrival { size: 0, known: Vec::new(), unknown: Vec::new() };
        let (table, tokens) = (&self.table, &self.tokens);
        self.cutter.for_each(text, &mut self.scratch, |buffer, key: &Key| {
            let bytes = key.of(buffer);
            let is_it = |&at: &u32| tokens[at as usize].repeat == key.repeat && *tokens[at as usize].text == *bytes;
            match table.find(key.hash, is_it) {
                Some(&at) => arrived.known.push(u32::MAX - at),
                None => arrived.unknown.push((key.hash, bytes.into(), key.repeat)),
            }
            arrived.size += 1;
            Ok(())
        })?;
        arrived.known.sort_unstable();
        Ok(arrived)
    }

    /// The most similar record within the threshold, the earliest of equals.
    fn nearest(&mut self, arrived: &Arrival, text: &str) -> Option<Near> {
        let sizes = self.bounds.partner_sizes(arrived.size, Side::Left);
        // Tokens that are not known come first in the order, and nobody has them.
        let prefix = self.bounds.probe_prefix(arrived.size, Side::Left) as usize;
        let prefix = prefix.saturating_sub(arrived.unknown.len()).min(arrived.known.len());
        let mut numbers: Vec<u64> = Vec::new();
        for &token in &arrived.known[..prefix] {
            for &number in &self.tokens[(u32::MAX - token) as usize].list {
                let other = &mut self.kept[(number - self.first) as usize];
                let is_new = std::mem::replace(&mut other.compared_with, self.arrived) != self.arrived;
                if is_new && sizes.contains(&other.size) {
                    numbers.push(number);
                }
            }
        }
        // Small records at a large distance need not share anything, nor does an empty one that is contained.
        let least = |size: u32| self.bounds.min_overlap(arrived.size, size);
        for (_, free) in self.by_size.iter().take_while(|&(&size, _)| size == 0 || least(size) == 0) {
            for &number in free {
                let other = &self.kept[(number - self.first) as usize];
                if other.compared_with != self.arrived && least(other.size) == 0 && sizes.contains(&other.size) {
                    numbers.push(number);
                }
            }
        }
        let mut best: Option<Near> = None;
        for number in numbers {
            let other = &self.kept[(number - self.first) as usize];
            let Some(value) = self.value(arrived, text, other) else { continue };
            let is_better = |best: Near| {
                let (new, old) = if self.measure.is_distance() { (best.value, value) } else { (value, best.value) };
                new > old || (new == old && other.record < best.record)
            };
            if best.is_none_or(is_better) {
                best = Some(Near { record: other.record, value });
            }
        }
        best
    }

    /// The value for what arrived and a record kept, if they are a pair.
    fn value(&self, arrived: &Arrival, text: &str, other: &KeptRecord) -> Option<f64> {
        let needed = self.bounds.min_overlap(arrived.size, other.size);
        let overlap = overlap_at_least(&arrived.known, &other.tokens, needed)?;
        match self.measure {
            Measure::Edit => {
                let args = levenshtein::Args::default().score_cutoff(self.bounds.count() as usize);
                levenshtein::distance_with_args(text.chars(), other.text.chars(), &args).map(|distance| distance as f64)
            }
            Measure::Containment => {
                let measure = self.measure;
                Some(measure.value(arrived.size, other.size, overlap).max(measure.value(
                    other.size,
                    arrived.size,
                    overlap,
                )))
            }
            measure => Some(measure.value(arrived.size, other.size, overlap)),
        }
    }

    fn keep(&mut self, arrived: Arrival, text: &str, record: u64) {
        let mut tokens = arrived.known;
        for (hash, text, repeat) in arrived.unknown {
            let token = Token { hash, text, repeat, records: 0, list: VecDeque::new() };
            let at = match self.free.pop() {
                Some(at) => {
                    self.tokens[at as usize] = token;
                    at
                }
                None => {
                    self.tokens.push(token);
                    self.tokens.len() as u32 - 1
                }
            };
            self.table.insert_unique(hash, at, |&at| self.tokens[at as usize].hash);
            tokens.push(u32::MAX - at);
        }
        tokens.sort_unstable();
        let number = self.first + self.kept.len() as u64;
        let prefix = (self.bounds.probe_prefix(arrived.size, Side::Left) as usize).min(tokens.len());
        for (at, &token) in tokens.iter().enumerate() {
            let token = &mut self.tokens[(u32::MAX - token) as usize];
            token.records += 1;
            if at < prefix {
                token.list.push_back(number);
            }
        }
        self.by_size.entry(arrived.size).or_default().push_back(number);
        let text = if self.measure == Measure::Edit { text.to_owned() } else { String::new() };
        self.kept.push_back(KeptRecord { record, size: arrived.size, tokens, text, compared_with: 0 });
        if self.kept.len() > self.window {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.kept.pop_front() else { return };
        self.first += 1;
        if let Some(numbers) = self.by_size.get_mut(&oldest.size) {
            numbers.pop_front();
            if numbers.is_empty() {
                self.by_size.remove(&oldest.size);
            }
        }
        let prefix = (self.bounds.probe_prefix(oldest.size, Side::Left) as usize).min(oldest.tokens.len());
        for (at, &token) in oldest.tokens.iter().enumerate() {
            let place = u32::MAX - token;
            let token = &mut self.tokens[place as usize];
            if at < prefix {
                token.list.pop_front();
            }
            token.records -= 1;
            if token.records == 0 {
                (token.text, token.list) = (Box::default(), VecDeque::new());
                if let Ok(entry) = self.table.find_entry(token.hash, |&at| at == place) {
                    entry.remove();
                }
                self.free.push(place);
            }
        }
    }
}
