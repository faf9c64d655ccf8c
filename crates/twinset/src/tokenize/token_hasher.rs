//! Texts as sets of token hashes, which mean the same in every run.

use std::sync::Mutex;

use super::cutter::{Cutter, Scratch};
use super::hash::wide_hash;
use super::{TokenOptions, seeded_hash, synopsis_value};
use crate::model::Result;
use crate::sketch::{MinHasher, SynopsisBuilder};

/// Turns texts into sets of token hashes, for what is kept from one run to the next.
///
/// ```
/// # use twinset::tokenize::{TokenHasher, token_hash};
/// # use twinset::TokenOptions;
/// let hasher = TokenHasher::new(&TokenOptions::default(), 0)?;
/// let mut expected = [token_hash(b"as", 1), token_hash(b"as", 2), token_hash(b"good", 1)];
/// expected.sort_unstable();
/// assert_eq!(hasher.hashes("As good as")?, expected);
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct TokenHasher {
    cutter: Cutter,
    seed: u64,
    scratches: Mutex<Vec<Scratch>>,
}

impl TokenHasher {
    /// For tokens as the options say, with hashes that depend on a seed.
    pub fn new(options: &TokenOptions, seed: u64) -> Result<Self> {
        Ok(Self { cutter: Cutter::of_tokens(options)?, seed, scratches: Mutex::default() })
    }

    /// The hashes of a text's tokens, sorted, each once.
    pub fn hashes(&self, text: &str) -> Result<Vec<u64>> {
        let mut hashes = Vec::new();
        self.for_each(text, |hash| hashes.push(hash))?;
        hashes.sort_unstable();
        hashes.dedup();
        Ok(hashes)
    }

    /// The synopsis of a text's tokens, of this size.
    pub fn synopsis(&self, text: &str, size: u32) -> Result<SynopsisBuilder> {
        let mut builder = SynopsisBuilder::new(size)?;
        self.for_each(text, |hash| builder.insert(synopsis_value(hash, self.seed)))?;
        // It takes no more room than it needs while it waits.
        builder.settle();
        Ok(builder)
    }

    /// Hashes of a text's tokens that no two tokens share.
    pub(crate) fn wide_hashes(&self, text: &str) -> Result<Vec<u128>> {
        let mut hashes = Vec::new();
        self.for_each_key(text, |token, repeat| hashes.push(wide_hash(token, repeat)))?;
        Ok(hashes)
    }

    /// The sketch of a text's tokens; it has no entries if there are none.
    pub(crate) fn sketch(&self, text: &str, minima: &MinHasher) -> Result<Vec<u32>> {
        let (mut hashes, mut sketch) = (Vec::new(), Vec::new());
        self.for_each(text, |hash| hashes.push(hash as u32))?;
        if !hashes.is_empty() {
            minima.append(&hashes, &mut sketch);
        }
        Ok(sketch)
    }

    fn for_each(&self, text: &str, mut visit: impl FnMut(u64)) -> Result<()> {
        self.for_each_key(text, |token, repeat| visit(seeded_hash(token, repeat, self.seed)))
    }

    fn for_each_key(&self, text: &str, mut visit: impl FnMut(&[u8], u32)) -> Result<()> {
        let scratch = self.scratches.lock().expect("no thread panics with the scratches").pop();
        let mut scratch = scratch.unwrap_or_default();
        self.cutter.for_each(text, &mut scratch, |buffer, key| {
            visit(key.of(buffer), key.repeat);
            Ok(())
        })?;
        self.scratches.lock().expect("no thread panics with the scratches").push(scratch);
        Ok(())
    }
}
