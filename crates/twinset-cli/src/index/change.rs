//! `twinset index add` and `remove`.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twinset::TokenOptions;
use twinset::estimate::{Labeler, SynopsisBuilder};
use twinset::tokenize::TokenHasher;
use twinset_index::kmv::Entry;
use twinset_index::lsh::{LabeledRecord, LshIndex};
use twinset_index::{AddCounts, Settings};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::{Error, Prepared, ReadOptions, Source, are_rdf, for_each_record, one_or_more};

use super::kept::Kept;
use super::{Reading, check_written};
use crate::job::{Job, own_settings};
use crate::session::{Session, SessionOptions, count};

/// Adds records; one whose id exists takes the place of the old one
#[derive(clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Examples:
  twinset index add news articles.jsonl
  twinset index add people people.ttl
  zcat more.jsonl.gz | twinset index add news - --format jsonl
  Values of table columns, a value a line, with the column's name as the id (--kind synopses):
    twinset index add columns values.csv --id column --text value --merge

Records are added some at a time, each time all or none. If the run ends early, the message says how many were added.")]
pub struct Add {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// Files, folders, quoted globs, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    #[serde(skip)]
    pub input: Vec<Source>,
    /// Add the tokens to those that a record of this id has already (synopses only); an id may occur many times
    #[arg(long)]
    merge: bool,
    /// Keep this field beside the synopsis, for `query --show`; repeat it for several (synopses only)
    #[arg(long, value_name = "FIELD")]
    #[serde(deserialize_with = "one_or_more")]
    field: Vec<String>,
    /// How many records are added at a time
    #[arg(long, value_name = "N", default_value_t = BATCH, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    read: ReadOptions,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

/// Records that are added at a time, unless another number is given.
const BATCH: u32 = 10_000;
/// How many values the synopses of a batch have at most.
const MOST_VALUES: usize = 20_000_000;

impl Default for Add {
    fn default() -> Self {
        Self {
            path: String::new(),
            input: Vec::new(),
            merge: false,
            field: Vec::new(),
            batch: BATCH,
            read: ReadOptions::default(),
            tokens: TokenOptions::default(),
            session: SessionOptions::default(),
        }
    }
}

impl Job for Add {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        let mut index = Kept::open(&self.path)?;
        let (settings, name, has_records) = (index.settings().clone(), index.name().to_owned(), index.len()? > 0);
        let about = (&settings, name.as_str(), has_records);
        let empty = AtomicU64::new(0);
        let count_empty = |is_empty: bool| _ = empty.fetch_add(u64::from(is_empty), Ordering::Relaxed);
        let mut lines = match index {
            Kept::Labels(_) if self.merge || !self.field.is_empty() => {
                let reason = "--merge and --field are for indexes of synopses (twinset index create --kind synopses)";
                return Err(Error::Usage(reason.to_owned()).into());
            }
            Kept::Labels(mut index) => {
                let labeler = Labeler::new(settings.labels(), settings.seed)?;
                let make = |hasher: &TokenHasher, text: &str| {
                    let hashes = hasher.hashes(text)?;
                    count_empty(hashes.is_empty());
                    Ok(LshIndex::label(&labeler, String::new(), hashes))
                };
                self.add(session, about, make, |settings, records| {
                    index.set_settings(settings)?;
                    let named = records.into_iter().map(|record| LabeledRecord { id: record.name(), ..record.content });
                    Ok(index.add(named.collect())?)
                })?
            }
            Kept::Synopses(index) => {
                let mut index = match session.run.threads {
                    Some(threads) => index.with_threads(threads),
                    None => *index,
                };
                // Large synopses are not all in memory at once.
                let most = u32::try_from(MOST_VALUES / settings.size() as usize).unwrap_or(u32::MAX);
                self.batch = self.batch.min(most).max(1);
                let make = |hasher: &TokenHasher, text: &str| {
                    let mut synopsis = hasher.synopsis(text, settings.size())?;
                    count_empty(synopsis.synopsis().values().is_empty());
                    Ok((synopsis, text.len() as u64))
                };
                let lines = self.add(session, about, make, |settings, records| {
                    index.set_settings(settings)?;
                    let entry = |record: Prepared<(SynopsisBuilder, u64)>| {
                        let (id, (synopsis, bytes)) = (record.name(), record.content);
                        let extra = self.field.iter().cloned().zip(record.fields.into_iter().map(Value::String));
                        Entry { id, synopsis, bytes, extra: extra.collect() }
                    };
                    Ok(index.add(records.into_iter().map(entry).collect(), self.merge)?)
                })?;
                index.finish()?;
                lines
            }
        };
        let empty = empty.into_inner();
        if empty > 0 {
            lines.push(format!("{} without any token, which no query finds", count(empty, "record")));
        }
        session.summarize(&lines);
        Ok(())
    }
}

impl Add {
    /// Makes something of each text on all threads, and puts it in, some records at a time. Returns what there is to say.
    fn add<P: Send>(
        &self,
        session: &Session,
        (settings, name, has_records): (&Settings, &str, bool),
        make: impl Fn(&TokenHasher, &str) -> twinset::Result<P> + Sync,
        mut put: impl FnMut(&Settings, Vec<Prepared<P>>) -> anyhow::Result<AddCounts> + Send,
    ) -> anyhow::Result<Vec<String>> {
        let inputs = Inputs::find(&self.input, self.read.format)?;
        check_written(&self.path, &inputs.paths().cloned().collect::<Vec<_>>(), None, self.read.rejects.as_deref())?;
        let Reading { read, hasher, settings } = Reading::new(settings, name, Some(&inputs), &self.read, &self.tokens)?;
        let are_resources = are_rdf(&inputs, &self.read)?;
        let (mut added, mut have_ids) = (AddCounts::default(), None);
        let prepare = |text: &str| -> twinset_io::Result<P> { Ok(make(&hasher, text)?) };
        let mut take = |records: Vec<Prepared<P>>| -> anyhow::Result<()> {
            // Names of blank nodes mean nothing outside of their file.
            let is_unnamed = |id: Option<&String>| id.is_none_or(|id| are_resources && id.starts_with("_:"));
            if let Some(record) = records.iter().find(|record| has_records && is_unnamed(record.id.as_ref())) {
                let reason = format!(
                    "record {} has no id of its own, and the index has records already: a number would take the place of another record; \
                     name a field with --id",
                    record.number
                );
                return Err(Error::Usage(reason).into());
            }
            let are_named = *have_ids.get_or_insert(records.first().is_some_and(|record| record.id.is_some()));
            if let Some(record) = records.iter().find(|record| record.id.is_some() != are_named) {
                let reason = format!(
                    "record {}: some records have ids and others do not, whose numbers could be the ids of others; give all an id, \
                     or none",
                    record.number
                );
                return Err(Error::Usage(reason).into());
            }
            let batch = put(&settings, records)?;
            added.new += batch.new;
            added.replaced += batch.replaced;
            Ok(())
        };
        let batch = self.batch.max(1) as usize;
        let rejected = for_each_record(&inputs, &read, &self.field, &session.run, prepare, batch, &mut take);
        let changed = if self.merge { "merged with others" } else { "replaced" };
        let done = format!("{} added, {} {changed}", count(added.new, "record"), added.replaced);
        let rejected = rejected.inspect_err(|_| {
            if added != AddCounts::default() {
                session.summarize(&[format!("{done}, which stays; then it ended")]);
            }
        })?;
        let mut lines = vec![done];
        if let Some(file) = &self.read.rejects {
            lines.push(format!("{} left out, see {}", count(rejected, "bad record"), file.display()));
        }
        Ok(lines)
    }
}

/// Removes records by their ids
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Example:\n  twinset index remove news a17 a18")]
pub struct Remove {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// What the records are called
    #[arg(required = true, value_name = "ID")]
    #[serde(skip)]
    pub ids: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

impl Job for Remove {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        let mut ids = self.ids;
        ids.sort();
        ids.dedup();
        let removed = match Kept::open(&self.path)? {
            Kept::Labels(mut index) => index.remove(&ids)?,
            Kept::Synopses(mut index) => {
                let removed = index.remove(&ids)?;
                index.finish()?;
                removed
            }
        };
        let absent = ids.len() as u64 - removed;
        let mut lines = vec![format!("{} removed", count(removed, "record"))];
        if absent > 0 {
            lines.push(format!("{} not in the index", count(absent, "id")));
        }
        session.summarize(&lines);
        Ok(())
    }
}
