//! A copy of the store, made while a service goes on with it.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use twinset_io::durable::Temporary;

use super::{FILE, PATIENCE};
use crate::{Error, Result};

/// Writes a copy of all articles of a folder, as they are at this moment, while a service on it goes on.
pub fn back_up(folder: &Path, to: &Path) -> Result<()> {
    let file = folder.join(FILE);
    if !file.is_file() {
        return Err(Error::Usage(format!("--data {}: there are no articles in this folder", folder.display())));
    }
    // Also a link that leads nowhere.
    if to.symlink_metadata().is_ok() {
        return Err(Error::Usage(format!("--backup {}: this file exists; name a new one", to.display())));
    }
    let path = to.to_str().ok_or_else(|| Error::Usage("the backup needs a name in UTF-8".to_owned()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    let unwritten = |error: &dyn std::fmt::Display| {
        Error::storage(path, format!("it cannot be written: {error}; make room, or choose another place"))
    };
    // What was not written wholly does not look like a backup.
    let partial = Temporary::beside(to).map_err(|error| unwritten(&error))?;
    let copied = connection.execute("VACUUM INTO ?1", [partial.path().to_str()]);
    if let (Err(_), Some(partial)) = (&copied, partial.path().to_str()) {
        // SQLite leaves it for another try.
        _ = std::fs::remove_file(format!("{partial}-journal"));
    }
    copied.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => error.into(),
        _ => unwritten(&error),
    })?;
    partial.persist(to).map_err(|error| unwritten(&error))
}
