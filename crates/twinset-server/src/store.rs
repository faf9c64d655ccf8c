//! The truth: articles, their links, and what a reader said of them, in SQLite. Everything else can be made again from it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use twinset_io::write::Temporary;

use crate::article::{Article, Entity, Head, Moment};
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
const UPGRADES: [&str; 2] = [
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
];

const ARTICLE: &str = "SELECT id, url, title, text, published, source, entities, received FROM articles";
const HEAD: &str =
    "SELECT id, url, title, published, source, length, entities, EXISTS (SELECT 1 FROM reads WHERE article = id)
                    FROM articles";

/// An article that is to be kept.
#[derive(Debug, Clone)]
pub(crate) struct NewArticle {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// `None` if nobody tells; then it stays as it was, or is the time of its arrival.
    pub(crate) published: Option<Moment>,
    pub(crate) source: String,
    pub(crate) entities: Vec<Entity>,
}

impl NewArticle {
    /// Whether it is kept already, as it is.
    pub(crate) fn is_kept_as(&self, old: &Article) -> bool {
        old.title == self.title
            && old.text == self.text
            && self.published.is_none_or(|published| published == old.published)
            && old.source == self.source
            && old.entities == self.entities
    }
}

/// A change of an article that others are to hear of.
pub(crate) struct Change {
    pub(crate) number: i64,
    pub(crate) id: i64,
    /// `None` if it is gone.
    pub(crate) article: Option<Article>,
}

/// Whether two articles tell the same story, as a reader said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) article: i64,
    pub(crate) other: i64,
    pub(crate) same: bool,
    pub(crate) given: Moment,
}

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
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Reading<'_>) -> Result<T>) -> Result<T> {
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
        let result = read(&Reading { connection: &transaction });
        transaction.finish()?;
        self.readers.lock().expect("no reader panics with the list").push(connection);
        result
    }

    /// Changes something, wholly or not at all.
    pub(crate) fn write<T>(&self, write: impl FnOnce(&Writing<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = write(&Writing { transaction: &transaction })?;
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

/// Writes a copy of all articles of a folder, as they are at this moment, while a service on it goes on.
pub fn back_up(folder: &Path, to: &Path) -> Result<()> {
    let file = folder.join(FILE);
    if !file.is_file() {
        return Err(Error::Usage(format!("--data {}: there are no articles in this folder", folder.display())));
    }
    if to.exists() {
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

fn entities(json: &str) -> Vec<Entity> {
    serde_json::from_str(json).unwrap_or_default()
}

fn article(row: &Row<'_>) -> rusqlite::Result<Article> {
    Ok(Article {
        id: row.get(0)?,
        url: row.get(1)?,
        title: row.get(2)?,
        text: row.get(3)?,
        published: Moment(row.get(4)?),
        source: row.get(5)?,
        entities: entities(row.get_ref(6)?.as_str()?),
        received: Moment(row.get(7)?),
    })
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        id: row.get(0)?,
        url: row.get(1)?,
        title: row.get(2)?,
        published: Moment(row.get(3)?),
        source: row.get(4)?,
        length: row.get::<_, i64>(5)? as u64,
        entities: entities(row.get_ref(6)?.as_str()?),
        is_read: row.get(7)?,
    })
}

/// One state of the store.
pub(crate) struct Reading<'a> {
    connection: &'a Connection,
}

impl Reading<'_> {
    pub(crate) fn setting(&self, name: &str) -> Result<Option<String>> {
        let sql = "SELECT value FROM settings WHERE name = ?1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?)
    }

    pub(crate) fn count(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM articles WHERE NOT is_deleted";
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }

    /// The number of the last change.
    pub(crate) fn last_change(&self) -> Result<i64> {
        Ok(self.connection.query_row("SELECT coalesce(max(change), 0) FROM articles", [], |row| row.get(0))?)
    }

    /// So many changes after this one, in order.
    pub(crate) fn changes_after(&self, change: i64, count: usize) -> Result<Vec<Change>> {
        let sql = format!("{ARTICLE} WHERE change = ?1 AND NOT is_deleted");
        let mut list = self
            .connection
            .prepare_cached("SELECT change, id FROM articles WHERE change > ?1 ORDER BY change LIMIT ?2")?;
        let mut read = self.connection.prepare_cached(&sql)?;
        let rows = list.query_map(params![change, count as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows: Vec<(i64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
        let changes = rows
            .into_iter()
            .map(|(number, id)| Ok(Change { number, id, article: read.query_row([number], article).optional()? }));
        changes.collect()
    }

    pub(crate) fn article(&self, id: i64) -> Result<Article> {
        let sql = format!("{ARTICLE} WHERE id = ?1 AND NOT is_deleted");
        let found = self.connection.prepare_cached(&sql)?.query_row([id], article).optional()?;
        found.ok_or_else(|| Error::Missing(format!("there is no article {id}")))
    }

    /// The article of an address.
    pub(crate) fn article_at(&self, url: &str) -> Result<Option<Article>> {
        let sql = format!("{ARTICLE} WHERE url = ?1 AND NOT is_deleted");
        Ok(self.connection.prepare_cached(&sql)?.query_row([url], article).optional()?)
    }

    pub(crate) fn head(&self, id: i64) -> Result<Option<Head>> {
        let sql = format!("{HEAD} WHERE id = ?1 AND NOT is_deleted");
        Ok(self.connection.prepare_cached(&sql)?.query_row([id], head).optional()?)
    }

    pub(crate) fn text(&self, id: i64) -> Result<Option<String>> {
        let sql = "SELECT text FROM articles WHERE id = ?1 AND NOT is_deleted";
        Ok(self.connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
    }

    pub(crate) fn published(&self, id: i64) -> Result<Option<Moment>> {
        let sql = "SELECT published FROM articles WHERE id = ?1 AND NOT is_deleted";
        Ok(self.connection.prepare_cached(sql)?.query_row([id], |row| row.get(0).map(Moment)).optional()?)
    }

    /// Articles by their time, the newest first.
    pub(crate) fn newest(&self, skip: usize, count: usize) -> Result<Vec<Head>> {
        let sql = format!("{HEAD} WHERE NOT is_deleted ORDER BY published DESC, id DESC LIMIT ?1 OFFSET ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([count as i64, skip as i64], head)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What is linked with an article and alike enough, the most similar first, so many at most.
    pub(crate) fn links(&self, id: i64, least: f64, most: usize) -> Result<Vec<(i64, f64)>> {
        let sql = "SELECT other, similarity FROM links WHERE article = ?1 AND similarity >= ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![id, least], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut links: Vec<(i64, f64)> = rows.collect::<rusqlite::Result<_>>()?;
        links.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        links.truncate(most);
        Ok(links)
    }

    /// What a reader said of an article.
    pub(crate) fn verdicts_of(&self, id: i64) -> Result<Vec<Verdict>> {
        let sql = "SELECT article, other, same, given FROM verdicts WHERE article = ?1
                   UNION ALL SELECT article, other, same, given FROM verdicts WHERE other = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([id], verdict)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    pub(crate) fn has_verdicts(&self) -> Result<bool> {
        Ok(self.connection.prepare_cached("SELECT 1 FROM verdicts LIMIT 1")?.exists([])?)
    }

    pub(crate) fn verdicts(&self, skip: usize, count: usize) -> Result<Vec<Verdict>> {
        let sql =
            "SELECT article, other, same, given FROM verdicts ORDER BY given DESC, article, other LIMIT ?1 OFFSET ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([count as i64, skip as i64], verdict)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether deleted articles up to this change are still there, of which all have heard by now.
    pub(crate) fn has_deleted(&self, until: i64) -> Result<bool> {
        let sql = "SELECT 1 FROM articles WHERE is_deleted AND change <= ?1
                   AND change < (SELECT max(change) FROM articles) LIMIT 1";
        Ok(self.connection.prepare_cached(sql)?.exists([until])?)
    }

    /// Whether there is an article of this address.
    pub(crate) fn has_address(&self, url: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM articles WHERE url = ?1 AND NOT is_deleted";
        Ok(self.connection.prepare_cached(sql)?.exists([url])?)
    }

    /// When the oldest articles were published, so many of them.
    pub(crate) fn oldest(&self, count: u64) -> Result<Vec<Moment>> {
        let sql = "SELECT published FROM articles WHERE NOT is_deleted ORDER BY published, id LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([count as i64], |row| row.get(0).map(Moment))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The articles that are too old or too many.
    pub(crate) fn outdated(&self, before: Option<Moment>, most: Option<u64>, count: usize) -> Result<Vec<i64>> {
        let excess = match most {
            Some(most) => self.count()?.saturating_sub(most),
            None => 0,
        };
        let sql = "SELECT id, published FROM articles WHERE NOT is_deleted ORDER BY published, id LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([count as i64], |row| Ok((row.get(0)?, Moment(row.get(1)?))))?;
        let rows: Vec<(i64, Moment)> = rows.collect::<rusqlite::Result<_>>()?;
        let is_outdated =
            |place: usize, published| (place as u64) < excess || before.is_some_and(|before| published < before);
        let outdated = rows.into_iter().enumerate().filter(|(place, (_, published))| is_outdated(*place, *published));
        Ok(outdated.map(|(_, (id, _))| id).collect())
    }

    /// What is listed of feeds, and other statements of one table.
    pub(crate) fn connection(&self) -> &Connection {
        self.connection
    }
}

fn verdict(row: &Row<'_>) -> rusqlite::Result<Verdict> {
    Ok(Verdict { article: row.get(0)?, other: row.get(1)?, same: row.get(2)?, given: Moment(row.get(3)?) })
}

/// A change that is being made.
pub(crate) struct Writing<'a> {
    transaction: &'a Transaction<'a>,
}

impl Writing<'_> {
    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { connection: self.transaction }
    }

    pub(crate) fn unset(&self, name: &str) -> Result<()> {
        self.transaction.execute("DELETE FROM settings WHERE name = ?1", [name])?;
        Ok(())
    }

    pub(crate) fn set(&self, name: &str, value: &str) -> Result<()> {
        self.transaction.execute("INSERT OR REPLACE INTO settings VALUES (?1, ?2)", [name, value])?;
        Ok(())
    }

    fn next_change(&self) -> Result<i64> {
        Ok(self.reading().last_change()? + 1)
    }

    /// Keeps an article. One from the same address loses its links, and keeps its number.
    pub(crate) fn put(&self, article: &NewArticle) -> Result<i64> {
        let change = self.next_change()?;
        let sql = "SELECT id, published FROM articles WHERE url = ?1 AND NOT is_deleted";
        let found: Option<(i64, i64)> = self
            .transaction
            .prepare_cached(sql)?
            .query_row([&article.url], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (now, old) = (Moment::now(), found.map(|(id, _)| id));
        let published = article.published.or(found.map(|(_, published)| Moment(published))).unwrap_or(now);
        if let Some(id) = old {
            self.unlink(id)?;
        }
        let entities = serde_json::to_string(&article.entities).expect("entities can be written as JSON");
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO articles (id, change, url, source, published, received, title, length, entities, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET change = excluded.change, source = excluded.source,
             published = excluded.published, title = excluded.title, length = excluded.length,
             entities = excluded.entities, text = excluded.text",
        )?;
        let id = insert.insert(params![
            old,
            change,
            article.url,
            article.source,
            published.0,
            now.0,
            article.title,
            article.text.chars().count() as i64,
            entities,
            article.text,
        ])?;
        Ok(old.unwrap_or(id))
    }

    /// Links two articles that are alike.
    pub(crate) fn link(&self, id: i64, other: i64, similarity: f64) -> Result<()> {
        let mut insert = self.transaction.prepare_cached("INSERT OR REPLACE INTO links VALUES (?1, ?2, ?3)")?;
        insert.execute(params![id, other, similarity])?;
        insert.execute(params![other, id, similarity])?;
        Ok(())
    }

    fn unlink(&self, id: i64) -> Result<()> {
        let others = self.reading().links(id, 0.0, usize::MAX >> 1)?;
        let mut delete = self.transaction.prepare_cached("DELETE FROM links WHERE article = ?1 AND other = ?2")?;
        for (other, _) in others {
            delete.execute([id, other])?;
            delete.execute([other, id])?;
        }
        Ok(())
    }

    /// Takes an article out. Whether there was one.
    pub(crate) fn remove(&self, id: i64) -> Result<bool> {
        let change = self.next_change()?;
        let sql = "UPDATE articles SET change = ?1, is_deleted = 1, title = '', text = '', entities = '[]', length = 0
                   WHERE id = ?2 AND NOT is_deleted";
        if self.transaction.prepare_cached(sql)?.execute([change, id])? == 0 {
            return Ok(false);
        }
        self.unlink(id)?;
        self.transaction.execute("DELETE FROM verdicts WHERE article = ?1 OR other = ?1", [id])?;
        self.transaction.execute("DELETE FROM reads WHERE article = ?1", [id])?;
        Ok(true)
    }

    /// Forgets deleted articles of which all have heard. The last change stays, so that its number is not given again.
    pub(crate) fn forget(&self, until: i64) -> Result<()> {
        let sql = "DELETE FROM articles WHERE is_deleted AND change <= ?1
                   AND change < (SELECT max(change) FROM articles)";
        self.transaction.prepare_cached(sql)?.execute([until])?;
        Ok(())
    }

    /// Keeps a verdict, or takes it back.
    pub(crate) fn judge(&self, id: i64, other: i64, same: Option<bool>) -> Result<()> {
        let (first, second) = (id.min(other), id.max(other));
        match same {
            Some(same) => self.transaction.execute(
                "INSERT OR REPLACE INTO verdicts VALUES (?1, ?2, ?3, ?4)",
                params![first, second, same, Moment::now().0],
            )?,
            None => {
                self.transaction.execute("DELETE FROM verdicts WHERE article = ?1 AND other = ?2", [first, second])?
            }
        };
        Ok(())
    }

    /// Marks articles read, or not.
    pub(crate) fn mark(&self, ids: &[i64], is_read: bool) -> Result<()> {
        let sql = match is_read {
            true => "INSERT OR IGNORE INTO reads VALUES (?1, ?2)",
            false => "DELETE FROM reads WHERE article = ?1 AND ?2 = ?2",
        };
        let mut statement = self.transaction.prepare_cached(sql)?;
        for &id in ids {
            statement.execute([id, Moment::now().0])?;
        }
        Ok(())
    }

    /// Statements of one table.
    pub(crate) fn connection(&self) -> &Connection {
        self.transaction
    }
}

/// How often each entity occurs in some articles, the most frequent first.
pub(crate) fn cloud<'a>(heads: impl IntoIterator<Item = &'a Head>) -> Vec<(Entity, u64)> {
    let mut counts: HashMap<&str, (&Entity, u64)> = HashMap::new();
    for entity in heads.into_iter().flat_map(|head| &head.entities) {
        counts.entry(&entity.name).or_insert((entity, 0)).1 += 1;
    }
    let mut cloud: Vec<(Entity, u64)> = counts.into_values().map(|(entity, count)| (entity.clone(), count)).collect();
    cloud.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.name.cmp(&b.0.name)));
    cloud
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
        drop(first);
        for _ in 0..2 {
            let store = Store::open(folder.path()).unwrap();
            let sql = "SELECT address, is_list FROM feeds";
            let feed = store.read(|reading| {
                Ok(reading
                    .connection()
                    .query_row(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?)
            });
            assert_eq!(feed.unwrap(), ("https://a.example/feed".to_owned(), false));
        }
    }
}
