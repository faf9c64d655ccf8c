//! Texts that occur more than once, by their hashes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;
use twinset::support::salt;
use xxhash_rust::xxh3::Xxh3;

/// A power of two.
const SHARDS: usize = 64;

/// Gives equal texts equal numbers, on all threads at once. Two texts are equal if their 128-bit hashes are; the hash
/// differs from run to run, so that nobody can prepare texts that collide.
pub(crate) struct Uniques {
    next: AtomicU32,
    shards: Vec<Mutex<HashTable<(u128, u32)>>>,
}

impl Uniques {
    pub(crate) fn new() -> Self {
        Self { next: AtomicU32::new(0), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// The number of a text of a collection, and whether it is a new one. A further field can tell equal texts apart.
    pub(crate) fn number(&self, collection: usize, text: &str, field: &str) -> (u32, bool) {
        let mut hasher = Xxh3::with_seed(salt());
        hasher.update(&(collection as u64).to_le_bytes());
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field.as_bytes());
        hasher.update(text.as_bytes());
        let hash = hasher.digest128();
        let mut shard = self.shards[hash as usize % SHARDS].lock().expect("no thread panics with a shard");
        let place = |hash: u128| (hash >> 64) as u64;
        if let Some(&(_, number)) = shard.find(place(hash), |&(own, _)| own == hash) {
            return (number, false);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        shard.insert_unique(place(hash), (hash, number), |&(own, _)| place(own));
        (number, true)
    }

    /// How many different texts there are.
    pub(crate) fn len(&self) -> usize {
        self.next.load(Ordering::Relaxed) as usize
    }
}
