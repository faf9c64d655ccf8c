//! Remembers the ids of tokens that a thread has just seen, so that most look-ups need no lock and no probing.

use super::{Key, Packed};

/// A power of two. The table is larger than a core's second-level cache: what is frequent stays there, and the rest is
/// still found faster than in the shared dictionary.
const LINES: usize = 1 << 14;

/// A table with three places for each hash. A new token takes the place of the one that was put there longest ago.
pub(crate) struct TokenCache {
    lines: Vec<Line>,
}

/// One line of the processor's cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    tokens: [Packed; 3],
    ids: [u32; 3],
}

impl TokenCache {
    pub(crate) fn new() -> Self {
        Self { lines: vec![Line { tokens: [Packed::NONE; 3], ids: [0; 3] }; LINES] }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<u32> {
        let Line { tokens: [first, second, third], ids } = &self.lines[key.hash as usize % LINES];
        // Which place it is cannot be foreseen, and a wrong guess would wait for the memory: only the hit is a branch.
        let (second, third) = (key.packed == *second, key.packed == *third);
        let hit = (key.packed == *first) | second | third;
        let place = usize::from(second) + 2 * usize::from(third);
        (hit & key.packed.is_whole()).then(|| ids[place])
    }

    pub(crate) fn put(&mut self, key: &Key, id: u32) {
        let Line { tokens, ids } = &mut self.lines[key.hash as usize % LINES];
        if key.packed.is_whole() && !tokens.contains(&key.packed) {
            *tokens = [key.packed, tokens[0], tokens[1]];
            *ids = [id, ids[0], ids[1]];
        }
    }
}
