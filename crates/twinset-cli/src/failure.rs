//! How a command ends when it fails: a message, and an exit code that tells wrong usage from other failures.

use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It was called in a way that makes no sense; the text says what would.
    Usage(String),
    /// It was told to end.
    Cancelled,
    /// The reader of a pipe has seen enough, as `head` does.
    BrokenPipe,
    /// Anything else.
    Failed(String),
}

impl Failure {
    pub(crate) fn new(error: &anyhow::Error) -> Self {
        let library = match error.downcast_ref::<twinset_io::Error>() {
            Some(twinset_io::Error::BrokenPipe) => return Self::BrokenPipe,
            Some(twinset_io::Error::Library(error)) => Some(error),
            _ => of_index(error).or_else(|| error.downcast_ref::<twinset::Error>()),
        };
        let text = format!("{error:#}");
        match library {
            Some(twinset::Error::Cancelled) => Self::Cancelled,
            _ if is_usage(error) => Self::Usage(text),
            _ => Self::Failed(text),
        }
    }
}

/// Reports a failure on standard error: 2 for wrong usage, 1 for everything else.
pub(crate) fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    let (text, code) = match Failure::new(&error) {
        Failure::BrokenPipe => return ExitCode::SUCCESS,
        Failure::Cancelled => return ExitCode::from(130),
        Failure::Usage(text) => (text, 2),
        Failure::Failed(text) => (text, 1),
    };
    eprintln!("error: {text}");
    ExitCode::from(code)
}

/// What the library said to an index.
fn of_index(error: &anyhow::Error) -> Option<&twinset::Error> {
    #[cfg(feature = "index")]
    if let Some(twinset_index::Error::Library(error)) = error.downcast_ref() {
        return Some(error);
    }
    let _ = error;
    None
}

fn is_usage(error: &anyhow::Error) -> bool {
    use twinset::Error::{
        BadOption, Conflict, NoThreshold, NotAThreshold, ThresholdOutOfRange, ThresholdTooLarge, TooFewTrees,
        TooManyDigits,
    };
    let is_library_usage = |error: &twinset::Error| {
        matches!(
            error,
            BadOption { .. }
                | Conflict(_)
                | NoThreshold
                | NotAThreshold(_)
                | ThresholdOutOfRange { .. }
                | ThresholdTooLarge(_)
                | TooManyDigits { .. }
                | TooFewTrees { .. }
        )
    };
    #[cfg(feature = "serve")]
    if let Some(twinset_server::Error::Usage(_)) = error.downcast_ref() {
        return true;
    }
    #[cfg(feature = "index")]
    if let Some(twinset_index::Error::Usage(_)) = error.downcast_ref() {
        return true;
    }
    if let Some(error) = of_index(error) {
        return is_library_usage(error);
    }
    match error.downcast_ref::<twinset_io::Error>() {
        Some(twinset_io::Error::Usage(_) | twinset_io::Error::MissingFeature { .. }) => true,
        Some(twinset_io::Error::Library(error)) => is_library_usage(error),
        _ => error.downcast_ref::<twinset::Error>().is_some_and(is_library_usage),
    }
}
