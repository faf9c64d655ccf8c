//! Errors of indexes, each with its remedy.

use std::io;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the index as a whole.
    #[error("{index}: {reason}")]
    Index {
        /// The path or address, without a password.
        index: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The disk is full.
    #[error("{index}: {reason}")]
    Full {
        /// The path or address, without a password.
        index: String,
        /// What was not written, and what to do.
        reason: String,
    },
    /// The files or tables are corrupt, or of another version.
    #[error("{index}: {reason}; {remedy}")]
    Damaged {
        /// The path or address, without a password.
        index: String,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// Invalid usage.
    #[error("{0}")]
    Usage(String),
    /// An error of the library.
    #[error(transparent)]
    Library(#[from] twinset::Error),
}

impl Error {
    pub(crate) fn index(index: &str, reason: impl std::fmt::Display) -> Self {
        Self::Index { index: index.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn full(index: &str, reason: impl std::fmt::Display) -> Self {
        Self::Full { index: index.to_owned(), reason: reason.to_string() }
    }

    /// A file or folder could not be written.
    pub(crate) fn io(index: &str, error: &io::Error, reason: impl std::fmt::Display) -> Self {
        let variant = if error.kind() == io::ErrorKind::StorageFull { Self::full } else { Self::index };
        variant(index, reason.to_string())
    }

    pub(crate) fn damaged(index: &str, reason: impl std::fmt::Display, remedy: &str) -> Self {
        Self::Damaged { index: index.to_owned(), reason: reason.to_string(), remedy: remedy.to_owned() }
    }

    /// A change was made, and may not survive a power failure.
    pub(crate) fn unsettled(index: &str, error: impl std::fmt::Display) -> Self {
        let reason = "this change is there, but would be lost if the power failed now";
        Self::index(index, format!("{reason}, as the disk does not answer ({error}); look at the disk"))
    }
}

impl From<twinset_io::Error> for Error {
    fn from(error: twinset_io::Error) -> Self {
        match error {
            twinset_io::Error::File { file, reason } => Self::Index { index: file, reason },
            twinset_io::Error::Library(error) => Self::Library(error),
            other => Self::Usage(other.to_string()),
        }
    }
}
