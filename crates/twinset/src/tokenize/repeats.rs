//! Counts the equal tokens of one record.

use super::dictionary::Key;

/// Works on one record after the other and keeps its memory between them.
#[derive(Default)]
pub(super) struct RepeatCounter {
    /// An open-addressing table: a position in `firsts` plus one, or 0 for a free slot.
    slots: Vec<u32>,
    /// The different tokens of the record, and how often each has occurred so far.
    firsts: Vec<(Key, u32)>,
}

impl RepeatCounter {
    /// Begins a record with at most so many tokens.
    pub(super) fn begin(&mut self, tokens: usize) {
        self.slots.clear();
        self.slots.resize((2 * tokens).next_power_of_two(), 0);
        self.firsts.clear();
    }

    /// The number of this token among the equal ones so far, from 1. `same` compares two tokens exactly.
    pub(super) fn count(&mut self, key: &Key, same: impl Fn(&Key, &Key) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = key.hash as usize & mask;
        while self.slots[slot] != 0 {
            let (first, count) = &mut self.firsts[self.slots[slot] as usize - 1];
            if first.hash == key.hash && same(first, key) {
                *count += 1;
                return *count;
            }
            slot = (slot + 1) & mask;
        }
        self.firsts.push((*key, 1));
        self.slots[slot] = self.firsts.len() as u32;
        1
    }
}
