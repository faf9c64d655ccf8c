//! A progress bar on standard error, when that is a terminal, or where a program shows it.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use twinset::Progress;

use crate::session::Listener;

/// How many times a second progress is reported to a program, at most.
const HERTZ: u8 = 4;
/// How many characters a program shows in a line, which may be a notebook or a file.
const WIDTH: u16 = 79;

/// Shows each stage of a run as a bar.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(listener: Option<Listener>) -> Self {
        Self(match listener {
            Some(listener) => {
                let line = Line { listener, written: Mutex::default() };
                ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::term_like_with_hz(Box::new(line), HERTZ))
            }
            // Hidden by itself when standard error is no terminal.
            None => ProgressBar::new(0),
        })
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

/// A line that a program shows, and that is written again and again from its beginning, which all that shows text knows.
struct Line {
    listener: Listener,
    written: Mutex<String>,
}

impl Line {
    fn write(&self, text: &str) -> io::Result<()> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        Ok(())
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl TermLike for Line {
    fn width(&self) -> u16 {
        WIDTH
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write(text)?;
        self.write("\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.write(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write(&format!("\r{:width$}\r", "", width = usize::from(WIDTH)))
    }

    fn flush(&self) -> io::Result<()> {
        let written = std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        if !written.is_empty() {
            (self.listener)(written);
        }
        Ok(())
    }
}
