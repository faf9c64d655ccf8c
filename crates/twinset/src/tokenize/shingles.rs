//! Shingles of records whose words have ids: runs of words, known by where they first stand.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::Repeats;
use super::dictionary::{Dictionary, Key, NO_WORD, REPEAT_BITS, RunStore, Words};
use super::packed::Packed;
use super::repeats::RepeatCounter;
use crate::model::{Error, Result, TokenBlock, fetch};

/// What shingles are known by: the words of all records, and where in them each shingle first stands.
pub(super) struct Shingles {
    pub(super) blocks: Vec<TokenBlock>,
    pub(super) words: Words,
    pub(super) runs: Dictionary<RunStore>,
    /// All ids are below this.
    pub(super) id_limit: usize,
}

/// How many records a thread takes at a time.
const RECORDS: usize = 512;
/// Keys are interned when so many have been collected.
const BATCH: usize = 1 << 13;
/// Stands for a shingle that occurs only once.
const SINGLE: u32 = NO_WORD;

impl Shingles {
    /// Cuts shingles of so many words. Most shingles occur once; unless `named`, these are not looked up, but just
    /// given an id.
    pub(super) fn new(blocks: Vec<TokenBlock>, length: usize, how: Repeats, named: bool) -> Result<Self> {
        let (words, lengths) = Words::of_blocks(blocks, length);
        let mut starts = Vec::with_capacity(lengths.len());
        let mut end = 0;
        for &length in &lengths {
            if length >= 1 << REPEAT_BITS {
                return Err(Error::TooMany { what: "words in a record", limit: 1 << REPEAT_BITS });
            }
            starts.push(end);
            end += u64::from(length);
        }
        let records = || starts.par_chunks(RECORDS).zip(lengths.par_chunks(RECORDS));
        let repeated = (!named).then(|| Repeated::new(end));
        if let Some(repeated) = &repeated {
            records().for_each(|(starts, lengths)| {
                let mut hashes = Vec::new();
                for (&start, &length) in starts.iter().zip(lengths) {
                    hashes.clear();
                    hashes.extend(words.runs(start, length).map(|(_, first)| repeated.fetch(words.hash(first, 1))));
                    hashes.iter().for_each(|&hash| repeated.note(hash));
                }
            });
        }
        let runs = Dictionary::new();
        let cut = |(starts, lengths)| block(&words, &runs, repeated.as_ref(), starts, lengths, how);
        let mut blocks = records().map(cut).collect::<Result<Vec<TokenBlock>>>()?;
        let id_limit = number_singles(&mut blocks, runs.id_limit())?;
        Ok(Self { blocks, words, runs, id_limit })
    }
}

/// The shingles of a few records.
fn block(
    words: &Words,
    runs: &Dictionary<RunStore>,
    repeated: Option<&Repeated>,
    starts: &[u64],
    lengths: &[u32],
    how: Repeats,
) -> Result<TokenBlock> {
    let (mut keys, mut places, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let mut hashes = Vec::new();
    let (mut repeats, mut block) = (RepeatCounter::default(), TokenBlock::default());
    let mut look_up = |keys: &mut Vec<Key>, places: &mut Vec<usize>, block: &mut TokenBlock| -> Result<()> {
        ids.clear();
        runs.intern(keys, words, &mut ids)?;
        places.drain(..).zip(&ids).for_each(|(place, &id)| block.ids[place] = id);
        keys.clear();
        Ok(())
    };
    for (&start, &length) in starts.iter().zip(lengths) {
        let before = block.ids.len();
        repeats.begin(length as usize);
        hashes.clear();
        let fetch = |hash| repeated.map_or(hash, |repeated| repeated.fetch(hash));
        hashes.extend(words.runs(start, length).map(|(_, first)| fetch(words.hash(first, 1))));
        for ((place, first), &hash) in words.runs(start, length).zip(&hashes) {
            let mut key = Key { hash, start: first, len: 0, repeat: 1, packed: Packed::NONE };
            if repeated.is_some_and(|repeated| !repeated.may_contain(key.hash)) {
                block.ids.push(SINGLE);
                continue;
            }
            let same = |earlier: u32| words.run(start + u64::from(earlier)) == words.run(first);
            let repeat = repeats.count(key.hash, place, same);
            if repeat > 1 && how == Repeats::Ignore {
                continue;
            }
            if repeat > 1 {
                (key.repeat, key.hash) = (repeat, words.hash(first, repeat));
            }
            keys.push(key);
            places.push(block.ids.len());
            block.ids.push(0);
            if keys.len() == BATCH {
                look_up(&mut keys, &mut places, &mut block)?;
            }
        }
        block.lengths.push((block.ids.len() - before) as u32);
    }
    look_up(&mut keys, &mut places, &mut block)?;
    block.ids.shrink_to_fit();
    Ok(block)
}

/// Gives every shingle that occurs once an id of its own, from `next` on. Returns the end of the ids.
fn number_singles(blocks: &mut [TokenBlock], mut next: usize) -> Result<usize> {
    let mut firsts = Vec::with_capacity(blocks.len());
    for block in &*blocks {
        firsts.push(next as u32);
        next += block.ids.iter().filter(|&&id| id == SINGLE).count();
        if next >= SINGLE as usize {
            return Err(Error::TooMany { what: "different tokens", limit: u64::from(SINGLE) });
        }
    }
    blocks.par_iter_mut().zip(firsts).for_each(|(block, mut next)| {
        for id in block.ids.iter_mut().filter(|id| **id == SINGLE) {
            *id = next;
            next += 1;
        }
    });
    Ok(next)
}

/// Which hashes occur more than once. It may name others as well, but leaves none out.
struct Repeated {
    /// Two bits for each place: that it was met, and that it was met again.
    places: Vec<AtomicU64>,
}

impl Repeated {
    /// For about so many hashes.
    fn new(hashes: u64) -> Self {
        const PLACES_PER_HASH: u64 = 8;
        let words = (hashes * PLACES_PER_HASH / 32).max(1);
        Self { places: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        let word = ((u128::from(hash) * self.places.len() as u128) >> 64) as usize;
        (&self.places[word], 2 * (hash % 32))
    }

    /// Fetches a hash's place into the cache, so that many are on their way at once.
    fn fetch(&self, hash: u64) -> u64 {
        fetch(std::slice::from_ref(self.place(hash).0));
        hash
    }

    fn note(&self, hash: u64) {
        let (word, shift) = self.place(hash);
        let seen = |bits: u64| bits >> shift & 1 == 1;
        if seen(word.load(Ordering::Relaxed)) || seen(word.fetch_or(1 << shift, Ordering::Relaxed)) {
            word.fetch_or(2 << shift, Ordering::Relaxed);
        }
    }

    fn may_contain(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        word.load(Ordering::Relaxed) >> shift & 2 == 2
    }
}
