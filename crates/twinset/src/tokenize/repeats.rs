//! Counts the equal tokens of one record.

/// Works on one record after the other and keeps its memory between them.
#[derive(Default)]
pub(super) struct RepeatCounter {
    /// An open-addressing table: a position in `firsts` plus one, or 0 for a free slot.
    slots: Vec<u32>,
    /// The different tokens of the record.
    firsts: Vec<First>,
}

struct First {
    hash: u64,
    /// Where the token first stands among the record's tokens.
    place: u32,
    /// How often it has occurred so far.
    count: u32,
}

impl RepeatCounter {
    /// Begins a record with at most so many tokens.
    pub(super) fn begin(&mut self, tokens: usize) {
        self.slots.clear();
        self.slots.resize((2 * tokens).next_power_of_two(), 0);
        self.firsts.clear();
    }

    /// The number, from 1, of the token at a place of the record among the equal ones so far. `same` tells whether the
    /// token is that at an earlier place.
    pub(super) fn count(&mut self, hash: u64, place: u32, same: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let first = &mut self.firsts[self.slots[slot] as usize - 1];
            if first.hash == hash && same(first.place) {
                first.count += 1;
                return first.count;
            }
            slot = (slot + 1) & mask;
        }
        self.firsts.push(First { hash, place, count: 1 });
        self.slots[slot] = self.firsts.len() as u32;
        1
    }
}
