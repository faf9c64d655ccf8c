//! What can go wrong in the service, and what it means to the one who asked.

use crate::until::LATE;

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
    /// The service was started in a way that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The label index refused.
    #[error(transparent)]
    Index(twinset_index::Error),
}

impl Error {
    pub(crate) fn storage(place: &str, reason: impl std::fmt::Display) -> Self {
        Self::Storage { place: place.to_owned(), reason: reason.to_string() }
    }
}

impl From<twinset_index::Error> for Error {
    fn from(error: twinset_index::Error) -> Self {
        Self::Index(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let reason = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => "the disk is full; make room, nothing of this was kept".to_owned(),
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                format!("it is damaged ({error}); restore it from a backup")
            }
            _ => error.to_string(),
        };
        Self::storage("the articles", reason)
    }
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        match error {
            tantivy::TantivyError::SchemaError(reason) => Self::Request(format!("this cannot be sought: {reason}")),
            tantivy::TantivyError::InternalError(reason) if reason == LATE => Self::Busy(reason),
            tantivy::TantivyError::LockFailure(..) => Self::Usage("another service runs on this folder".to_owned()),
            error => Self::storage("the full-text index", error),
        }
    }
}

impl From<twinset::Error> for Error {
    fn from(error: twinset::Error) -> Self {
        Self::Request(error.to_string())
    }
}
