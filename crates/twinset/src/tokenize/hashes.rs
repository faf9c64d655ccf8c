//! Texts as sets of token hashes, which mean the same in every run.

use std::sync::Mutex;

use super::cutter::{Cutter, Scratch};
use super::{TokenOptions, token_hash};
use crate::model::Result;

/// Turns texts into sets of token hashes, for what is kept from one run to the next.
///
/// ```
/// # use twinset::{TokenHasher, TokenOptions, token_hash};
/// let hasher = TokenHasher::new(&TokenOptions::default())?;
/// let mut expected = [token_hash(b"as", 1), token_hash(b"as", 2), token_hash(b"good", 1)];
/// expected.sort_unstable();
/// assert_eq!(hasher.hashes("As good as")?, expected);
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct TokenHasher {
    cutter: Cutter,
    scratches: Mutex<Vec<Scratch>>,
}

impl TokenHasher {
    /// For tokens as the options say.
    pub fn new(options: &TokenOptions) -> Result<Self> {
        Ok(Self { cutter: Cutter::of_tokens(options)?, scratches: Mutex::default() })
    }

    /// The hashes of a text's tokens, sorted, each once.
    pub fn hashes(&self, text: &str) -> Result<Vec<u64>> {
        let scratch = self.scratches.lock().expect("no thread panics with the scratches").pop();
        let (mut scratch, mut hashes) = (scratch.unwrap_or_default(), Vec::new());
        self.cutter.for_each(text, &mut scratch, |buffer, key| {
            hashes.push(token_hash(key.of(buffer), key.repeat));
            Ok(())
        })?;
        hashes.sort_unstable();
        hashes.dedup();
        self.scratches.lock().expect("no thread panics with the scratches").push(scratch);
        Ok(hashes)
    }
}
