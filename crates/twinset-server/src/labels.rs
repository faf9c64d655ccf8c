//! The label index of the service: which articles are alike, asked on many threads, changed on one.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use twinset::{LabelOptions, Labeler, TokenOptions};
use twinset_index::Settings;
use twinset_index::labels::{Hit, LabelIndex, Labelled, Query};

use crate::{Error, Result};

/// Connections to one label index.
pub(crate) struct Labels {
    address: String,
    labeler: Labeler,
    writer: Mutex<LabelIndex>,
    readers: Mutex<Vec<LabelIndex>>,
    /// Whether it was made just now, and has not heard of what is there.
    is_new: AtomicBool,
}

impl Labels {
    /// Opens the index at an address, or in the service's own folder; makes one where there is none.
    pub(crate) fn open(address: Option<&str>, folder: &Path, options: LabelOptions) -> Result<Self> {
        let address = match address {
            Some(address) => address.to_owned(),
            None => folder
                .to_str()
                .map(str::to_owned)
                .ok_or_else(|| Error::Usage("the path of the folder must be UTF-8; name it differently".to_owned()))?,
        };
        let settings = Settings::of_labels(options, TokenOptions::default(), 0);
        let (writer, is_new) = match LabelIndex::open(&address) {
            Ok(index) => (index, false),
            Err(error) => match LabelIndex::create(&address, &settings) {
                Ok(index) => (index, true),
                // What is there already, and cannot be opened, is the reason that counts.
                Err(_) => return Err(error.into()),
            },
        };
        let made = writer.settings().labels();
        if made != options {
            let reason = format!(
                "the label index was made with --trees {} --bits {}; say so, or make another",
                made.trees, made.bits
            );
            return Err(Error::Usage(reason));
        }
        let labeler = Labeler::new(options, writer.settings().seed)?;
        Ok(Self {
            address,
            labeler,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            is_new: AtomicBool::new(is_new),
        })
    }

    /// Whether it was made just now, and has not heard of what is there.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new.load(Ordering::Relaxed)
    }

    /// From now on it has heard of everything.
    pub(crate) fn settle(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// An article with its labels. It can be made on any thread.
    pub(crate) fn label(&self, terms: Vec<u64>) -> Labelled {
        LabelIndex::label(&self.labeler, String::new(), terms)
    }

    /// Changes the index: all of this or nothing.
    pub(crate) fn change(&self, added: Vec<Labelled>, removed: &[i64]) -> Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !removed.is_empty() {
            writer.remove(&removed.iter().map(i64::to_string).collect::<Vec<_>>())?;
        }
        if !added.is_empty() {
            writer.add(added)?;
        }
        Ok(())
    }

    /// What is alike enough to each of some articles that are to be added, asked by the one who adds: as nobody else writes, what
    /// it has read stays in its memory.
    pub(crate) fn links(&self, added: &[&Labelled], query: &Query) -> Result<Vec<Vec<(i64, f64)>>> {
        let mut writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        added.iter().map(|labelled| Ok(numbered(writer.query(&labelled.hashes, query)?))).collect()
    }

    /// The articles that are alike enough, the most similar first.
    pub(crate) fn similar(&self, terms: &[u64], query: &Query) -> Result<Vec<(i64, f64)>> {
        Ok(numbered(self.read(|index| Ok(index.query(terms, query)?))?))
    }

    /// The articles that are alike enough to one of them.
    pub(crate) fn similar_to(&self, id: i64, query: &Query) -> Result<Vec<(i64, f64)>> {
        let stored = self.read(|index| Ok(index.find(&id.to_string())?))?;
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let mut found = self.similar(&stored.hashes, query)?;
        found.retain(|&(other, _)| other != id);
        Ok(found)
    }

    fn read<T>(&self, read: impl FnOnce(&mut LabelIndex) -> Result<T>) -> Result<T> {
        let known = self.readers.lock().expect("no reader panics with the list").pop();
        let mut index = match known {
            Some(index) => index,
            None => LabelIndex::open(&self.address)?,
        };
        // One that failed may have lost its connection.
        let result = read(&mut index)?;
        self.readers.lock().expect("no reader panics with the list").push(index);
        Ok(result)
    }
}

fn numbered(hits: Vec<Hit>) -> Vec<(i64, f64)> {
    hits.into_iter().filter_map(|hit| Some((hit.id.parse().ok()?, hit.similarity))).collect()
}
