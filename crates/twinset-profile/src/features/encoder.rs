//! How texts become values: the same for all features of a run.

use twinset::tokenize::{TokenHasher, seeded_hash, synopsis_value};

use crate::features::value::{Normalizer, truth};
use crate::{ProfileOptions, Result};

/// What all features of a run are made with.
pub(crate) struct ValueEncoder {
    pub(crate) rules: Normalizer,
    pub(crate) size: u32,
    pub(crate) seed: u64,
    /// Texts that stand for no value.
    pub(crate) nulls: Vec<Vec<u8>>,
    pub(crate) empty_values: bool,
    /// How texts become tokens.
    pub(crate) hasher: TokenHasher,
}

impl ValueEncoder {
    pub(crate) fn new(options: &ProfileOptions) -> Result<Self> {
        Ok(Self {
            rules: Normalizer::new(&options.normalize),
            size: options.size,
            seed: options.seed,
            nulls: options.null.iter().map(|text| text.clone().into_bytes()).collect(),
            empty_values: options.empty_values,
            hasher: TokenHasher::new(&options.token_options(), options.seed)?,
        })
    }

    /// The text of a row, unless it stands for no value.
    #[inline]
    pub(crate) fn present<'a>(&self, raw: Option<&'a [u8]>) -> Option<&'a [u8]> {
        let raw = raw?;
        if !self.empty_values && is_blank(raw) || self.is_null(raw) {
            return None;
        }
        Some(raw)
    }

    /// Whether a text stands for no value, as the user says.
    #[inline]
    pub(crate) fn is_null(&self, raw: &[u8]) -> bool {
        !self.nulls.is_empty() && self.nulls.iter().any(|null| null == raw)
    }

    /// The hash of a text.
    #[inline]
    pub(crate) fn hash(&self, text: &[u8]) -> u64 {
        seeded_hash(text, 1, self.seed)
    }

    /// The value of a text in synopses.
    #[inline]
    pub(crate) fn value(&self, text: &[u8]) -> u64 {
        synopsis_value(self.hash(text), self.seed)
    }

    /// Whether values are compared as databases compare them.
    pub(crate) fn is_plain(&self) -> bool {
        self.nulls.is_empty() && !self.empty_values && self.rules.is_default()
    }

    /// The value of a text, and the text as it is compared.
    #[inline]
    pub(crate) fn value_of<'a>(&self, is_boolean: bool, raw: &'a [u8], buffer: &'a mut Vec<u8>) -> (u64, &'a [u8]) {
        let text = self.rules.apply(raw, buffer).text;
        let text = match is_boolean.then(|| truth(text)).flatten() {
            Some(true) => b"true".as_slice(),
            Some(false) => b"false",
            None => text,
        };
        (self.value(text), text)
    }
}

/// Whether a text is empty or holds nothing but white space.
#[inline]
pub(crate) fn is_blank(raw: &[u8]) -> bool {
    match raw.first() {
        None => true,
        // White space starts with one of these bytes; those from 0xc2 are beyond ASCII.
        Some(b'\t'..=b'\r' | b' ' | 0xc2 | 0xe1..=0xe3) => {
            std::str::from_utf8(raw).is_ok_and(|text| text.trim_start().is_empty())
        }
        Some(_) => false,
    }
}
