//! What a set sends to where it may meet others.

use std::borrow::Cow;

use crate::model::Side;
use crate::tokenize::mix;

use super::SetName;

/// What a set tells of itself at one of its tokens.
///
/// See the example of [`Shuffle`](super::Shuffle).
#[derive(Debug, Clone)]
pub struct Card<'a> {
    pub(super) token: u64,
    pub(super) set: SetName,
    pub(super) size: u32,
    /// Where the token stands in the set, which is sorted from rare to frequent.
    pub(super) position: u32,
    pub(super) side: Side,
    /// Whether it looks for sets that are not longer.
    pub(super) probes: bool,
    /// Whether it is there for sets that are not shorter.
    pub(super) is_indexed: bool,
    /// The part of the token's sets that it belongs to.
    pub(super) part: u32,
    pub(super) signature: Cow<'a, [u64]>,
}

/// Bytes before the signature.
const HEAD: usize = 8 + 16 + 4 + 4 + 4 + 1;
/// The most words that a signature has.
const MOST_WORDS: usize = 16;

impl Card<'_> {
    /// Appends its bytes.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.token.to_le_bytes());
        bytes.extend_from_slice(&self.set.to_le_bytes());
        for number in [self.size, self.position, self.part] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.push(u8::from(self.side == Side::Right) | u8::from(self.probes) << 1 | u8::from(self.is_indexed) << 2);
        self.signature.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }

    /// From the bytes that were written; `None` if these are not such bytes.
    pub fn read(bytes: &[u8]) -> Option<Card<'static>> {
        let (head, signature) = bytes.split_first_chunk::<HEAD>()?;
        let (words, rest) = signature.as_chunks();
        let is_whole = rest.is_empty() && words.len().is_power_of_two() && words.len() <= MOST_WORDS;
        let number = |at: usize| Some(u32::from_le_bytes(head[at..at + 4].try_into().ok()?));
        let flags = head[HEAD - 1];
        Some(Card {
            token: u64::from_le_bytes(head[..8].try_into().ok()?),
            set: u128::from_le_bytes(head[8..24].try_into().ok()?),
            size: number(24)?,
            position: number(28)?,
            part: number(32)?,
            side: if flags & 1 == 0 { Side::Left } else { Side::Right },
            probes: flags & 2 != 0,
            is_indexed: flags & 4 != 0,
            signature: Cow::Owned(words.iter().map(|&word| u64::from_le_bytes(word)).collect()),
        })
        .filter(|_| is_whole)
    }

    /// In how many tokens two sets differ, at least.
    pub(super) fn distance(&self, other: &Card<'_>) -> u32 {
        let (long, short) = match self.signature.len() >= other.signature.len() {
            true => (&self.signature, &other.signature),
            false => (&other.signature, &self.signature),
        };
        // A long signature is folded to the length of the short one.
        let folded = |word: usize| long.iter().skip(word).step_by(short.len()).fold(0, |sum, word| sum ^ word);
        if long.len() == short.len() {
            return long.iter().zip(short.iter()).map(|(a, b)| (a ^ b).count_ones()).sum();
        }
        short.iter().enumerate().map(|(word, own)| (own ^ folded(word)).count_ones()).sum()
    }
}

/// A bitmap in which every token of a set toggles one bit, of about as many bits as the set has tokens: sets differ in at least as many
/// tokens as their signatures in bits.
pub(super) fn signature(set: &[u64]) -> Vec<u64> {
    let words = (set.len() / 64).next_power_of_two().min(MOST_WORDS);
    let mut signature = vec![0u64; words];
    for &token in set {
        let bit = mix(token) as usize % (64 * words);
        signature[bit / 64] ^= 1 << (bit % 64);
    }
    signature
}
