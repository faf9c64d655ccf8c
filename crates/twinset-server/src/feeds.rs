//! Feeds that are followed: asked from time to time, less often when they fail, and only for what is new.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use quick_xml::events::Event;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use twinset_io::Limits;
use twinset_io::read::{PageText, title_and_text};
use url::Url;
use utoipa::ToSchema;

use crate::article::{Moment, Submission, shortened};
use crate::fetch::{Fetched, Fetcher, Refused};
use crate::news::News;
use crate::writer::Outcome;
use crate::{Error, Result};

/// A feed that is followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Feed {
    /// Its number.
    pub id: i64,
    /// Where it is.
    pub address: String,
    /// What it calls itself.
    pub title: String,
    /// When it was asked last.
    pub polled: Option<Moment>,
    /// When it will be asked next.
    pub next: Moment,
    /// How often it failed since it answered last.
    pub failures: u32,
    /// Why it failed the last time.
    pub problem: Option<String>,
    /// How many new articles came from it.
    pub articles: u64,
    #[serde(skip)]
    etag: Option<String>,
    #[serde(skip)]
    modified: Option<String>,
}

const FEED: &str = "SELECT id, address, title, polled, next, failures, problem, articles, etag, modified FROM feeds";
/// A feed that fails is asked half as often each time, down to one in so many.
const RAREST: u32 = 6;
/// What a feed calls itself is cut after so many characters.
const LONGEST_TITLE: usize = 60;
/// How often it is looked whether a feed is to be asked.
const PAUSE: Duration = Duration::from_secs(2);

fn feed(row: &Row<'_>) -> rusqlite::Result<Feed> {
    Ok(Feed {
        id: row.get(0)?,
        address: row.get(1)?,
        title: row.get(2)?,
        polled: row.get::<_, Option<i64>>(3)?.map(Moment),
        next: Moment(row.get(4)?),
        failures: row.get(5)?,
        problem: row.get(6)?,
        articles: row.get::<_, i64>(7)? as u64,
        etag: row.get(8)?,
        modified: row.get(9)?,
    })
}

/// The feeds of a service.
pub struct Feeds {
    news: Arc<News>,
    fetcher: Fetcher,
    /// Seconds between two questions.
    pause: i64,
}

impl Feeds {
    pub(crate) fn new(news: Arc<News>, minutes: u32, allow_private: bool) -> Result<Self> {
        let fetcher = Fetcher::new(allow_private, news.limits())?;
        Ok(Self { news, fetcher, pause: i64::from(minutes) * 60 })
    }

    /// All feeds, in the order in which they came.
    pub fn list(&self) -> Result<Vec<Feed>> {
        self.news.kept.store.read(|reading| {
            let mut statement = reading.connection().prepare_cached(&format!("{FEED} ORDER BY id"))?;
            let rows = statement.query_map([], feed)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn find(&self, id: i64) -> Result<Feed> {
        let found = self.news.kept.store.read(|reading| {
            let mut statement = reading.connection().prepare_cached(&format!("{FEED} WHERE id = ?1"))?;
            Ok(statement.query_row([id], feed).optional()?)
        })?;
        found.ok_or_else(|| Error::Missing(format!("there is no feed {id}")))
    }

    /// Follows a feed. One that is followed already stays as it is.
    pub fn add(&self, address: &str) -> Result<Feed> {
        let url =
            Url::parse(address.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url.filter(|url| url.as_str().len() as u64 <= self.news.limits().url) else {
            let reason =
                format!("`{}` is no address of a feed; it begins with http:// or https://", shortened(address));
            return Err(Error::Request(reason));
        };
        let id = self.news.kept.store.write(|writing| {
            let connection = writing.connection();
            let count: i64 = connection.query_row("SELECT count(*) FROM feeds", [], |row| row.get(0))?;
            if count as u64 >= self.news.limits().feeds {
                return Err(Error::Request(format!("{count} feeds are followed already; remove some")));
            }
            let sql = "INSERT OR IGNORE INTO feeds (address, added) VALUES (?1, ?2)";
            connection.execute(sql, params![url.as_str(), Moment::now().0])?;
            let sql = "SELECT id FROM feeds WHERE address = ?1";
            Ok(connection.query_row(sql, [url.as_str()], |row| row.get(0))?)
        })?;
        self.find(id)
    }

    /// Follows all feeds of a list in OPML. Returns how many it has.
    pub fn add_list(&self, opml: &str) -> Result<u64> {
        let addresses = outlines(opml)?;
        for address in &addresses {
            self.add(address)?;
        }
        Ok(addresses.len() as u64)
    }

    /// Follows a feed no more. Its articles stay.
    pub fn remove(&self, id: i64) -> Result<()> {
        self.find(id)?;
        self.news
            .kept
            .store
            .write(|writing| Ok(writing.connection().execute("DELETE FROM feeds WHERE id = ?1", [id]).map(drop)?))
    }

    /// Asks feeds when it is time, for ever.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            let due = self.due();
            match due {
                Ok(Some(feed)) => {
                    if let Err(error) = self.poll(feed).await {
                        tracing::error!(%error, "a feed could not be kept");
                        tokio::time::sleep(PAUSE).await;
                    }
                }
                Ok(None) => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    tracing::error!(%error, "the feeds cannot be read");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn due(&self) -> Result<Option<Feed>> {
        self.news.kept.store.read(|reading| {
            let sql = format!("{FEED} WHERE next <= ?1 ORDER BY next, id LIMIT 1");
            Ok(reading.connection().prepare_cached(&sql)?.query_row([Moment::now().0], feed).optional()?)
        })
    }

    /// Asks a feed now.
    pub async fn poll_now(&self, id: i64) -> Result<Feed> {
        let feed = self.find(id)?;
        self.poll(feed).await
    }

    async fn poll(&self, feed: Feed) -> Result<Feed> {
        let fetched = self.fetcher.fetch(&feed.address, feed.etag.as_deref(), feed.modified.as_deref()).await;
        let news = self.news.clone();
        let taken = match fetched {
            Err(refused) => Err(refused),
            Ok(Fetched::Unchanged) => Ok((feed.title.clone(), 0, feed.etag.clone(), feed.modified.clone())),
            Ok(Fetched::Document { bytes, etag, modified }) => {
                let address = feed.address.clone();
                let taken = tokio::task::spawn_blocking(move || take_in(&news, &bytes, &address)).await;
                let taken = taken.unwrap_or_else(|_| Err("it cannot be understood".to_owned()));
                taken.map(|(title, new)| (title, new, etag, modified)).map_err(Refused::from)
            }
        };
        let now = Moment::now().0;
        self.news.kept.store.write(|writing| {
            match &taken {
                Ok((title, new, etag, modified)) => writing.connection().execute(
                    "UPDATE feeds SET title = ?2, articles = articles + ?3, etag = ?4, modified = ?5, polled = ?6, next = ?7,
                     failures = 0, problem = NULL WHERE id = ?1",
                    params![feed.id, title, *new as i64, etag, modified, now, now + self.pause],
                )?,
                Err(refused) => {
                    let later = self.pause << (feed.failures + 1).min(RAREST);
                    let later = later.max(refused.wait.map_or(0, |wait| wait.min(7 * 86_400) as i64));
                    tracing::warn!(feed = feed.address, reason = refused.reason, "a feed failed");
                    writing.connection().execute(
                        "UPDATE feeds SET problem = ?2, failures = failures + 1, polled = ?3, next = ?4 WHERE id = ?1",
                        params![feed.id, refused.reason, now, now + later],
                    )?
                }
            };
            Ok(())
        })?;
        self.find(feed.id)
    }
}

/// Takes the articles of a feed in. Returns what it calls itself, and how many were new.
pub(crate) fn take_in(news: &News, bytes: &[u8], address: &str) -> Result<(String, u64), String> {
    let (title, submissions) = understand(bytes, address, news.limits())?;
    let mut new = 0;
    for result in news.submit_all(submissions).map_err(|error| error.to_string())? {
        match result {
            Ok(receipt) => new += u64::from(receipt.outcome == Outcome::New),
            Err(error @ Error::Request(_)) => {
                tracing::warn!(feed = address, %error, "an article of a feed was refused")
            }
            // What could not be kept must come again.
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok((title, new))
}

/// The articles of a feed, and what it calls itself.
pub(crate) fn understand(bytes: &[u8], address: &str, limits: &Limits) -> Result<(String, Vec<Submission>), String> {
    let plain = |html: &str| plain(html, limits.page_depth);
    let parsed = twinset_io::guarded(|| {
        feed_rs::parser::Builder::new().base_uri(Some(address)).build().parse(Cursor::new(bytes))
    });
    let feed = parsed
        .ok_or_else(|| "it cannot be understood".to_owned())?
        .map_err(|error| format!("it is no RSS or Atom feed: {error}"))?;
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let title = feed.title.map(|title| plain(&title.content)).filter(|title| !title.is_empty()).unwrap_or(host);
    let title: String = title.chars().take(LONGEST_TITLE).collect();
    let submission = |entry: feed_rs::model::Entry| {
        let content = entry.content.and_then(|content| content.body);
        let text =
            [content, entry.summary.map(|summary| summary.content)].into_iter().flatten().map(|html| plain(&html));
        // What says more is the article, and the other a summary.
        let text = text.max_by_key(String::len).unwrap_or_default();
        let headline = entry.title.map(|title| plain(&title.content));
        let url = entry.links.into_iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
        let url = url.map_or(entry.id, |link| link.href);
        let text = if text.is_empty() { headline.clone().unwrap_or_default() } else { text };
        let published = entry.published.or(entry.updated).map(|moment| Moment(moment.timestamp()).iso());
        Submission {
            url,
            title: headline,
            text: Some(text),
            published,
            source: Some(title.clone()),
            ..Submission::default()
        }
    };
    Ok((title.clone(), feed.entries.into_iter().take(limits.feed_entries as usize).map(submission).collect()))
}

/// HTML as text.
fn plain(html: &str, deepest: u64) -> String {
    if !html.contains(['<', '&']) {
        return html.trim().to_owned();
    }
    title_and_text(html, PageText::Text, deepest).map(|(_, text)| text.trim().to_owned()).unwrap_or_default()
}

/// The addresses of an OPML list.
pub(crate) fn outlines(opml: &str) -> Result<Vec<String>> {
    let broken = |reason: String| Error::Request(format!("this is no OPML list: {reason}"));
    let mut reader = quick_xml::Reader::from_str(opml);
    let mut addresses = Vec::new();
    loop {
        match reader.read_event().map_err(|error| broken(error.to_string()))? {
            Event::Start(element) | Event::Empty(element)
                if element.name().as_ref().eq_ignore_ascii_case("outline") =>
            {
                for attribute in element.attributes().flatten() {
                    if attribute.key.as_ref().eq_ignore_ascii_case("xmlUrl") {
                        let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
                        addresses.push(value.map_err(|error| broken(error.to_string()))?.into_owned());
                    }
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if addresses.is_empty() { Err(broken("it has no outline with an xmlUrl".to_owned())) } else { Ok(addresses) }
}
