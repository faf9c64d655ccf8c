//! `twinset index query`.

use std::path::PathBuf;

use twinset::{Run, Threshold, TokenOptions};
use twinset_index::labels::{self, LabelIndex};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::write::{Kind, Table, Value};
use twinset_io::{Error, OutputOptions, ReadOptions, for_each_record};

use super::{Promise, check_written, hasher};
use crate::session::{SessionOptions, count};

/// Finds the records of an index that are near duplicates of others
#[derive(clap::Args)]
#[command(after_help = "Examples:
  twinset index query news --threshold 0.8 today.jsonl --output found.csv
  twinset index query news --threshold 0.9 --probability 0.98 --id a17
  twinset index query news --threshold 0.5 --like 'the old bridge near the mill was closed'

Columns are query,id,similarity, most similar first for each record of INPUT. Without INPUT, --id is a record of the index.")]
pub(crate) struct Query {
    /// The index
    #[arg(value_name = "PATH")]
    path: String,
    #[command(flatten)]
    asked: Asked,
    /// Records at or above T are found: a decimal or a fraction in (0, 1]
    #[arg(long, short, value_name = "T")]
    threshold: Threshold,
    #[command(flatten)]
    promise: Promise,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    session: SessionOptions,
}

/// What near duplicates are sought of: the records of files, one of the index, or a text.
#[derive(clap::Args)]
pub(super) struct Asked {
    /// Files, folders, quoted globs, or - for standard input
    #[arg(value_name = "INPUT")]
    input: Vec<PathBuf>,
    /// A text
    #[arg(long, value_name = "TEXT", conflicts_with = "input")]
    like: Option<String>,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    tokens: TokenOptions,
}

/// A record whose near duplicates are sought.
pub(super) struct Asking {
    pub(super) name: String,
    pub(super) hashes: Vec<u64>,
    /// Its number, if it is one of the index, and does not find itself.
    pub(super) number: Option<i64>,
}

/// Records that are read at a time.
const BATCH: usize = 1000;

impl Asked {
    /// Whether anything was asked.
    pub(super) fn is_something(&self) -> bool {
        !self.input.is_empty() || self.like.is_some() || self.read.id.is_some()
    }

    /// Refuses outputs that would replace one another, an input, or the index.
    pub(super) fn check_written(&self, path: &str, output: &OutputOptions) -> anyhow::Result<()> {
        let inputs =
            Inputs::find(&self.input, self.read.format).map(|inputs| inputs.paths().cloned().collect::<Vec<_>>());
        // What is no file is told of later.
        Ok(check_written(path, &inputs.unwrap_or_default(), [&output.output, &self.read.rejects])?)
    }

    /// The files, if there are any.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.input
    }

    /// Calls `visit` for all that is asked, in order. Returns how many bad records were rejected.
    pub(super) fn for_each(
        mut self,
        index: &mut LabelIndex,
        run: &Run,
        mut visit: impl FnMut(&mut LabelIndex, Asking) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<u64> {
        read_stop_words(&mut self.tokens)?;
        let inputs = (!self.input.is_empty()).then(|| Inputs::find(&self.input, self.read.format)).transpose()?;
        let hasher = hasher(index, inputs.as_ref(), &self.read, &self.tokens)?;
        match (inputs, &self.like, &self.read.id) {
            (Some(inputs), _, _) => {
                let prepare = |text: &str| Ok(hasher.hashes(text)?);
                let take = |records: Vec<twinset_io::Prepared<Vec<u64>>>| {
                    records.into_iter().try_for_each(|record| {
                        visit(index, Asking { name: record.name(), hashes: record.content, number: None })
                    })
                };
                for_each_record(&inputs, &self.read, run, prepare, BATCH, take)
            }
            (None, Some(text), None) => {
                let hashes = hasher.hashes(text)?;
                visit(index, Asking { name: "-".to_owned(), hashes, number: None })?;
                Ok(0)
            }
            (None, None, Some(id)) => {
                let found = index.find(id)?;
                let record =
                    found.ok_or_else(|| Error::Usage(format!("there is no record `{id}` in {}", index.name())))?;
                visit(index, Asking { name: record.id, hashes: record.hashes, number: Some(record.number) })?;
                Ok(0)
            }
            _ => {
                let reason = "near duplicates of what? Name files, or a record with --id, or a text with --like";
                Err(Error::Usage(reason.to_owned()).into())
            }
        }
    }
}

impl Query {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let mut index = LabelIndex::open(&self.path)?;
        let query = labels::Query { threshold: self.threshold, probability: self.promise.probability };
        index.check(&query)?;
        self.asked.check_written(&self.path, &self.output)?;
        let rejects = self.asked.read.rejects.clone();
        let (output, format) = self.output.open()?;
        let columns = [("query", Kind::Text), ("id", Kind::Text), ("similarity", Kind::Real)];
        let mut table = Table::create(output, format, columns)?;
        let (mut queries, mut found) = (0, 0);
        let rejected = self.asked.for_each(&mut index, &session.run, |index, asking| {
            queries += 1;
            for hit in index.query(&asking.hashes, &query)? {
                if Some(hit.number) != asking.number {
                    found += 1;
                    table.row(&[Value::Text(&asking.name), Value::Text(&hit.id), Value::Real(hit.similarity)])?;
                }
            }
            Ok(())
        })?;
        session.clear_bar();
        table.finish()?;
        let promise = index.settings().labels.length(query.threshold, query.probability)?;
        let mut lines = vec![
            format!("{} found for {}", count(found, "near duplicate"), count(queries, "record")),
            format!("{promise} bits of labels; each was found with probability {} at least", query.probability),
        ];
        if let Some(file) = rejects {
            lines.push(format!("{} left out, see {}", count(rejected, "bad record"), file.display()));
        }
        session.summarize(&lines);
        Ok(())
    }
}
