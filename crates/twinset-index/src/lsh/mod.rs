//! The label index: near duplicates of a record, each found with a probability that the query chooses.
//!
//! An index has l trees. In each a record has a label of k bits; records that are alike have labels that begin alike.
//! A query computes from its threshold and its probability how many bits to compare, looks up that range of labels in every
//! tree, and compares what it finds exactly, so nothing is returned that is not alike. `backend` says what a place for the
//! labels must offer; `memory`, `sqlite`, `postgres` and `mysql` are such places.

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

/// An index of token sets.
pub struct LshIndex {
    backend: Box<dyn Backend>,
    labeler: Labeler,
}

/// What a query asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// How alike the records must be.
    pub threshold: Threshold,
    /// With which probability each of them is to be found.
    pub probability: f64,
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number in the index.
    pub number: i64,
    /// What it is called.
    pub id: String,
    /// How alike it is: the Jaccard similarity.
    pub similarity: f64,
}

/// Two records of an index, or of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The record that came earlier, or that of the first index.
    pub left: String,
    /// The other one.
    pub right: String,
    /// How alike they are.
    pub similarity: f64,
}

/// What is in an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// What it was made with.
    pub settings: Settings,
    /// How many records there are.
    pub records: u64,
    /// How many labels they have in all.
    pub labels: u64,
    /// How many bytes it takes, if that can be told.
    pub bytes: Option<u64>,
}

/// Records that are read at a time.
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

    /// Opens an index that exists.
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

    /// An index that is gone with the process.
    pub fn in_memory(settings: &Settings) -> Result<Self> {
        let labeler = Labeler::new(settings.labels(), settings.seed)?;
        Ok(Self { backend: Box::new(Memory::new(settings)), labeler })
    }

    /// What it was made with.
    pub fn settings(&self) -> &Settings {
        self.backend.settings()
    }

    /// What it is called in messages: its path or address, without a password.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// How many records there are.
    pub fn len(&mut self) -> Result<u64> {
        self.backend.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&mut self) -> Result<bool> {
        Ok(self.backend.len()? == 0)
    }

    /// A record with its labels. It can be made on any thread.
    pub fn label(labeler: &Labeler, id: String, hashes: Vec<u64>) -> LabeledRecord {
        let labels = labeler.labels(&hashes);
        LabeledRecord { id, hashes, labels }
    }

    /// Adds records, all of them or none; of those with the same id the last counts, and takes the place of one that is there.
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

    /// Adds texts with their ids, all of them or none, as [`add`](Self::add) does.
    pub fn add_texts<I: Into<String>, T: AsRef<str>>(
        &mut self,
        texts: impl IntoIterator<Item = (I, T)>,
    ) -> Result<AddCounts> {
        let hasher = self.hasher()?;
        let labelled = |(id, text): (I, T)| Ok(Self::label(&self.labeler, id.into(), hasher.hashes(text.as_ref())?));
        let records = texts.into_iter().map(labelled).collect::<Result<_>>()?;
        self.add(records)
    }

    /// Hashes texts as those of this index are hashed.
    fn hasher(&self) -> Result<TokenHasher> {
        let settings = self.settings();
        Ok(TokenHasher::new(&settings.tokens, settings.seed)?)
    }

    /// Settles what the records to come are, in an index that has none.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        if self.settings() == settings { Ok(()) } else { self.backend.set_settings(settings) }
    }

    /// Removes records, all of them or none. Returns how many of the ids there were.
    pub fn remove(&mut self, ids: &[String]) -> Result<u64> {
        self.backend.remove(ids, &|hashes| self.labeler.labels(hashes))
    }

    /// The record of an id.
    pub fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        self.backend.find(id)
    }

    /// The records that are near duplicates of a text, as [`query`](Self::query) finds them.
    pub fn query_text(&mut self, text: &str, query: &Query) -> Result<Vec<Hit>> {
        let hashes = self.hasher()?.hashes(text)?;
        self.query(&hashes, query)
    }

    /// The records that are alike enough, most similar first, ties in the order in which they came. Each of them is found with
    /// the probability that the query asks for.
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

    /// Calls `visit` for all pairs of records that are alike enough, in the order in which the left ones came.
    pub fn join<E: From<Error>>(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(query)?;
        self.steadily(|index| {
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

    /// The same for pairs of a record of this index and one of another, which must have been made alike.
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

    /// The records after the one with this number, which becomes that of the last of them; `None` after the last.
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

    /// Refuses what the index cannot promise.
    pub fn check(&self, query: &Query) -> Result<()> {
        Bounds::new(Measure::Jaccard, query.threshold, Collections::One)?;
        self.settings().labels().length(query.threshold, query.probability)?;
        Ok(())
    }

    /// Calls `visit` for all records in the order in which they came.
    pub fn for_each<E: From<Error>>(&mut self, mut visit: impl FnMut(&StoredRecord) -> Result<(), E>) -> Result<(), E> {
        self.steadily(|index| {
            let mut last = i64::MIN;
            while let Some(batch) = index.next_batch(&mut last)? {
                batch.iter().try_for_each(&mut visit)?;
            }
            Ok(())
        })
    }

    /// Reads from one state of the index, whatever others write meanwhile.
    fn steadily<T, E: From<Error>>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.backend.hold()?;
        let result = read(self);
        let released = self.backend.release();
        let value = result?;
        released?;
        Ok(value)
    }

    /// What is in it.
    pub fn stats(&mut self) -> Result<Stats> {
        Ok(Stats {
            settings: self.settings().clone(),
            records: self.backend.len()?,
            labels: self.backend.label_count()?,
            bytes: self.backend.bytes()?,
        })
    }

    /// Reads everything and tells what is wrong: damaged files, hashes out of order, records whose labels are missing,
    /// labels without a record.
    pub fn damages(&mut self) -> Result<Vec<String>> {
        self.examine(|_| true)
    }

    /// The same, but labels are made again only for 1,000 records; of the others their number is checked. It is much faster. A
    /// single label that was changed costs one of many chances to find a record, and never leads to a wrong answer.
    pub fn quick_damages(&mut self) -> Result<Vec<String>> {
        // At other places each time.
        let start = RandomState::new().build_hasher().finish();
        let step = self.backend.len()?.div_ceil(SAMPLE).max(1);
        self.examine(|place| place % step == start % step)
    }

    fn examine(&mut self, is_labelled_again: impl Fn(u64) -> bool) -> Result<Vec<String>> {
        let mut damages = self.backend.damages()?;
        self.steadily(|index| {
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

/// Calls `visit` for a record and each that was found for it, in the order in which these came.
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

/// So many are told.
const MOST_DAMAGES: usize = 20;

/// Of so many records labels are made again in a quick check. They are spread evenly: if those of one record in a hundred were wrong,
/// all of them would be missed once in 20,000 checks.
const SAMPLE: u64 = 1000;
