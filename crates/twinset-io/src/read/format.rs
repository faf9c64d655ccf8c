//! The formats, and the endings that tell them.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
