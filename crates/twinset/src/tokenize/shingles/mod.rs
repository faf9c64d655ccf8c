//! Shingles of records whose words have ids.

mod repeat_filter;
mod store;

pub(crate) use store::ShingleStore;

use rayon::prelude::*;

use self::repeat_filter::RepeatFilter;
use super::dictionary::{Dictionary, Key, Packed};
use super::hash::id_hash;
use super::repeats::RepeatCounter;
use crate::model::{Error, Result, Run, SINGLE, TokenBlock};
use crate::support::Spill;

/// Cuts shingles of the words of records.
///
/// Most shingles occur once. Which ones do is found out by their hashes first, and these are not looked up. The others are, all at once or, where there is no room for that, in several passes by their hashes.
pub(crate) struct Shingles<'a> {
    /// How many words a shingle has.
    pub(crate) length: usize,
    pub(crate) numbers: Numbers,
    /// Where the words lie and the shingles go, if they do not all fit in the memory that the run allows.
    pub(crate) spilled: Option<(&'a Spill, &'a Run)>,
}

/// What tells equal shingles of a record apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Nothing: the second does not count.
    None,
    /// Which of them it is.
    Repeats,
    /// Where it stands: entries of sketches are alike only at the same place.
    Places,
}

/// Keys are interned when so many have been collected.
const BATCH: usize = 1 << 16;
/// Stands for a shingle that is not looked up yet, or is a repeat that does not count.
const NONE: u32 = SINGLE - 1;

impl Shingles<'_> {
    /// Turns blocks of words into blocks of shingles, whose ids are below the number returned, or [`SINGLE`].
    pub(crate) fn cut(&self, words: Vec<TokenBlock>) -> Result<(Vec<TokenBlock>, usize)> {
        let total = words.iter().flat_map(TokenBlock::lengths).map(u64::from).sum();
        let allowed = self.spilled.and_then(|(_, run)| run.memory).unwrap_or(u64::MAX);
        let repeated = RepeatFilter::new(total, allowed / 4);
        words.par_iter().try_for_each(|words| {
            let words = words.loaded(self.file())?;
            let mut hashes = Vec::new();
            for record in words.records() {
                self.hash(record, Some(&repeated), &mut hashes);
                repeated.note(&hashes);
            }
            self.check()
        })?;
        let room = (allowed / 2).max(1);
        // With some to spare, as this is an estimate.
        let different = repeated.different() / 8 * 9;
        let passes = (different * ShingleStore::bytes_per_run(self.length)).div_ceil(room).max(1);
        let mut shingles: Vec<TokenBlock> = words.iter().map(|_| TokenBlock::default()).collect();
        let mut limit = 0;
        for pass in 0..passes {
            let runs = Dictionary::new(|| ShingleStore::new(self.length), (different / passes) as usize);
            let pass = Pass { number: pass, of: passes, first_id: limit, repeated: Some(&repeated), runs: &runs };
            words.par_iter().zip(&mut shingles).try_for_each(|(words, shingles)| {
                let words = words.loaded(self.file())?;
                self.change(shingles, |shingles| self.look_up(&words, shingles, &pass))?;
                self.check()
            })?;
            limit = limit.saturating_add(runs.id_limit() as u64);
        }
        if self.numbers == Numbers::None {
            let squeeze = |block: &mut TokenBlock| {
                block.squeeze(|id| id != NONE);
                Ok(())
            };
            shingles.par_iter_mut().try_for_each(|block| self.change(block, squeeze))?;
        }
        Ok((shingles, limit as usize))
    }

    /// As [`cut`](Self::cut), but every shingle is looked up, so that it can be named.
    pub(crate) fn cut_named(&self, mut words: Vec<TokenBlock>) -> Result<(Vec<TokenBlock>, Dictionary<ShingleStore>)> {
        let runs = Dictionary::new(|| ShingleStore::new(self.length), 0);
        let pass = Pass { number: 0, of: 1, first_id: 0, repeated: None, runs: &runs };
        words.par_iter_mut().try_for_each(|words| {
            let mut shingles = TokenBlock::default();
            self.look_up(words, &mut shingles, &pass)?;
            shingles.squeeze(|id| id != NONE);
            *words = shingles;
            Ok::<_, Error>(())
        })?;
        Ok((words, runs))
    }

    /// The places of a record's shingles in its words, and their lengths. A record of a few words is one shingle.
    fn runs(&self, words: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let length = self.length.min(words);
        (0..(words + 1 - length) * usize::from(words > 0)).map(move |place| (place, length))
    }

    /// The hashes of a record's shingles, whose places are being fetched.
    fn hash(&self, record: &[u32], repeated: Option<&RepeatFilter>, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.extend(self.runs(record.len()).map(|(place, length)| {
            let number = if self.numbers == Numbers::Places { place as u32 + 1 } else { 1 };
            let hash = id_hash(&record[place..place + length], number);
            repeated.map_or(hash, |repeated| repeated.fetch(hash))
        }));
    }

    /// Gives ids to those shingles of a block whose turn it is.
    fn look_up(&self, words: &TokenBlock, shingles: &mut TokenBlock, pass: &Pass<'_>) -> Result<()> {
        let (mut keys, mut places, mut ids, mut hashes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut repeats = RepeatCounter::default();
        let mut intern = |keys: &mut Vec<Key>, places: &mut Vec<usize>, into: &mut [u32]| -> Result<()> {
            ids.clear();
            pass.runs.intern(keys, &words.ids, &mut ids)?;
            for (place, &id) in places.drain(..).zip(&ids) {
                let id = pass.first_id + u64::from(id);
                into[place] = u32::try_from(id).ok().filter(|&id| id < NONE).ok_or_else(too_many)?;
            }
            keys.clear();
            Ok(())
        };
        let is_first = pass.number == 0;
        let (mut first, mut before) = (0, 0);
        for record in words.records() {
            self.hash(record, pass.repeated, &mut hashes);
            if is_first {
                shingles.lengths.push(hashes.len() as u32);
                shingles.ids.resize(before + hashes.len(), NONE);
            }
            repeats.begin(hashes.len());
            for ((place, length), &hash) in self.runs(record.len()).zip(&hashes) {
                if pass.repeated.is_some_and(|repeated| !repeated.may_contain(hash)) {
                    shingles.ids[before + place] = SINGLE;
                    continue;
                }
                if !pass.has(hash) {
                    continue;
                }
                let run = &record[place..place + length];
                let (repeat, hash) = match self.numbers {
                    Numbers::Places => (place as u32 + 1, hash),
                    how => {
                        let same = |earlier: u32| record[earlier as usize..][..length] == *run;
                        match repeats.count(hash, place as u32, same) {
                            1 => (1, hash),
                            _ if how == Numbers::None => continue,
                            repeat => (repeat, id_hash(run, repeat)),
                        }
                    }
                };
                let start = (first + place) as u64;
                keys.push(Key { hash, start, len: length as u32, repeat, packed: Packed::NONE });
                places.push(before + place);
                if keys.len() == BATCH {
                    intern(&mut keys, &mut places, &mut shingles.ids)?;
                }
            }
            first += record.len();
            before += hashes.len();
        }
        intern(&mut keys, &mut places, &mut shingles.ids)
    }

    /// Changes a block, which lies in the file if there is one.
    fn change(&self, block: &mut TokenBlock, change: impl FnOnce(&mut TokenBlock) -> Result<()>) -> Result<()> {
        let place = block.spilled;
        *block = std::mem::take(block).load(self.file())?;
        change(block)?;
        self.file().map_or(Ok(()), |file| block.spill(file, place))
    }

    fn file(&self) -> Option<&Spill> {
        self.spilled.map(|(file, _)| file)
    }

    fn check(&self) -> Result<()> {
        self.spilled.map_or(Ok(()), |(_, run)| run.check())
    }
}

/// One of the passes in which shingles are looked up.
struct Pass<'a> {
    number: u64,
    of: u64,
    /// The first of its ids.
    first_id: u64,
    /// Those that are to be looked up, unless it is all.
    repeated: Option<&'a RepeatFilter>,
    runs: &'a Dictionary<ShingleStore>,
}

impl Pass<'_> {
    /// Whether it is the pass for a hash.
    fn has(&self, hash: u64) -> bool {
        // Other bits than the dictionary's shards and the filter are made of.
        self.of == 1 || (hash >> 8 & 0xFFFF_FFFF) % self.of == self.number
    }
}

fn too_many() -> Error {
    Error::TooMany { what: "different tokens", limit: u64::from(NONE) }
}
