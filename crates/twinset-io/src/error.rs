//! What can go wrong while reading and writing, with its place and its remedy.

use std::fmt;
use std::path::Path;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A record that cannot be used.
    #[error("{place}: {reason}")]
    Record {
        /// Where it stands.
        place: Place,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A file that cannot be used.
    #[error("{file}: {reason}")]
    File {
        /// Its path, or what stands for it.
        file: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// Options that do not fit together.
    #[error("{0}")]
    Usage(String),
    /// This build was made without the cargo feature that a format needs.
    #[error("{what}; build it with `cargo install --path crates/twinset-cli --features full --locked`")]
    MissingFeature {
        /// The file, and what this build cannot do with it.
        what: String,
        /// The cargo feature that is missing.
        feature: &'static str,
    },
    /// Whoever read standard output has stopped: not worth a message.
    #[error("standard output was closed")]
    BrokenPipe,
    /// From the library.
    #[error(transparent)]
    Library(#[from] twinset::Error),
}

impl Error {
    pub(crate) fn file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::File { file: path.display().to_string(), reason: reason.to_string() }
    }

    /// That this build cannot read or write a file as it would have to.
    pub(crate) fn missing_feature(file: impl fmt::Display, action: impl fmt::Display, feature: &'static str) -> Self {
        Self::MissingFeature { what: format!("{file}: this build of twinset cannot {action}"), feature }
    }
}

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's path, or `standard input`.
    pub file: String,
    /// The line, or the row, from 1.
    pub line: u64,
    /// The column within the line, from 1.
    pub column: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}
