//! The formats, and the endings that tell them.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::compression::inner_ending;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum Format {
    /// One record per line. A blank line is an empty record, so record numbers are line numbers.
    Txt,
    /// One record per line, fields separated by tabs, no quoting.
    #[serde(alias = "tab")]
    #[strum(to_string = "tsv", serialize = "tab")]
    Tsv,
    /// Comma-separated values, with quoting.
    Csv,
    /// One JSON object per line.
    #[serde(alias = "ndjson")]
    #[strum(to_string = "jsonl", serialize = "ndjson")]
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// A web page: one record per file.
    #[serde(alias = "htm", alias = "xhtml")]
    #[strum(to_string = "html", serialize = "htm", serialize = "xhtml")]
    Html,
    /// A web archive: one record per page.
    #[serde(alias = "wet")]
    #[strum(to_string = "warc", serialize = "wet")]
    Warc,
    /// N-Triples.
    Nt,
    /// N-Quads.
    Nq,
    /// Turtle.
    Ttl,
    /// TriG.
    Trig,
    /// RDF/XML.
    #[serde(alias = "owl")]
    #[strum(to_string = "rdf", serialize = "owl")]
    Rdf,
    /// JSON-LD.
    Jsonld,
}

impl Format {
    /// The endings that are known, for messages.
    pub(super) const KNOWN: &'static str =
        "txt, tsv, csv, jsonl, html, warc, nt, nq, ttl, trig, rdf and jsonld (each also with .gz or .zst), parquet";

    /// The format that a path's ending tells, before `.gz` or `.zst`.
    pub fn of_path(path: &Path) -> Option<Self> {
        inner_ending(path)?.parse().ok()
    }

    /// Whether this is a way to write RDF.
    pub(crate) fn is_rdf(self) -> bool {
        matches!(self, Self::Nt | Self::Nq | Self::Ttl | Self::Trig | Self::Rdf | Self::Jsonld)
    }

    /// The cargo feature that reads this format, and whether this build has it; `None` if every build reads it.
    fn feature(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Txt | Self::Tsv | Self::Csv | Self::Jsonl => None,
            Self::Parquet => Some(("parquet", cfg!(feature = "parquet"))),
            Self::Html | Self::Warc => Some(("web", cfg!(feature = "web"))),
            Self::Nt | Self::Nq | Self::Ttl | Self::Trig | Self::Rdf | Self::Jsonld => {
                Some(("rdf", cfg!(feature = "rdf")))
            }
        }
    }

    /// Why this build cannot read a file of this format, if it cannot.
    pub(super) fn missing(self, file: impl fmt::Display) -> Option<Error> {
        let (feature, _) = self.feature().filter(|&(_, is_there)| !is_there)?;
        let action = match feature {
            "web" => format!("read web pages ({self})"),
            "rdf" => format!("read RDF ({self})"),
            _ => format!("read {self}"),
        };
        Some(Error::missing_feature(file, action, feature))
    }
}
