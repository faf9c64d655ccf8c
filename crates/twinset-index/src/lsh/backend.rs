//! The storage of an index: records and labels.

use std::ops::RangeInclusive;

use xxhash_rust::xxh3::xxh3_64;

use crate::{Result, Settings};

/// A record of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number; earlier records have smaller numbers.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// The hashes of its tokens, sorted.
    pub hashes: Vec<u64>,
}

/// A record to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledRecord {
    /// Its id.
    pub id: String,
    /// The hashes of its tokens, sorted.
    pub hashes: Vec<u64>,
    /// Its label in each tree; empty without tokens.
    pub labels: Vec<i64>,
}

/// Takes a record: its number, its id and its hashes.
pub(crate) type Visit<'a> = dyn FnMut(i64, &str, &[u64]) + 'a;

/// The storage of an index. Every change is atomic, and durable once the call returns. Writers wait for each other.
pub(crate) trait Backend: Send {
    /// What the index was made with.
    fn settings(&self) -> &Settings;

    /// Replaces the settings by others with the same labels.
    fn set_settings(&mut self, settings: &Settings) -> Result<()>;

    /// Returns the name for messages.
    fn name(&self) -> &str;

    /// The number of records.
    fn len(&mut self) -> Result<u64>;

    /// Adds records with distinct ids. Those with an id of the index replace the old ones, whose labels `relabel` computes. Returns
    /// the number of replaced records.
    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64>;

    /// Removes records. Returns the number of removed records.
    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64>;

    /// Returns the record with an id.
    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>>;

    /// Calls `visit` for all records whose label lies in the range given for some tree, each once, in order of their
    /// numbers.
    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()>;

    /// Returns the next `count` records after `number`.
    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>>;

    /// Returns how many of these labels, one for each tree, are stored for a record.
    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize>;

    /// Returns the number of labels.
    fn label_count(&mut self) -> Result<u64>;

    /// The size in bytes, if known.
    fn bytes(&mut self) -> Result<Option<u64>>;

    /// Until [`end_snapshot`](Self::end_snapshot), reads from the state of this moment, whatever others write.
    fn begin_snapshot(&mut self) -> Result<()>;

    /// Ends the snapshot.
    fn end_snapshot(&mut self) -> Result<()>;

    /// Returns the corruption that the backend itself detects.
    fn damages(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Encodes hashes in little-endian order, followed by a checksum.
pub(super) fn to_bytes(hashes: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// Decodes the result of [`to_bytes`]; `None` if the checksum does not match.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<u64>> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    let (hashes, rest) = bytes.as_chunks();
    let is_whole = rest.is_empty() && xxh3_64(bytes) == u64::from_le_bytes(*sum);
    is_whole.then(|| hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect())
}
