//! The hash of a token: the same on every machine, for ever.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

use crate::support::{fold, salt};

/// The 64-bit hash of a token's bytes and its number among the equal tokens of its record (1 for the first).
///
/// It is XXH3 of the bytes; for later occurrences a multiple of the number is added, and the sum is mixed as MurmurHash3 ends. (The
/// seed of XXH3 does not serve: of short inputs it changes a few bits only, and the second `v10` would be the first `v17`.)
/// Samples and everything that is kept on disk rely on it.
///
/// See the example of [`TokenHasher`](super::TokenHasher).
#[inline]
pub fn token_hash(token: &[u8], repeat: u32) -> u64 {
    let hash = xxh3_64(token);
    match repeat {
        1 => hash,
        _ => mix(hash.wrapping_add(u64::from(repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    }
}

/// The hash of a token for someone who has a seed, and may keep it secret: nobody else can then find two tokens with the same hash.
/// Without a seed, which is 0, it is the [`token_hash`].
///
/// See the example of [`TokenHasher`](super::TokenHasher).
#[inline]
pub fn seeded_hash(token: &[u8], repeat: u32, seed: u64) -> u64 {
    match seed {
        0 => token_hash(token, repeat),
        _ => {
            let hash = xxh3_64_with_seed(token, mix(seed));
            mix(hash.wrapping_add(u64::from(repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        }
    }
}

/// A hash of 128 bits of a token's bytes and its number among the equal tokens of its record: different tokens have different ones, for
/// all that ever happens.
pub(crate) fn wide_hash(token: &[u8], repeat: u32) -> u128 {
    let hash = xxh3_128(token);
    match repeat {
        1 => hash,
        _ => {
            let number = u64::from(repeat).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (low, high) = (hash as u64, (hash >> 64) as u64);
            u128::from(mix(low.wrapping_add(number))) | u128::from(mix(high ^ number)) << 64
        }
    }
}

/// The value of a token in synopses: its hash, mixed with a seed. Different hashes have different values.
///
/// See the example of [`TokenHasher`](super::TokenHasher).
#[inline]
pub fn synopsis_value(token_hash: u64, seed: u64) -> u64 {
    mix(token_hash ^ mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// The finalizer of MurmurHash3 for 64 bits.
#[inline]
pub(crate) fn mix(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 33
}

/// A hash of ids within one run, for looking up runs of them.
pub(crate) fn id_hash(ids: &[u32], seed: u32) -> u64 {
    let salt = salt();
    let mut hash = u64::from(seed) ^ salt;
    let (fours, rest) = ids.as_chunks();
    for &[a, b, c, d] in fours {
        let (ab, cd) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
        hash = fold(hash ^ ab, cd ^ salt.rotate_left(32));
    }
    for &id in rest {
        hash = fold(hash ^ u64::from(id), 0xe703_7ed1_a0b4_28db);
    }
    fold(hash ^ ids.len() as u64, 0x8ebc_6af0_9c88_c6e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementations.
    #[test]
    fn hashes_are_the_same_for_ever() {
        assert_eq!(token_hash(b"", 1), 0x2d06_8005_38d3_94c2);
        assert_eq!(token_hash(b"as", 1), 0x1e08_44fa_8dcc_d17d);
        assert_eq!(token_hash(b"as", 2), 0x2e6e_f14b_987d_87a8);
        assert_eq!(token_hash("señal larga, más de dieciséis bytes".as_bytes(), 1), 0x82be_fa6a_dc33_7adf);
    }

    #[test]
    fn seeds_make_other_hashes_of_tokens_of_any_length() {
        let tokens = ["", "a", "abc", "abcdefgh", "a token of more than sixteen bytes"];
        for token in tokens.map(str::as_bytes) {
            assert_eq!(seeded_hash(token, 2, 0), token_hash(token, 2));
            let hashes = [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (1, u64::MAX)];
            let hashes = hashes.map(|(repeat, seed)| seeded_hash(token, repeat, seed));
            assert_eq!(std::collections::HashSet::from(hashes).len(), hashes.len());
        }
        // For ever, as everything that is kept on disk.
        assert_eq!(seeded_hash(b"as", 1, 7), 0xbd37_e864_2db9_5a5c);
    }

    #[test]
    fn numbered_tokens_of_any_length_differ() {
        let mut seen = std::collections::HashSet::new();
        for number in 0..300 {
            for token in [format!("{number}"), format!("v{number}"), format!("{number:03}"), format!("word{number:09}")]
            {
                for repeat in 1..20 {
                    let is_new = seen.insert(token_hash(token.as_bytes(), repeat));
                    assert!(is_new || number >= 100, "{token}#{repeat}");
                }
            }
        }
        assert!(seen.len() > 300 * 3 * 19);
    }
}
