//! Keeps a sample of a record's tokens, chosen by their hashes alone, so that equal tokens are kept or dropped
//! together wherever they occur.

use super::Reduce;
use super::dictionary::Key;

/// Drops all but the sample from the keys that start at `from`; their order stays.
pub(super) fn reduce(keys: &mut Vec<Key>, from: usize, how: Reduce) {
    match how {
        Reduce::Mod(modulus) => {
            let mut at = 0;
            keys.retain(|key| {
                at += 1;
                at <= from || key.hash % u64::from(modulus.get()) == 0
            });
        }
        Reduce::MinWise(count) => {
            let count = count.get() as usize;
            if keys.len() - from <= count {
                return;
            }
            let mut hashes: Vec<u64> = keys[from..].iter().map(|key| key.hash).collect();
            let (_, &mut largest, _) = hashes.select_nth_unstable(count - 1);
            let (mut at, mut kept) = (0, 0);
            keys.retain(|key| {
                at += 1;
                let keep = at <= from || (key.hash <= largest && kept < count);
                kept += usize::from(keep && at > from);
                keep
            });
        }
    }
}
