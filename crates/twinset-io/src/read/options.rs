//! How files are read, as the user says it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twinset::{StopWords, TokenOptions};

use super::Format;
use crate::{ByteSize, Error, Result};

/// How files become records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ReadOptions {
    /// txt, tsv, csv, jsonl or parquet, where the file's ending does not tell
    #[cfg_attr(feature = "clap", arg(long, value_name = "FORMAT", help_heading = "Input"))]
    pub format: Option<Format>,
    /// The field that names a record (default: `id` if there is one, otherwise the record's number from 1)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD", help_heading = "Input"))]
    pub id: Option<String>,
    /// A field to compare; repeat it for several (default: `text` if there is one, otherwise all but the id)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD", help_heading = "Input"))]
    pub text: Vec<String>,
    /// What separates fields (default: a comma for csv, a tab for tsv)
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = "Input"))]
    pub delimiter: Option<String>,
    /// The first line is a record, and fields are named 1, 2, …
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Input"))]
    pub no_header: bool,
    /// The files' encoding, for example windows-1252, where it is not UTF-8
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = "Input"))]
    pub encoding: Option<String>,
    /// Go on without bad records, and write them to FILE (csv) with their place and the reason
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "Input"))]
    pub rejects: Option<PathBuf>,
    /// The largest record
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value_t = LARGEST_RECORD, help_heading = "Input"))]
    pub max_record: ByteSize,
}

const LARGEST_RECORD: ByteSize = ByteSize::new(64 << 20);

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            id: None,
            text: Vec::new(),
            delimiter: None,
            no_header: false,
            encoding: None,
            rejects: None,
            max_record: LARGEST_RECORD,
        }
    }
}

/// Reads the stop words from the file that the options name, if they name one. Returns its path.
pub fn read_stop_words(options: &mut TokenOptions) -> Result<Option<PathBuf>> {
    let Some(StopWords::File(path)) = options.stop_words.clone() else { return Ok(None) };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Error::file(&path, format!("this is neither a language that is known nor a file of stop words: {error}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    options.stop_words = Some(StopWords::Words(text.split_whitespace().map(str::to_owned).collect()));
    Ok(Some(path))
}
