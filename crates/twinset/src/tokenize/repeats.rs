//! Finds the repeats among the tokens of one record.

use super::Repeats;
use super::dictionary::Key;

/// Works on one record after the other and keeps its memory between them.
#[derive(Default)]
pub(super) struct RepeatFinder {
    /// An open-addressing table: a position in the record's keys plus one, or 0 for a free slot.
    slots: Vec<u32>,
    /// How often the key at each position has occurred so far.
    seen: Vec<u32>,
}

impl RepeatFinder {
    /// Drops repeats from the keys that start at `from`, or numbers them and gives each its own hash.
    ///
    /// `same` compares two keys exactly, `rehash` hashes a key with its repeat number.
    pub(super) fn settle(
        &mut self,
        keys: &mut Vec<Key>,
        from: usize,
        repeats: Repeats,
        same: impl Fn(&Key, &Key) -> bool,
        rehash: impl Fn(&Key) -> u64,
    ) {
        let count = keys.len() - from;
        if count < 2 {
            return;
        }
        let mask = (2 * count).next_power_of_two() - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, 0);
        self.seen.clear();
        self.seen.resize(count, 1);
        let mut kept = from;
        for at in from..keys.len() {
            let mut key = keys[at];
            let mut slot = key.hash as usize & mask;
            let first = loop {
                match self.slots[slot] {
                    0 => break None,
                    entry => {
                        let earlier = &keys[from + entry as usize - 1];
                        if earlier.hash == key.hash && same(earlier, &key) {
                            break Some(entry as usize - 1);
                        }
                    }
                }
                slot = (slot + 1) & mask;
            };
            match (first, repeats) {
                (Some(_), Repeats::Ignore) => continue,
                (Some(first), Repeats::Number) => {
                    self.seen[first] += 1;
                    key.repeat = self.seen[first];
                    key.hash = rehash(&key);
                }
                (None, _) => self.slots[slot] = (kept - from + 1) as u32,
            }
            keys[kept] = key;
            kept += 1;
        }
        keys.truncate(kept);
    }
}
