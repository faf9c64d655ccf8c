//! Labels in SQLite: a file in the index folder.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::ffi::{SQLITE_IOERR_NOMEM, SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMSIZE};
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::backend::{Backend, LabeledRecord, StoredRecord, Visit, from_bytes, to_bytes};
use super::watermark::Watermark;
use crate::{Error, Result, Settings, folder};

pub(super) struct Sqlite {
    connection: Connection,
    file: PathBuf,
    watermark: Watermark,
    name: String,
    settings: Settings,
}

const FILE: &str = "labels.sqlite";
/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

const SCHEMA: &str = "
    CREATE TABLE settings (json TEXT NOT NULL);
    CREATE TABLE records (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tokens BLOB NOT NULL);
    CREATE TABLE labels (tree INTEGER NOT NULL, label INTEGER NOT NULL, record INTEGER NOT NULL,
                         PRIMARY KEY (tree, label, record)) WITHOUT ROWID;
";

impl Sqlite {
    pub(super) fn create(folder: &Path, settings: &Settings) -> Result<Self> {
        let name = folder.display().to_string();
        let made = |unfinished: &Path| -> rusqlite::Result<()> {
            let mut connection = Connection::open(unfinished.join(FILE))?;
            let transaction = connection.transaction()?;
            transaction.execute_batch(SCHEMA)?;
            transaction.execute("INSERT INTO settings VALUES (?1)", [settings.to_json()])?;
            transaction.commit()?;
            // The log comes last, so that everything is in the one file.
            prepare(&connection)
        };
        folder::make(folder, FILE, |unfinished| made(unfinished).map_err(|error| failure(&name, &error)))?;
        Self::open(folder).map_err(|error| match error {
            Error::Index { index, reason } => Error::index(&index, format!("it was made, but {reason}")),
            Error::Full { index, reason } => Error::full(&index, format!("it was made, but {reason}")),
            other => other,
        })
    }

    pub(super) fn open(folder: &Path) -> Result<Self> {
        let name = folder.display().to_string();
        let file = folder.join(FILE);
        let watermark = Watermark::of(folder);
        if folder.is_file() {
            let reason = match name.ends_with(".labels") {
                true => "indexes in a single file are no longer read; create one in a folder and add the records again",
                false => "this is a file, and an index is in a folder; name that",
            };
            return Err(Error::index(&name, reason));
        }
        if !file.is_file() {
            if watermark.file().is_file() {
                return Err(Error::damaged(
                    &name,
                    format!("its file {FILE} is missing"),
                    "restore the folder from a copy",
                ));
            }
            let reason = "there is no index in this folder; make one with `twinset index create`";
            return Err(Error::index(&name, reason));
        }
        let refused = |error: rusqlite::Error| failure(&name, &error);
        // It comes before the database, to which others may add meanwhile.
        let acknowledged = watermark.read();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&file, flags).map_err(refused)?;
        prepare(&connection).map_err(refused)?;
        let json: String =
            connection.query_row("SELECT json FROM settings", [], |row| row.get(0)).map_err(|error| {
                let reason = format!("this is no index, or a damaged one ({error})");
                match error.sqlite_error_code() {
                    // Without the table or its row, too.
                    None | Some(ErrorCode::Unknown | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                        Error::damaged(&name, reason, "restore it from a copy")
                    }
                    _ => refused(error),
                }
            })?;
        let settings = Settings::from_json(&json, &name)?;
        let made = changes(&connection).map_err(refused)?;
        if u64::from(made) < acknowledged {
            let reason = format!(
                "it is damaged: change {acknowledged} was acknowledged, and it has only come to {made}, as its log was damaged or lost, \
                 or an older {FILE} has taken its place"
            );
            let remedy = format!(
                "restore the folder from a copy, or go on with what is there by removing {}",
                watermark.file().display()
            );
            return Err(Error::damaged(&name, reason, &remedy));
        }
        Ok(Self { connection, file, watermark, name, settings })
    }
}

/// How many changes were made. SQLite keeps this number for its users, with 31 bits.
fn changes(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, CHANGES, |row| row.get(0))
}

const CHANGES: &str = "user_version";

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(32);
    // Otherwise SQLite plans a query again whenever another value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What was committed stays, even if the power goes.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // No memory map: it is made anew whenever the file has grown, and all pages are looked up again.
    connection.pragma_update(None, "cache_size", -65536)
}

/// Whether there is no room; what processes share of an index takes some as well.
fn is_full(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.code == ErrorCode::DiskFull || error.extended_code == SQLITE_IOERR_SHMSIZE)
}

/// Whether main memory is short, which SQLite takes for a failure of the disk where it maps or reads a file.
fn lacks_memory(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| [SQLITE_IOERR_NOMEM, SQLITE_IOERR_SHMMAP].contains(&error.extended_code))
}

const REMEDY: &str = "restore it from a copy, or create it anew and add the records again";

/// What a failure means to the user.
fn failure(name: &str, error: &rusqlite::Error) -> Error {
    if let rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) = error {
        return Error::damaged(name, "a record is damaged", REMEDY);
    }
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => "another process is writing to it; try again later".to_owned(),
        _ if is_full(error) => {
            return Error::full(name, "the disk is full; nothing of this batch was added: make room");
        }
        _ if lacks_memory(error) => format!("there is not enough memory ({error}); make some free, then try again"),
        Some(ErrorCode::SystemIoFailure) => {
            format!("the disk does not answer ({error}); look at the disk, then try again")
        }
        // What is asked is always the same, so a question that makes no sense to SQLite is about tables that are not there.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
            return Error::damaged(name, format!("it is damaged ({error})"), REMEDY);
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("it cannot be opened for writing ({error}); make room, or see to the permissions, then try again")
        }
        _ => error.to_string(),
    };
    Error::index(name, reason)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    let bytes = row.get_ref(2)?.as_blob()?;
    let broken = || rusqlite::Error::FromSqlConversionFailure(2, Type::Blob, "its checksum is another".into());
    Ok(StoredRecord { number: row.get(0)?, id: row.get(1)?, hashes: from_bytes(bytes).ok_or_else(broken)? })
}

/// Takes the labels of a record out.
fn forget(transaction: &Transaction<'_>, number: i64, labels: &[i64]) -> rusqlite::Result<()> {
    let mut delete = transaction.prepare_cached("DELETE FROM labels WHERE tree = ?1 AND label = ?2 AND record = ?3")?;
    for (tree, label) in labels.iter().enumerate() {
        delete.execute(params![tree as i64, label, number])?;
    }
    Ok(())
}

const FIND: &str = "SELECT number, id, tokens FROM records WHERE id = ?1";

impl Sqlite {
    fn change<T>(&mut self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let name = &self.name;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let changed = transaction.and_then(|transaction| {
            let changed = change(&transaction)?;
            let number = changes(&transaction)?.saturating_add(1).min(i32::MAX as u32);
            transaction.pragma_update(None, CHANGES, number)?;
            transaction.commit()?;
            // Without it the change stands as well.
            let _ = self.watermark.raise(number.into());
            Ok(changed)
        });
        changed.map_err(|error| match error.sqlite_error_code() {
            // All of it may have been written, and only the word that it was is missing.
            Some(ErrorCode::SystemIoFailure) if !is_full(&error) => {
                let reason = format!("the disk does not answer ({error}), and this batch may or may not be there");
                Error::index(name, format!("{reason}; look at the disk, then try again"))
            }
            _ => failure(name, &error),
        })
    }

    fn count(&self, sql: &str) -> Result<u64> {
        self.ask(|connection| connection.query_row(sql, [], |row| row.get::<_, i64>(0))).map(|count| count as u64)
    }

    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        ask(&self.connection).map_err(|error| failure(&self.name, &error))
    }
}

impl Backend for Sqlite {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        self.change(|transaction| transaction.execute("UPDATE settings SET json = ?1", [settings.to_json()]))?;
        self.settings = settings.clone();
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn len(&mut self) -> Result<u64> {
        self.count("SELECT count(*) FROM records")
    }

    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        self.change(|transaction| {
            let next: i64 =
                transaction.query_row("SELECT coalesce(max(number), 0) + 1 FROM records", [], |row| row.get(0))?;
            let (mut next, mut replaced, mut labels) = (next, 0, Vec::new());
            let mut find = transaction.prepare_cached(FIND)?;
            let mut insert = transaction
                .prepare_cached("INSERT OR REPLACE INTO records (number, id, tokens) VALUES (?1, ?2, ?3)")?;
            for record in records {
                let number = match find.query_row([&record.id], stored).optional()? {
                    Some(old) => {
                        forget(transaction, old.number, &relabel(&old.hashes))?;
                        replaced += 1;
                        old.number
                    }
                    None => {
                        next += 1;
                        next - 1
                    }
                };
                insert.execute(params![number, record.id, to_bytes(&record.hashes)])?;
                labels.extend((0i64..).zip(&record.labels).map(|(tree, &label)| (tree, label, number)));
            }
            // In the order of the tree they go to the same pages one after the other.
            labels.sort_unstable();
            let mut insert = transaction.prepare_cached("INSERT INTO labels VALUES (?1, ?2, ?3)")?;
            for label in labels {
                insert.execute(label)?;
            }
            Ok(replaced)
        })
    }

    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        self.change(|transaction| {
            let mut removed = 0;
            for id in ids {
                let found = transaction.prepare_cached(FIND)?.query_row([id], stored).optional()?;
                let Some(old) = found else { continue };
                forget(transaction, old.number, &relabel(&old.hashes))?;
                transaction.prepare_cached("DELETE FROM records WHERE number = ?1")?.execute([old.number])?;
                removed += 1;
            }
            Ok(removed)
        })
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        self.ask(|connection| connection.prepare_cached(FIND)?.query_row([id], stored).optional())
    }

    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()> {
        self.ask(|connection| {
            // One state of the index for all lookups.
            let transaction = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
            let mut numbers: BTreeSet<i64> = BTreeSet::new();
            let mut look_up =
                connection.prepare_cached("SELECT record FROM labels WHERE tree = ?1 AND label BETWEEN ?2 AND ?3")?;
            for (tree, range) in (0i64..).zip(ranges) {
                let mut rows = look_up.query((tree, range.start(), range.end()))?;
                while let Some(row) = rows.next()? {
                    numbers.insert(row.get(0)?);
                }
            }
            let mut read = connection.prepare_cached("SELECT number, id, tokens FROM records WHERE number = ?1")?;
            for number in numbers {
                if let Some(record) = read.query_row([number], stored).optional()? {
                    visit(record.number, &record.id, &record.hashes);
                }
            }
            transaction.map_or(Ok(()), Transaction::commit)
        })
    }

    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>> {
        self.ask(|connection| {
            let mut read = connection
                .prepare_cached("SELECT number, id, tokens FROM records WHERE number > ?1 ORDER BY number LIMIT ?2")?;
            read.query_map((number, count as i64), stored)?.collect()
        })
    }

    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize> {
        self.ask(|connection| {
            let mut read =
                connection.prepare_cached("SELECT 1 FROM labels WHERE tree = ?1 AND label = ?2 AND record = ?3")?;
            let mut found = 0;
            for (tree, &label) in (0u32..).zip(labels) {
                found += usize::from(read.exists(params![tree, label, record.number])?);
            }
            Ok(found)
        })
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        // A transaction begins to see its state with the first reading.
        self.ask(|connection| connection.execute_batch("BEGIN; SELECT count(*) FROM settings"))
    }

    fn end_snapshot(&mut self) -> Result<()> {
        self.ask(|connection| connection.execute_batch("COMMIT"))
    }

    fn label_count(&mut self) -> Result<u64> {
        self.count("SELECT count(*) FROM labels")
    }

    fn bytes(&mut self) -> Result<Option<u64>> {
        let size = |ending: &str| {
            let path = PathBuf::from(format!("{}{ending}", self.file.display()));
            fs::metadata(path).map_or(0, |metadata| metadata.len())
        };
        Ok(Some(size("") + size("-wal")))
    }

    fn damages(&mut self) -> Result<Vec<String>> {
        self.ask(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            let found: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(found.into_iter().filter(|line| line != "ok").collect())
        })
    }
}
