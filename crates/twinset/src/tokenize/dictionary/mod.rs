//! Gives equal tokens equal ids, on all threads at once.
//!
//! The table is cut into shards by hash. A thread brings a batch of keys, sorts them by shard and visits each shard
//! once, so that a lock is taken per batch and not per token. A hash finds the place; the keys themselves are
//! compared, so different tokens never share an id.
//!
//! Ids depend on the order in which threads arrive. Nothing that leaves this layer does: see `TokenSets::rank`.

mod cache;
mod packed;
mod slots;

pub(crate) use cache::TokenCache;
pub(crate) use packed::Packed;
pub(crate) use slots::Slots;

use std::sync::Mutex;

use crate::model::{Error, Result};
use crate::support::prefetch;

/// A power of two.
const SHARDS: usize = 64;

/// No token has this id.
pub(crate) const NO_WORD: u32 = u32::MAX;

/// Where a token lies in its source, and which of the equal tokens in its record it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) hash: u64,
    /// Start in the source: a byte buffer, or the word ids of a block.
    pub(crate) start: u64,
    pub(crate) len: u32,
    /// 1 for the first occurrence in its record.
    pub(crate) repeat: u32,
    /// The token itself, if it is short; unused where the source is no text.
    pub(crate) packed: Packed,
}

impl Key {
    /// The token at a range of a buffer, from whose every place 16 bytes can be read.
    pub(crate) fn in_text(buffer: &[u8], start: usize, end: usize) -> Self {
        let packed = Packed::at(buffer, start, end - start);
        Self { hash: packed.hash(1), start: start as u64, len: (end - start) as u32, repeat: 1, packed }
    }

    /// The same token with another number.
    pub(crate) fn number(&mut self, repeat: u32) {
        self.repeat = repeat;
        self.packed = self.packed.repeated(repeat);
        self.hash = self.packed.hash(repeat);
    }

    /// What it stands for in its source.
    pub(crate) fn of<'a, T>(&self, source: &'a [T]) -> &'a [T] {
        &source[self.start as usize..][..self.len as usize]
    }
}

/// Remembers the keys of one shard, so that they can be compared.
pub(crate) trait Store: Send {
    /// What a key's range refers to.
    type Source: ?Sized + Sync;

    fn len(&self) -> usize;
    fn bytes(&self) -> usize;
    fn add(&mut self, key: &Key, source: &Self::Source);
    fn holds(&self, entry: u32, key: &Key, source: &Self::Source) -> bool;
    /// Fetches what is known of an entry into the cache.
    fn fetch(&self, entry: u32);
}

/// Ids for the keys of one kind of store.
pub(crate) struct Dictionary<S> {
    shards: Vec<Mutex<Shard<S>>>,
}

struct Shard<S> {
    slots: Slots,
    store: S,
}

impl<S: Store> Dictionary<S> {
    /// An empty one, for about so many keys.
    pub(crate) fn new(store: impl Fn() -> S, keys: usize) -> Self {
        let shard = || Shard { slots: Slots::new(keys / SHARDS), store: store() };
        Self { shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect() }
    }

    /// Appends the ids of a batch of keys, in their order.
    pub(crate) fn intern(&self, keys: &[Key], source: &S::Source, ids: &mut Vec<u32>) -> Result<()> {
        // A counting sort of the keys by shard.
        let mut starts = [0usize; SHARDS + 1];
        for key in keys {
            starts[shard_of(key.hash) + 1] += 1;
        }
        for shard in 0..SHARDS {
            starts[shard + 1] += starts[shard];
        }
        let mut order = vec![0u32; keys.len()];
        let mut next = starts;
        for (position, key) in keys.iter().enumerate() {
            let slot = &mut next[shard_of(key.hash)];
            order[*slot] = position as u32;
            *slot += 1;
        }
        let first = ids.len();
        ids.resize(first + keys.len(), 0);
        // Threads start at different shards, so that they seldom wait for each other.
        let offset = rayon::current_thread_index().unwrap_or(0) * (SHARDS / 2 + 1);
        for turn in 0..SHARDS {
            let number = (turn + offset) % SHARDS;
            let mine = &order[starts[number]..starts[number + 1]];
            if mine.is_empty() {
                continue;
            }
            let mut shard = self.shards[number].lock().expect("no thread panics while it holds a shard");
            // Most of the time is spent waiting for memory: so all of it is asked for first.
            mine.iter().for_each(|&position| shard.slots.fetch(keys[position as usize].hash));
            let known = mine.iter().filter_map(|&position| shard.slots.find(keys[position as usize].hash, |_| true));
            known.for_each(|entry| shard.store.fetch(entry));
            for &position in mine {
                let entry = shard.intern(&keys[position as usize], source);
                let id = u64::from(entry) * SHARDS as u64 + number as u64;
                let id = u32::try_from(id).ok().filter(|&id| id != NO_WORD);
                let limit = u64::from(NO_WORD);
                ids[first + position as usize] = id.ok_or(Error::TooMany { what: "different tokens", limit })?;
            }
        }
        Ok(())
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |shard: &Mutex<Shard<S>>| {
            let shard = shard.lock().expect("unpoisoned");
            shard.slots.bytes() + shard.store.bytes()
        };
        self.shards.iter().map(bytes).sum::<usize>() as u64
    }

    /// All ids are below this.
    pub(crate) fn id_limit(&self) -> usize {
        let longest = self.shards.iter().map(|shard| shard.lock().expect("unpoisoned").store.len()).max();
        longest.unwrap_or(0) * SHARDS
    }

    /// Looks at the stored key of an id.
    pub(crate) fn with_entry<T>(&self, id: u32, look: impl FnOnce(&S, u32) -> T) -> T {
        let shard = self.shards[id as usize % SHARDS].lock().expect("unpoisoned");
        look(&shard.store, id / SHARDS as u32)
    }
}

impl<S: Store> Shard<S> {
    fn intern(&mut self, key: &Key, source: &S::Source) -> u32 {
        let Self { slots, store } = self;
        if let Some(entry) = slots.find(key.hash, |entry| store.holds(entry, key, source)) {
            return entry;
        }
        let entry = store.len() as u32;
        store.add(key, source);
        slots.insert(key.hash, entry);
        entry
    }
}

/// Made of bits that the slots do not look at.
fn shard_of(hash: u64) -> usize {
    hash as usize % SHARDS
}

/// Keys as packed tokens. The texts of those that are not whole stand one after the other.
#[derive(Default)]
pub(crate) struct TokenStore {
    tokens: Vec<Stored>,
    text: Vec<u8>,
}

enum Stored {
    Whole(Packed),
    InText { start: u64, len: u32, repeat: u32 },
}

impl TokenStore {
    /// The token and its repeat number.
    pub(crate) fn token(&self, entry: u32) -> (Vec<u8>, u32) {
        match self.tokens[entry as usize] {
            Stored::Whole(packed) => packed.unpack(),
            Stored::InText { start, len, repeat } => (self.text[start as usize..][..len as usize].to_vec(), repeat),
        }
    }
}

impl Store for TokenStore {
    type Source = [u8];

    fn len(&self) -> usize {
        self.tokens.len()
    }

    fn bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<Stored>() + self.text.capacity()
    }

    fn add(&mut self, key: &Key, buffer: &[u8]) {
        if key.packed.is_whole() {
            self.tokens.push(Stored::Whole(key.packed));
        } else {
            self.tokens.push(Stored::InText { start: self.text.len() as u64, len: key.len, repeat: key.repeat });
            self.text.extend_from_slice(key.of(buffer));
        }
    }

    fn holds(&self, entry: u32, key: &Key, buffer: &[u8]) -> bool {
        match self.tokens[entry as usize] {
            Stored::Whole(packed) => packed == key.packed,
            Stored::InText { start, len, repeat } => {
                !key.packed.is_whole()
                    && repeat == key.repeat
                    && self.text[start as usize..][..len as usize] == *key.of(buffer)
            }
        }
    }

    fn fetch(&self, entry: u32) {
        prefetch(&self.tokens[entry as usize..=entry as usize]);
    }
}
