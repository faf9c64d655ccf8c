//! Languages whose words can be stemmed, or whose stop words are known.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::Error;

/// A language, by its name or its two-letter code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language(u8);

/// Names and codes.
const LANGUAGES: [(&str, &str); 33] = [
    ("arabic", "ar"),
    ("armenian", "hy"),
    ("basque", "eu"),
    ("catalan", "ca"),
    ("czech", "cs"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("english", "en"),
    ("esperanto", "eo"),
    ("estonian", "et"),
    ("finnish", "fi"),
    ("french", "fr"),
    ("german", "de"),
    ("greek", "el"),
    ("hindi", "hi"),
    ("hungarian", "hu"),
    ("indonesian", "id"),
    ("irish", "ga"),
    ("italian", "it"),
    ("lithuanian", "lt"),
    ("nepali", "ne"),
    ("norwegian", "no"),
    ("persian", "fa"),
    ("polish", "pl"),
    ("portuguese", "pt"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("serbian", "sr"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("tamil", "ta"),
    ("turkish", "tr"),
    ("yiddish", "yi"),
];

impl Language {
    fn name(self) -> &'static str {
        LANGUAGES[self.0 as usize].0
    }

    /// Its stemmer.
    pub(super) fn stemmer(self) -> Option<frostem::Stemmer> {
        frostem::Stemmer::try_from_name(self.name()).ok()
    }

    /// Its stop words.
    pub(super) fn stop_words(self) -> Option<&'static [&'static str]> {
        stop_words::lookup(LANGUAGES[self.0 as usize].1)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let lower = text.to_lowercase();
        let found = LANGUAGES.iter().position(|(name, code)| *name == lower || *code == lower);
        let language = found.map(|position| Self(position as u8));
        language.filter(|language| language.stemmer().is_some()).ok_or_else(|| {
            let expected =
                "a language that is known, such as english, german, french, spanish, russian or en, de, fr, es, ru";
            Error::BadOption { text: text.to_owned(), expected }
        })
    }
}

/// Words that do not count.
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
    /// The words, in lower case.
    pub(super) fn words(&self) -> Result<Vec<String>, Error> {
        let known = match self {
            Self::Words(words) => return Ok(words.iter().map(|word| word.to_lowercase()).collect()),
            Self::Language(language) => language.stop_words(),
            Self::File(_) => None,
        };
        let expected = "a language whose stop words are known; give a file of words, one a line";
        let words = known.ok_or_else(|| Error::BadOption { text: self.to_string(), expected })?;
        Ok(words.iter().map(|word| word.to_lowercase()).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_stemmer_and_many_have_stop_words() {
        for (name, code) in LANGUAGES {
            let language: Language = name.parse().unwrap();
            assert_eq!(code.parse::<Language>().unwrap(), language);
            assert!(language.stemmer().is_some(), "{name}");
        }
        let without: Vec<&str> =
            LANGUAGES.iter().filter(|(_, code)| stop_words::lookup(code).is_none()).map(|(name, _)| *name).collect();
        assert!(without.len() <= 12, "{without:?}");
        let english = "en".parse::<Language>().unwrap().stop_words().unwrap();
        assert!(english.contains(&"the") && !english.contains(&"computer"));
    }
}
