//! The LSH index finds the near duplicates of a record, each with a probability that the query chooses.
//!
//! An index has l trees. In each, a record has a label of k bits, and similar records have labels with a common prefix. From its
//! threshold and probability a query computes how many bits to compare. It looks up that range of labels in every tree, and
//! compares the candidates exactly, so it returns nothing below the threshold. `backend` is the trait of storage, which `memory`,
//! `sqlite`, `postgres` and `mysql` implement.

mod address;
mod backend;
mod memory;
#[cfg(feature = "databases")]
mod mysql;
#[cfg(feature = "databases")]
mod postgres;
mod sqlite;
mod watermark;

pub use backend::{LabeledRecord, StoredRecord};

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use twinset::estimate::{Labeler, label_range};
use twinset::exact::{Bounds, Collections};
use twinset::support::intersection_len;
use twinset::tokenize::TokenHasher;
use twinset::{Measure, Threshold};

use self::address::Address;
use self::backend::Backend;
use self::memory::Memory;
use self::sqlite::Sqlite;
#[cfg(feature = "databases")]
use self::{mysql::Mysql, postgres::Postgres};
use crate::change::check_id;
use crate::{AddCounts, Error, Result, Settings};

/// An LSH index of token sets.
pub struct LshIndex {
    backend: Box<dyn Backend>,
    labeler: Labeler,
}

/// A query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// The lowest Jaccard similarity.
    pub threshold: Threshold,
    /// The probability with which each near duplicate is found.
    pub probability: f64,
}

/// A record found by a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number in the index.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// Its Jaccard similarity.
    pub similarity: f64,
}

/// A pair of records of one index, or of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The id of the earlier record, or of the record of the first index.
    pub left: String,
    /// The id of the other record.
    pub right: String,
    /// Their Jaccard similarity.
    pub similarity: f64,
}

/// Statistics of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The settings.
    pub settings: Settings,
    /// The number of records.
    pub records: u64,
    /// The number of labels.
    pub labels: u64,
    /// The size in bytes, if known.
    pub bytes: Option<u64>,
}

/// The number of records read at a time.
const BATCH: usize = 1000;

impl LshIndex {
    /// Creates an index in a folder (SQLite), or in a database.
    pub fn create(address: &str, settings: &Settings) -> Result<Self> {
        let labeler = Labeler::new(settings.labels(), settings.seed)?;
        let backend: Box<dyn Backend> = match Address::parse(address)? {
            Address::Folder(path) => Box::new(Sqlite::create(&path, settings)?),
            #[cfg(feature = "databases")]
            Address::Postgres(tables) => Box::new(Postgres::create(&tables, settings)?),
            #[cfg(feature = "databases")]
            Address::Mysql(tables) => Box::new(Mysql::create(&tables, settings)?),
        };
        Ok(Self { backend, labeler })
    }

    /// Opens an existing index.
    pub fn open(address: &str) -> Result<Self> {
        let backend: Box<dyn Backend> = match Address::parse(address)? {
            Address::Folder(path) => Box::new(Sqlite::open(&path)?),
            #[cfg(feature = "databases")]
            Address::Postgres(tables) => Box::new(Postgres::open(&tables)?),
            #[cfg(feature = "databases")]
            Address::Mysql(tables) => Box::new(Mysql::open(&tables)?),
        };
        let settings = backend.settings();
        let labeler = Labeler::new(settings.labels(), settings.seed)?;
        Ok(Self { backend, labeler })
    }

    /// Creates an index in main memory, which ends with the process.
    pub fn in_memory(settings: &Settings) -> Result<Self> {
        let labeler = Labeler::new(settings.labels(), settings.seed)?;
        Ok(Self { backend: Box::new(Memory::new(settings)), labeler })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.backend.settings()
    }

    /// Returns the path or address without a password, for messages.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// The number of records.
    pub fn len(&mut self) -> Result<u64> {
        self.backend.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&mut self) -> Result<bool> {
        Ok(self.backend.len()? == 0)
    }

    /// Computes the labels of a record. Any thread can do this.
    pub fn label(labeler: &Labeler, id: String, hashes: Vec<u64>) -> LabeledRecord {
        let labels = labeler.labels(&hashes);
        LabeledRecord { id, hashes, labels }
    }

    /// Adds records in one transaction. Records with an id of the index replace the old ones; of several with the same id, the last counts.
    pub fn add(&mut self, mut records: Vec<LabeledRecord>) -> Result<AddCounts> {
        for record in &records {
            check_id(&record.id, self.backend.name())?;
        }
        let mut seen = HashSet::new();
        let is_last: Vec<bool> = records.iter().rev().map(|record| seen.insert(record.id.clone())).collect();
        let mut is_last = is_last.into_iter().rev();
        let given = records.len() as u64;
        records.retain(|_| is_last.next().unwrap_or(true));
        let replaced = self.backend.add(&records, &|hashes| self.labeler.labels(hashes))?;
        let new = records.len() as u64 - replaced;
        Ok(AddCounts { new, replaced: given - new })
    }

    /// Adds texts with their ids in one transaction, as [`add`](Self::add) does.
    pub fn add_texts<I: Into<String>, T: AsRef<str>>(
        &mut self,
        texts: impl IntoIterator<Item = (I, T)>,
    ) -> Result<AddCounts> {
        let hasher = self.hasher()?;
        let labelled = |(id, text): (I, T)| Ok(Self::label(&self.labeler, id.into(), hasher.hashes(text.as_ref())?));
        let records = texts.into_iter().map(labelled).collect::<Result<_>>()?;
        self.add(records)
    }

    /// Returns the hasher of texts.
    fn hasher(&self) -> Result<TokenHasher> {
        let settings = self.settings();
        Ok(TokenHasher::new(&settings.tokens, settings.seed)?)
    }

    /// Changes settings that are still open, in an index without records.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        if self.settings() == settings { Ok(()) } else { self.backend.set_settings(settings) }
    }

    /// Removes records in one transaction. Returns the number of removed records.
    pub fn remove(&mut self, ids: &[String]) -> Result<u64> {
        self.backend.remove(ids, &|hashes| self.labeler.labels(hashes))
    }

    /// Returns the record with an id.
    pub fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        self.backend.find(id)
    }

    /// Returns the near duplicates of a text, as [`query`](Self::query) does.
    pub fn query_text(&mut self, text: &str, query: &Query) -> Result<Vec<Hit>> {
        let hashes = self.hasher()?.hashes(text)?;
        self.query(&hashes, query)
    }

    /// Returns the near duplicates of a set, most similar first, ties in the order in which they were added. Each is found with the
    /// probability of the query.
    pub fn query(&mut self, hashes: &[u64], query: &Query) -> Result<Vec<Hit>> {
        let length = self.settings().labels().length(query.threshold, query.probability)?;
        let bounds = Bounds::new(Measure::Jaccard, query.threshold, Collections::One)?;
        let ranges: Vec<_> = self.labeler.labels(hashes).into_iter().map(|label| label_range(label, length)).collect();
        let mut hits = Vec::new();
        self.backend.candidates(&ranges, &mut |number, id, other| {
            let (size, size_other) = (hashes.len() as u32, other.len() as u32);
            // Sets of sizes that are too different are not worth a look.
            if !bounds.accepts(size, size_other, size.min(size_other)) {
                return;
            }
            let overlap = intersection_len(hashes, other) as u32;
            if bounds.accepts(size, size_other, overlap) {
                let similarity = Measure::Jaccard.value(size, size_other, overlap);
                hits.push(Hit { number, id: id.to_owned(), similarity });
            }
        })?;
        hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.number.cmp(&b.number)));
        Ok(hits)
    }

    /// Calls `visit` for all pairs of near duplicates, in the order in which the left records were added.
    pub fn join<E: From<Error>>(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(query)?;
        self.in_snapshot(|index| {
            let mut last = i64::MIN;
            while let Some(batch) = index.next_batch(&mut last)? {
                for record in batch {
                    let mut hits = index.query(&record.hashes, query)?;
                    hits.retain(|hit| hit.number > record.number);
                    each_pair(&record, hits, &mut visit)?;
                }
            }
            Ok(())
        })
    }

    /// Calls `visit` for all near duplicates of a record of this index and one of another with the same settings.
    pub fn join_with<E: From<Error>>(
        &mut self,
        other: &mut Self,
        query: &Query,
        mut visit: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.settings().is_alike(other.settings()) {
            let reason = format!("its token options, RDF options or seed differ from those of {}", other.name());
            return Err(Error::index(self.name(), reason).into());
        }
        other.check(query)?;
        let mut last = i64::MIN;
        while let Some(batch) = self.next_batch(&mut last)? {
            for record in batch {
                each_pair(&record, other.query(&record.hashes, query)?, &mut visit)?;
            }
        }
        Ok(())
    }

    /// Returns the records after number `last`, and advances it; `None` at the end.
    fn next_batch(&mut self, last: &mut i64) -> Result<Option<Vec<StoredRecord>>> {
        let batch = self.backend.after(*last, BATCH)?;
        // In a damaged index a number may lead back, and everything would be read again and again.
        let numbers = || batch.iter().map(|record| record.number);
        if !std::iter::once(*last).chain(numbers()).is_sorted_by(|a, b| a < b) {
            let reason = "it is damaged, as its records are not in order";
            return Err(Error::damaged(self.name(), reason, "restore it from a copy"));
        }
        *last = batch.last().map_or(*last, |record| record.number);
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// Rejects queries that the index cannot answer with the probability they ask for.
    pub fn check(&self, query: &Query) -> Result<()> {
        Bounds::new(Measure::Jaccard, query.threshold, Collections::One)?;
        self.settings().labels().length(query.threshold, query.probability)?;
        Ok(())
    }

    /// Calls `visit` for all records, in the order in which they were added.
    pub fn for_each<E: From<Error>>(&mut self, mut visit: impl FnMut(&StoredRecord) -> Result<(), E>) -> Result<(), E> {
        self.in_snapshot(|index| {
            let mut last = i64::MIN;
            while let Some(batch) = index.next_batch(&mut last)? {
                batch.iter().try_for_each(&mut visit)?;
            }
            Ok(())
        })
    }

    /// Reads from one snapshot of the index, whatever others write meanwhile.
    fn in_snapshot<T, E: From<Error>>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.backend.begin_snapshot()?;
        let result = read(self);
        let released = self.backend.end_snapshot();
        let value = result?;
        released?;
        Ok(value)
    }

    /// Returns statistics.
    pub fn stats(&mut self) -> Result<Stats> {
        Ok(Stats {
            settings: self.settings().clone(),
            records: self.backend.len()?,
            labels: self.backend.label_count()?,
            bytes: self.backend.bytes()?,
        })
    }

    /// Reads everything and returns all corruption: of files, hashes out of order, records without their labels, labels without a
    /// record.
    pub fn damages(&mut self) -> Result<Vec<String>> {
        self.examine(|_| true)
    }

    /// Does the same, but computes the labels of 1,000 records only, and counts those of the others. This is much faster. A single
    /// corrupt label costs one of many chances to find a record, and never leads to a wrong answer.
    pub fn quick_damages(&mut self) -> Result<Vec<String>> {
        // At other places each time.
        let start = RandomState::new().build_hasher().finish();
        let step = self.backend.len()?.div_ceil(SAMPLE).max(1);
        self.examine(|place| place % step == start % step)
    }

    fn examine(&mut self, is_labelled_again: impl Fn(u64) -> bool) -> Result<Vec<String>> {
        let mut damages = self.backend.damages()?;
        self.in_snapshot(|index| {
            let (mut expected, mut last, mut place) = (0, i64::MIN, 0);
            while let Some(batch) = index.next_batch(&mut last)? {
                for record in batch {
                    if damages.len() >= MOST_DAMAGES {
                        return Ok(damages);
                    }
                    place += 1;
                    if !record.hashes.is_sorted_by(|a, b| a < b) {
                        damages.push(format!("the tokens of record `{}` are not in order", record.id));
                    }
                    if !is_labelled_again(place) {
                        expected +=
                            if record.hashes.is_empty() { 0 } else { u64::from(index.settings().labels().trees) };
                        continue;
                    }
                    let labels = index.labeler.labels(&record.hashes);
                    expected += labels.len() as u64;
                    let missing = labels.len() - index.backend.labels_of(&record, &labels)?;
                    if missing > 0 {
                        damages.push(format!("{missing} labels of record `{}` are missing", record.id));
                    }
                }
            }
            let labels = index.backend.label_count()?;
            if damages.is_empty() && labels != expected {
                damages.push(format!("there are {labels} labels, and {expected} belong to records"));
            }
            Ok(damages)
        })
    }
}

/// Calls `visit` for a record and each of its hits, in the order in which these were added.
fn each_pair<E>(
    record: &StoredRecord,
    mut hits: Vec<Hit>,
    visit: &mut impl FnMut(Pair) -> Result<(), E>,
) -> Result<(), E> {
    hits.sort_by_key(|hit| hit.number);
    for Hit { id, similarity, .. } in hits {
        visit(Pair { left: record.id.clone(), right: id, similarity })?;
    }
    Ok(())
}

/// The most problems to report.
const MOST_DAMAGES: usize = 20;

/// A quick check computes the labels of this many records, spread evenly: if those of one record in a hundred were wrong, it would
/// miss all of them once in 20,000 checks.
const SAMPLE: u64 = 1000;
