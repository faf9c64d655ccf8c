//! Feeds that are followed: asked from time to time, less often when they fail, and only for what is new.

pub(crate) mod entries;
pub(crate) mod fetch;
pub(crate) mod opml;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use tokio::task::JoinSet;
use url::Url;
use utoipa::ToSchema;

use self::entries::short_title;
use self::fetch::{FetchError, FetchOutcome, Fetcher, Network};
use crate::article::{Moment, shortened};
use crate::limits::Limits;
use crate::news::News;
use crate::store::Update;
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
    /// Why it failed the last time; or, if it did not, what of it was refused.
    pub problem: Option<String>,
    /// How many new articles came from it.
    pub articles: u64,
    /// Whether it is a list of feeds, which are followed, too.
    pub is_list: bool,
    #[serde(skip)]
    etag: Option<String>,
    #[serde(skip)]
    modified: Option<String>,
}

const FEED: &str =
    "SELECT id, address, title, polled, next, failures, problem, articles, etag, modified, is_list FROM feeds";
/// A feed that fails is asked half as often each time, down to one in so many.
const RAREST: u32 = 6;
/// So many feeds are asked at a time.
const TOGETHER: usize = 4;
/// How often it is looked whether a feed is to be asked.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);
/// Who adds a feed asks it, and has so many seconds for that before it is asked anyway.
const SOON: i64 = 60;
/// How often it is looked whether a feed has answered somebody else.
const GLANCE: Duration = Duration::from_millis(50);
/// Of so many feeds that cannot be followed it is told why.
const TOLD: usize = 10;

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
        is_list: row.get(10)?,
    })
}

/// The feeds of a service.
pub struct Feeds {
    news: Arc<News>,
    fetcher: Fetcher,
    /// Seconds between two questions.
    pause: i64,
    /// The feeds that are being asked.
    polling: Arc<Mutex<HashSet<i64>>>,
}

/// The right to ask a feed, which one has at a time.
struct PollGuard {
    id: i64,
    polling: Arc<Mutex<HashSet<i64>>>,
}

impl Drop for PollGuard {
    fn drop(&mut self) {
        self.polling.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// What a feed, or a list of feeds, answered.
struct Answer {
    title: String,
    new: u64,
    problem: Option<String>,
    is_list: bool,
}

impl Feeds {
    pub(crate) fn new(news: Arc<News>, minutes: u32, reach: Network) -> Result<Self> {
        let fetcher = Fetcher::new(reach, news.limits())?;
        Ok(Self { news, fetcher, pause: i64::from(minutes) * 60, polling: Arc::default() })
    }

    /// All feeds, in the order in which they came.
    pub fn list(&self) -> Result<Vec<Feed>> {
        self.news.data.store.read(|snapshot| {
            let mut statement = snapshot.connection().prepare_cached(&format!("{FEED} ORDER BY id"))?;
            let rows = statement.query_map([], feed)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn find(&self, id: i64) -> Result<Feed> {
        let found = self.news.data.store.read(|snapshot| {
            let mut statement = snapshot.connection().prepare_cached(&format!("{FEED} WHERE id = ?1"))?;
            Ok(statement.query_row([id], feed).optional()?)
        })?;
        found.ok_or_else(|| Error::Missing(format!("there is no feed {id}")))
    }

    /// Follows a feed, or a list of feeds, for one who asks it at once. One that is followed already stays as it is.
    pub fn add(&self, address: &str) -> Result<Feed> {
        self.add_until(address, Moment(Moment::now().0 + SOON))
    }

    /// Follows a feed, or a list of feeds. One that is followed already stays as it is.
    pub(crate) fn begin(&self, address: &str) -> Result<Feed> {
        self.add_until(address, Moment::now())
    }

    fn add_until(&self, address: &str, next: Moment) -> Result<Feed> {
        let limits = self.news.limits();
        let url = usable(address, limits)?;
        self.find(self.news.data.store.write(|update| add(update, &url, "", next, limits))?)
    }

    /// Follows all feeds of a list in OPML. Returns how many it has, and fails if some cannot be followed; the others are.
    pub fn add_list(&self, opml: &str) -> Result<u64> {
        let listed = follow_all(&self.news, opml)?;
        listed.problem().map_or(Ok(listed.followed), |problem| Err(Error::Request(problem)))
    }

    /// Follows a feed no more. Its articles stay.
    pub fn remove(&self, id: i64) -> Result<()> {
        self.find(id)?;
        self.news
            .data
            .store
            .write(|update| Ok(update.connection().execute("DELETE FROM feeds WHERE id = ?1", [id]).map(drop)?))
    }

    /// Asks feeds when it is time, for ever, some at a time.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut asking = JoinSet::new();
        loop {
            let due = if asking.len() < TOGETHER { self.due() } else { Ok(None) };
            match due {
                Ok(Some((feed, turn))) => {
                    let feeds = self.clone();
                    asking.spawn(async move {
                        if let Err(error) = feeds.poll(feed, &turn).await {
                            tracing::error!(%error, "a feed could not be kept");
                            tokio::time::sleep(PAUSE).await;
                        }
                    });
                    continue;
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "the feeds cannot be read"),
            }
            tokio::select! {
                Some(_) = asking.join_next() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    /// A feed that is to be asked, and is not being asked.
    fn due(&self) -> Result<Option<(Feed, PollGuard)>> {
        self.news.data.store.read(|snapshot| {
            let sql = format!("{FEED} WHERE next <= ?1 ORDER BY next, id");
            let mut statement = snapshot.connection().prepare_cached(&sql)?;
            for found in statement.query_map([Moment::now().0], feed)? {
                let found = found?;
                if let Some(turn) = self.turn(found.id) {
                    return Ok(Some((found, turn)));
                }
            }
            Ok(None)
        })
    }

    /// The right to ask a feed, unless it is being asked.
    fn turn(&self, id: i64) -> Option<PollGuard> {
        let is_free = self.polling.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        is_free.then(|| PollGuard { id, polling: self.polling.clone() })
    }

    /// Asks a feed now, or waits for what it answers somebody else.
    pub async fn poll_now(&self, id: i64) -> Result<Feed> {
        if let Some(turn) = self.turn(id) {
            return self.poll(self.find(id)?, &turn).await;
        }
        while self.polling.lock().unwrap_or_else(PoisonError::into_inner).contains(&id) {
            tokio::time::sleep(GLANCE).await;
        }
        self.find(id)
    }

    async fn poll(&self, feed: Feed, _: &PollGuard) -> Result<Feed> {
        let fetched = self.fetcher.fetch(&feed.address, feed.etag.as_deref(), feed.modified.as_deref()).await;
        let answer = match fetched {
            Err(refused) => Err(refused),
            Ok(FetchOutcome::Unchanged) => {
                // What was refused before is so still.
                let problem = feed.problem.clone().filter(|_| feed.failures == 0);
                let answer = Answer { title: feed.title.clone(), new: 0, problem, is_list: feed.is_list };
                Ok((answer, feed.etag.clone(), feed.modified.clone()))
            }
            Ok(FetchOutcome::Document { bytes, etag, modified }) => {
                let (news, own) = (self.news.clone(), feed.clone());
                let taken = tokio::task::spawn_blocking(move || take_in(&news, &own, &bytes)).await;
                let taken = taken.unwrap_or_else(|_| Err("it cannot be understood".to_owned()));
                taken.map(|answer| (answer, etag, modified)).map_err(FetchError::from)
            }
        };
        let now = Moment::now().0;
        self.news.data.store.write(|update| {
            match &answer {
                Ok((Answer { title, new, problem, is_list }, etag, modified)) => update.connection().execute(
                    "UPDATE feeds SET title = ?2, articles = articles + ?3, etag = ?4, modified = ?5, polled = ?6, next = ?7,
                     failures = 0, problem = ?8, is_list = ?9 WHERE id = ?1",
                    params![feed.id, title, *new as i64, etag, modified, now, now + self.pause, problem, is_list],
                )?,
                Err(refused) => {
                    let later = self.pause << (feed.failures + 1).min(RAREST);
                    let later = later.max(refused.wait.map_or(0, |wait| wait.min(7 * 86_400) as i64));
                    tracing::warn!(feed = feed.address, reason = refused.reason, "a feed failed");
                    update.connection().execute(
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

/// Takes in what a feed or a list of feeds has. An address that is known to be a feed is no list, and those of a list are known to
/// be feeds, so that lists do not lead to lists.
fn take_in(news: &News, feed: &Feed, bytes: &[u8]) -> Result<Answer, String> {
    let text = String::from_utf8_lossy(bytes);
    let answer = if (feed.is_list || feed.title.is_empty()) && opml::is_list(&text) {
        let listed = follow_all(news, &text).map_err(|error| error.to_string())?;
        let title = format!("List of feeds ({})", listed.followed);
        Answer { title, new: 0, problem: listed.problem(), is_list: true }
    } else {
        let taken = entries::take_in(news, bytes, &feed.address)?;
        if taken.imported.outdated > 0 {
            tracing::info!(feed = feed.address, entries = taken.imported.outdated, "too old to be kept");
        }
        let (problem, new) = (taken.problem(), taken.imported.new);
        Answer { title: taken.title, new, problem, is_list: false }
    };
    if let Some(problem) = &answer.problem {
        tracing::warn!(feed = feed.address, problem, "not all of a feed was taken in");
    }
    Ok(answer)
}

/// What became of a list of feeds.
pub(crate) struct ListSummary {
    followed: u64,
    /// Why others cannot be followed.
    problems: Vec<String>,
}

impl ListSummary {
    /// Which feeds cannot be followed, and why.
    pub(crate) fn problem(&self) -> Option<String> {
        let reasons = self.problems.iter().take(TOLD).map(|problem| format!(". {problem}")).collect::<String>();
        let refused = self.problems.len();
        (refused > 0).then(|| {
            format!("feeds of this list that are followed: {}; that are not: {refused}{reasons}", self.followed)
        })
    }
}

/// Follows all feeds of a list in OPML that can be.
pub(crate) fn follow_all(news: &News, opml: &str) -> Result<ListSummary> {
    let outlines = opml::outlines(opml)?;
    let limits = news.limits();
    news.data.store.write(|update| {
        let mut listed = ListSummary { followed: 0, problems: Vec::new() };
        for outline in &outlines {
            let added = usable(&outline.address, limits).and_then(|url| {
                let title =
                    if outline.title.trim().is_empty() { url.host_str().unwrap_or("?") } else { &outline.title };
                add(update, &url, &short_title(title), Moment::now(), limits)
            });
            match added {
                Ok(_) => listed.followed += 1,
                Err(Error::Request(reason)) => listed.problems.push(reason),
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    })
}

/// The address of a feed, if it can be one.
fn usable(address: &str, limits: &Limits) -> Result<Url> {
    let url = Url::parse(address.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let reason = match url {
        Some(url) if url.as_str().len() as u64 <= limits.url => return Ok(url),
        Some(_) => format!("is longer than {} bytes", limits.url),
        None => "is no address of a feed; it begins with http:// or https://".to_owned(),
    };
    Err(Error::Request(format!("`{}` {reason}", shortened(address))))
}

/// Follows a feed, and returns its number. One that is followed already stays as it is.
fn add(update: &Update<'_>, url: &Url, title: &str, next: Moment, limits: &Limits) -> Result<i64> {
    let connection = update.connection();
    let mut known = connection.prepare_cached("SELECT id FROM feeds WHERE address = ?1")?;
    if let Some(id) = known.query_row([url.as_str()], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    let count: i64 = connection.query_row("SELECT count(*) FROM feeds", [], |row| row.get(0))?;
    if count as u64 >= limits.feeds {
        return Err(Error::Request(format!(
            "`{}` is one too many: {count} feeds are followed already; remove some",
            shortened(url.as_str())
        )));
    }
    let sql = "INSERT INTO feeds (address, title, added, next) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![url.as_str(), title, Moment::now().0, next.0])?;
    Ok(connection.last_insert_rowid())
}
