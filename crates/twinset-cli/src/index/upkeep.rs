//! `twinset index stats`, `check` and `export`.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;
use serde::{Deserialize, Serialize};
use serde_json::json;
use twinset_io::Destination;

use super::check_written;
use super::kept::Kept;
use crate::job::Job;
use crate::session::{Session, SessionOptions, count, write_text};

/// Says what is in an index, as JSON
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Example:\n  twinset index stats news")]
pub struct Stats {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
    /// Where the answer goes.
    #[arg(skip)]
    #[serde(skip)]
    pub output: Destination,
}

impl Job for Stats {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let mut index = Kept::open(&self.path)?;
        let told = match &mut index {
            Kept::Labels(index) => {
                let stats = index.stats()?;
                let per_record = stats.bytes.filter(|_| stats.records > 0).map(|bytes| bytes / stats.records);
                json!({
                    "records": stats.records,
                    "labels": stats.labels,
                    "bytes": stats.bytes,
                    "bytes_per_record": per_record,
                    "settings": stats.settings,
                })
            }
            Kept::Synopses(index) => {
                let stats = index.stats()?;
                json!({
                    "records": stats.records,
                    "size": stats.settings.size(),
                    "complete": share(stats.complete, stats.records),
                    "values": stats.values,
                    "distinct": stats.distinct,
                    "segments": stats.segments,
                    "bytes": stats.bytes,
                    "bytes_per_record": stats.bytes.checked_div(stats.records),
                    "input_bytes": stats.input_bytes,
                    "bytes_per_input_byte": share(stats.bytes, stats.input_bytes),
                    "settings": stats.settings,
                })
            }
        };
        session.clear_bar();
        write_text(self.output.open()?, &format!("{}\n", serde_json::to_string_pretty(&told)?))?;
        let records = count(index.len()?, "record");
        session.summarize(&[format!("{}: {records}", index.name())]);
        Ok(())
    }
}

/// Reads all of an index, and says whether anything is damaged
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Example:\n  twinset index check news\n\nExit code 1 if anything is damaged.")]
pub struct Check {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
    /// Where the answer goes.
    #[arg(skip)]
    #[serde(skip)]
    pub output: Destination,
}

impl Job for Check {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        let mut index = Kept::open(&self.path)?;
        let damages = match &mut index {
            Kept::Labels(index) => index.damages()?,
            Kept::Synopses(index) => index.damages()?,
        };
        session.clear_bar();
        if damages.is_empty() {
            let records = count(index.len()?, "record");
            session.summarize(&[format!("{}: {records}, and nothing is damaged", index.name())]);
            return Ok(());
        }
        let mut text = String::new();
        damages.iter().for_each(|damage| writeln!(text, "{damage}").expect("a string takes everything"));
        write_text(self.output.open()?, &text)?;
        bail!(
            "{}: it is damaged; restore it from a copy, or export what can be read, create it anew and add the records again",
            index.name()
        )
    }
}

/// Writes all records of an index as jsonl: their ids, and the hashes of their tokens, or the values of their synopses
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Examples:
  twinset index export news --output news.jsonl.zst
  twinset join news.jsonl.zst --text tokens --tokens items --threshold 0.8

The second finds the pairs of an index of labels exactly, without the texts. Of synopses, tokens are their values.")]
pub(super) struct Export {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// Write to FILE instead of standard output; it appears only when complete (.gz and .zst are compressed)
    #[arg(long, short, value_name = "FILE")]
    #[arg(default_value = "-", hide_default_value = true)]
    output: Destination,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

impl Job for Export {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        let index = Kept::open(&self.path)?;
        check_written(&self.path, &[], self.output.path(), None)?;
        let mut output = self.output.open()?;
        let mut records = 0;
        let mut write = |line: serde_json::Value| -> anyhow::Result<()> {
            session.run.check()?;
            records += 1;
            Ok(writeln!(output, "{line}").map_err(|error| output.failure(&error))?)
        };
        let in_words = |hashes: &[u64]| hashes.iter().map(|hash| format!("{hash:016x}")).collect::<Vec<_>>().join(" ");
        match index {
            Kept::Labels(mut index) => {
                index.for_each(|record| write(json!({"id": record.id, "tokens": in_words(&record.hashes)})))?;
            }
            Kept::Synopses(index) => index.snapshot()?.for_each_stored(|id, extra, synopsis| {
                let values = in_words(synopsis.values());
                let size = synopsis.distinct() as u64;
                let mut line = json!({"id": id, "tokens": values, "complete": synopsis.is_complete(), "size": size});
                if !extra.is_empty() {
                    line["fields"] = json!(extra);
                }
                write(line)
            })?,
        }
        output.finish()?;
        session.summarize(&[format!("{} written", count(records, "record"))]);
        Ok(())
    }
}
