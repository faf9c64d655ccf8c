//! Texts as sets of token hashes, which mean the same in every run.

use std::sync::Mutex;

use super::cutter::{Cutter, Scratch};
use super::{TokenOptions, synopsis_value, token_hash};
use crate::model::{Result, SynopsisBuilder};

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
        let mut hashes = Vec::new();
        self.for_each(text, |hash| hashes.push(hash))?;
        hashes.sort_unstable();
        hashes.dedup();
        Ok(hashes)
    }

    /// The synopsis of a text's tokens, of this size and seed.
    pub fn synopsis(&self, text: &str, size: u32, seed: u64) -> Result<SynopsisBuilder> {
        let mut builder = SynopsisBuilder::new(size)?;
        self.for_each(text, |hash| builder.insert(synopsis_value(hash, seed)))?;
        // It takes no more room than it needs while it waits.
        builder.settle();
        Ok(builder)
    }

    fn for_each(&self, text: &str, mut visit: impl FnMut(u64)) -> Result<()> {
        let scratch = self.scratches.lock().expect("no thread panics with the scratches").pop();
        let mut scratch = scratch.unwrap_or_default();
        self.cutter.for_each(text, &mut scratch, |buffer, key| {
            visit(token_hash(key.of(buffer), key.repeat));
            Ok(())
        })?;
        self.scratches.lock().expect("no thread panics with the scratches").push(scratch);
        Ok(())
    }
}
