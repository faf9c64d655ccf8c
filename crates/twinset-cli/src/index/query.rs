//! `twinset index query`.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twinset::estimate::{Comparison, Intervals, Synopsis, SynopsisBuilder};
use twinset::{Run, Threshold, TokenOptions};
use twinset_index::kmv::{Hit, KmvIndex, Snapshot};
use twinset_index::lsh::{self, LshIndex};
use twinset_index::{Content, Settings, kmv};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::write::{Kind, Table, Value};
use twinset_io::{Error, OutputOptions, Prepared, ReadOptions, Source, for_each_record, one_or_more};
#[cfg(feature = "profile")]
use {std::path::Path, twinset::Measure, twinset::estimate::Interval, twinset_profile::SavedProfile};

use super::estimate::EstimateArgs;
use super::kept::Kept;
use super::originals::{Originals, whole};
use super::{Promise, Reading, check_written};
use crate::job::{Job, own_settings};
use crate::session::{Session, SessionOptions, count};

/// Finds the records of an index that are near duplicates of others
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Examples:
  twinset index query news --threshold 0.8 today.jsonl --output found.csv
  twinset index query news --threshold 0.9 --probability 0.98 --id a17
  twinset index query news --threshold 0.5 --like 'the old bridge near the mill was closed'
  By synopses: columns that hold nine of ten values of this one, and 20 values at least:
    twinset index query columns --measure containment --threshold 0.9 --min-overlap 20 --id orders.customer
  Which columns of a saved profile resemble this one, and which contain it?
    twinset index query lake --threshold 0.5 --like-column new.csv:customer
    twinset index query lake --threshold 0.9 --measure containment --like-column new.csv:customer
  The same estimates, checked against what was added, with at most 1% missed:
    twinset index query columns --threshold 0.8 --id orders.customer --originals values.jsonl --recall 0.99

Columns are query,id,similarity, most similar first for each record of INPUT; by synopses also low,high, a 95% interval.
Without INPUT, --id is a record of the index.")]
pub struct Query {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// What near duplicates are sought of.
    #[command(flatten)]
    #[serde(flatten)]
    pub asked: Asked,
    /// Records at or above T are found: a decimal or a fraction in (0, 1]; a whole number for overlap and hamming
    #[arg(long, short, value_name = "T", required = true)]
    threshold: Option<Threshold>,
    #[command(flatten)]
    #[serde(flatten)]
    promise: Promise,
    #[command(flatten)]
    #[serde(flatten)]
    estimate: EstimateArgs,
    /// A column of a file, or a path of an XML document: FILE:COLUMN. Finds columns of a saved profile that resemble it, or, with
    /// --measure containment, those that contain it
    #[arg(long, value_name = "FILE:COLUMN", help_heading = "Synopses")]
    like_column: Option<String>,
    /// Add this field, as it was kept with `add --field`; repeat it for several (synopses only)
    #[arg(long, value_name = "FIELD", help_heading = "Synopses")]
    #[serde(deserialize_with = "one_or_more")]
    show: Vec<String>,
    /// Where the results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

/// What near duplicates are sought of: the records of files, one of the index, or a text.
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Files, folders, quoted globs, or - for standard input
    #[arg(value_name = "INPUT")]
    #[serde(skip)]
    pub input: Vec<Source>,
    /// A text
    #[arg(long, value_name = "TEXT")]
    pub like: Option<String>,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    pub read: ReadOptions,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
}

/// A record that near duplicates are sought of.
pub(super) struct QueryRecord {
    name: String,
    /// Its row, where it is one of a table.
    row: u64,
}

impl QueryRecord {
    fn value(&self) -> Value<'_> {
        Value::Row(self.row, &self.name)
    }
}

/// Records that are read at a time.
const BATCH: usize = 1000;

impl Asked {
    /// Whether anything was asked.
    pub(super) fn is_something(&self) -> bool {
        !self.input.is_empty() || self.like.is_some() || self.read.id.is_some()
    }

    /// Refuses outputs that would replace one another, an input, an original, or the index.
    pub(super) fn check_written(
        &self,
        path: &str,
        originals: &[PathBuf],
        output: &OutputOptions,
    ) -> anyhow::Result<()> {
        let inputs = files(&self.input, &self.read).into_iter().chain(files(originals, &self.read));
        Ok(check_written(path, &inputs.collect::<Vec<_>>(), output.output.path(), self.read.rejects.as_deref())?)
    }

    /// Whether a record of the index or a text was named.
    pub(super) fn names_record(&self) -> bool {
        self.like.is_some() || self.read.id.is_some()
    }

    /// The kind of a column that tells the records which near duplicates are sought of.
    fn kind(&self) -> Kind {
        if matches!(self.input.as_slice(), [Source::Table(..)]) { Kind::Row } else { Kind::Name }
    }

    /// The files and tables, if there are any.
    pub(super) fn sources(&self) -> &[Source] {
        &self.input
    }

    /// How the originals of an index are read, where `--id` may name a record.
    fn read_originals(&self, id: Option<&String>) -> ReadOptions {
        let id = id.or(self.read.id.as_ref().filter(|_| !self.input.is_empty())).cloned();
        ReadOptions { id, rejects: None, ..self.read.clone() }
    }

    /// Calls `visit` for all that is asked, in order, with its name and what was made of its token hashes on some thread; for a
    /// record of the index, with what `find` makes of its id. Returns how many bad records were rejected.
    pub(super) fn for_each<P: Send>(
        mut self,
        (settings, name): (&Settings, &str),
        run: &Run,
        make: impl Fn(Vec<u64>) -> P + Sync,
        find: impl FnOnce(&str) -> anyhow::Result<Option<P>>,
        mut visit: impl FnMut(QueryRecord, P) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<u64> {
        read_stop_words(&mut self.tokens)?;
        let inputs = (!self.input.is_empty()).then(|| Inputs::find(&self.input, self.read.format)).transpose()?;
        let Reading { read, hasher, .. } = Reading::new(settings, name, inputs.as_ref(), &self.read, &self.tokens)?;
        match (inputs, &self.like, &self.read.id) {
            (Some(_), Some(_), _) => {
                Err(Error::Usage("near duplicates of records or of a text? Leave out the input, or --like".to_owned())
                    .into())
            }
            (Some(inputs), _, _) => {
                let prepare = |text: &str| Ok(make(hasher.hashes(text)?));
                let take = |records: Vec<Prepared<P>>| {
                    records.into_iter().try_for_each(|record| {
                        let asked = QueryRecord { name: record.name(), row: record.number - 1 };
                        visit(asked, record.content)
                    })
                };
                for_each_record(&inputs, &read, &[], run, prepare, BATCH, take)
            }
            (None, Some(_), None) if matches!(settings.content, Some(Content::Rdf(_))) => {
                let reason = "it holds descriptions of RDF resources, and --like gives a text; name a file of RDF, or \
                              a resource of the index with --id";
                Err(Error::Usage(format!("{name}: {reason}")).into())
            }
            (None, Some(text), None) => {
                visit(QueryRecord { name: "-".to_owned(), row: 0 }, make(hasher.hashes(text)?))?;
                Ok(0)
            }
            (None, None, Some(id)) => {
                let found = find(id)?.ok_or_else(|| Error::Usage(format!("there is no record `{id}` in {name}")))?;
                visit(QueryRecord { name: id.clone(), row: 0 }, found)?;
                Ok(0)
            }
            _ => {
                let reason = "near duplicates of what? Name files, or a record with --id, or a text with --like";
                Err(Error::Usage(reason.to_owned()).into())
            }
        }
    }

    /// The same for an index of labels, whose records are asked one after the other, each with the number of the record that it is,
    /// which does not find itself.
    pub(super) fn for_each_of_labels(
        self,
        index: &mut LshIndex,
        query: &lsh::Query,
        run: &Run,
        mut visit: impl FnMut(&QueryRecord, Vec<lsh::Hit>) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<u64> {
        let (settings, name) = (index.settings().clone(), index.name().to_owned());
        let own = match (&self.read.id, self.input.is_empty()) {
            (Some(id), true) => index.find(id)?,
            _ => None,
        };
        let (number, hashes) = own.map_or((None, None), |record| (Some(record.number), Some(record.hashes)));
        self.for_each(
            (&settings, &name),
            run,
            |hashes| hashes,
            |_| Ok(hashes),
            |record, hashes| {
                let mut hits = index.query(&hashes, query)?;
                hits.retain(|hit| Some(hit.number) != number);
                visit(&record, hits)
            },
        )
    }

    /// The same for one of synopses, asked on all threads.
    pub(super) fn for_each_of_synopses(
        self,
        (index, snapshot): (&KmvIndex, &Snapshot),
        query: &kmv::Query,
        run: &Run,
        mut visit: impl FnMut(QueryRecord, Answer) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<u64> {
        let settings = index.settings();
        let ask = |hashes: Vec<u64>| -> anyhow::Result<Answer> {
            let mut synopsis = index.synopsis_of(&hashes)?;
            let hits = snapshot.query(synopsis.synopsis(), query)?;
            // Many answers wait at a time, so a long one is not kept; it is asked for again when it is its turn.
            Ok(match hits.len() > MOST_WAITING {
                true => Answer { again: Some(synopsis), hits: Vec::new(), hashes: Some(hashes) },
                false => Answer { again: None, hits, hashes: Some(hashes) },
            })
        };
        let find = |id: &str| -> anyhow::Result<Option<anyhow::Result<Answer>>> {
            let Some(record) = snapshot.find(id)? else { return Ok(None) };
            let synopsis = Synopsis::new(&record.values, settings.size(), record.is_complete);
            let mut hits = synopsis.map(|synopsis| snapshot.query(synopsis, query)).transpose()?.unwrap_or_default();
            hits.retain(|hit| hit.number != record.number);
            Ok(Some(Ok(Answer { again: None, hits, hashes: None })))
        };
        self.for_each((settings, index.name()), run, ask, find, |record, answer| {
            let mut answer = answer?;
            if let Some(mut synopsis) = answer.again.take() {
                answer.hits = snapshot.query(synopsis.synopsis(), query)?;
            }
            visit(record, answer)
        })
    }
}

/// Longer answers do not wait.
const MOST_WAITING: usize = 100;

/// What an index of synopses found for a record.
pub(super) struct Answer {
    /// What is to be asked again, as too much was found to wait.
    again: Option<SynopsisBuilder>,
    pub(super) hits: Vec<Hit>,
    /// The token hashes of the record, unless it is one of the index.
    hashes: Option<Vec<u64>>,
}

/// The files that sources stand for. What is no file is reported later.
pub(super) fn files<S>(sources: &[S], read: &ReadOptions) -> Vec<PathBuf>
where
    for<'a> Source: From<&'a S>,
{
    Inputs::find(sources, read.format).map(|inputs| inputs.paths().cloned().collect()).unwrap_or_default()
}

impl Job for Query {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        match Kept::open(&self.path)? {
            Kept::Labels(index) => self.run_labels(index, session),
            Kept::Synopses(index) => self.run_synopses(&index, session),
        }
    }
}

impl Query {
    fn threshold(&self) -> anyhow::Result<Threshold> {
        Ok(self.threshold.ok_or(twinset::Error::NoThreshold)?)
    }

    #[cfg(not(feature = "profile"))]
    fn run_like_column(&self, _: &str, _: u32, _: &Session) -> anyhow::Result<()> {
        let what = "this build of twinset cannot compare with --like-column".to_owned();
        Err(Error::MissingFeature { what, feature: "profile" }.into())
    }

    /// Columns of a saved profile that resemble one of a file.
    #[cfg(feature = "profile")]
    fn run_like_column(&self, asked: &str, size: u32, session: &Session) -> anyhow::Result<()> {
        let Some((file, column)) = split_column(asked) else {
            let reason = format!(
                "--like-column {asked}: write FILE:COLUMN, for example new.csv:customer or feed.xml:/person/name"
            );
            return Err(Error::Usage(reason).into());
        };
        if self.asked.is_something() || self.estimate.is_checked() {
            let reason = "--like-column needs no other input; leave out the input, --like, --id and --originals";
            return Err(Error::Usage(reason.to_owned()).into());
        }
        if !self.show.is_empty() {
            return Err(Error::Usage("--show is for records that were added with fields".to_owned()).into());
        }
        check_written(&self.path, &[file.to_owned()], self.output.output.path(), None)?;
        let query = self.estimate.query(self.threshold()?, size)?;
        let saved = SavedProfile::open(Path::new(&self.path))?;
        let found = session.run.install(|| saved.like(file, column, &query, &session.run))??;
        let (output, format) = self.output.open()?;
        let columns = [("query", Kind::Text), ("id", Kind::Text)].into_iter().chain(self.estimate.columns());
        let mut table = Table::create(output, format, columns)?;
        session.clear_bar();
        for resembling in &found {
            let Interval { similarity, low, high } = resembling.interval;
            let values = [similarity, low, high].map(Value::Real);
            table.row(&[&[Value::Text(asked), Value::Text(&resembling.name)], &values[..]].concat())?;
        }
        table.finish()?;
        let note = match query.condition.measure() {
            Measure::Containment => "none that wholly contains it is missing".to_owned(),
            _ => self.estimate.note(&query),
        };
        session.summarize(&[format!("{} found", count(found.len() as u64, "column")), note]);
        Ok(())
    }

    fn run_labels(self, mut index: LshIndex, session: &Session) -> anyhow::Result<()> {
        self.estimate.check_absent()?;
        if self.like_column.is_some() {
            return Err(Error::Usage(
                "--like-column is for profiles that were saved, and this is an index of labels".to_owned(),
            )
            .into());
        }
        if !self.show.is_empty() {
            return Err(
                Error::Usage("--show is for indexes of synopses; one of labels keeps no fields".to_owned()).into()
            );
        }
        let query = lsh::Query { threshold: self.threshold()?, probability: self.promise.of_labels() };
        index.check(&query)?;
        self.asked.check_written(&self.path, &[], &self.output)?;
        let rejects = self.asked.read.rejects.clone();
        let (output, format) = self.output.open()?;
        let columns = [("query", self.asked.kind()), ("id", Kind::Text), ("similarity", Kind::Real)];
        let mut table = Table::create(output, format, columns)?;
        let (mut queries, mut found) = (0, 0);
        let rejected = self.asked.for_each_of_labels(&mut index, &query, &session.run, |record, hits| {
            queries += 1;
            found += hits.len() as u64;
            for hit in hits {
                table.row(&[record.value(), Value::Text(&hit.id), Value::Real(hit.similarity)])?;
            }
            Ok(())
        })?;
        session.clear_bar();
        table.finish()?;
        let promise = index.settings().labels().length(query.threshold, query.probability)?;
        let note = format!("{promise} bits of labels; each was found with probability {} at least", query.probability);
        summarize(session, (found, queries), note, rejects, rejected);
        Ok(())
    }

    fn run_synopses(self, index: &KmvIndex, session: &Session) -> anyhow::Result<()> {
        self.promise.check_absent()?;
        if let Some(column) = &self.like_column {
            return self.run_like_column(column, index.settings().size(), session);
        }
        let own = ["query", "id", "similarity", "distance", "low", "high"];
        if let Some((_, name)) = self
            .show
            .iter()
            .enumerate()
            .find(|(at, name)| own.contains(&name.as_str()) || self.show[..*at].contains(name))
        {
            return Err(Error::Usage(format!("--show {name}: there is a column of this name already")).into());
        }
        let threshold = self.threshold()?;
        let query = self.estimate.query(threshold, index.settings().size())?;
        let snapshot = index.snapshot()?;
        self.asked.check_written(&self.path, &self.estimate.originals, &self.output)?;
        let kind = self.asked.kind();
        let read = self.asked.read_originals(self.estimate.originals_id.as_ref());
        let rejects = self.asked.read.rejects.clone();
        let (output, format) = self.output.open()?;
        let columns = [("query", kind), ("id", Kind::Text)].into_iter().chain(self.estimate.columns());
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind));
        let shown = self.show.iter().map(|field| (field.clone(), Kind::Text));
        let mut table = Table::create(output, format, columns.chain(shown))?;
        let mut intervals = Intervals::new(self.estimate.measure);
        let mut row = |record: &QueryRecord, hit: &Hit, comparison: &Comparison| -> anyhow::Result<()> {
            let (id, extra) = snapshot.stored(hit)?;
            let fields: Vec<String> = self.show.iter().map(|field| in_words(extra.get(field))).collect();
            let mut cells = vec![record.value(), Value::Text(&id)];
            cells.extend(self.estimate.cells(comparison, &mut intervals));
            cells.extend(fields.iter().map(|field| Value::Text(field)));
            Ok(table.row(&cells)?)
        };
        let (mut queries, mut found, mut waiting) = (0, 0, Vec::new());
        let rejected =
            self.asked.for_each_of_synopses((index, &snapshot), &query, &session.run, |record, answer| {
                queries += 1;
                if self.estimate.is_checked() {
                    waiting.push((record, answer));
                    return Ok(());
                }
                found += answer.hits.len() as u64;
                answer.hits.iter().try_for_each(|hit| row(&record, hit, &hit.comparison))
            })?;
        if self.estimate.is_checked() {
            let mut wanted = HashSet::new();
            for (record, answer) in &waiting {
                wanted.extend(answer.hashes.is_none().then(|| record.name.clone()));
                for hit in &answer.hits {
                    wanted.insert(snapshot.stored(hit)?.0);
                }
            }
            let from = (self.estimate.originals.as_slice(), &read);
            let originals = Originals::read(from, (index, &snapshot), &wanted, &session.run)?;
            let condition = self.estimate.condition(threshold)?;
            for (record, answer) in waiting {
                let own = match &answer.hashes {
                    Some(hashes) => whole(hashes),
                    None => originals.get(&record.name)?,
                };
                let mut checked = Vec::new();
                for hit in answer.hits {
                    let comparison = own.compare(originals.get(&snapshot.stored(&hit)?.0)?);
                    checked.extend(condition.accepts(&comparison).then_some((hit, comparison)));
                }
                let measure = condition.measure();
                checked.sort_by(|(_, a), (_, b)| measure.order(a.value(measure), b.value(measure)));
                found += checked.len() as u64;
                checked.iter().try_for_each(|(hit, comparison)| row(&record, hit, comparison))?;
            }
        }
        session.clear_bar();
        table.finish()?;
        let note = self.estimate.note(&query);
        summarize(session, (found, queries), note, rejects, rejected);
        Ok(())
    }
}

/// A file and a column of it: the name of a file may hold colons, too.
#[cfg(feature = "profile")]
fn split_column(text: &str) -> Option<(&Path, &str)> {
    let splits = text.match_indices(':').map(|(at, _)| (Path::new(&text[..at]), &text[at + 1..]));
    let splits: Vec<(&Path, &str)> =
        splits.filter(|(file, column)| !column.is_empty() && !file.as_os_str().is_empty()).collect();
    splits.iter().copied().find(|(file, _)| file.is_file()).or(splits.first().copied())
}

/// A field that was kept, as text.
fn in_words(field: Option<&serde_json::Value>) -> String {
    match field {
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn summarize(session: &Session, (found, queries): (u64, u64), note: String, rejects: Option<PathBuf>, rejected: u64) {
    let mut lines = vec![format!("{} found for {}", count(found, "near duplicate"), count(queries, "record")), note];
    if let Some(file) = rejects {
        lines.push(format!("{} left out, see {}", count(rejected, "bad record"), file.display()));
    }
    session.summarize(&lines);
}
