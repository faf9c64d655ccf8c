//! How texts become tokens, as the user says it.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::script::TextForm;
use super::{Language, Normalize, Segmentation, StopWords};
use crate::model::{Error, Measure, Result};

/// How texts become token sets.
///
/// ```
/// # use twinset::TokenOptions;
/// let options: TokenOptions = serde_json::from_str(r#"{"tokens": "shingles:5", "repeats": "ignore"}"#)?;
/// assert_eq!(options.kind().to_string(), "shingles:5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TokenOptions {
    /// What a token is: words, qgrams:Q, shingles:K, lines or items (default: words, for RDF lines)
    ///
    /// words: runs of letters, digits and _, lower-cased; Chinese, Japanese, Thai, Lao, Khmer and Burmese words are found
    /// by dictionaries. qgrams:Q: Q consecutive characters, lower-cased, white space made one space. shingles:K: K
    /// consecutive words. lines: lines as they stand. items: what white space separates, as it stands.
    #[cfg_attr(feature = "clap", arg(long, value_name = "KIND", help_heading = "Tokens"))]
    pub tokens: Option<TokenKind>,
    /// Unicode normalization of words, shingles and q-grams (default: nfkc)
    // `profile` has an option of this name as well, for values.
    #[cfg_attr(
        feature = "clap",
        arg(id = "unicode_form", long = "normalize", value_name = "FORM", help_heading = "Tokens")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Normalize>()))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Normalize>,
    /// How words of scripts without spaces are found. What is stored records it; users do not choose it.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segmentation: Option<Segmentation>,
    /// What becomes of a token's second occurrence in a record
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW", default_value_t, help_heading = "Tokens"))]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Repeats>()))]
    pub repeats: Repeats,
    /// Compare the stems of words, as in LANGUAGE: english or en, german or de, …
    #[cfg_attr(feature = "clap", arg(long, value_name = "LANGUAGE", help_heading = "Tokens"))]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Language>(), ignore_case = true))]
    pub stem: Option<Language>,
    /// Leave out words that mean little: those of a language, or of a file with one a line
    #[cfg_attr(feature = "clap", arg(long, value_name = "LANGUAGE|FILE", help_heading = "Tokens"))]
    pub stop_words: Option<StopWords>,
    /// Keep a sample of each record's tokens: minwise:N (those with the N smallest hashes) or mod:M (one in M)
    ///
    /// Pairs of reduced records are estimates.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SAMPLE", help_heading = "Tokens"))]
    pub reduce: Option<Reduce>,
}

impl TokenOptions {
    /// What a token is: words, unless something else is said.
    pub fn kind(&self) -> TokenKind {
        self.tokens.unwrap_or_default()
    }

    /// Returns these options with every setting that decides what the tokens are, to be stored beside them.
    ///
    /// Later versions read from it how the tokens were made.
    #[doc(hidden)]
    pub fn to_record(&self) -> Self {
        // Lines and items are compared as they are.
        let form = match self.tokens {
            Some(TokenKind::Lines | TokenKind::Items) => {
                TextForm { normalize: Normalize::None, segmentation: Segmentation::Runs }
            }
            _ => self.form(),
        };
        Self { normalize: Some(form.normalize), segmentation: Some(form.segmentation), ..self.clone() }
    }

    /// The options that a record means. Records that do not mention normalization and segmentation are older than both.
    #[doc(hidden)]
    pub fn from_record(self) -> Self {
        Self {
            normalize: self.normalize.or(Some(Normalize::None)),
            segmentation: self.segmentation.or(Some(Segmentation::Runs)),
            ..self
        }
    }

    /// These options, with what a record says where they say nothing.
    #[doc(hidden)]
    pub fn or_recorded(&self, record: &Self) -> Self {
        Self {
            tokens: self.tokens.or(record.tokens),
            normalize: self.normalize.or(record.normalize),
            segmentation: self.segmentation.or(record.segmentation),
            ..self.clone()
        }
    }

    pub(super) fn form(&self) -> TextForm {
        TextForm { normalize: self.normalize.unwrap_or_default(), segmentation: self.segmentation.unwrap_or_default() }
    }

    /// Refuses options that edit distance, which compares characters, would ignore.
    pub(crate) fn check_measure(&self, measure: Measure) -> Result<()> {
        if measure == Measure::Edit && (self.stem.is_some() || self.stop_words.is_some() || self.normalize.is_some()) {
            return Err(Error::Conflict(
                "edit distance compares the texts as they stand; leave out --stem, --stop-words and --normalize",
            ));
        }
        Ok(())
    }
}

impl From<TokenKind> for TokenOptions {
    fn from(kind: TokenKind) -> Self {
        Self { tokens: Some(kind), ..Self::default() }
    }
}

/// What a token is.
///
/// See the example of [`TokenOptions`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TokenKind {
    /// Maximal runs of letters, digits and `_`, lower-cased. Letters include combining marks.
    #[default]
    Words,
    /// So many consecutive characters of the lower-cased text, runs of white space made one space.
    QGrams(NonZeroU32),
    /// So many consecutive words.
    Shingles(NonZeroU32),
    /// Lines, as they stand; empty ones do not count.
    Lines,
    /// What white space separates, as it stands.
    Items,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str("words"),
            Self::QGrams(q) => write!(f, "qgrams:{q}"),
            Self::Shingles(k) => write!(f, "shingles:{k}"),
            Self::Lines => f.write_str("lines"),
            Self::Items => f.write_str("items"),
        }
    }
}

impl FromStr for TokenKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let kind = match text.split_once(':') {
            None if text == "words" => Some(Self::Words),
            None if text == "lines" => Some(Self::Lines),
            None if text == "items" => Some(Self::Items),
            Some(("qgrams", q)) => length(q).map(Self::QGrams),
            Some(("shingles", k)) => length(k).map(Self::Shingles),
            _ => None,
        };
        let expected = "a kind of token: words, qgrams:Q, shingles:K, lines or items (Q and K from 1 to 1000)";
        kind.ok_or_else(|| Error::BadOption { text: text.to_owned(), expected })
    }
}

/// A length of q-grams or shingles.
fn length(text: &str) -> Option<NonZeroU32> {
    text.parse::<NonZeroU32>().ok().filter(|length| length.get() <= 1000)
}

/// What becomes of a token's second occurrence in a record.
///
/// See the example of [`TokenOptions`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Repeats {
    /// It is another token: the second "as" differs from the first.
    #[default]
    Number,
    /// It is dropped: records are plain sets.
    Ignore,
}

/// Which of a record's tokens are kept, by their hashes.
///
/// See the example of [`TokenOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reduce {
    /// Those with the N smallest hashes.
    MinWise(NonZeroU32),
    /// Those whose hash is 0 modulo M.
    Mod(NonZeroU32),
}

impl fmt::Display for Reduce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinWise(n) => write!(f, "minwise:{n}"),
            Self::Mod(m) => write!(f, "mod:{m}"),
        }
    }
}

impl FromStr for Reduce {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let reduce = match text.split_once(':') {
            Some(("minwise", n)) => n.parse().ok().map(Self::MinWise),
            Some(("mod", m)) => m.parse().ok().map(Self::Mod),
            _ => None,
        };
        let expected = "a sample: minwise:N or mod:M, with N and M from 1";
        reduce.ok_or_else(|| Error::BadOption { text: text.to_owned(), expected })
    }
}

/// In JSON these options are the same text as on the command line.
macro_rules! as_text {
    ($($kind:ty),*) => {$(
        impl TryFrom<String> for $kind {
            type Error = Error;
            fn try_from(text: String) -> Result<Self, Error> {
                text.parse()
            }
        }
        impl From<$kind> for String {
            fn from(kind: $kind) -> String {
                kind.to_string()
            }
        }
    )*};
}
as_text!(TokenKind, Reduce, Language);
