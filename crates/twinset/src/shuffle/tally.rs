//! How many records have each token.

use std::collections::HashMap;

/// Counts records by the hashes of their tokens, and notices when two tokens have the same hash.
///
/// See the example of [`Shuffle`](super::Shuffle).
#[derive(Debug, Default)]
pub struct Tally {
    counts: HashMap<u64, (u64, u64, u64)>,
}

impl Tally {
    /// Counts a token by its hash. Another hash of it tells it from tokens that have the same one.
    pub(super) fn add(&mut self, token: u64, check: u64) {
        let (records, low, high) = self.counts.entry(token).or_insert((0, check, check));
        *records += 1;
        (*low, *high) = ((*low).min(check), (*high).max(check));
    }

    /// How many different hashes there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// For each hash the number of records, and the smallest and the largest check: where these differ, so do tokens. It is empty then.
    pub fn drain(&mut self) -> impl Iterator<Item = (u64, (u64, u64, u64))> {
        self.counts.drain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tokens_with_one_hash_are_noticed() {
        let mut tally = Tally::default();
        [(1, 7), (2, 5), (1, 7), (2, 6)].into_iter().for_each(|(token, check)| tally.add(token, check));
        let mut counts: Vec<_> = tally.drain().collect();
        counts.sort_unstable();
        assert_eq!(counts, [(1, (2, 7, 7)), (2, (2, 5, 6))]);
        assert!(tally.is_empty());
    }
}
