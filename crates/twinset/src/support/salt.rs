//! A secret of this process, for hash tables whose keys anybody may have chosen.
//!
//! Nothing that leaves the process may depend on it.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A random number that is another one in every process, and never 0. Who does not know it cannot choose keys that meet in a hash table.
#[inline]
pub fn salt() -> u64 {
    // It is asked for with every token: one comparison, and no lock.
    match SALT.load(Ordering::Relaxed) {
        0 => draw(),
        salt => salt,
    }
}

static SALT: AtomicU64 = AtomicU64::new(0);

/// Draws the salt, unless another thread was faster.
#[cold]
fn draw() -> u64 {
    let drawn = RandomState::new().hash_one(0u64).max(1);
    SALT.compare_exchange(0, drawn, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|first| first, |_| drawn)
}

/// A hash of bytes, for looking them up.
#[inline]
pub fn salted_hash(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, salt())
}

/// A hash of a number, for looking it up.
#[inline]
pub fn salted(number: u64) -> u64 {
    fold(number ^ salt(), salt().rotate_left(32) | 1)
}

/// Multiply and fold, as in wyhash.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}
