//! Where the records and labels of an index lie.

use std::ops::RangeInclusive;

use xxhash_rust::xxh3::xxh3_64;

use crate::{Result, Settings};

/// A record as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number: records that came earlier have smaller ones.
    pub number: i64,
    /// What it is called.
    pub id: String,
    /// The hashes of its tokens, sorted.
    pub hashes: Vec<u64>,
}

/// A record that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledRecord {
    /// What it is called.
    pub id: String,
    /// The hashes of its tokens, sorted.
    pub hashes: Vec<u64>,
    /// Its label in each tree; none if it has no tokens.
    pub labels: Vec<i64>,
}

/// Takes a record: its number, its id and its hashes.
pub(crate) type Visit<'a> = dyn FnMut(i64, &str, &[u64]) + 'a;

/// A place for records and labels. Every change is there wholly or not at all once the call returns, and survives whatever
/// happens to this process afterwards. Writers wait for each other.
pub(crate) trait Backend: Send {
    /// What the index was made with.
    fn settings(&self) -> &Settings;

    /// Writes other settings, which must label records alike.
    fn set_settings(&mut self, settings: &Settings) -> Result<()>;

    /// What it is called in messages.
    fn name(&self) -> &str;

    /// How many records there are.
    fn len(&mut self) -> Result<u64>;

    /// Puts records with different ids in. Those whose ids exist take the place of the old ones, whose labels are made
    /// by `relabel`. Returns how many did.
    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64>;

    /// Takes records out. Returns how many of the ids there were.
    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64>;

    /// The record of this id.
    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>>;

    /// Calls `visit` for all records whose label lies in the range given for some tree, each once, in order of their
    /// numbers.
    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()>;

    /// So many records with numbers above this one, in order.
    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>>;

    /// How many of these labels, one for each tree, are kept for a record.
    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize>;

    /// How many labels are kept in all.
    fn label_count(&mut self) -> Result<u64>;

    /// How many bytes it takes, if that can be told.
    fn bytes(&mut self) -> Result<Option<u64>>;

    /// From now on, until [`release`](Self::release), all is read from the state of this moment, whatever others write.
    fn hold(&mut self) -> Result<()>;

    /// Sees what others have written since.
    fn release(&mut self) -> Result<()>;

    /// What the backend itself finds wrong with its files.
    fn damages(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Hashes as bytes, the lowest first, and a hash of all that.
pub(super) fn to_bytes(hashes: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// What [`to_bytes`] made; `None` if a bit of it has changed.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Vec<u64>> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    let (hashes, rest) = bytes.as_chunks();
    let is_whole = rest.is_empty() && xxh3_64(bytes) == u64::from_le_bytes(*sum);
    is_whole.then(|| hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect())
}
