//! The order of tokens from rare to frequent.

use std::collections::HashMap;

/// Which tokens are rather met at than others. Any order finds all pairs; the better it knows what is frequent, the fewer sets meet in vain.
///
/// See the example of [`Shuffle`](super::Shuffle).
#[derive(Debug, Clone, Default)]
pub struct TokenOrder {
    /// Frequent tokens, with their places among them from rare to frequent. All others are rare.
    places: HashMap<u64, u32>,
    /// Tokens at which more sets meet than one machine should hold, and in how many parts they come.
    parts: HashMap<u64, u32>,
}

impl TokenOrder {
    /// From the frequent tokens, the rarest of them first, and the tokens whose sets come in parts.
    pub fn new(frequent: &[u64], parts: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Self { places: frequent.iter().copied().zip(1..).collect(), parts: parts.into_iter().collect() }
    }

    /// Puts the rare tokens of a set first.
    pub(super) fn sort(&self, set: &mut [u64]) {
        set.sort_by_cached_key(|token| (self.places.get(token).copied().unwrap_or(0), *token));
    }

    /// In how many parts the sets come that meet at a token.
    pub(super) fn parts(&self, token: u64) -> u32 {
        self.parts.get(&token).copied().unwrap_or(1).max(1)
    }
}
