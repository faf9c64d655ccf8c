//! A short token as one integer, so that it is compared and stored without its text.

use crate::support::{fold, salt, salted_hash};

/// A token of up to 15 bytes with its number among the equal tokens of its record, up to 15: whole, in 16 bytes. Of
/// any other token only a hash, so that equal ones must be compared by their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed(u128);

/// Below the repeat number, in the highest byte, stands the length; below that, the bytes.
const LENGTH_SHIFT: u32 = 120;
const REPEAT_SHIFT: u32 = 124;
const LONGEST: usize = 15;
const MOST_REPEATS: u32 = 15;

impl Packed {
    /// Matches no token.
    pub(crate) const NONE: Self = Self(0);

    /// The token at a place of a buffer from which 16 bytes can be read, as the first of its kind in its record.
    pub(crate) fn at(buffer: &[u8], start: usize, length: usize) -> Self {
        if length > LONGEST {
            return Self::new(&buffer[start..start + length]);
        }
        let bytes = buffer[start..].first_chunk::<16>().expect("the buffer ends with room to read");
        let bytes = u128::from_le_bytes(*bytes) & ((1 << (8 * length)) - 1);
        Self(bytes | (length as u128) << LENGTH_SHIFT | 1 << REPEAT_SHIFT)
    }

    /// A token, as the first of its kind in its record.
    pub(crate) fn new(token: &[u8]) -> Self {
        if token.len() > LONGEST {
            return Self(u128::from(salted_hash(token)));
        }
        let mut bytes = [0; 16];
        bytes[..token.len()].copy_from_slice(token);
        Self(u128::from_le_bytes(bytes) | (token.len() as u128) << LENGTH_SHIFT | 1 << REPEAT_SHIFT)
    }

    /// The same token with another number.
    pub(crate) fn repeated(self, repeat: u32) -> Self {
        let token = self.0 & !(0xF << REPEAT_SHIFT);
        if self.is_whole() && repeat <= MOST_REPEATS {
            Self(token | u128::from(repeat) << REPEAT_SHIFT)
        } else {
            Self(token)
        }
    }

    /// Whether this is the token itself, and not a hash.
    pub(crate) fn is_whole(self) -> bool {
        self.0 >> REPEAT_SHIFT != 0
    }

    /// The number among the equal tokens of the record; for those that are whole.
    pub(crate) fn repeat(self) -> u32 {
        (self.0 >> REPEAT_SHIFT) as u32
    }

    /// The token and its number; for those that are whole.
    pub(crate) fn unpack(self) -> (Vec<u8>, u32) {
        let length = (self.0 >> LENGTH_SHIFT) as usize & 0xF;
        (self.0.to_le_bytes()[..length].to_vec(), self.repeat())
    }

    /// A hash within one run, for looking the token up. `repeat` tells apart those that are not whole.
    #[inline]
    pub(crate) fn hash(self, repeat: u32) -> u64 {
        self.hash_with(repeat, salt())
    }

    #[inline]
    fn hash_with(self, repeat: u32, salt: u64) -> u64 {
        let half = fold(self.0 as u64 ^ salt, (self.0 >> 64) as u64 ^ salt.rotate_left(32));
        fold(half ^ u64::from(repeat), 0xe703_7ed1_a0b4_28db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who knows the hash, but not the salt, cannot choose tokens that meet in a table.
    #[test]
    fn tokens_that_were_chosen_to_meet_do_not() {
        let place = |token: &Packed, salt: u64| token.hash_with(1, salt) >> 52;
        let tokens = (0u32..).map(|number| Packed::new(format!("{number:x}").as_bytes()));
        let chosen: Vec<Packed> = tokens.filter(|token| place(token, 0) == 7).take(2000).collect();
        for salt in [salt(), 1, u64::MAX] {
            let mut counts = std::collections::HashMap::new();
            chosen.iter().for_each(|token| *counts.entry(place(token, salt)).or_insert(0) += 1);
            assert!(counts.values().all(|&count| count < 20), "{salt:x}: {counts:?}");
        }
    }

    #[test]
    fn whole_tokens_are_equal_only_if_text_and_number_are() {
        let mut buffer = b"abc\0abcdefghijklmnopqrstuvwxyz".to_vec();
        let ranges: Vec<_> = (0..buffer.len()).flat_map(|a| (a..=buffer.len()).map(move |b| (a, b))).collect();
        buffer.resize(buffer.len() + 16, b'x');
        for &(a, b) in &ranges {
            let packed = Packed::at(&buffer, a, b - a);
            assert_eq!(packed, Packed::new(&buffer[a..b]));
            assert_eq!(packed.is_whole(), b - a <= LONGEST);
            for &(c, d) in &ranges {
                assert_eq!(packed == Packed::new(&buffer[c..d]), buffer[a..b] == buffer[c..d]);
            }
            if packed.is_whole() {
                let third = packed.repeated(3);
                assert_ne!(third, packed);
                assert_eq!(third.unpack(), (buffer[a..b].to_vec(), 3));
                assert!(!packed.repeated(16).is_whole());
            }
        }
    }
}
