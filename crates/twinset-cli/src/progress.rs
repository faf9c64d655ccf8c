//! A progress bar on standard error, when that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use twinset::Progress;

/// Shows each stage of a run as a bar.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        // Hidden by itself when standard error is no terminal.
        Self(ProgressBar::new(0))
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, stage: &'static str, total: Option<u64>) {
        let template = match (stage, total) {
            ("read", Some(_)) => "{msg:9} {wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
            ("read", None) => "{spinner} {msg:9} {elapsed}",
            _ => "{msg:9} {wide_bar} {percent}%, {eta} left",
        };
        let style = ProgressStyle::with_template(template).expect("the templates are well formed");
        self.0.set_style(style.progress_chars("━╸ "));
        self.0.set_message(stage);
        self.0.reset();
        self.0.set_position(0);
        match total {
            Some(total) => self.0.set_length(total),
            None => self.0.unset_length(),
        }
        // It takes a thread, which nothing is worth that nobody sees.
        if !self.0.is_hidden() {
            self.0.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn advance(&self, units: u64) {
        self.0.inc(units);
    }
}
