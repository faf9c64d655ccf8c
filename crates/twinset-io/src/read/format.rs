//! The formats, and the endings that tell them.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::compression::inner_ending;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One record a line. A blank line is an empty record, so record numbers are line numbers.
    Txt,
    /// One record a line, fields separated by tabs, no quoting.
    Tsv,
    /// Comma-separated values, with quoting.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// A web page: one record a file.
    Html,
    /// A web archive: one record a page.
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
    Rdf,
    /// JSON-LD.
    Jsonld,
}

impl Format {
    const NAMES: [(&'static str, Format); 19] = [
        ("txt", Format::Txt),
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("jsonl", Format::Jsonl),
        ("parquet", Format::Parquet),
        ("html", Format::Html),
        ("warc", Format::Warc),
        ("nt", Format::Nt),
        ("nq", Format::Nq),
        ("ttl", Format::Ttl),
        ("trig", Format::Trig),
        ("rdf", Format::Rdf),
        ("jsonld", Format::Jsonld),
        ("tab", Format::Tsv),
        ("ndjson", Format::Jsonl),
        ("htm", Format::Html),
        ("xhtml", Format::Html),
        ("wet", Format::Warc),
        ("owl", Format::Rdf),
    ];

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

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::NAMES.iter().find(|(name, _)| *name == text);
        named.map(|&(_, format)| format).ok_or_else(|| {
            format!(
                "`{text}` is not a format: txt, tsv, csv, jsonl, parquet, html, warc, nt, nq, ttl, trig, rdf, jsonld"
            )
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMES.iter().find(|(_, format)| format == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}
