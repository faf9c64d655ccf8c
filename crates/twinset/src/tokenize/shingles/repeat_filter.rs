//! Which of many hashes occur more than once, in a few bits for each.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::prefetch;

/// It may name hashes that occur once as well, but leaves none out that occurs more often.
pub(crate) struct RepeatFilter {
    /// Two bits for each place: that it was met, and that it was met again.
    places: Vec<AtomicU64>,
    /// How many places were met.
    met: AtomicU64,
    /// How many of these were met again.
    met_again: AtomicU64,
    /// How often that was.
    meetings: AtomicU64,
}

/// As a rule.
const PLACES_PER_HASH: u64 = 8;
const PLACES_PER_WORD: u64 = 32;

impl RepeatFilter {
    /// For about so many hashes, in at most so many bytes.
    pub(crate) fn new(hashes: u64, most_bytes: u64) -> Self {
        let words = (hashes * PLACES_PER_HASH / PLACES_PER_WORD).min(most_bytes / 8).max(1);
        let places = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { places, met: AtomicU64::default(), met_again: AtomicU64::default(), meetings: AtomicU64::default() }
    }

    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        let word = ((u128::from(hash) * self.places.len() as u128) >> 64) as usize;
        (&self.places[word], 2 * (hash % PLACES_PER_WORD))
    }

    /// Fetches a hash's place into the cache, so that many are on their way at once.
    pub(crate) fn fetch(&self, hash: u64) -> u64 {
        prefetch(std::slice::from_ref(self.place(hash).0));
        hash
    }

    /// Notes hashes, whose places were fetched.
    pub(crate) fn note(&self, hashes: &[u64]) {
        let (mut met, mut met_again, mut meetings) = (0, 0, 0);
        for &hash in hashes {
            let (word, shift) = self.place(hash);
            // Most bits are set already where hashes occur often, and reading is cheaper than setting.
            let is_new = |bit: u64| {
                let is_set = |bits: u64| bits >> shift & bit != 0;
                !is_set(word.load(Ordering::Relaxed)) && !is_set(word.fetch_or(bit << shift, Ordering::Relaxed))
            };
            if is_new(1) {
                met += 1;
            } else {
                meetings += 1;
                met_again += u64::from(is_new(2));
            }
        }
        self.met.fetch_add(met, Ordering::Relaxed);
        self.met_again.fetch_add(met_again, Ordering::Relaxed);
        self.meetings.fetch_add(meetings, Ordering::Relaxed);
    }

    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        let (word, shift) = self.place(hash);
        word.load(Ordering::Relaxed) >> shift & 2 == 2
    }

    /// About how many different hashes are contained.
    pub(crate) fn different(&self) -> u64 {
        let [met, met_again, meetings] =
            [&self.met, &self.met_again, &self.meetings].map(|count| count.load(Ordering::Relaxed));
        let places = self.places.len() as f64 * PLACES_PER_WORD as f64;
        // So many different hashes leave so many of the places free.
        let hashes = -places * (-(met as f64) / places).ln_1p();
        // A place that was met once holds one hash, which is not contained.
        let contained = hashes - (met - met_again) as f64;
        // Of those at a place all but the first met it again.
        (contained.ceil() as u64).min(2 * meetings)
    }
}
