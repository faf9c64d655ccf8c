//! The KMV index: one compact index for any threshold and any measure of sets, with known errors.
//!
//! It stores a synopsis of each record, the k smallest hash values of its tokens, in a column; their lower halves are the terms of an
//! inverted index (tantivy). A query finds the records that share enough values with its own, by one of several strategies
//! (`strategy`), and compares each by the k smallest values of the union. `segment` reads one segment of the index, `snapshot` one
//! state of it, `writer` writes the next, and `merges` chooses the segments to merge.

mod frontier;
mod merges;
mod optimistic;
mod or;
mod pivot;
mod segment;
mod snapshot;
mod strategy;
mod writer;

pub use optimistic::{MissRate, miss_rate};
pub use snapshot::{Hit, Snapshot, StoredSynopsis};
pub use strategy::CandidateStrategy;
pub use writer::Entry;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::index::SegmentComponent;
use tantivy::schema::{FAST, Field, INDEXED, STORED, STRING, Schema};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyError};
use twinset::estimate::{Condition, Synopsis, SynopsisBuilder};
use twinset::tokenize::synopsis_value;

use crate::folder::{self, TantivyFolder};
use crate::{Error, Kind, Result, Settings};

/// A KMV index in a folder.
pub struct KmvIndex {
    path: PathBuf,
    name: String,
    index: tantivy::Index,
    fields: Fields,
    settings: Settings,
    /// While this process changes it.
    writer: Option<IndexWriter>,
    /// How many threads write.
    threads: usize,
}

/// A query.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// The condition on records.
    pub condition: Condition,
    /// How candidates are found.
    pub strategy: CandidateStrategy,
    /// Compare only the smallest `size` values of each synopsis.
    pub size: Option<u32>,
}

/// Statistics of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The settings.
    pub settings: Settings,
    /// The number of records.
    pub records: u64,
    /// The number of records whose synopsis holds all values.
    pub complete: u64,
    /// The number of values of all synopses.
    pub values: u64,
    /// The number of values of all sets, estimated for incomplete synopses.
    pub distinct: f64,
    /// The number of segments.
    pub segments: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// The size of the input in bytes.
    pub input_bytes: u64,
}

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
struct Fields {
    /// What the record is called.
    id: Field,
    /// Records that came earlier have smaller numbers.
    number: Field,
    /// The values of its synopsis, in order.
    values: Field,
    /// The same as terms, by which records are found.
    terms: Field,
    /// Whether these are all.
    complete: Field,
    /// How many values the set has, as far as that is known or estimated.
    size: Field,
    /// The size of its input in bytes.
    bytes: Field,
    /// Other data stored with it.
    extra: Field,
}

impl Fields {
    fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let fields = Self {
            id: schema.add_text_field("id", STRING | STORED),
            number: schema.add_u64_field("number", FAST),
            values: schema.add_u64_field("values", FAST),
            terms: schema.add_u64_field("terms", INDEXED),
            complete: schema.add_bool_field("complete", FAST),
            size: schema.add_u64_field("size", FAST),
            bytes: schema.add_u64_field("bytes", FAST),
            extra: schema.add_json_field("extra", STORED),
        };
        (schema.build(), fields)
    }
}

/// The term of a value: its lower half, as long terms that share nothing make a large dictionary. Where two values have the same
/// term, a record is compared that need not be.
fn term(value: u64) -> u64 {
    value & u64::from(u32::MAX)
}

/// The file that names all others.
const FILE: &str = "meta.json";

/// What goes with each state of the index.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// The settings, as they are written elsewhere.
    twinset: serde_json::Value,
    /// The number of the next record that is new.
    next: u64,
    /// Returns whether values were ever merged into an existing record.
    #[serde(default)]
    merged: bool,
    /// How many records there are; indexes of before do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
}

impl State {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a state can be written as JSON")
    }
}

impl KmvIndex {
    /// Creates an index in a folder, which must be empty or new.
    pub fn create(path: &Path, settings: &Settings) -> Result<Self> {
        let name = path.display().to_string();
        Synopsis::check_size(settings.size())?;
        twinset::tokenize::TokenHasher::new(&settings.tokens, settings.seed)?;
        let state = State { twinset: settings.to_value(), next: 1, merged: false, records: Some(0) };
        let made = |unfinished: &Path| -> tantivy::Result<()> {
            let (schema, _) = Fields::schema();
            let index = TantivyFolder::create_index(unfinished, schema)?;
            let mut writer: IndexWriter = index.writer_with_num_threads(1, writer::MEMORY)?;
            let mut commit = writer.prepare_commit()?;
            commit.set_payload(&state.to_json());
            commit.commit().map(|_| ())
        };
        let failed =
            |error| Error::index(&name, format!("it cannot be made: {error}; make room, or choose another place"));
        folder::make(path, FILE, |unfinished| made(unfinished).map_err(failed))?;
        Self::open(path)
    }

    /// Returns whether a folder holds a KMV index.
    pub fn is_at(path: &Path) -> bool {
        path.join(FILE).is_file()
    }

    /// Opens an existing index.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let index = TantivyFolder::open_index(path).map_err(|error| match error {
            TantivyError::OpenDirectoryError(_) => {
                Error::index(&name, "there is no such folder; make it with `twinset index create`")
            }
            TantivyError::OpenReadError(_) if !Self::is_at(path) => {
                Error::index(&name, "this folder holds no index; make one with `twinset index create`")
            }
            TantivyError::IncompatibleIndex(_) => {
                Error::index(&name, "it was written by another version of twinset; install that")
            }
            other => Error::index(&name, format!("it cannot be opened ({other}); restore it from a copy")),
        })?;
        // The version comes first: another one may have another state.
        let settings = Settings::from_json(&payload(&index, &name)?["twinset"].to_string(), &name)?;
        state(&index, &name)?;
        if settings.kind != Kind::Kmv {
            return Err(Error::index(&name, "this is no index of synopses"));
        }
        let (schema, fields) = Fields::schema();
        if index.schema() != schema {
            return Err(Error::index(
                &name,
                "its fields are not those of an index of synopses; restore it from a copy",
            ));
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { path: path.to_owned(), name, index, fields, settings, writer: None, threads })
    }

    /// Sets the number of threads that write.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Returns whether values were ever merged into an existing record.
    pub fn is_merged(&self) -> Result<bool> {
        Ok(state(&self.index, &self.name)?.merged)
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Computes the synopsis of a set of token hashes.
    pub fn synopsis_of(&self, hashes: &[u64]) -> Result<SynopsisBuilder> {
        let mut builder = SynopsisBuilder::new(self.settings.size())?;
        hashes.iter().for_each(|&hash| builder.insert(synopsis_value(hash, self.settings.seed)));
        Ok(builder)
    }

    /// Rejects an index whose hashes mean something else.
    pub fn check_alike(&self, other: &Self) -> Result<()> {
        if self.settings.is_alike(&other.settings) {
            return Ok(());
        }
        let reason = format!("its token options, RDF options or seed differ from those of {}", other.name);
        Err(Error::index(&self.name, reason))
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a snapshot of the index.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let reader: tantivy::Result<IndexReader> =
            self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(|error| self.failure(&error))?;
        Snapshot::new(&reader.searcher(), self.fields, &self.settings, &self.name)
    }

    /// Returns statistics.
    pub fn stats(&self) -> Result<Stats> {
        let snapshot = self.snapshot()?;
        let (mut complete, mut values, mut distinct) = (0, 0, 0.0);
        snapshot.for_each(|_, synopsis| {
            complete += u64::from(synopsis.is_complete());
            values += synopsis.values().len() as u64;
            distinct += synopsis.distinct();
            Ok::<_, Error>(())
        })?;
        let sizes = fs::read_dir(&self.path)
            .map(|files| files.flatten().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum());
        Ok(Stats {
            settings: self.settings.clone(),
            records: snapshot.len(),
            complete,
            values,
            distinct,
            segments: snapshot.segments() as u64,
            bytes: sizes.unwrap_or(0),
            input_bytes: snapshot.input_bytes(),
        })
    }

    /// Reads everything and returns all corruption: checksums that do not match, impossible synopses, records that no value finds.
    pub fn damages(&self) -> Result<Vec<String>> {
        let opstamp = || self.index.load_metas().map(|metas| metas.opstamp).ok();
        let before = opstamp();
        // What is badly damaged makes even that panic.
        let validated = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.damaged_files()));
        let Ok(checked) = validated.map(|checked| checked.map_err(|error| self.failure(&error))) else {
            return Ok(vec!["a file is damaged so that its checksum cannot be read".to_owned()]);
        };
        if opstamp() != before {
            // Files that another process has replaced meanwhile are no damage.
            return self.damages();
        }
        let mut damages: Vec<String> =
            checked?.iter().map(|file| format!("the checksum of {} is another", file.display())).collect();
        damages.sort();
        if damages.is_empty() {
            let (snapshot, state) = (self.snapshot()?, state(&self.index, &self.name)?);
            if opstamp() != before {
                return self.damages();
            }
            damages = snapshot.damages(&state)?;
        }
        Ok(damages)
    }

    /// The files of the last state whose checksum is another. The list of files that tantivy goes by may be damaged itself.
    fn damaged_files(&self) -> tantivy::Result<Vec<PathBuf>> {
        use tantivy::index::SegmentComponent::{Delete, FastFields, FieldNorms, Positions, Postings, Store, Terms};
        const PARTS: [SegmentComponent; 7] = [Postings, Positions, FastFields, FieldNorms, Terms, Store, Delete];
        let segments = self.index.searchable_segment_metas()?;
        let mut damaged = Vec::new();
        let files = segments.iter().flat_map(|segment| PARTS.into_iter().map(|part| segment.relative_path(part)));
        // A segment need not have all of them.
        for file in files.filter(|file| self.path.join(file).exists()) {
            if !self.index.directory().validate_checksum(&file)? {
                damaged.push(file);
            }
        }
        Ok(damaged)
    }

    fn failure(&self, error: &TantivyError) -> Error {
        let reason = match error {
            TantivyError::LockFailure(..) => {
                "it cannot be read, as its lock cannot be taken; reading needs permission to write to the folder, and some room: \
                 make room, then try again"
                    .to_owned()
            }
            other => format!("it cannot be read: {other}; look at the disk, or restore it from a copy"),
        };
        Error::index(&self.name, reason)
    }
}

/// What goes with the last state of an index, whatever it is.
fn payload(index: &tantivy::Index, name: &str) -> Result<serde_json::Value> {
    let foreign = || Error::index(name, "this folder was not made by twinset, or not to the end; name another");
    let metas = index.load_metas().map_err(|error| Error::index(name, format!("it cannot be read: {error}")))?;
    let payload: serde_json::Value =
        serde_json::from_str(&metas.payload.ok_or_else(foreign)?).map_err(|_| foreign())?;
    if payload["twinset"].is_object() { Ok(payload) } else { Err(foreign()) }
}

fn state(index: &tantivy::Index, name: &str) -> Result<State> {
    let damaged = |error| Error::index(name, format!("its state cannot be read ({error}); restore it from a copy"));
    serde_json::from_value(payload(index, name)?).map_err(damaged)
}
