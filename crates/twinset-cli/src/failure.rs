//! How a command ends when it fails: a message, and an exit code that tells wrong usage from other failures.

use std::process::ExitCode;

/// Reports a failure on standard error: 2 for wrong usage, 1 for everything else.
pub(crate) fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    match error.downcast_ref::<twinset_io::Error>() {
        // The reader of a pipe has seen enough, as `head` does.
        Some(twinset_io::Error::BrokenPipe) => return ExitCode::SUCCESS,
        Some(twinset_io::Error::Library(twinset::Error::Cancelled)) => return ExitCode::from(130),
        _ if is_cancelled(&error) => return ExitCode::from(130),
        _ if error.downcast_ref() == Some(&twinset::Error::Cancelled) => return ExitCode::from(130),
        _ => {}
    }
    eprintln!("error: {error:#}");
    ExitCode::from(if is_usage(&error) { 2 } else { 1 })
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(twinset_index::Error::Library(twinset::Error::Cancelled)))
}

fn is_usage(error: &anyhow::Error) -> bool {
    use twinset::Error::{
        BadOption, NoThreshold, NotAThreshold, ThresholdOutOfRange, ThresholdTooLarge, TooFewTrees, TooManyDigits,
    };
    let is_library_usage = |error: &twinset::Error| {
        matches!(
            error,
            BadOption { .. }
                | NoThreshold
                | NotAThreshold(_)
                | ThresholdOutOfRange { .. }
                | ThresholdTooLarge(_)
                | TooManyDigits { .. }
                | TooFewTrees { .. }
        )
    };
    if let Some(twinset_server::Error::Usage(_)) = error.downcast_ref() {
        return true;
    }
    match error.downcast_ref::<twinset_index::Error>() {
        Some(twinset_index::Error::Usage(_)) => return true,
        Some(twinset_index::Error::Library(error)) => return is_library_usage(error),
        _ => {}
    }
    match error.downcast_ref::<twinset_io::Error>() {
        Some(twinset_io::Error::Usage(_)) => true,
        Some(twinset_io::Error::Library(error)) => is_library_usage(error),
        _ => error.downcast_ref::<twinset::Error>().is_some_and(is_library_usage),
    }
}
