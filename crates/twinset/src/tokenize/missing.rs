//! Takes the place of `lexicon` in a build without the feature `languages`.

use std::borrow::Cow;

use super::Language;
use crate::model::{Error, Result};

/// No stemmer exists.
pub(super) enum Stemmer {}

impl Stemmer {
    pub(super) fn stem<'a>(&self, _word: &'a str) -> Cow<'a, str> {
        match *self {}
    }
}

pub(super) fn stemmer(_language: Language) -> Result<Stemmer> {
    Err(Error::MissingFeature { what: "stemming", feature: "languages" })
}

pub(super) fn stop_words(_language: Language) -> Result<Option<&'static [&'static str]>> {
    Err(Error::MissingFeature { what: "the stop words of a language", feature: "languages" })
}
