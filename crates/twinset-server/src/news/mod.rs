//! The service itself, without a word of HTTP: articles in, stories out.

mod search;

pub use search::{DayCount, Search, SearchResult, SourceCount};

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Serialize;
use utoipa::ToSchema;

use crate::article::{Article, Entity, Head, Origin, Submission};
use crate::data_dir::DataDir;
use crate::ingest::extract::Extractor;
use crate::ingest::intake;
use crate::ingest::retention::Retention;
use crate::ingest::writer::{Order, OrderResult, PendingOrder, Receipt, Writer};
use crate::limits::Limits;
use crate::options::ServeOptions;
use crate::search::Snippets;
use crate::search::overview::NameCache;
use crate::store::{Link, Snapshot, Verdict};
use crate::stories::story::Story;
use crate::stories::{Stories, StoryQuery};
use crate::terms::shared;
use crate::{Error, Result};

/// The service.
pub struct News {
    pub(crate) data: Arc<DataDir>,
    writer: Mutex<Option<Writer>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    extractor: Extractor,
    window: Option<u32>,
    retention: Retention,
    /// The names counted in search results.
    pub(crate) entities: NameCache<Entity>,
    pub(crate) sources: NameCache<String>,
}

/// An article that is similar to something.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Similar {
    /// The article.
    #[serde(flatten)]
    pub article: Head,
    /// How alike it is: the Jaccard similarity of the terms.
    pub similarity: f64,
}

/// Two articles beside each other.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Comparison {
    /// The one.
    pub left: Article,
    /// The other.
    pub right: Article,
    /// How alike they are.
    pub similarity: f64,
    /// How many terms they share.
    pub shared: u64,
    /// What a reader said: whether they tell the same story.
    pub verdict: Option<bool>,
    /// Entities that both mention.
    pub common_entities: Vec<Entity>,
}

impl News {
    /// Opens a folder, or makes everything in an empty one.
    pub fn open(folder: &Path, options: &ServeOptions) -> Result<Self> {
        let extractor = Extractor::new(options.extractor.as_deref(), &options.limits)?;
        let data = Arc::new(DataDir::open(folder, options)?);
        let (writer, thread) = Writer::start(data.clone());
        Ok(Self {
            data,
            writer: Mutex::new(Some(writer)),
            thread: Mutex::new(Some(thread)),
            extractor,
            window: options.window_days,
            retention: Retention { days: options.keep_days, most: options.keep_count },
            entities: NameCache::default(),
            sources: NameCache::default(),
        })
    }

    /// What is too much.
    pub(crate) fn limits(&self) -> &Limits {
        &self.data.limits
    }

    fn writer(&self) -> Result<Writer> {
        let writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        writer.clone().ok_or_else(|| Error::Busy("the service is stopping".to_owned()))
    }

    /// Finishes what waits, and takes nothing more.
    pub fn close(&self) {
        drop(self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = thread {
            _ = thread.join();
        }
    }

    /// Takes an article in. When this returns, it is found by search and by similarity.
    pub fn submit(&self, submission: Submission) -> Result<Receipt> {
        let order = self.prepared(submission, Origin::Direct)?;
        // Whoever has the writer is waited for when the service ends, so it is not held while others are asked for entities.
        self.writer()?.change(order)?.receipt()
    }

    fn prepared(&self, submission: Submission, origin: Origin<'_>) -> Result<Order> {
        let article = intake::article(submission, origin, &self.extractor, self.limits())?;
        let terms = self.data.terms.of(&article.title, &article.text, &article.entities)?;
        let labelled = self.data.similarity.label(terms);
        Ok(Order::Put(Box::new(article), labelled))
    }

    /// Takes many articles in, with few commits.
    pub(crate) fn submit_all(&self, submissions: Vec<Submission>, origin: Origin<'_>) -> Result<Vec<Result<Receipt>>> {
        let prepared: Vec<Result<Order>> =
            submissions.into_par_iter().map(|submission| self.prepared(submission, origin)).collect();
        let writer = self.writer()?;
        let waiting: Vec<Result<PendingOrder>> =
            prepared.into_iter().map(|order| order.and_then(|order| writer.begin(order))).collect();
        Ok(waiting.into_iter().map(|waiting| waiting?.wait()?.receipt()).collect())
    }

    /// Takes an article out.
    pub fn remove(&self, id: i64) -> Result<()> {
        match self.writer()?.change(Order::Remove(id))? {
            OrderResult::Removed(0) => Err(Error::Missing(format!("there is no article {id}"))),
            _ => Ok(()),
        }
    }

    /// Takes out what is older than is to be kept, or more. Returns how many articles that were.
    pub fn expire(&self) -> Result<u64> {
        let mut removed = 0;
        while let Some(order) = self.retention.order() {
            match self.writer()?.change(order)? {
                OrderResult::Removed(0) => break,
                OrderResult::Removed(more) => removed += more,
                OrderResult::Put(_) => {}
            }
        }
        Ok(removed)
    }

    /// Leaves out what would be taken out at once. The second number says how many these were.
    pub(crate) fn without_outdated(&self, submissions: Vec<Submission>) -> Result<(Vec<Submission>, u64)> {
        let outdated =
            self.data.store.read(|snapshot| self.retention.outdated(snapshot, &submissions, self.limits()))?;
        let rest = submissions.into_iter().enumerate().filter(|(place, _)| !outdated.contains(place));
        Ok((rest.map(|(_, submission)| submission).collect(), outdated.len() as u64))
    }

    /// An article.
    pub fn article(&self, id: i64) -> Result<Article> {
        self.data.store.read(|snapshot| snapshot.article(id))
    }

    /// Articles, the newest first.
    pub fn newest(&self, skip: usize, count: usize) -> Result<Vec<Head>> {
        self.data.store.read(|snapshot| snapshot.newest(skip, count))
    }

    /// How many articles there are.
    pub fn count(&self) -> Result<u64> {
        self.data.store.read(|snapshot| snapshot.count())
    }

    /// Until when a search that begins now must be done.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.limits().search_time)
    }

    pub(crate) fn stories<'a>(
        &'a self,
        snapshot: &'a Snapshot<'a>,
        query: StoryQuery,
        deadline: Instant,
    ) -> Result<Stories<'a>> {
        let (has_verdicts, most) = (snapshot.has_verdicts()?, self.limits().story as usize);
        Ok(Stories {
            snapshot,
            similarity: &self.data.similarity,
            query,
            window: self.window,
            has_verdicts,
            most,
            deadline,
        })
    }

    /// The story of an article.
    pub fn story(&self, id: i64, query: StoryQuery) -> Result<Story> {
        self.data.store.read(|snapshot| {
            snapshot.article(id)?;
            let members = self.stories(snapshot, query, self.deadline())?.of(id)?;
            let snippets = Snippets::none();
            let story = Story::of(snapshot, &members, &members.iter().copied().collect::<Vec<_>>(), &snippets)?;
            story.ok_or_else(|| Error::Missing(format!("there is no article {id}")))
        })
    }

    /// What is similar to an article.
    pub fn similar_to(&self, id: i64, query: StoryQuery) -> Result<Vec<Similar>> {
        self.data.store.read(|snapshot| {
            snapshot.article(id)?;
            let found = self.data.similarity.similar_to(id, &query.query())?;
            similar(snapshot, found.into_iter().take(self.limits().similar as usize))
        })
    }

    /// What is similar to a text that is not kept.
    pub fn similar(&self, title: &str, text: &str, query: StoryQuery) -> Result<Vec<Similar>> {
        let entities = self.extractor.entities(title, text)?;
        let terms = self.data.terms.of(title, text, &entities)?;
        let found = self.data.similarity.similar(&terms, &query.query())?;
        self.data.store.read(|snapshot| similar(snapshot, found.into_iter().take(self.limits().similar as usize)))
    }

    /// Two articles beside each other.
    pub fn compare(&self, left: i64, right: i64) -> Result<Comparison> {
        let (left, right, verdict) = self.data.store.read(|snapshot| {
            let verdicts = snapshot.verdicts_of(left)?;
            let verdict = verdicts.iter().find(|verdict| [verdict.left, verdict.right].contains(&right));
            let verdict = verdict.filter(|_| left != right).map(|verdict| verdict.same);
            Ok((snapshot.article(left)?, snapshot.article(right)?, verdict))
        })?;
        let terms = |article: &Article| self.data.terms.of(&article.title, &article.text, &article.entities);
        let (common, all) = shared(&terms(&left)?, &terms(&right)?);
        let names: HashSet<String> = right.entities.iter().map(|entity| entity.name.to_lowercase()).collect();
        let is_common = |entity: &&Entity| names.contains(&entity.name.to_lowercase());
        Ok(Comparison {
            similarity: common as f64 / all.max(1) as f64,
            shared: common as u64,
            verdict,
            common_entities: left.entities.iter().filter(is_common).cloned().collect(),
            left,
            right,
        })
    }

    /// Keeps whether two articles tell the same story, as a reader says; `None` takes it back.
    pub fn judge(&self, left: i64, right: i64, same: Option<bool>) -> Result<()> {
        if left == right {
            return Err(Error::Request("a verdict needs two different articles".to_owned()));
        }
        self.data.store.write(|update| {
            for id in [left, right] {
                update.snapshot().article(id)?;
            }
            update.judge(left, right, same)
        })
    }

    /// What readers said, the latest first.
    pub fn verdicts(&self, skip: usize, count: usize) -> Result<Vec<Verdict>> {
        self.data.store.read(|snapshot| snapshot.verdicts(skip, count))
    }

    /// Marks a story read, or not: all its articles.
    pub fn mark(&self, id: i64, is_read: bool, query: StoryQuery) -> Result<u64> {
        let members: Vec<i64> = self.data.store.read(|snapshot| {
            snapshot.article(id)?;
            Ok(self.stories(snapshot, query, self.deadline())?.of(id)?.into_iter().collect())
        })?;
        self.data.store.write(|update| update.mark(&members, is_read))?;
        Ok(members.len() as u64)
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.close();
    }
}

fn similar(snapshot: &Snapshot<'_>, found: impl IntoIterator<Item = Link>) -> Result<Vec<Similar>> {
    let mut articles = Vec::new();
    for Link { other, similarity } in found {
        articles.extend(snapshot.head(other)?.map(|article| Similar { article, similarity }));
    }
    Ok(articles)
}
