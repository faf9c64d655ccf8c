//! Panics that nobody guards are faults; those that are guarded are how some parsers say no.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// What a panic said, and where.
#[derive(Debug, Clone)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

thread_local! {
    /// The last panic on this thread, while a target runs on it.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a target, and returns its panic.
pub(crate) fn caught(target: impl FnOnce()) -> Result<(), Fault> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_noted = LAST.with_borrow_mut(|last| match last {
                Some(last) => {
                    *last = panic.to_string();
                    true
                }
                None => false,
            });
            // The hook of libFuzzer ends the process.
            if !is_noted && !twinset_io::is_guarded() {
                report(panic);
            }
        }));
    });
    LAST.set(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(target));
    let last = LAST.take().unwrap_or_default();
    result.map_err(|_| Fault(last))
}
