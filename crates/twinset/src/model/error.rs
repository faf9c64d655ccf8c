//! What can go wrong inside the library, each with its remedy.

use strum::VariantArray;

use super::Measure;
use crate::support::SpillError;

/// A result whose error is [`Error`].
///
/// See the example of [`Search`](crate::Search).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the library could not do what it was asked.
///
/// ```
/// let error = twinset::Search::at("many").unwrap_err();
/// assert!(matches!(error, twinset::Error::NotAThreshold(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is neither a decimal nor a fraction.
    #[error("`{0}` is not a threshold: write a decimal such as 0.8, or a fraction such as 4/5")]
    NotAThreshold(String),
    /// The threshold has more than nine digits, so its bounds might not fit exact arithmetic.
    #[error("the threshold {text} has more than nine digits: write it as a fraction, for example {suggestion}")]
    TooManyDigits {
        /// The threshold as it was written.
        text: String,
        /// The simplest fraction that rounds to it.
        suggestion: String,
    },
    /// The threshold is larger than any record.
    #[error("the threshold {0} is too large: records have at most a billion tokens")]
    ThresholdTooLarge(String),
    /// The threshold lies outside what the measure allows.
    #[error("the threshold {threshold} does not fit {measure}: give {}", .measure.thresholds())]
    ThresholdOutOfRange {
        /// The measure asked for.
        measure: Measure,
        /// The threshold, as a reduced fraction.
        threshold: String,
    },
    /// Neither a threshold nor a number of pairs was given.
    #[error(
        "which pairs? Give a threshold (for example --threshold 0.8), or how many of the best you want (--top 100)"
    )]
    NoThreshold,
    /// An option's text is not one of its values.
    #[error("`{text}` is not {expected}")]
    BadOption {
        /// What was written.
        text: String,
        /// What can be written.
        expected: &'static str,
    },
    /// A text that should be one of several names is none of them.
    #[error("`{text}` is not one of {names}")]
    UnknownName {
        /// What was written.
        text: String,
        /// The names, separated by commas.
        names: String,
    },
    /// Options that contradict each other, with what to change.
    #[error("{0}")]
    Conflict(&'static str),
    /// This build was made without the cargo feature that an option needs.
    #[error("{what} needs the cargo feature `{feature}` of twinset")]
    MissingFeature {
        /// What needs it.
        what: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// More than the 32-bit ids can number.
    #[error("more than {limit} {what}: split the input")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
    },
    /// So many trees cannot keep the promise.
    #[error(
        "{trees} trees cannot find pairs on that threshold with that probability: it takes {needed}; lower --probability, raise \
         --threshold, or make labels for more --trees"
    )]
    TooFewTrees {
        /// How many trees there are.
        trees: u32,
        /// How many it takes.
        needed: u32,
    },
    /// Edit distance was asked of token sets, or another measure of texts.
    #[error("{measure} cannot be computed from this: edit distance compares texts, every other measure token sets")]
    WrongInput {
        /// The measure asked for.
        measure: Measure,
    },
    /// A join would take more memory than it may.
    #[error(
        "the join needs about {needed} bytes of memory, and may take {limit}: allow more, or join parts of the input"
    )]
    Memory {
        /// About how much it needs.
        needed: u64,
        /// How much it may take.
        limit: u64,
    },
    /// A temporary file could not be written or read.
    #[error("a temporary file failed: {reason}; make room in the folder for temporary files, or name another (TMPDIR)")]
    Spill {
        /// What the system said.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("stopped before the end, as asked")]
    Cancelled,
    /// The worker threads could not be started.
    #[error("could not start {threads} threads: {reason}; allow more memory, or fewer threads")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl From<SpillError> for Error {
    fn from(SpillError(error): SpillError) -> Self {
        Self::Spill { reason: error.to_string() }
    }
}

impl Error {
    /// Returns the error for a text that names no variant of `T`, for `#[strum(parse_err_fn = …)]`.
    #[doc(hidden)]
    pub fn unknown_name<T: VariantArray + Copy + Into<&'static str>>(text: &str) -> Self {
        let names: Vec<&str> = T::VARIANTS.iter().map(|&variant| variant.into()).collect();
        Self::UnknownName { text: text.to_owned(), names: names.join(", ") }
    }
}
