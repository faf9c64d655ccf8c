//! A stream that fails when one record takes too much of it.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much may still be read before the record ends. Whoever reads sets it anew for each record.
#[derive(Clone, Default)]
pub(super) struct Budget(Arc<AtomicU64>);

impl Budget {
    /// Allows so many bytes from now on.
    pub(super) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// Fails when a record takes more than its budget, so that a quote left open does not swallow the whole file.
pub(super) struct Bounded<R> {
    pub(super) inner: R,
    pub(super) budget: Budget,
}

/// Why it failed.
#[derive(Debug)]
pub(super) struct TooLong;

impl TooLong {
    /// Whether this is why a read failed.
    pub(super) fn is_cause(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the record is too long")
    }
}

impl std::error::Error for TooLong {}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let left = self.budget.0.load(Ordering::Relaxed).checked_sub(length as u64);
        self.budget.0.store(left.ok_or_else(|| io::Error::other(TooLong))?, Ordering::Relaxed);
        Ok(length)
    }
}
