//! Remembers the ids of tokens that a thread has just seen, so that most look-ups need no lock and no probing.

use super::dictionary::Key;
use super::packed::Packed;

/// A power of two. Larger than a core's second-level cache: what is frequent stays there, and the rest is found faster
/// than in the shared dictionary.
const SETS: usize = 1 << 15;

/// A table with two places for each hash. A new token takes the place of the one that was put there before the last.
pub(super) struct TokenCache {
    tokens: Vec<[Packed; 2]>,
    ids: Vec<[u32; 2]>,
}

impl TokenCache {
    pub(super) fn new() -> Self {
        Self { tokens: vec![[Packed::NONE; 2]; SETS], ids: vec![[0; 2]; SETS] }
    }

    pub(super) fn get(&self, key: &Key) -> Option<u32> {
        let set = key.hash as usize % SETS;
        let [first, second] = self.tokens[set];
        if !key.packed.is_whole() {
            None
        } else if key.packed == first {
            Some(self.ids[set][0])
        } else {
            (key.packed == second).then_some(self.ids[set][1])
        }
    }

    pub(super) fn put(&mut self, key: &Key, id: u32) {
        let set = key.hash as usize % SETS;
        if key.packed.is_whole() && self.tokens[set][0] != key.packed {
            self.tokens[set] = [key.packed, self.tokens[set][0]];
            self.ids[set] = [id, self.ids[set][0]];
        }
    }
}
