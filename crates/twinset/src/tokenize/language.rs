//! Languages whose words can be stemmed, or whose stop words are known.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::lexicon;
use crate::model::Error;

/// A language, by its name or its two-letter code.
///
/// See the example of [`TokenOptions`](super::TokenOptions).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(ascii_case_insensitive, parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
#[serde(try_from = "String", into = "String")]
#[expect(missing_docs, reason = "the names of languages explain themselves")]
pub enum Language {
    #[strum(to_string = "arabic", serialize = "ar")]
    Arabic,
    #[strum(to_string = "armenian", serialize = "hy")]
    Armenian,
    #[strum(to_string = "basque", serialize = "eu")]
    Basque,
    #[strum(to_string = "catalan", serialize = "ca")]
    Catalan,
    #[strum(to_string = "czech", serialize = "cs")]
    Czech,
    #[strum(to_string = "danish", serialize = "da")]
    Danish,
    #[strum(to_string = "dutch", serialize = "nl")]
    Dutch,
    #[strum(to_string = "english", serialize = "en")]
    English,
    #[strum(to_string = "esperanto", serialize = "eo")]
    Esperanto,
    #[strum(to_string = "estonian", serialize = "et")]
    Estonian,
    #[strum(to_string = "finnish", serialize = "fi")]
    Finnish,
    #[strum(to_string = "french", serialize = "fr")]
    French,
    #[strum(to_string = "german", serialize = "de")]
    German,
    #[strum(to_string = "greek", serialize = "el")]
    Greek,
    #[strum(to_string = "hindi", serialize = "hi")]
    Hindi,
    #[strum(to_string = "hungarian", serialize = "hu")]
    Hungarian,
    #[strum(to_string = "indonesian", serialize = "id")]
    Indonesian,
    #[strum(to_string = "irish", serialize = "ga")]
    Irish,
    #[strum(to_string = "italian", serialize = "it")]
    Italian,
    #[strum(to_string = "lithuanian", serialize = "lt")]
    Lithuanian,
    #[strum(to_string = "nepali", serialize = "ne")]
    Nepali,
    #[strum(to_string = "norwegian", serialize = "no")]
    Norwegian,
    #[strum(to_string = "persian", serialize = "fa")]
    Persian,
    #[strum(to_string = "polish", serialize = "pl")]
    Polish,
    #[strum(to_string = "portuguese", serialize = "pt")]
    Portuguese,
    #[strum(to_string = "romanian", serialize = "ro")]
    Romanian,
    #[strum(to_string = "russian", serialize = "ru")]
    Russian,
    #[strum(to_string = "serbian", serialize = "sr")]
    Serbian,
    #[strum(to_string = "spanish", serialize = "es")]
    Spanish,
    #[strum(to_string = "swedish", serialize = "sv")]
    Swedish,
    #[strum(to_string = "tamil", serialize = "ta")]
    Tamil,
    #[strum(to_string = "turkish", serialize = "tr")]
    Turkish,
    #[strum(to_string = "yiddish", serialize = "yi")]
    Yiddish,
}

/// Words that do not count.
///
/// See the example of [`TokenOptions`](super::TokenOptions).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StopWords {
    /// Those of a language.
    Language(Language),
    /// These.
    Words(BTreeSet<String>),
    /// Those that a file holds, which whoever opens files must put in its place.
    File(PathBuf),
}

impl StopWords {
    /// The words, as they are written.
    pub(super) fn words(&self) -> Result<Vec<String>, Error> {
        let known = match self {
            Self::Words(words) => return Ok(words.iter().cloned().collect()),
            Self::Language(language) => lexicon::stop_words(*language)?,
            Self::File(_) => None,
        };
        let expected = "a language whose stop words are known; give a file of words, one a line";
        let words = known.ok_or_else(|| Error::BadOption { text: self.to_string(), expected })?;
        Ok(words.iter().map(|&word| word.to_owned()).collect())
    }
}

impl fmt::Display for StopWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language(language) => language.fmt(f),
            Self::Words(words) => f.write_str(&words.iter().map(String::as_str).collect::<Vec<_>>().join(" ")),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl FromStr for StopWords {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(text.parse().map_or_else(|_| Self::File(text.into()), Self::Language))
    }
}
