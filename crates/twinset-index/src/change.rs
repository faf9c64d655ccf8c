//! What changes of all kinds of indexes have in common.

use crate::{Error, Result};

/// The result of an addition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddCounts {
    /// The number of new records.
    pub new: u64,
    /// The number of records that replaced others with the same id, or were replaced by later ones.
    pub replaced: u64,
}

/// The longest id, in bytes. All databases can index ids of this length.
const LONGEST_ID: usize = 2000;

/// Rejects ids that some backend cannot store.
pub(crate) fn check_id(id: &str, index: &str) -> Result<()> {
    if id.contains('\0') {
        return Err(Error::index(index, "an id with a NUL character cannot be kept"));
    }
    if id.len() <= LONGEST_ID {
        return Ok(());
    }
    let start: String = id.chars().take(40).collect();
    Err(Error::index(index, format!("the id `{start}…` has {} bytes, and at most {LONGEST_ID} can be kept", id.len())))
}
