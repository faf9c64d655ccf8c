//! The settings of an index.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twinset::estimate::LshOptions;
use twinset::{TokenKind, TokenOptions};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Result};

/// The settings of an index. They are stored in the index, and all records and queries must match them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of the format.
    pub version: u32,
    /// The kind of index.
    pub kind: Kind,
    /// How texts become tokens.
    pub tokens: TokenOptions,
    /// The number and length of LSH labels, in an LSH index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<LshOptions>,
    /// The number of values of a synopsis, in a KMV index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u32>,
    /// The seed of the hash functions.
    pub seed: u64,
    /// What the records are; `None` until the first are added, unless the index was created for RDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// What the records of an index are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Texts.
    Texts,
    /// Resources of RDF, described with these options.
    Rdf(Value),
}

/// The version that is written.
const VERSION: u32 = 1;
/// The field that is kept beside those of the settings.
const CHECKSUM: &str = "checksum";

impl Settings {
    /// Returns the settings of a new LSH index.
    pub fn lsh(labels: LshOptions, tokens: TokenOptions, seed: u64) -> Self {
        let tokens = tokens.to_record();
        Self { version: VERSION, kind: Kind::Lsh, tokens, labels: Some(labels), size: None, seed, content: None }
    }

    /// Returns the settings of a new KMV index with `size` values per synopsis.
    pub fn kmv(size: u32, tokens: TokenOptions, seed: u64) -> Self {
        let tokens = tokens.to_record();
        Self { version: VERSION, kind: Kind::Kmv, tokens, labels: None, size: Some(size), seed, content: None }
    }

    /// Returns the number and length of LSH labels.
    pub fn labels(&self) -> LshOptions {
        self.labels.unwrap_or_default()
    }

    /// Returns the number of values of a synopsis.
    pub fn size(&self) -> u32 {
        self.size.unwrap_or(twinset::estimate::SYNOPSIS_SIZE)
    }

    /// Returns the settings as JSON with a checksum, as a flipped bit may leave valid settings.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = serde_json::to_value(self).expect("settings can be written as JSON");
        value[CHECKSUM] = self.checksum().into();
        value
    }

    pub(crate) fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    fn checksum(&self) -> String {
        let json = serde_json::to_string(self).expect("settings can be written as JSON");
        format!("{:016x}", xxh3_64(json.as_bytes()))
    }

    /// Parses the settings of the index `index`. Newer formats are rejected.
    pub(crate) fn from_json(json: &str, index: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let broken = |error: &dyn fmt::Display| {
            Error::damaged(index, format!("its settings cannot be read ({error})"), "restore it from a copy")
        };
        let mut value: Value = serde_json::from_str(json).map_err(|error| broken(&error))?;
        let Version { version } = Version::deserialize(&value).map_err(|error| broken(&error))?;
        if version > VERSION {
            let reason =
                format!("it was written by a newer version of twinset (format {version}, and {VERSION} is known here)");
            return Err(Error::damaged(index, reason, "install that"));
        }
        let checksum = value.as_object_mut().and_then(|fields| fields.remove(CHECKSUM));
        let settings: Self = serde_json::from_value(value).map_err(|error| broken(&error))?;
        // Indexes of before have none.
        if checksum.is_some_and(|checksum| checksum != settings.checksum()) {
            return Err(broken(&"their checksum is another"));
        }
        Ok(Self { tokens: settings.tokens.from_record(), ..settings })
    }

    /// Returns whether token hashes mean the same in both. Settings that are still open, in an index without records, match any.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let kind = self.tokens.tokens.or(other.tokens.tokens);
        let tokens =
            |settings: &Self| TokenOptions { tokens: settings.tokens.tokens.or(kind), ..settings.tokens.clone() };
        let is_same_content = match (&self.content, &other.content) {
            (Some(own), Some(others)) => own == others,
            _ => true,
        };
        is_same_content && tokens(self) == tokens(other) && self.seed == other.seed
    }

    /// Rejects token options that differ from those of the index.
    pub fn check_tokens(&self, tokens: &TokenOptions, index: &str) -> Result<()> {
        // Where the index was made without a word about tokens, the input tells whether they are words or lines.
        let kind = match (self.tokens.tokens, tokens.tokens) {
            (None, Some(TokenKind::Words | TokenKind::Lines)) => None,
            (own, given) => given.or(own),
        };
        let told = TokenOptions { tokens: kind, ..tokens.or_recorded(&self.tokens) };
        if *tokens == TokenOptions::default() || told == self.tokens {
            return Ok(());
        }
        let made = serde_json::to_string(&self.tokens).unwrap_or_default();
        Err(Error::index(index, format!("it was made with other token options ({made}); leave yours out")))
    }
}

/// The kind of index. The settings on disk use the papers' names.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum Kind {
    /// LSH labels in trees.
    #[serde(alias = "lsh")]
    #[strum(to_string = "lsh", serialize = "labels")]
    #[serde(rename = "labels")]
    Lsh,
    /// KMV synopses in an inverted index.
    #[serde(alias = "kmv")]
    #[strum(to_string = "kmv", serialize = "synopses")]
    #[serde(rename = "synopses")]
    Kmv,
}
