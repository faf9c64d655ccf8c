//! Keeps a sample of a record's tokens, chosen by their hashes alone, so that equal tokens are kept or dropped
//! together wherever they occur.

use super::dictionary::Key;
use super::{Reduce, token_hash};

/// Drops all keys but the sample; their order stays.
pub(super) fn reduce(keys: &mut Vec<Key>, buffer: &[u8], how: Reduce) {
    let hash = |key: &Key| token_hash(key.of(buffer), key.repeat);
    match how {
        Reduce::Mod(modulus) => keys.retain(|key| hash(key) % u64::from(modulus.get()) == 0),
        Reduce::MinWise(count) => {
            let mut left = count.get() as usize;
            if keys.len() <= left {
                return;
            }
            let mut hashes: Vec<u64> = keys.iter().map(hash).collect();
            let (_, &mut largest, _) = hashes.select_nth_unstable(left - 1);
            keys.retain(|key| {
                let keep = left > 0 && hash(key) <= largest;
                left -= usize::from(keep);
                keep
            });
        }
    }
}
