//! Which record of a group of near duplicates is kept, by what a table says of its records.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use twinset::exact::Ranking;
use twinset::support::Strings;
use twinset::{Error, Link};

/// What forms a group, and which of its records is kept.
///
/// ```
/// # use twinset_io::{DedupOptions, KeepRule};
/// let options: DedupOptions = serde_json::from_str(r#"{"keep": "max:stars", "link": "representative"}"#)?;
/// assert_eq!(options.keep, KeepRule::Max("stars".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DedupOptions {
    /// Which record of a group is kept: first, longest, central, max:FIELD or min:FIELD
    ///
    /// first: the earliest. longest: the one with the longest text. central: the one with most pairs. max:FIELD and
    /// min:FIELD: the one with the largest or smallest value, as numbers if all are. Ties go to the earlier record.
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHICH", default_value_t))]
    pub keep: KeepRule,
    /// What forms a group
    ///
    /// representative: records are visited in the order of --keep, and each joins its most similar representative within
    /// the threshold, or becomes one.
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW", default_value_t))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<Link>()))]
    pub link: Link,
}

/// Which record of a group is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KeepRule {
    /// The earliest.
    #[default]
    First,
    /// The one with the longest text.
    Longest,
    /// The one with most pairs.
    Central,
    /// The one with the largest value of a field.
    Max(String),
    /// The one with the smallest value of a field.
    Min(String),
}

impl KeepRule {
    /// Returns the field whose values decide, if there is one.
    pub fn field(&self) -> Option<&String> {
        match self {
            Self::Max(field) | Self::Min(field) => Some(field),
            Self::First | Self::Longest | Self::Central => None,
        }
    }

    /// Ranks the records by their lengths, or by the values of the [`field`](Self::field); `None` where neither decides.
    pub fn ranking(&self, lengths: &[u32], values: &Strings) -> Option<Ranking> {
        match self {
            Self::First | Self::Central => None,
            Self::Longest => Some(Ranking::by_length(lengths)),
            Self::Max(_) => Some(Ranking::by_value(values, true)),
            Self::Min(_) => Some(Ranking::by_value(values, false)),
        }
    }
}

impl fmt::Display for KeepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Longest => f.write_str("longest"),
            Self::Central => f.write_str("central"),
            Self::Max(field) => write!(f, "max:{field}"),
            Self::Min(field) => write!(f, "min:{field}"),
        }
    }
}

impl FromStr for KeepRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "first" => Ok(Self::First),
            None if text == "longest" => Ok(Self::Longest),
            None if text == "central" => Ok(Self::Central),
            Some(("max", field)) if !field.is_empty() => Ok(Self::Max(field.to_owned())),
            Some(("min", field)) if !field.is_empty() => Ok(Self::Min(field.to_owned())),
            _ => {
                let expected = "a record to keep: first, longest, central, max:FIELD or min:FIELD";
                Err(Error::BadOption { text: text.to_owned(), expected })
            }
        }
    }
}

impl TryFrom<String> for KeepRule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<KeepRule> for String {
    fn from(keep: KeepRule) -> String {
        keep.to_string()
    }
}
