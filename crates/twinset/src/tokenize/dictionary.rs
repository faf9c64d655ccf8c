//! Gives equal tokens equal ids, on all threads at once.
//!
//! The table is cut into shards by hash. A thread brings a batch of keys, sorts them by shard and visits each shard
//! once, so that a lock is taken per batch and not per token. A hash finds the place; the keys themselves are
//! compared, so different tokens never share an id.
//!
//! Ids depend on the order in which threads arrive. Nothing that leaves this layer does: see `TokenSets::rank`.

use std::sync::Mutex;

use hashbrown::HashTable;

use super::hash::{id_hash, token_hash};
use crate::model::{Error, Result};

/// A power of two.
const SHARDS: usize = 64;

/// Where a token lies in its source, and which of the equal tokens in its record it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) hash: u64,
    /// Start in the source: a byte buffer, or a stream of word ids.
    pub(super) start: u64,
    pub(super) len: u32,
    /// 1 for the first occurrence in its record.
    pub(super) repeat: u32,
}

impl Key {
    pub(super) fn bytes<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        &buffer[self.start as usize..][..self.len as usize]
    }
}

/// Remembers the keys of one shard, so that they can be compared.
pub(super) trait Store: Default + Send {
    /// What a key's range refers to.
    type Source: ?Sized + Sync;

    fn len(&self) -> usize;
    fn add(&mut self, key: &Key, source: &Self::Source);
    fn holds(&self, entry: u32, key: &Key, source: &Self::Source) -> bool;
    fn hash(&self, entry: u32, source: &Self::Source) -> u64;
}

/// Ids for the keys of one kind of store.
#[derive(Default)]
pub(super) struct Dictionary<S> {
    shards: Vec<Mutex<Shard<S>>>,
}

#[derive(Default)]
struct Shard<S> {
    table: HashTable<u32>,
    store: S,
}

impl<S: Store> Dictionary<S> {
    pub(super) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Appends the ids of a batch of keys, in their order.
    pub(super) fn intern(&self, keys: &[Key], source: &S::Source, ids: &mut Vec<u32>) -> Result<()> {
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
            for &position in mine {
                let entry = shard.intern(&keys[position as usize], source);
                let id = u64::from(entry) * SHARDS as u64 + number as u64;
                ids[first + position as usize] = u32::try_from(id)
                    .map_err(|_| Error::TooMany { what: "different tokens", limit: u64::from(u32::MAX) })?;
            }
        }
        Ok(())
    }

    /// All ids are below this.
    pub(super) fn id_limit(&self) -> usize {
        let longest = self.shards.iter().map(|shard| shard.lock().expect("unpoisoned").store.len()).max();
        longest.unwrap_or(0) * SHARDS
    }

    /// Looks at the stored key of an id.
    pub(super) fn with_entry<T>(&self, id: u32, look: impl FnOnce(&S, u32) -> T) -> T {
        let shard = self.shards[id as usize % SHARDS].lock().expect("unpoisoned");
        look(&shard.store, id / SHARDS as u32)
    }
}

impl<S: Store> Shard<S> {
    fn intern(&mut self, key: &Key, source: &S::Source) -> u32 {
        let Self { table, store } = self;
        if let Some(&entry) = table.find(key.hash, |&entry| store.holds(entry, key, source)) {
            return entry;
        }
        let entry = store.len() as u32;
        store.add(key, source);
        table.insert_unique(key.hash, entry, |&entry| store.hash(entry, source));
        entry
    }
}

/// Bits that neither the table's position nor its tag is made of.
fn shard_of(hash: u64) -> usize {
    (hash >> 48) as usize % SHARDS
}

/// Keys as bytes, one after the other. A repeat's number follows its bytes.
#[derive(Default)]
pub(super) struct ByteStore {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

/// Introduces a repeat's number; no UTF-8 text contains it.
const REPEAT_MARK: u8 = 0xFF;

impl ByteStore {
    fn get(&self, entry: u32) -> &[u8] {
        let start = if entry == 0 { 0 } else { self.ends[entry as usize - 1] };
        &self.bytes[start as usize..self.ends[entry as usize] as usize]
    }

    /// The token and its repeat number.
    pub(super) fn token(&self, entry: u32) -> (&[u8], u32) {
        let stored = self.get(entry);
        if let Some((token, &[REPEAT_MARK, a, b, c, d])) = stored.split_last_chunk::<5>() {
            return (token, u32::from_le_bytes([a, b, c, d]));
        }
        (stored, 1)
    }
}

impl Store for ByteStore {
    type Source = [u8];

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn add(&mut self, key: &Key, buffer: &[u8]) {
        self.bytes.extend_from_slice(key.bytes(buffer));
        if key.repeat > 1 {
            self.bytes.push(REPEAT_MARK);
            self.bytes.extend_from_slice(&key.repeat.to_le_bytes());
        }
        self.ends.push(self.bytes.len() as u64);
    }

    fn holds(&self, entry: u32, key: &Key, buffer: &[u8]) -> bool {
        if key.repeat == 1 {
            self.get(entry) == key.bytes(buffer)
        } else {
            self.token(entry) == (key.bytes(buffer), key.repeat)
        }
    }

    fn hash(&self, entry: u32, _: &[u8]) -> u64 {
        let (token, repeat) = self.token(entry);
        token_hash(token, repeat)
    }
}

/// Keys as runs of word ids, known by where they first occur in the stream of all words.
#[derive(Default)]
pub(super) struct RunStore {
    /// The start in the stream and the repeat number, in one word.
    entries: Vec<u64>,
}

/// The stream of word ids, and the length of every run.
pub(super) struct Words {
    pub(super) stream: Vec<u32>,
    pub(super) length: usize,
}

impl Words {
    pub(super) fn run(&self, start: u64) -> &[u32] {
        &self.stream[start as usize..][..self.length]
    }

    pub(super) fn hash(&self, start: u64, repeat: u32) -> u64 {
        id_hash(self.run(start), repeat)
    }
}

/// How many bits of an entry hold the repeat number; the others hold the start.
pub(super) const REPEAT_BITS: u32 = 26;

impl RunStore {
    /// The start in the stream, and the repeat number.
    pub(super) fn run(&self, entry: u32) -> (u64, u32) {
        let entry = self.entries[entry as usize];
        (entry >> REPEAT_BITS, (entry & ((1 << REPEAT_BITS) - 1)) as u32)
    }
}

impl Store for RunStore {
    type Source = Words;

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn add(&mut self, key: &Key, _: &Words) {
        self.entries.push(key.start << REPEAT_BITS | u64::from(key.repeat));
    }

    fn holds(&self, entry: u32, key: &Key, words: &Words) -> bool {
        let (start, repeat) = self.run(entry);
        repeat == key.repeat && words.run(start) == words.run(key.start)
    }

    fn hash(&self, entry: u32, words: &Words) -> u64 {
        let (start, repeat) = self.run(entry);
        words.hash(start, repeat)
    }
}
