//! What can go wrong in the service, and what it means to the one who asked.

use std::io::{self, ErrorKind};

use tantivy::TantivyError;
use tantivy::directory::error::OpenWriteError;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the service could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request makes no sense; the text says what would.
    #[error("{0}")]
    Request(String),
    /// There is no such thing.
    #[error("{0}")]
    Missing(String),
    /// It can be asked again later.
    #[error("{0}")]
    Busy(String),
    /// What is kept cannot be read or written.
    #[error("{place}: {reason}")]
    Storage {
        /// Which part.
        place: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The disk is full.
    #[error("{place}: {reason}")]
    Full {
        /// Which part.
        place: String,
        /// What was not written, and what to do.
        reason: String,
    },
    /// The service was started in a way that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The label index refused.
    #[error(transparent)]
    Index(twinset_index::Error),
}

/// Why a search ends that reached its deadline.
#[derive(Debug, thiserror::Error)]
#[error("this search takes too long; ask for other words, or for fewer days")]
pub(crate) struct DeadlineExceeded;

impl Error {
    pub(crate) fn storage(place: &str, reason: impl std::fmt::Display) -> Self {
        Self::Storage { place: place.to_owned(), reason: reason.to_string() }
    }

    fn full(place: &str, reason: impl std::fmt::Display) -> Self {
        Self::Full { place: place.to_owned(), reason: reason.to_string() }
    }

    /// A file or folder could not be written.
    pub(crate) fn io(place: &str, error: &io::Error) -> Self {
        if error.kind() == ErrorKind::StorageFull { Self::full(place, error) } else { Self::storage(place, error) }
    }

    /// Whether the disk is full.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Index(twinset_index::Error::Full { .. }))
    }

    /// What each of the changes hears that were to be made together.
    pub(crate) fn unacknowledged(&self) -> Self {
        let variant = if self.is_full() { Self::full } else { Self::storage };
        variant("nothing was acknowledged", self.to_string())
    }
}

impl From<twinset_index::Error> for Error {
    fn from(error: twinset_index::Error) -> Self {
        Self::Index(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let place = "the articles";
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => {
                Self::full(place, "the disk is full; make room, nothing of this was kept")
            }
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::storage(place, format!("it is damaged ({error}); restore it from a backup"))
            }
            _ => Self::storage(place, error),
        }
    }
}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Self {
        let place = "the full-text index";
        match error {
            TantivyError::SchemaError(reason) => Self::Request(format!("this cannot be sought: {reason}")),
            TantivyError::LockFailure(..) => Self::Usage("another service runs on this folder".to_owned()),
            TantivyError::IoError(error) => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(DeadlineExceeded) => Self::Busy(DeadlineExceeded.to_string()),
                None if error.kind() == ErrorKind::StorageFull => Self::full(place, TantivyError::IoError(error)),
                None => Self::storage(place, TantivyError::IoError(error)),
            },
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath })
                if io_error.kind() == ErrorKind::StorageFull =>
            {
                Self::full(place, OpenWriteError::IoError { io_error, filepath })
            }
            error => Self::storage(place, error),
        }
    }
}

impl From<twinset::Error> for Error {
    fn from(error: twinset::Error) -> Self {
        Self::Request(error.to_string())
    }
}
