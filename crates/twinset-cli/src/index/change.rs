//! `twinset index add` and `remove`.

use std::path::PathBuf;

use twinset::{Labeler, TokenOptions};
use twinset_index::labels::{Added, LabelIndex, Labelled};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::{Prepared, ReadOptions, are_rdf, for_each_record};

use super::{check_written, hasher};
use crate::session::{SessionOptions, count};

/// Adds records; one whose id exists takes the place of the old one
#[derive(clap::Args)]
#[command(after_help = "Examples:
  twinset index add news articles.jsonl
  twinset index add people people.ttl
  zcat more.jsonl.gz | twinset index add news - --format jsonl

Records are added some at a time, each time all or none. If the run ends early, the message says how many were added.")]
pub(crate) struct Add {
    /// The index
    #[arg(value_name = "PATH")]
    path: String,
    /// Files, folders, quoted globs, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    input: Vec<PathBuf>,
    /// How many records are added at a time
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    session: SessionOptions,
}

impl Add {
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        let session = self.session.begin();
        let mut index = LabelIndex::open(&self.path)?;
        let inputs = Inputs::find(&self.input, self.read.format)?;
        check_written(&self.path, &inputs.paths().cloned().collect::<Vec<_>>(), [&self.read.rejects])?;
        let hasher = hasher(&index, Some(&inputs), &self.read, &self.tokens)?;
        let labeler = Labeler::new(index.settings().labels, index.settings().seed)?;
        let has_records = !index.is_empty()?;
        let are_resources = are_rdf(&inputs, &self.read)?;
        let (mut added, mut have_ids) = (Added::default(), None);
        let prepare = |text: &str| -> twinset_io::Result<Labelled> {
            Ok(LabelIndex::label(&labeler, String::new(), hasher.hashes(text)?))
        };
        let mut take = |records: Vec<Prepared<Labelled>>| -> anyhow::Result<()> {
            // Names of blank nodes mean nothing outside of their file.
            let is_unnamed = |id: Option<&String>| id.is_none_or(|id| are_resources && id.starts_with("_:"));
            if let Some(record) = records.iter().find(|record| has_records && is_unnamed(record.id.as_ref())) {
                let reason = format!(
                    "record {} has no id of its own, and the index has records already: a number would take the place of another record; \
                     name a field with --id",
                    record.number
                );
                return Err(twinset_io::Error::Usage(reason).into());
            }
            let are_named = *have_ids.get_or_insert(records.first().is_some_and(|record| record.id.is_some()));
            if let Some(record) = records.iter().find(|record| record.id.is_some() != are_named) {
                let reason = format!(
                    "record {}: some records have ids and others do not, whose numbers could be the ids of others; give all an id, \
                     or none",
                    record.number
                );
                return Err(twinset_io::Error::Usage(reason).into());
            }
            let named = records.into_iter().map(|record| Labelled { id: record.name(), ..record.content });
            let batch = index.add(named.collect())?;
            added.new += batch.new;
            added.replaced += batch.replaced;
            Ok(())
        };
        let rejected = for_each_record(&inputs, &self.read, &session.run, prepare, self.batch as usize, &mut take);
        let done = format!("{} added, {} replaced", count(added.new, "record"), added.replaced);
        let rejected = rejected.inspect_err(|_| {
            if added != Added::default() {
                session.summarize(&[format!("{done}, which stays; then it ended")]);
            }
        })?;
        let mut lines = vec![done];
        if let Some(file) = &self.read.rejects {
            lines.push(format!("{} left out, see {}", count(rejected, "bad record"), file.display()));
        }
        session.summarize(&lines);
        Ok(())
    }
}

/// Removes records by their ids
#[derive(clap::Args)]
#[command(after_help = "Example:\n  twinset index remove news a17 a18")]
pub(crate) struct Remove {
    /// The index
    #[arg(value_name = "PATH")]
    path: String,
    /// What the records are called
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    session: SessionOptions,
}

impl Remove {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let mut index = LabelIndex::open(&self.path)?;
        let mut ids = self.ids;
        ids.sort();
        ids.dedup();
        let removed = index.remove(&ids)?;
        let absent = ids.len() as u64 - removed;
        let mut lines = vec![format!("{} removed", count(removed, "record"))];
        if absent > 0 {
            lines.push(format!("{} not in the index", count(absent, "id")));
        }
        session.summarize(&lines);
        Ok(())
    }
}
