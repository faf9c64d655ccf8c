//! What changes of all kinds of indexes have in common.

use crate::{Error, Result};

/// What an addition did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddCounts {
    /// How many records are new.
    pub new: u64,
    /// How many took the place of others with the same id, or made place for later ones.
    pub replaced: u64,
}

/// The longest id. All databases can look up ids of this length.
const LONGEST_ID: usize = 2000;

/// Refuses an id that is too long to be looked up.
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
