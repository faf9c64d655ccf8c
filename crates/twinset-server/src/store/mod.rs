//! The truth: articles, their links, and what a reader said of them, in SQLite. Everything else can be made again from it.

mod backup;
mod snapshot;
mod update;

pub use backup::back_up;
pub use snapshot::Verdict;
pub(crate) use snapshot::{Change, Link, Snapshot};
pub(crate) use update::{NewArticle, Update};

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{Error, Result};

/// What is kept.
pub(crate) struct Store {
    file: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

const FILE: &str = "news.sqlite";
/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a database of each version becomes one of the next; the last version is how many there are.
const UPGRADES: [&str; 5] = [
    "
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    -- Every change of an article gives it a new place in the order of changes. A deleted one stays until all have heard of it.
    CREATE TABLE articles (
        id INTEGER PRIMARY KEY AUTOINCREMENT, change INTEGER NOT NULL UNIQUE, is_deleted INTEGER NOT NULL DEFAULT 0,
        url TEXT NOT NULL, source TEXT NOT NULL, published INTEGER NOT NULL, received INTEGER NOT NULL,
        title TEXT NOT NULL, length INTEGER NOT NULL, entities TEXT NOT NULL, text TEXT NOT NULL);
    CREATE UNIQUE INDEX articles_by_url ON articles (url) WHERE NOT is_deleted;
    CREATE INDEX articles_by_time ON articles (published, id) WHERE NOT is_deleted;
    CREATE INDEX articles_deleted ON articles (change) WHERE is_deleted;
    CREATE TABLE links (
        article INTEGER NOT NULL, other INTEGER NOT NULL, similarity REAL NOT NULL,
        PRIMARY KEY (article, other)) WITHOUT ROWID;
    CREATE TABLE verdicts (
        article INTEGER NOT NULL, other INTEGER NOT NULL, same INTEGER NOT NULL, given INTEGER NOT NULL,
        PRIMARY KEY (article, other)) WITHOUT ROWID;
    CREATE TABLE reads (article INTEGER PRIMARY KEY, given INTEGER NOT NULL);
    CREATE TABLE feeds (
        id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL UNIQUE, title TEXT NOT NULL DEFAULT '',
        etag TEXT, modified TEXT, next INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
        problem TEXT, polled INTEGER, articles INTEGER NOT NULL DEFAULT 0, added INTEGER NOT NULL);
",
    // What is followed may be a list of feeds.
    "ALTER TABLE feeds ADD COLUMN is_list INTEGER NOT NULL DEFAULT 0;",
    // How far an article has come from the text that was read: at least its Jaccard distance.
    "ALTER TABLE reads ADD COLUMN drift REAL NOT NULL DEFAULT 0;",
    // Whether an article came as an entry of a feed. Of those that were there before nobody knows.
    "ALTER TABLE articles ADD COLUMN is_entry INTEGER NOT NULL DEFAULT 1;",
    // The address of the feed that alone an article came from. Of those that were there before nobody knows.
    "ALTER TABLE articles DROP COLUMN is_entry; ALTER TABLE articles ADD COLUMN feed TEXT;",
];

impl Store {
    /// Opens the store of a folder, or makes one.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let file = folder.join(FILE);
        let mut writer = Connection::open(&file)?;
        prepare(&writer)?;
        writer.pragma_update(None, "journal_mode", "WAL")?;
        // What was committed stays, even if the power goes.
        writer.pragma_update(None, "synchronous", "FULL")?;
        upgrade(&mut writer, &file)?;
        Ok(Self { file, writer: Mutex::new(writer), readers: Mutex::default() })
    }

    /// Reads from one state.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        let known = self.readers.lock().expect("no reader panics with the list").pop();
        let connection = match known {
            Some(connection) => connection,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = Connection::open_with_flags(&self.file, flags)?;
                prepare(&connection)?;
                connection
            }
        };
        let transaction = connection.unchecked_transaction()?;
        let result = read(&Snapshot { connection: &transaction });
        transaction.finish()?;
        self.readers.lock().expect("no reader panics with the list").push(connection);
        result
    }

    /// Changes something, wholly or not at all.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&Update<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = write(&Update { transaction: &transaction })?;
        transaction.commit()?;
        Ok(result)
    }
}

#[cfg(test)]
impl Store {
    /// Lets everyone who reads panic, or no more.
    pub(crate) fn fail_readers(&self, fail: bool) {
        if !fail {
            return self.readers.clear_poison();
        }
        let panicked = std::thread::scope(|scope| {
            let holding = scope.spawn(|| {
                let _held = self.readers.lock();
                panic!("this is meant to happen");
            });
            holding.join()
        });
        assert!(panicked.is_err());
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise SQLite plans a query again whenever another value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn upgrade(connection: &mut Connection, file: &Path) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = version as usize;
    if version > UPGRADES.len() {
        let reason = format!(
            "it was written by a newer version of twinset (format {version}, and {} is known here); install that",
            UPGRADES.len()
        );
        return Err(Error::storage(&file.display().to_string(), reason));
    }
    for upgrade in &UPGRADES[version..] {
        transaction.execute_batch(upgrade)?;
    }
    transaction.pragma_update(None, "user_version", UPGRADES.len() as u32)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_the_first_version_is_upgraded() {
        let folder = tempfile::tempdir().unwrap();
        let first = Connection::open(folder.path().join(FILE)).unwrap();
        first.execute_batch(UPGRADES[0]).unwrap();
        first.pragma_update(None, "user_version", 1).unwrap();
        first.execute("INSERT INTO feeds (address, added) VALUES ('https://a.example/feed', 7)", []).unwrap();
        let article = "INSERT INTO articles (change, url, source, published, received, title, length, entities, text)
                       VALUES (1, 'https://a.example/1', 'A', 7, 7, 'Title', 4, '[]', 'Text')";
        first.execute(article, []).unwrap();
        first.execute("INSERT INTO reads VALUES (1, 7)", []).unwrap();
        drop(first);
        for _ in 0..2 {
            let store = Store::open(folder.path()).unwrap();
            let sql = "SELECT address, is_list FROM feeds";
            let feed = store.read(|snapshot| {
                Ok(snapshot
                    .connection()
                    .query_row(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?)
            });
            assert_eq!(feed.unwrap(), ("https://a.example/feed".to_owned(), false));
            let head = store.read(|snapshot| snapshot.head(1)).unwrap().unwrap();
            assert!(head.is_read && head.title == "Title");
            assert_eq!(store.read(|snapshot| snapshot.feed_of(1)).unwrap(), None);
        }
    }
}
