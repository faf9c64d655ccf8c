//! Which record of a group is kept, as the user says it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::Error;

/// What becomes of near duplicates.
///
/// ```
/// # use twinset::exact::{DedupOptions, KeepRule};
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
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Link>()))]
    pub link: Link,
}

/// Which record of a group is kept, by what a table says of records. [`Search`](crate::Search) takes a [`Keep`](crate::Keep).
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
    /// The field by which it goes, if it is one.
    pub fn field(&self) -> Option<&String> {
        match self {
            Self::Max(field) | Self::Min(field) => Some(field),
            _ => None,
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

/// What forms a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Link {
    /// All that pairs connect.
    #[default]
    Any,
    /// A record and those that joined it, each within the threshold of it.
    Representative,
}
