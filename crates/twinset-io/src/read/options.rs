//! How files are read, as the user says it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::tokenize::StopWords;

use super::{Format, RdfOptions};
use crate::{Error, Limits, Result, one_or_more};

/// How files become records.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ReadOptions {
    /// The format of the input (default: by the file's extension)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FORMAT", help_heading = "Input"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<Format>()))]
    pub format: Option<Format>,
    /// The field that names a record (default: `id` if there is one, otherwise the record's number from 1)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD", help_heading = "Input"))]
    pub id: Option<String>,
    /// A field to compare; repeat it for several, joined by a space, empty ones skipped (default: `text` if there is one, otherwise all but the id)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD", help_heading = "Input"))]
    #[serde(deserialize_with = "one_or_more")]
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
    /// Which text of a web page is compared
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", default_value_t, help_heading = "Input"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<PageText>()))]
    pub page: PageText,
    /// Go on without bad records, and write them to FILE (csv) with their place and the reason
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "Input"))]
    pub rejects: Option<PathBuf>,
    /// What is too much.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: Limits,
    /// How RDF becomes records.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub rdf: RdfOptions,
}

/// What is compared of a web page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum PageText {
    /// The article, if there is one; otherwise all of it.
    #[default]
    Main,
    /// All of its text.
    Text,
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
