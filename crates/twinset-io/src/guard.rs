//! Panics of other crates at broken input, as failures.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs some work; `None` if it panics.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    GUARDED.set(before);
    result
}

/// Whether a panic of this thread becomes a failure, so that nothing need be printed about it.
pub fn is_guarded() -> bool {
    GUARDED.get()
}
