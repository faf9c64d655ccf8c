//! What all jobs share: threads, quietness, the progress bar, the closing summary.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use twinset::{Cancel, Run};
use twinset_io::{ByteSize, Error, Output};

use crate::interrupt;
use crate::progress::Bar;

/// Options of every job.
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionOptions {
    /// How many threads (default: all cores)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS), help_heading = "Run")]
    threads: Option<u16>,
    /// Stay within SIZE of memory, for example 1G, with temporary files where needed
    #[arg(long, value_name = "SIZE", help_heading = "Run")]
    memory: Option<ByteSize>,
    /// No progress bar, no closing summary
    #[arg(long, short, help_heading = "Run")]
    #[serde(skip)]
    pub quiet: bool,
}

const MOST_THREADS: i64 = 1024;

/// Shows text to the user: progress, and the closing summary.
pub type Listener = Arc<dyn Fn(String) + Send + Sync>;

/// One run of a job.
pub struct Session {
    pub(crate) run: Run,
    bar: Option<Arc<Bar>>,
    listener: Option<Listener>,
    begin: Instant,
}

impl Session {
    /// Begins a run in a terminal. Ctrl-C ends it.
    pub(crate) fn in_terminal(options: &SessionOptions) -> Self {
        let session = Self::new(options, Cancel::default(), None);
        interrupt::watch(&session.run.cancel);
        session
    }

    /// Begins a run in a program, which can end it by `cancel`, and whose `listener` shows progress and the summary.
    pub fn in_program(options: &SessionOptions, cancel: Cancel, listener: Listener) -> twinset_io::Result<Self> {
        if options.threads.is_some_and(|threads| !(1..=MOST_THREADS).contains(&i64::from(threads))) {
            return Err(Error::Usage(format!("a run has 1 to {MOST_THREADS} threads")));
        }
        let mut session = Self::new(options, cancel, Some(listener));
        // A pool of threads for each call: one for all calls would not survive a fork.
        session.run.threads.get_or_insert_with(|| thread::available_parallelism().map_or(1, usize::from));
        Ok(session)
    }

    fn new(options: &SessionOptions, cancel: Cancel, listener: Option<Listener>) -> Self {
        let bar = (!options.quiet).then(|| Arc::new(Bar::new(listener.clone())));
        let run = Run {
            threads: options.threads.map(usize::from),
            memory: options.memory.map(ByteSize::bytes),
            progress: bar.clone().map(|bar| bar as Arc<dyn twinset::Progress>),
            cancel,
            ..Run::default()
        };
        Self { run, bar, listener, begin: Instant::now() }
    }

    /// The conditions for what follows, when so many bytes of the memory allowed are taken already.
    pub(crate) fn run_beside(&self, taken: u64) -> anyhow::Result<Run> {
        let memory = match self.run.memory {
            Some(limit) if taken >= limit => return Err(twinset::Error::Memory { needed: taken, limit }.into()),
            limit => limit.map(|limit| limit - taken),
        };
        Ok(Run { memory, ..self.run.clone() })
    }

    /// Removes the progress bar before results are written.
    pub(crate) fn clear_bar(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }

    /// Ends the run with a summary on standard error, or by the listener, unless it is to be quiet.
    pub(crate) fn summarize(&self, lines: &[String]) {
        self.clear_bar();
        if self.bar.is_none() {
            return;
        }
        let memory = peak_memory().map(|bytes| format!(", {} of memory", bytes_in_words(bytes))).unwrap_or_default();
        let mut summary: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        summary += &format!("{:.2} s{memory}\n", self.begin.elapsed().as_secs_f64());
        match &self.listener {
            Some(listener) => listener(summary),
            // Standard error may be closed, which is no reason to fail.
            None => _ = std::io::stderr().lock().write_all(summary.as_bytes()),
        }
    }
}

/// Writes a text.
pub(crate) fn write_text(mut output: Output, text: &str) -> anyhow::Result<()> {
    output.write_all(text.as_bytes()).map_err(|error| output.failure(&error))?;
    Ok(output.finish()?)
}

/// The most memory that this process has held.
pub(crate) fn peak_memory() -> Option<u64> {
    // On Linux getrusage also counts what the process was before it became this program.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        return line.trim().strip_suffix(" kB")?.parse().ok().map(|kilobytes: u64| kilobytes * 1024);
    }
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    u64::try_from(usage.max_rss()).ok().map(|units| units * unit)
}

fn bytes_in_words(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}

/// `1 record`, `2,000 records`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let number_text = indicatif::HumanCount(number);
    format!("{number_text} {noun}{}", if number == 1 { "" } else { "s" })
}
