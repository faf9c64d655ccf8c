//! A change of the store, of which all is kept or nothing.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Link, Snapshot};
use crate::Result;
use crate::article::{Article, Entity, Moment};
use crate::terms::COPY;

/// A change that is being made.
pub(crate) struct Update<'a> {
    pub(super) transaction: &'a Transaction<'a>,
}

impl Update<'_> {
    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { connection: self.transaction }
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
        Ok(self.snapshot().last_change()? + 1)
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
            "INSERT INTO articles (id, change, url, source, published, received, title, length, entities, text, feed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (id) DO UPDATE SET change = excluded.change, source = excluded.source,
             published = excluded.published, title = excluded.title, length = excluded.length,
             entities = excluded.entities, text = excluded.text,
             feed = CASE WHEN articles.feed = excluded.feed THEN articles.feed END",
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
            article.feed,
        ])?;
        Ok(old.unwrap_or(id))
    }

    /// Keeps that articles did not come from one feed alone.
    pub(crate) fn share(&self, ids: &[i64]) -> Result<()> {
        let mut update = self.transaction.prepare_cached("UPDATE articles SET feed = NULL WHERE id = ?1")?;
        ids.iter().try_for_each(|&id| Ok(update.execute([id]).map(drop)?))
    }

    /// Links two articles that are alike.
    pub(crate) fn link(&self, id: i64, other: i64, similarity: f64) -> Result<()> {
        let mut insert = self.transaction.prepare_cached("INSERT OR REPLACE INTO links VALUES (?1, ?2, ?3)")?;
        insert.execute(params![id, other, similarity])?;
        insert.execute(params![other, id, similarity])?;
        Ok(())
    }

    /// Takes the links of an article away. If it was read, its copies are marked read first: they are so by their links alone.
    fn unlink(&self, id: i64) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO reads (article, given, drift)
                   SELECT other, given, drift + 1.0 - similarity FROM reads JOIN links ON links.article = reads.article
                   WHERE reads.article = ?1 AND similarity - drift >= ?2 AND NOT EXISTS (
                       SELECT 1 FROM verdicts WHERE NOT same
                       AND verdicts.article = min(?1, links.other) AND verdicts.other = max(?1, links.other))";
        self.transaction.prepare_cached(sql)?.execute(params![id, COPY])?;
        let others = self.snapshot().links(id, 0.0, usize::MAX >> 1)?;
        let mut delete = self.transaction.prepare_cached("DELETE FROM links WHERE article = ?1 AND other = ?2")?;
        for Link { other, .. } in others {
            delete.execute([id, other])?;
            delete.execute([other, id])?;
        }
        Ok(())
    }

    /// Keeps how far the text of an article has moved, as a Jaccard distance. One that was read, and is no copy of what was read any
    /// more, is unread.
    pub(crate) fn drift(&self, id: i64, distance: f64) -> Result<()> {
        let mut update = self.transaction.prepare_cached("UPDATE reads SET drift = drift + ?2 WHERE article = ?1")?;
        update.execute(params![id, distance])?;
        let mut delete = self.transaction.prepare_cached("DELETE FROM reads WHERE article = ?1 AND drift > ?2")?;
        delete.execute(params![id, 1.0 - COPY])?;
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
            true => "INSERT OR REPLACE INTO reads (article, given) VALUES (?1, ?2)",
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
    /// The address of the feed that it is an entry of; `None` if it was posted or imported.
    pub(crate) feed: Option<String>,
}

impl NewArticle {
    /// Whether it is kept already, as it is.
    pub(crate) fn is_same_as(&self, old: &Article) -> bool {
        old.title == self.title
            && old.text == self.text
            && self.published.is_none_or(|published| published == old.published)
            && old.source == self.source
            && old.entities == self.entities
    }

    /// Whether an earlier article from the same address stays, as it has no less text: another source sent it, or this is an entry of a
    /// feed, maybe with a teaser, and not all that came from the address came from that feed. With as much text the first one stays, as
    /// two feeds that list the same article would otherwise replace each other's for ever.
    pub(crate) fn yields_to(&self, old: &Article, snapshot: &Snapshot<'_>) -> Result<bool> {
        let is_other = match &self.feed {
            None => old.source != self.source,
            Some(feed) => snapshot.feed_of(old.id)?.as_ref() != Some(feed),
        };
        Ok(is_other && self.text.chars().count() <= old.text.chars().count())
    }
}
