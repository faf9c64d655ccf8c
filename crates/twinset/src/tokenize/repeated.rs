//! Which of many hashes occur more than once, in a few bits for each.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::fetch;

/// It may name hashes that occur once as well, but leaves none out that occurs more often.
pub(super) struct Repeated {
    /// Two bits for each place: that it was met, and that it was met again.
    places: Vec<AtomicU64>,
    met_again: AtomicU64,
}

/// As a rule.
const PLACES_PER_HASH: u64 = 8;
const PLACES_PER_WORD: u64 = 32;

impl Repeated {
    /// For about so many hashes, in at most so many bytes.
    pub(super) fn new(hashes: u64, most_bytes: u64) -> Self {
        let words = (hashes * PLACES_PER_HASH / PLACES_PER_WORD).min(most_bytes / 8).max(1);
        Self { places: (0..words).map(|_| AtomicU64::new(0)).collect(), met_again: AtomicU64::new(0) }
    }

    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        let word = ((u128::from(hash) * self.places.len() as u128) >> 64) as usize;
        (&self.places[word], 2 * (hash % PLACES_PER_WORD))
    }

    /// Fetches a hash's place into the cache, so that many are on their way at once.
    pub(super) fn fetch(&self, hash: u64) -> u64 {
        fetch(std::slice::from_ref(self.place(hash).0));
        hash
    }

    /// Notes hashes, whose places were fetched.
    pub(super) fn note(&self, hashes: &[u64]) {
        let mut met_again = 0;
        for &hash in hashes {
            let (word, shift) = self.place(hash);
            let seen = |bits: u64| bits >> shift & 1 == 1;
            if seen(word.load(Ordering::Relaxed)) || seen(word.fetch_or(1 << shift, Ordering::Relaxed)) {
                word.fetch_or(2 << shift, Ordering::Relaxed);
                met_again += 1;
            }
        }
        self.met_again.fetch_add(met_again, Ordering::Relaxed);
    }

    pub(super) fn may_contain(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        word.load(Ordering::Relaxed) >> shift & 2 == 2
    }

    /// How many hashes met a place again. Of those at a place all but the first do, so at most twice as many different
    /// ones are contained, and about as many if most occur twice.
    pub(super) fn met_again(&self) -> u64 {
        self.met_again.load(Ordering::Relaxed)
    }
}
