//! Finds entries by their hashes. Places can be fetched ahead, which no other hash table offers, and finding tokens is
//! waiting for memory for the most part.

use crate::support::prefetch;

/// An open-addressing table of entries, in order of the upper halves of their hashes.
pub(crate) struct Slots {
    /// In each the upper half of the hash, and below it the entry's number plus one; or 0 where it is free.
    slots: Vec<u64>,
    entries: usize,
}

const FEWEST: usize = 16;

impl Slots {
    /// At most, but for those of an empty table.
    pub(crate) const BYTES_PER_ENTRY: u64 = 24;

    /// An empty table with room for so many entries.
    pub(crate) fn new(entries: usize) -> Self {
        Self { slots: vec![0; (entries + entries / 2).max(FEWEST)], entries: 0 }
    }

    /// Fetches the place of a hash into the cache.
    pub(crate) fn fetch(&self, hash: u64) {
        prefetch(&self.slots[self.place(hash)..]);
    }

    /// The first entry with this hash for which `is_it` holds. Some with other hashes may be asked about as well.
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut place = self.place(hash);
        while self.slots[place] != 0 {
            let slot = self.slots[place];
            if slot >> 32 == hash >> 32 && is_it(slot as u32 - 1) {
                return Some(slot as u32 - 1);
            }
            place = self.after(place);
        }
        None
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, hash: u64, entry: u32) {
        // At most two thirds are taken.
        if 3 * (self.entries + 1) > 2 * self.slots.len() {
            let doubled = vec![0; 2 * self.slots.len()];
            for slot in std::mem::replace(&mut self.slots, doubled).into_iter().filter(|&slot| slot != 0) {
                self.put(slot);
            }
        }
        self.entries += 1;
        self.put(hash >> 32 << 32 | u64::from(entry + 1));
    }

    fn put(&mut self, slot: u64) {
        let mut place = self.place(slot);
        while self.slots[place] != 0 {
            place = self.after(place);
        }
        self.slots[place] = slot;
    }

    /// Only the upper half of the hash counts.
    fn place(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.slots.len() { 0 } else { place + 1 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }
}
