//! One state of the store: articles, their links, and what a reader said.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use utoipa::ToSchema;

use crate::article::{Article, Entity, Head, Moment};
use crate::terms::COPY;
use crate::{Error, Result};

/// One state of the store.
pub(crate) struct Snapshot<'a> {
    pub(super) connection: &'a Connection,
}

impl Snapshot<'_> {
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

    /// Some articles, others each time.
    pub(crate) fn sample(&self, count: usize) -> Result<Vec<i64>> {
        let sql = "SELECT id FROM articles WHERE NOT is_deleted ORDER BY random() LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([count as i64], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What is linked with an article and alike enough, the most similar first, so many at most.
    pub(crate) fn links(&self, id: i64, least: f64, most: usize) -> Result<Vec<Link>> {
        let sql = "SELECT other, similarity FROM links WHERE article = ?1 AND similarity >= ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows =
            statement.query_map(params![id, least], |row| Ok(Link { other: row.get(0)?, similarity: row.get(1)? }))?;
        let mut links: Vec<Link> = rows.collect::<rusqlite::Result<_>>()?;
        links.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.other.cmp(&b.other)));
        links.truncate(most);
        Ok(links)
    }

    /// The feed that alone an article came from.
    pub(crate) fn feed_of(&self, id: i64) -> Result<Option<String>> {
        let sql = "SELECT feed FROM articles WHERE id = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([id], |row| row.get(0))?)
    }

    /// The articles that were marked read and that an article is a copy of.
    pub(crate) fn read_copies(&self, id: i64) -> Result<Vec<i64>> {
        let sql = "SELECT other FROM links JOIN reads ON reads.article = other
                   WHERE links.article = ?1 AND similarity - drift >= ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![id, COPY], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
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

/// An article that is similar to another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub(crate) other: i64,
    pub(crate) similarity: f64,
}

/// A change of an article that others are to hear of.
pub(crate) struct Change {
    pub(crate) number: i64,
    pub(crate) id: i64,
    /// `None` if it is gone.
    pub(crate) article: Option<Article>,
}

/// What a reader said about two articles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Verdict {
    /// The one article.
    pub left: i64,
    /// The other.
    pub right: i64,
    /// Whether they tell the same story.
    pub same: bool,
    /// When it was said.
    pub given: Moment,
}

const ARTICLE: &str = "SELECT id, url, title, text, published, source, entities, received FROM articles";
const HEAD: &str =
    "SELECT id, url, title, published, source, length, entities, EXISTS (SELECT 1 FROM reads WHERE article = id)
                    FROM articles";

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

fn verdict(row: &Row<'_>) -> rusqlite::Result<Verdict> {
    Ok(Verdict { left: row.get(0)?, right: row.get(1)?, same: row.get(2)?, given: Moment(row.get(3)?) })
}
