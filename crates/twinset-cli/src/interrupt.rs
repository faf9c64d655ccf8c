//! Ctrl-C: ends the run, and leaves no half-written file.

use std::thread;
use std::time::Duration;

use twinset::Cancel;

/// Stops everything that watches the flag when the user interrupts.
pub(crate) fn watch(cancel: &Cancel) {
    let cancel = cancel.clone();
    // There can be a handler already only if this is called twice, and then that one does the same.
    let _ = ctrlc::set_handler(move || {
        cancel.stop();
        // The run ends by itself, unless it waits for input that may never come.
        thread::sleep(Duration::from_millis(500));
        twinset_io::durable::remove_unfinished();
        std::process::exit(130);
    });
}
