//! The formats, and the endings that tell them.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
}

impl Format {
    const NAMES: [(&'static str, Format); 7] = [
        ("txt", Format::Txt),
        ("tsv", Format::Tsv),
        ("csv", Format::Csv),
        ("jsonl", Format::Jsonl),
        ("parquet", Format::Parquet),
        ("tab", Format::Tsv),
        ("ndjson", Format::Jsonl),
    ];

    /// The endings that are known, for messages.
    pub(super) const KNOWN: &'static str = "txt, tsv, csv, jsonl, parquet, each also with .gz or .zst";

    /// The format that a path's ending tells, before `.gz` or `.zst`.
    pub fn of_path(path: &Path) -> Option<Self> {
        let inner = match Compression::of_path(path) {
            Some(_) => Path::new(path.file_stem()?),
            None => path,
        };
        inner.extension()?.to_str()?.to_ascii_lowercase().parse().ok()
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::NAMES.iter().find(|(name, _)| *name == text);
        named
            .map(|&(_, format)| format)
            .ok_or_else(|| format!("`{text}` is not a format: txt, tsv, csv, jsonl, parquet"))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMES.iter().find(|(_, format)| format == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// By the first bytes, for a stream without a name.
    pub(crate) fn of_magic(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}
