//! A collection as sets of tokens in a temporary file, in order of size.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use super::{Collections, Error, Result, Run, SINGLE, TokenBlock, TokenSets};
use crate::support::Spill;

/// As [`TokenSets`](super::TokenSets), for more tokens than the memory allowed can hold. Records lie in order of size, and
/// are read back a part at a time.
///
/// See the example of [`TokenSets`](super::TokenSets).
#[derive(Debug)]
pub struct SpilledSets {
    spill: Spill,
    /// The record at each place of the file.
    records: Vec<u32>,
    /// The place of each record, once someone asks for it.
    places: OnceLock<Vec<u32>>,
    /// The different sizes, in order.
    classes: Vec<SizeClass>,
    left: Option<u32>,
    tokens: u64,
    distinct: u32,
}

/// Where the records of one size lie.
#[derive(Debug, Clone, Copy)]
struct SizeClass {
    size: u32,
    /// The place of the first.
    place: u32,
    /// Where its tokens start in the file.
    start: u64,
}

/// Some of the records, in memory.
pub(crate) struct Part {
    /// Their ordinals, in order of size.
    pub(crate) records: Vec<u32>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) tokens: Vec<u32>,
}

impl Part {
    /// The records of the left collection, which are the first `left` of all, and those of the right.
    pub(crate) fn split(&self, left: u32) -> (Self, Self) {
        let empty = || Self { records: Vec::new(), sizes: Vec::new(), tokens: Vec::new() };
        let (mut sides, mut start) = ((empty(), empty()), 0);
        for (&record, &size) in self.records.iter().zip(&self.sizes) {
            let side = if record < left { &mut sides.0 } else { &mut sides.1 };
            side.records.push(record);
            side.sizes.push(size);
            side.tokens.extend_from_slice(&self.tokens[start..start + size as usize]);
            start += size as usize;
        }
        sides
    }
}

impl SpilledSets {
    /// Moves sets to a temporary file.
    pub fn new(sets: TokenSets, run: &Run) -> Result<Self> {
        let left = (sets.collections() == Collections::Two).then(|| sets.left_len());
        let limit = sets.distinct_tokens() as usize;
        let spilled = Self::rank(vec![sets.into_block()], &Spill::create(run.spill.as_deref())?, limit, run)?;
        Ok(Self { left: left.map(|left| left as u32), ..spilled })
    }

    /// Turns ids, which are below a limit or [`SINGLE`], into ranks by document frequency. Blocks may lie in a file.
    pub(crate) fn rank(blocks: Vec<TokenBlock>, file: &Spill, limit: usize, run: &Run) -> Result<Self> {
        let (rank, distinct) = ranks(&blocks, file, limit, run)?;
        let mut singles = 0u32..;
        let (classes, records, tokens) = size_order(&blocks)?;
        let spill = Spill::create(run.spill.as_deref())?;
        let mut writers = Writers::new(&spill, &classes, run);
        for block in &blocks {
            run.check()?;
            for record in block.loaded(Some(file))?.records() {
                let rank = |&id: &u32| if id == SINGLE { singles.next() } else { rank.get(id as usize).copied() };
                let ranks = record.iter().map(rank).map(|rank| rank.expect("every id has a rank"));
                writers.push(ranks, record.len() as u32)?;
            }
        }
        writers.finish()?;
        Ok(Self { spill, records, places: OnceLock::new(), classes, left: None, tokens, distinct })
    }

    /// The same records as two collections, the first `left` of them being the left one.
    pub fn split_at(mut self, left: u32) -> Self {
        assert!(left as usize <= self.len(), "the left collection cannot have more records than there are");
        self.left = Some(left);
        self
    }

    /// The number of records, of both collections where there are two.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// One collection, or two.
    pub fn collections(&self) -> Collections {
        if self.left.is_some() { Collections::Two } else { Collections::One }
    }

    /// How many records the left, or only, collection has.
    pub fn left_len(&self) -> usize {
        self.left.map_or(self.len(), |left| left as usize)
    }

    /// How many tokens there are in all records.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How many different tokens there are.
    pub fn distinct_tokens(&self) -> u32 {
        self.distinct
    }

    /// How many records have no token.
    pub fn empty(&self) -> usize {
        match self.classes.as_slice() {
            [SizeClass { size: 0, .. }, second, ..] => second.place as usize,
            [SizeClass { size: 0, .. }] => self.len(),
            _ => 0,
        }
    }

    /// How many tokens the largest record has.
    pub fn largest(&self) -> u32 {
        self.classes.last().map_or(0, |class| class.size)
    }

    /// The size of the record at a place.
    pub(crate) fn size(&self, place: u32) -> u32 {
        self.class(place).size
    }

    /// Ranges of places with at most so many tokens each, or a single record.
    pub(crate) fn parts(&self, most_tokens: u64) -> Vec<Range<u32>> {
        let (mut parts, mut tokens): (Vec<Range<u32>>, u64) = (Vec::new(), 0);
        for place in 0..self.len() as u32 {
            let size = u64::from(self.size(place));
            match parts.last_mut() {
                Some(part) if tokens + size <= most_tokens => (part.end, tokens) = (place + 1, tokens + size),
                _ => {
                    parts.push(place..place + 1);
                    tokens = size;
                }
            }
        }
        parts
    }

    /// Reads the tokens of a record.
    pub(crate) fn get(&self, record: u32) -> Result<Vec<u32>> {
        let place = self.place(record);
        Ok(self.load(place..place + 1)?.tokens)
    }

    /// The size of a record.
    pub(crate) fn size_of(&self, record: u32) -> u32 {
        self.size(self.place(record))
    }

    fn place(&self, record: u32) -> u32 {
        let places = self.places.get_or_init(|| {
            let mut places = vec![0; self.len()];
            (0u32..).zip(&self.records).for_each(|(place, &record)| places[record as usize] = place);
            places
        });
        places[record as usize]
    }

    /// The left, or only, collection by itself, but only those of its records that pass.
    pub(crate) fn left_where(&self, passes: impl Fn(u32) -> bool, run: &Run) -> Result<Self> {
        const MOST_TOKENS: u64 = 1 << 20;
        let left = self.left_len() as u32;
        let mut numbers = vec![None; left as usize];
        (0u32..)
            .zip((0..left).filter(|&record| passes(record)))
            .for_each(|(number, record)| numbers[record as usize] = Some(number));
        let number = |record: u32| numbers.get(record as usize).copied().flatten();
        let spill = Spill::create(run.spill.as_deref())?;
        let (mut records, mut classes): (Vec<u32>, Vec<SizeClass>) = (Vec::new(), Vec::new());
        let mut tokens = 0;
        for places in self.parts(MOST_TOKENS) {
            run.check()?;
            let part = self.load(places)?;
            let (mut kept, mut start) = (Vec::new(), 0);
            for (&record, &size) in part.records.iter().zip(&part.sizes) {
                let own = &part.tokens[start..start + size as usize];
                start += size as usize;
                let Some(number) = number(record) else { continue };
                if classes.last().is_none_or(|class| class.size != size) {
                    classes.push(SizeClass { size, place: records.len() as u32, start: tokens + kept.len() as u64 });
                }
                records.push(number);
                kept.extend_from_slice(own);
            }
            spill.append(&kept)?;
            tokens += kept.len() as u64;
        }
        Ok(Self { spill, records, places: OnceLock::new(), classes, left: None, tokens, distinct: self.distinct })
    }

    /// Reads the records of a range of places.
    pub(crate) fn load(&self, places: Range<u32>) -> Result<Part> {
        let records = self.records[places.start as usize..places.end as usize].to_vec();
        let sizes: Vec<u32> = places.clone().map(|place| self.size(place)).collect();
        let mut tokens = vec![0; sizes.iter().map(|&size| size as usize).sum()];
        if let Some(first) = (!places.is_empty()).then(|| self.class(places.start)) {
            let start = first.start + u64::from(places.start - first.place) * u64::from(first.size);
            self.spill.read(start, &mut tokens)?;
        }
        Ok(Part { records, sizes, tokens })
    }

    fn class(&self, place: u32) -> SizeClass {
        self.classes[self.classes.partition_point(|class| class.place <= place) - 1]
    }
}

/// The rank of each id below the limit, by the number of records that have it, and how many ids occur. Those that occur
/// once come first.
fn ranks(blocks: &[TokenBlock], file: &Spill, limit: usize, run: &Run) -> Result<(Vec<u32>, u32)> {
    let (mut frequency, mut singles) = (vec![0u32; limit], 0u64);
    for block in blocks {
        run.check()?;
        for &id in &block.loaded(Some(file))?.ids {
            match id {
                SINGLE => singles += 1,
                id => frequency[id as usize] += 1,
            }
        }
    }
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    for &count in frequency.iter().filter(|&&count| count > 0) {
        *next.entry(count).or_default() += 1;
    }
    if singles + limit as u64 >= u64::from(SINGLE) {
        return Err(Error::TooMany { what: "different tokens", limit: u64::from(SINGLE) });
    }
    let mut distinct = singles as u32;
    for count in next.values_mut() {
        distinct += std::mem::replace(count, distinct);
    }
    for count in frequency.iter_mut().filter(|count| **count > 0) {
        let rank = next.get_mut(count).expect("every frequency was counted");
        *count = *rank;
        *rank += 1;
    }
    Ok((frequency, distinct))
}

/// Where the records of each size go, the record at each place, and the number of tokens.
fn size_order(blocks: &[TokenBlock]) -> Result<(Vec<SizeClass>, Vec<u32>, u64)> {
    let sizes = || blocks.iter().flat_map(TokenBlock::lengths);
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut records = 0u64;
    for size in sizes() {
        *counts.entry(size).or_default() += 1;
        records += 1;
    }
    if records >= u64::from(u32::MAX) {
        return Err(Error::TooMany { what: "records", limit: u64::from(u32::MAX) - 1 });
    }
    let (mut classes, mut place, mut start) = (Vec::new(), 0, 0);
    for (&size, &count) in &counts {
        classes.push(SizeClass { size, place, start });
        place += count;
        start += u64::from(size) * u64::from(count);
    }
    let mut next: HashMap<u32, u32> = classes.iter().map(|class| (class.size, class.place)).collect();
    let mut order = vec![0; records as usize];
    for (record, size) in (0u32..).zip(sizes()) {
        let place = next.get_mut(&size).expect("every size was counted");
        order[*place as usize] = record;
        *place += 1;
    }
    Ok((classes, order, start))
}

/// Writes records to their places, those of each size one after the other.
struct Writers<'a> {
    spill: &'a Spill,
    /// For each size, where the next records go, and those that wait.
    by_size: HashMap<u32, (u64, Vec<u32>)>,
    /// So many tokens of a size may wait.
    most_waiting: usize,
}

impl<'a> Writers<'a> {
    fn new(spill: &'a Spill, classes: &[SizeClass], run: &Run) -> Self {
        const LARGEST: u64 = 1 << 16;
        let room = run.memory.unwrap_or(u64::MAX) / 32 / classes.len().max(1) as u64;
        let by_size = classes.iter().map(|class| (class.size, (class.start, Vec::new()))).collect();
        Self { spill, by_size, most_waiting: room.min(LARGEST) as usize }
    }

    fn push(&mut self, record: impl Iterator<Item = u32>, size: u32) -> Result<()> {
        let (start, waiting) = self.by_size.get_mut(&size).expect("every size has a place");
        let before = waiting.len();
        waiting.extend(record);
        waiting[before..].sort_unstable();
        if waiting.len() >= self.most_waiting {
            self.spill.write(*start, waiting)?;
            *start += waiting.len() as u64;
            waiting.clear();
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        Ok(self.by_size.values().try_for_each(|(start, waiting)| self.spill.write(*start, waiting))?)
    }
}
