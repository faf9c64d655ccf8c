//! Changes of an index. Each is atomic, and durable once the call has returned.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;

use serde_json::{Map, Value};
use tantivy::directory::Directory;
use tantivy::directory::error::OpenWriteError;
use tantivy::schema::OwnedValue;
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};
use twinset::estimate::{Synopsis, SynopsisBuilder};

use super::merges::IntactMerges;
use super::{KmvIndex, Snapshot, State, StoredSynopsis, state, term};
use crate::change::check_id;
use crate::folder::TantivyFolder;
use crate::{AddCounts, Error, Result, Settings};

/// A record to add.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// The synopsis of its set.
    pub synopsis: SynopsisBuilder,
    /// The size of its input in bytes.
    pub bytes: u64,
    /// Other data stored with it.
    pub extra: Map<String, Value>,
}

/// What records may take before they are written, for each thread.
pub(super) const MEMORY: usize = 100_000_000;

impl KmvIndex {
    /// Adds records, all of them or none; one whose id exists takes the place of the old one. With `merge` its values are added to
    /// those that are there instead. Of records with the same id the last counts, or with `merge` all together.
    pub fn add(&mut self, records: Vec<Entry>, merge: bool) -> Result<AddCounts> {
        Ok(self.exchange(&[], records, merge)?.1)
    }

    /// Removes records and adds others in one transaction.
    pub fn replace(&mut self, gone: &[String], records: Vec<Entry>) -> Result<()> {
        self.exchange(gone, records, false).map(|_| ())
    }

    /// Removes records in one transaction. Returns the number of removed records.
    pub fn remove(&mut self, ids: &[String]) -> Result<u64> {
        Ok(self.exchange(ids, Vec::new(), false)?.0)
    }

    /// Removes records and adds others. Returns the number of removed records and the counts of added ones.
    fn exchange(&mut self, gone: &[String], records: Vec<Entry>, merge: bool) -> Result<(u64, AddCounts)> {
        let (given, mut has_merged) = (records.len() as u64, false);
        let mut order: Vec<Entry> = Vec::with_capacity(records.len());
        let mut places: HashMap<String, usize> = HashMap::with_capacity(records.len());
        for record in records {
            check_id(&record.id, &self.name)?;
            match places.get(&record.id) {
                None => {
                    places.insert(record.id.clone(), order.len());
                    order.push(record);
                }
                Some(&place) if merge => {
                    has_merged = true;
                    order[place].take_in(record);
                }
                Some(&place) => order[place] = record,
            }
        }
        let (mut removed, mut replaced) = (0, 0);
        self.change(|index, writer, snapshot, state| {
            let added = order.len() as u64;
            state.merged |= has_merged;
            let was_empty = snapshot.is_empty();
            for id in gone.iter().collect::<BTreeSet<_>>() {
                removed += u64::from(!places.contains_key(id) && snapshot.number_of(id)?.is_some());
                writer.delete_term(Term::from_field_text(index.fields.id, id));
            }
            for mut record in order {
                let mut number = None;
                if !was_empty && merge {
                    if let Some(old) = snapshot.find(&record.id)? {
                        number = Some(old.number);
                        let mut merged = old.into_entry(&index.settings)?;
                        merged.take_in(record);
                        record = merged;
                    }
                } else if !was_empty {
                    number = snapshot.number_of(&record.id)?;
                }
                if number.is_some() {
                    state.merged |= merge;
                    replaced += 1;
                    writer.delete_term(Term::from_field_text(index.fields.id, &record.id));
                }
                let number = number.unwrap_or_else(|| {
                    state.next += 1;
                    state.next - 1
                });
                let document = index.document(record, number);
                writer.add_document(document).map_err(|error| Error::index(&index.name, in_words(&error)))?;
            }
            state.records = Some((snapshot.len() + added).saturating_sub(replaced + removed));
            Ok(())
        })?;
        let new = places.len() as u64 - replaced;
        Ok((removed, AddCounts { new, replaced: given - new }))
    }

    /// Changes settings that are still open, in an index without records.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        if self.settings == *settings {
            return Ok(());
        }
        self.change(|_, _, _, state| {
            state.twinset = settings.to_value();
            Ok(())
        })?;
        self.settings = settings.clone();
        Ok(())
    }

    /// Waits for background merges.
    pub fn finish(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let merged = writer.wait_merging_threads();
        merged.map_err(|error| {
            let reason = in_words(&error);
            Error::index(&self.name, format!("all changes are there, but its parts could not be merged: {reason}"))
        })
    }

    /// Makes the next state, or leaves the last one, which nobody else can change meanwhile.
    fn change(&mut self, make: impl FnOnce(&Self, &IndexWriter, &Snapshot, &mut State) -> Result<()>) -> Result<()> {
        let mut writer = self.take_writer()?;
        let changed = self.snapshot().and_then(|last| {
            let mut next = state(&self.index, &self.name)?;
            make(self, &writer, &last, &mut next)?;
            let failed = |error: TantivyError| {
                Error::index(&self.name, format!("nothing of this was changed: {}", in_words(&error)))
            };
            let mut commit = writer.prepare_commit().map_err(failed)?;
            commit.set_payload(&next.to_json());
            commit.commit().map_err(failed)?;
            Ok(())
        });
        match changed {
            Ok(()) => self.writer = Some(writer),
            // What was not committed goes with the writer.
            Err(_) => drop(writer),
        }
        changed?;
        // The new state is there now; this makes its name survive a power failure.
        self.index.directory().sync_directory().map_err(|error| Error::unsettled(&self.name, error))
    }

    /// The writer, of which there is one in all processes.
    fn take_writer(&mut self) -> Result<IndexWriter> {
        if let Some(writer) = self.writer.take() {
            return Ok(writer);
        }
        let failed = |error: TantivyError| Error::index(&self.name, in_words(&error));
        let writer = loop {
            // Which files there are is read when an index is opened, and another process may have changed them since.
            let index = TantivyFolder::open_index(&self.path).map_err(failed)?;
            let segments = || index.searchable_segment_ids().map_err(failed);
            let opened = segments()?;
            let threads = self.threads.clamp(1, 8);
            let writer: IndexWriter = index.writer_with_num_threads(threads, threads * MEMORY).map_err(failed)?;
            if segments()? == opened {
                self.index = index;
                break writer;
            }
        };
        // What a process left that was killed could have a name that is needed now.
        writer.garbage_collect_files().wait().map_err(failed)?;
        writer.set_merge_policy(Box::new(IntactMerges::new(self.index.directory(), &self.path)));
        Ok(writer)
    }

    fn document(&self, mut record: Entry, number: u64) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        let synopsis = record.synopsis.synopsis();
        document.add_text(self.fields.id, &record.id);
        document.add_u64(self.fields.number, number);
        document.add_bool(self.fields.complete, synopsis.is_complete());
        document.add_u64(self.fields.size, synopsis.distinct() as u64);
        document.add_u64(self.fields.bytes, record.bytes);
        for &value in synopsis.values() {
            document.add_u64(self.fields.values, value);
            document.add_u64(self.fields.terms, term(value));
        }
        if !record.extra.is_empty() {
            let extra = record.extra.into_iter().map(|(name, value)| (name, OwnedValue::from(value)));
            document.add_object(self.fields.extra, extra.collect());
        }
        document
    }
}

impl Entry {
    /// Adds what a later record of the same id has.
    fn take_in(&mut self, mut later: Self) {
        self.synopsis.merge(later.synopsis.synopsis());
        self.bytes += later.bytes;
        self.extra.extend(later.extra);
    }
}

impl StoredSynopsis {
    /// As it was given once.
    fn into_entry(self, settings: &Settings) -> Result<Entry> {
        let mut synopsis = SynopsisBuilder::new(settings.size())?;
        let kept = Synopsis::new(&self.values, settings.size(), self.is_complete);
        synopsis.merge(kept.ok_or_else(|| Error::Usage(format!("the synopsis of record `{}` is damaged", self.id)))?);
        Ok(Entry { id: self.id, synopsis, bytes: self.bytes, extra: self.extra })
    }
}

/// What went wrong, and what to do.
pub(super) fn in_words(error: &TantivyError) -> String {
    let system = match error {
        TantivyError::SystemError(reason) if reason.starts_with("Failed to spawn") => Some(ErrorKind::WouldBlock),
        TantivyError::IoError(error) => Some(error.kind()),
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(io_error.kind()),
        _ => None,
    };
    match (error, system) {
        (TantivyError::LockFailure(..), _) => "another process writes to it; wait for that".to_owned(),
        (TantivyError::ErrorInThread(_), _) => {
            "it cannot be written (is the disk full, a file too large, or memory short?); the last state can still be read".to_owned()
        }
        (_, Some(ErrorKind::StorageFull)) => "the disk is full; make room; the last state can still be read".to_owned(),
        (_, Some(ErrorKind::WouldBlock)) => {
            "no thread could be started to write to it; allow more memory, or fewer threads; the last state can still be read"
                .to_owned()
        }
        (other, _) => format!("it cannot be written: {other}; the last state can still be read"),
    }
}
