//! What can go wrong with a source, each with its remedy.

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a profile could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something about a source as a whole.
    #[error("{source_name}: {reason}")]
    Source {
        /// The path or address, without a password.
        source_name: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The user asked for something that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] twinset_io::Error),
    /// Saved synopses could not be read or written.
    #[error(transparent)]
    Index(#[from] twinset_index::Error),
    /// The library refused.
    #[error(transparent)]
    Library(#[from] twinset::Error),
}

impl Error {
    pub(crate) fn source(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::Source { source_name: name.to_owned(), reason: reason.to_string() }
    }

    /// Whether the run is to end, rather than to go on with what else there is.
    pub(crate) fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Library(twinset::Error::Cancelled)
                | Self::File(twinset_io::Error::Library(twinset::Error::Cancelled))
        )
    }
}
