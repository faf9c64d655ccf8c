//! What is sought, and how sources are read.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use twinset::{Threshold, TokenKind, TokenOptions};
use twinset_io::{Format, Limits, ReadOptions, comma_separated, one_or_more};

use crate::sources::SourceOptions;
use crate::{Error, Result};

/// How tables and documents become features, and which relations are listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(mut_arg("unicode_form", |form| form.long("normalize-text"))))]
pub struct ProfileOptions {
    /// List pairs of columns whose Jaccard similarity is at least T
    #[cfg_attr(
        feature = "clap",
        arg(long, short, value_name = "T", default_value = "0.8", help_heading = "Relations")
    )]
    pub threshold: Threshold,
    /// List columns of which at least this share of the values is in another
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", default_value = "0.9", help_heading = "Relations"))]
    pub containment: Threshold,
    /// List foreign keys with at least this score
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", default_value_t = 0.5, help_heading = "Relations"))]
    pub score: f64,
    /// For each column, the N best relations of a kind
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 10, help_heading = "Relations"))]
    pub top: usize,
    /// Do not look at the data a second time; what is listed is then not confirmed, and says so
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Relations"))]
    pub no_check: bool,
    /// How many values a synopsis has
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", default_value_t = 512, help_heading = "Relations"))]
    pub size: u32,
    /// What the hash function depends on
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0, help_heading = "Relations"))]
    pub seed: u64,
    /// Only this schema of a database; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = "Input"))]
    #[serde(deserialize_with = "one_or_more")]
    pub schema: Vec<String>,
    /// Only this table; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = "Input"))]
    #[serde(deserialize_with = "one_or_more")]
    pub table: Vec<String>,
    /// Read views of databases, too
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Input"))]
    pub views: bool,
    /// A query to a database may take so many seconds; 0 for any number
    #[cfg_attr(feature = "clap", arg(long, value_name = "SECONDS", default_value_t = 600.0, help_heading = "Input"))]
    pub timeout: f64,
    /// Take the tables of a database for unchanged if TEXT is the same as when they were saved, rather than compute checksums of them
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", help_heading = "Input"))]
    pub state: Option<String>,
    /// csv, tsv or parquet (default: by the file's extension)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FORMAT", help_heading = "Input"))]
    pub format: Option<Format>,
    /// What separates fields (default: a comma for csv, a tab for tsv)
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = "Input"))]
    pub delimiter: Option<String>,
    /// The first line is a row, and columns are named 1, 2, …
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Input"))]
    pub no_header: bool,
    /// The files' encoding, for example windows-1252, where it is not UTF-8
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = "Input"))]
    pub encoding: Option<String>,
    /// What is too much.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: Limits,
    /// Differences between values to ignore, or `none` to compare values as written
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Values"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<Normalize>()))]
    #[serde(deserialize_with = "comma_separated")]
    pub normalize: Vec<Normalize>,
    /// A text that stands for no value, such as NA; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", help_heading = "Values"))]
    #[serde(deserialize_with = "one_or_more")]
    pub null: Vec<String>,
    /// Empty texts, and texts of white space only, are values
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Values"))]
    pub empty_values: bool,
    /// Compare these columns or paths by their tokens (words, unless --tokens says otherwise)
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Values"))]
    #[serde(deserialize_with = "comma_separated")]
    pub text_columns: Vec<String>,
    /// How texts become tokens.
    #[serde(flatten, with = "TextTokenOptions")]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub tokens: TokenOptions,
}

/// Which differences between values are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum Normalize {
    /// Upper and lower case.
    Case,
    /// Leading zeros.
    Zeros,
    /// The amount of white space.
    Space,
    /// None: numbers, dates and booleans that are written differently differ, too.
    None,
}

/// Token options, whose `normalize` is `normalize_text` here, as values have an option of that name.
#[derive(Default, Serialize, Deserialize)]
#[serde(remote = "TokenOptions", default)]
struct TextTokenOptions {
    tokens: Option<TokenKind>,
    repeats: twinset::tokenize::Repeats,
    stem: Option<twinset::tokenize::Language>,
    stop_words: Option<twinset::tokenize::StopWords>,
    reduce: Option<twinset::tokenize::Reduce>,
    #[serde(rename = "normalize_text")]
    normalize: Option<twinset::tokenize::Normalize>,
    #[serde(skip)]
    segmentation: Option<twinset::tokenize::Segmentation>,
}

/// A share that is written here.
fn share(text: &str) -> Threshold {
    text.parse().expect("a decimal is a threshold")
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self {
            threshold: share("0.8"),
            containment: share("0.9"),
            score: 0.5,
            top: 10,
            no_check: false,
            size: 512,
            seed: 0,
            schema: Vec::new(),
            table: Vec::new(),
            views: false,
            timeout: 600.0,
            state: None,
            format: None,
            delimiter: None,
            no_header: false,
            encoding: None,
            limits: Limits::default(),
            normalize: Vec::new(),
            null: Vec::new(),
            empty_values: false,
            text_columns: Vec::new(),
            tokens: TokenOptions::default(),
        }
    }
}

impl ProfileOptions {
    /// Refuses what makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("threshold", self.threshold), ("containment", self.containment)] {
            if !(value.as_f64() > 0.0 && value.as_f64() <= 1.0) {
                return Err(Error::Usage(format!("--{name} {value}: a share lies above 0 and is at most 1")));
            }
        }
        if !(0.0..=1.0).contains(&self.score) {
            return Err(Error::Usage(format!("--score {}: a score lies between 0 and 1", self.score)));
        }
        if !(self.timeout >= 0.0 && self.timeout < 1e9) {
            return Err(Error::Usage(format!("--timeout {}: name a number of seconds", self.timeout)));
        }
        if let Some(format) = self.format
            && !matches!(format, Format::Csv | Format::Tsv | Format::Parquet)
        {
            return Err(Error::Usage(format!("--format {format}: tables are csv, tsv or parquet")));
        }
        if self.tokens != TokenOptions::default() && self.text_columns.is_empty() {
            let reason =
                "token options are for columns that are compared by their tokens; name them with --text-columns";
            return Err(Error::Usage(reason.to_owned()));
        }
        if self.tokens.reduce.is_some() {
            return Err(Error::Usage("synopses are samples already; leave --reduce out".to_owned()));
        }
        Ok(())
    }

    /// How texts become tokens: words, each once.
    pub(crate) fn token_options(&self) -> TokenOptions {
        TokenOptions {
            tokens: self.tokens.tokens.or(Some(TokenKind::Words)),
            repeats: twinset::tokenize::Repeats::Ignore,
            ..self.tokens.clone()
        }
    }

    pub(crate) fn source_options(&self) -> SourceOptions {
        SourceOptions {
            schemas: self.schema.clone(),
            tables: self.table.clone(),
            views: self.views,
            state: self.state.clone(),
            needs_state: false,
            timeout: (self.timeout > 0.0).then(|| Duration::from_secs_f64(self.timeout)),
            read: ReadOptions {
                format: self.format,
                delimiter: self.delimiter.clone(),
                no_header: self.no_header,
                encoding: self.encoding.clone(),
                limits: self.limits.clone(),
                ..ReadOptions::default()
            },
        }
    }
}
