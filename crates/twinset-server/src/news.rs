//! The service itself, without a word of HTTP: articles in, stories out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Serialize;
use twinset_io::Limits;
use utoipa::ToSchema;

use crate::article::{Article, Entity, Head, Moment, Submission};
use crate::compared::shared;
use crate::extract::Extractor;
use crate::intake;
use crate::kept::Kept;
use crate::options::ServeOptions;
use crate::overview::{Counted, Names, name_hash};
use crate::store::{Reading, cloud};
use crate::stories::{Asked, Stories};
use crate::text::{Snippet, Snippets, TextQuery};
use crate::writer::{Done, Order, Outcome, Waiting, Writer};
use crate::{Error, Result};

/// The service.
pub struct News {
    pub(crate) kept: Arc<Kept>,
    writer: Mutex<Option<Writer>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    extractor: Extractor,
    window: Option<u32>,
    retention: (Option<u32>, Option<u64>),
    /// Names that were counted in results.
    entities: Names<Entity>,
    sources: Names<String>,
}

/// Stories that were found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Found {
    /// How many articles have what was sought.
    pub articles: u64,
    /// What of the search could not be understood.
    pub notes: Vec<String>,
    /// The stories, in the order of their best articles.
    pub stories: Vec<Story>,
    /// Whether there are more stories after these.
    pub more: bool,
    /// How many of the articles were counted for what follows: all of them, or the best of very many.
    pub counted: u64,
    /// Who and what they mention, the most frequent first.
    pub entities: Vec<Mention>,
    /// Who published them, and how many, those with most first.
    pub sources: Vec<SourceCount>,
    /// When they were published, day by day.
    pub timeline: Vec<DayCount>,
}

/// An entity, and in how many articles it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Mention {
    /// Who or what it is.
    #[serde(flatten)]
    pub entity: Entity,
    /// In how many articles.
    pub count: u64,
}

/// A source, and how many articles it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceCount {
    /// Who published them.
    pub source: String,
    /// How many.
    pub count: u64,
}

/// A day, and how many articles it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DayCount {
    /// The day.
    #[schema(format = Date)]
    pub day: String,
    /// How many.
    pub count: u64,
}

/// A story: what is shown of it, and who ran it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Story {
    /// The article that stands for it.
    pub representative: Head,
    /// Why it does.
    pub reason: String,
    /// A piece of it.
    pub snippet: Piece,
    /// All its articles, in the order in which they were published.
    pub articles: Vec<Head>,
    /// How many sources ran it.
    pub sources: u64,
    /// Whether one of its articles was marked read.
    pub is_read: bool,
    /// Who and what its articles mention, the most frequent first.
    pub entities: Vec<Mention>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Piece {
    /// The piece.
    pub text: String,
    /// Where it has the words that were sought: beginnings and ends, in bytes.
    pub marked: Vec<[usize; 2]>,
}

impl From<Snippet> for Piece {
    fn from(snippet: Snippet) -> Self {
        Self { text: snippet.text, marked: snippet.marked.into_iter().map(|range| [range.start, range.end]).collect() }
    }
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

/// A verdict of a reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Judged {
    /// The one article.
    pub left: i64,
    /// The other.
    pub right: i64,
    /// Whether they tell the same story.
    pub same: bool,
    /// When it was said.
    pub given: Moment,
}

/// What was done with an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Receipt {
    /// Its number.
    pub id: i64,
    /// What happened.
    pub outcome: Outcome,
}

impl From<Done> for Receipt {
    fn from(done: Done) -> Self {
        match done {
            Done::Put(id, outcome) => Self { id, outcome },
            Done::Removed(_) => Self { id: 0, outcome: Outcome::Replaced },
        }
    }
}

/// What is asked of a search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What the articles have.
    pub text: TextQuery,
    /// What makes them a story.
    pub asked: Asked,
    /// By how many sources ran it, in place of the order of the articles.
    pub hot: bool,
    /// Leave out what was read.
    pub unread: bool,
    /// Skip so many stories.
    pub skip: usize,
    /// Show so many.
    pub count: usize,
}

/// Among so many of the newest articles the hottest stories are sought.
const HOT: usize = 500;
/// So many entities are shown.
const CLOUD: usize = 40;
/// And so many sources of a result.
const SOURCES: usize = 100;

impl News {
    /// Opens a folder, or makes everything in an empty one.
    pub fn open(folder: &Path, options: &ServeOptions) -> Result<Self> {
        let extractor = Extractor::new(options.extractor.as_deref(), &options.limits)?;
        let kept = Arc::new(Kept::open(folder, options)?);
        let (writer, thread) = Writer::start(kept.clone());
        Ok(Self {
            kept,
            writer: Mutex::new(Some(writer)),
            thread: Mutex::new(Some(thread)),
            extractor,
            window: options.window_days,
            retention: (options.keep_days, options.keep_count),
            entities: Names::default(),
            sources: Names::default(),
        })
    }

    /// What is too much.
    pub(crate) fn limits(&self) -> &Limits {
        &self.kept.limits
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
        let order = self.prepared(submission)?;
        // Whoever has the writer is waited for when the service ends, so it is not held while others are asked for entities.
        Ok(self.writer()?.change(order)?.into())
    }

    fn prepared(&self, submission: Submission) -> Result<Order> {
        let article = intake::article(submission, &self.extractor, self.limits())?;
        let terms = self.kept.comparer.terms(&article.title, &article.text, &article.entities)?;
        let labelled = self.kept.labels.label(terms);
        Ok(Order::Put(Box::new(article), labelled))
    }

    /// Takes many articles in, with few commits.
    pub fn submit_all(&self, submissions: Vec<Submission>) -> Result<Vec<Result<Receipt>>> {
        let prepared: Vec<Result<Order>> =
            submissions.into_par_iter().map(|submission| self.prepared(submission)).collect();
        let writer = self.writer()?;
        let waiting: Vec<Result<Waiting>> =
            prepared.into_iter().map(|order| order.and_then(|order| writer.begin(order))).collect();
        Ok(waiting.into_iter().map(|waiting| waiting?.wait().map(Receipt::from)).collect())
    }

    /// Takes an article out.
    pub fn remove(&self, id: i64) -> Result<()> {
        match self.writer()?.change(Order::Remove(id))? {
            Done::Removed(0) => Err(Error::Missing(format!("there is no article {id}"))),
            _ => Ok(()),
        }
    }

    /// Takes out what is older than is to be kept, or more. Returns how many articles that were.
    pub fn expire(&self) -> Result<u64> {
        let (days, count) = self.retention;
        if days.is_none() && count.is_none() {
            return Ok(0);
        }
        let mut removed = 0;
        loop {
            let before = days.map(days_ago);
            match self.writer()?.change(Order::Expire { before, most: count })? {
                Done::Removed(0) => return Ok(removed),
                Done::Removed(more) => removed += more,
                Done::Put(..) => {}
            }
        }
    }

    /// Leaves out what would be taken out at once: articles that are not there, and are older than is to be kept, or than enough
    /// others. The second number says how many these were.
    pub(crate) fn without_outdated(&self, submissions: Vec<Submission>) -> Result<(Vec<Submission>, u64)> {
        let (days, most) = self.retention;
        if days.is_none() && most.is_none() {
            return Ok((submissions, 0));
        }
        let before = days.map_or(Moment(i64::MIN), days_ago);
        let outdated = self.kept.store.read(|reading| {
            let mut outdated: HashSet<usize> = HashSet::new();
            let mut new: Vec<(Moment, Option<usize>)> = Vec::new();
            for (place, submission) in submissions.iter().enumerate() {
                let published = submission.published.as_deref().map_or(Ok(Moment::now()), Moment::parse);
                let url = intake::address(&submission.url, self.limits());
                // What makes no sense is refused later, with a reason.
                let (Ok(published), Ok(url)) = (published, url) else { continue };
                if reading.has_address(&url)? {
                    continue;
                }
                if published < before {
                    outdated.insert(place);
                } else {
                    new.push((published, Some(place)));
                }
            }
            let excess = match most {
                Some(most) => (reading.count()? + new.len() as u64).saturating_sub(most),
                None => 0,
            };
            // Of two that were published together the one that is there goes first.
            new.extend(reading.oldest(excess)?.into_iter().map(|published| (published, None)));
            new.sort();
            outdated.extend(new.into_iter().take(excess as usize).filter_map(|(_, place)| place));
            Ok(outdated)
        })?;
        let kept = submissions.into_iter().enumerate().filter(|(place, _)| !outdated.contains(place));
        Ok((kept.map(|(_, submission)| submission).collect(), outdated.len() as u64))
    }

    /// An article.
    pub fn article(&self, id: i64) -> Result<Article> {
        self.kept.store.read(|reading| reading.article(id))
    }

    /// Articles, the newest first.
    pub fn newest(&self, skip: usize, count: usize) -> Result<Vec<Head>> {
        self.kept.store.read(|reading| reading.newest(skip, count))
    }

    /// How many articles there are.
    pub fn count(&self) -> Result<u64> {
        self.kept.store.read(|reading| reading.count())
    }

    /// Until when a search that begins now must be done.
    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.limits().search_time)
    }

    fn stories<'a>(&'a self, reading: &'a Reading<'a>, asked: Asked, deadline: Instant) -> Result<Stories<'a>> {
        let (has_verdicts, most) = (reading.has_verdicts()?, self.limits().story as usize);
        Ok(Stories { reading, labels: &self.kept.labels, asked, window: self.window, has_verdicts, most, deadline })
    }

    /// The stories of a search.
    pub fn search(&self, search: &Search) -> Result<Found> {
        let deadline = self.deadline();
        let asking = self.kept.text.ask(&search.text, self.limits())?;
        let hits = asking.hits(self.limits().hits as usize, deadline)?;
        let overview = asking.overview(&hits)?;
        self.kept.store.read(|reading| {
            let stories = self.stories(reading, search.asked, deadline)?;
            let needed = search.skip + search.count + 1;
            // The members of each story, and those of them that were found, in order.
            let mut groups: Vec<(BTreeSet<i64>, Vec<i64>)> = Vec::new();
            let mut group_of: HashMap<i64, usize> = HashMap::new();
            for &(_, id) in hits.articles.iter().take(if search.hot { HOT } else { usize::MAX }) {
                if let Some(&group) = group_of.get(&id) {
                    // Stories that were read are left out.
                    if let Some((_, found)) = groups.get_mut(group) {
                        found.push(id);
                    }
                    continue;
                }
                if !search.hot && groups.len() >= needed {
                    continue;
                }
                let mut members = stories.of(id)?;
                members.retain(|member| !group_of.contains_key(member));
                if search.unread && self.is_read(reading, &members)? {
                    group_of.extend(members.iter().map(|&member| (member, usize::MAX)));
                    continue;
                }
                group_of.extend(members.iter().map(|&member| (member, groups.len())));
                groups.push((members, vec![id]));
            }
            if search.hot {
                let mut counted = Vec::new();
                for group in groups {
                    counted.push((sources(reading, &group.0)?, group));
                }
                counted.sort_by_key(|(sources, _)| std::cmp::Reverse(*sources));
                groups = counted.into_iter().map(|(_, group)| group).collect();
            }
            let more = groups.len() > search.skip + search.count;
            let snippets = asking.snippets()?;
            let shown = groups.into_iter().skip(search.skip).take(search.count);
            let shown = shown.map(|(members, found)| story(reading, &members, &found, &snippets));
            let stories = shown.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            Ok(Found {
                articles: hits.total,
                notes: asking.notes.clone(),
                stories,
                more,
                counted: hits.articles.len() as u64,
                entities: self.mentioned(reading, &overview.entities)?,
                sources: self.published_by(reading, &overview.sources)?,
                timeline: overview.days.iter().map(|&(day, count)| DayCount { day: day.day(), count }).collect(),
            })
        })
    }

    /// The names of entities that were counted.
    fn mentioned(&self, reading: &Reading<'_>, counted: &[Counted]) -> Result<Vec<Mention>> {
        let mut mentions = Vec::new();
        for own in counted.iter().take(CLOUD) {
            let read = || {
                let entities = reading.head(own.article)?.into_iter().flat_map(|head| head.entities);
                Ok(entities.into_iter().find(|entity| name_hash(&entity.name) == own.hash))
            };
            let entity = self.entities.of(own.hash, read)?;
            mentions.extend(entity.map(|entity| Mention { entity, count: own.count }));
        }
        mentions.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.entity.name.cmp(&b.entity.name)));
        Ok(mentions)
    }

    /// The names of sources that were counted.
    fn published_by(&self, reading: &Reading<'_>, counted: &[Counted]) -> Result<Vec<SourceCount>> {
        let mut sources = Vec::new();
        for own in counted.iter().take(SOURCES) {
            let read =
                || Ok(reading.head(own.article)?.map(|head| head.source).filter(|name| name_hash(name) == own.hash));
            let source = self.sources.of(own.hash, read)?;
            sources.extend(source.map(|source| SourceCount { source, count: own.count }));
        }
        sources.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.source.cmp(&b.source)));
        Ok(sources)
    }

    fn is_read(&self, reading: &Reading<'_>, members: &BTreeSet<i64>) -> Result<bool> {
        for &id in members {
            if reading.head(id)?.is_some_and(|head| head.is_read) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The story of an article.
    pub fn story(&self, id: i64, asked: Asked) -> Result<Story> {
        self.kept.store.read(|reading| {
            reading.article(id)?;
            let members = self.stories(reading, asked, self.deadline())?.of(id)?;
            let snippets = Snippets::none();
            let story = story(reading, &members, &members.iter().copied().collect::<Vec<_>>(), &snippets)?;
            story.ok_or_else(|| Error::Missing(format!("there is no article {id}")))
        })
    }

    /// What is similar to an article.
    pub fn similar_to(&self, id: i64, asked: Asked) -> Result<Vec<Similar>> {
        self.kept.store.read(|reading| {
            reading.article(id)?;
            let found = self.kept.labels.similar_to(id, &asked.query())?;
            similar(reading, found.into_iter().take(self.limits().similar as usize))
        })
    }

    /// What is similar to a text that is not kept.
    pub fn similar(&self, title: &str, text: &str, asked: Asked) -> Result<Vec<Similar>> {
        let entities = self.extractor.entities(title, text)?;
        let terms = self.kept.comparer.terms(title, text, &entities)?;
        let found = self.kept.labels.similar(&terms, &asked.query())?;
        self.kept.store.read(|reading| similar(reading, found.into_iter().take(self.limits().similar as usize)))
    }

    /// Two articles beside each other.
    pub fn compare(&self, left: i64, right: i64) -> Result<Comparison> {
        let (left, right, verdict) = self.kept.store.read(|reading| {
            let verdicts = reading.verdicts_of(left)?;
            let verdict = verdicts.iter().find(|verdict| [verdict.article, verdict.other].contains(&right));
            let verdict = verdict.filter(|_| left != right).map(|verdict| verdict.same);
            Ok((reading.article(left)?, reading.article(right)?, verdict))
        })?;
        let terms = |article: &Article| self.kept.comparer.terms(&article.title, &article.text, &article.entities);
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
        self.kept.store.write(|writing| {
            for id in [left, right] {
                writing.reading().article(id)?;
            }
            writing.judge(left, right, same)
        })
    }

    /// What readers said, the latest first.
    pub fn verdicts(&self, skip: usize, count: usize) -> Result<Vec<Judged>> {
        let verdicts = self.kept.store.read(|reading| reading.verdicts(skip, count))?;
        let judged = |verdict: crate::store::Verdict| Judged {
            left: verdict.article,
            right: verdict.other,
            same: verdict.same,
            given: verdict.given,
        };
        Ok(verdicts.into_iter().map(judged).collect())
    }

    /// Marks a story read, or not: all its articles.
    pub fn mark(&self, id: i64, is_read: bool, asked: Asked) -> Result<u64> {
        let members: Vec<i64> = self.kept.store.read(|reading| {
            reading.article(id)?;
            Ok(self.stories(reading, asked, self.deadline())?.of(id)?.into_iter().collect())
        })?;
        self.kept.store.write(|writing| writing.mark(&members, is_read))?;
        Ok(members.len() as u64)
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.close();
    }
}

fn days_ago(days: u32) -> Moment {
    Moment(Moment::now().0 - i64::from(days) * Moment::DAY)
}

fn similar(reading: &Reading<'_>, found: impl IntoIterator<Item = (i64, f64)>) -> Result<Vec<Similar>> {
    let mut articles = Vec::new();
    for (id, similarity) in found {
        articles.extend(reading.head(id)?.map(|article| Similar { article, similarity }));
    }
    Ok(articles)
}

/// How many sources ran a story.
fn sources(reading: &Reading<'_>, members: &BTreeSet<i64>) -> Result<usize> {
    let mut sources = HashSet::new();
    for &id in members {
        sources.extend(reading.head(id)?.map(|head| head.source));
    }
    Ok(sources.len())
}

/// What is shown of a story: of the articles that were found, the one that was published first stands for it.
fn story(reading: &Reading<'_>, members: &BTreeSet<i64>, found: &[i64], snippets: &Snippets) -> Result<Option<Story>> {
    let mut articles = Vec::with_capacity(members.len());
    for &id in members {
        articles.extend(reading.head(id)?);
    }
    articles.sort_by_key(|head| (head.published, std::cmp::Reverse(head.length), head.id));
    let is_found = |head: &&Head| found.contains(&head.id);
    let Some(representative) = articles.iter().find(is_found).or(articles.first()).cloned() else { return Ok(None) };
    let matching = articles.iter().filter(is_found).count();
    let reason = match (articles.len(), matching) {
        (1, _) => "the only one".to_owned(),
        (all, matching) if all == matching => format!("published first of {all}"),
        (_, 1) => "the only one that matches".to_owned(),
        (all, matching) => format!("published first of the {matching} that match, of {all}"),
    };
    let text = reading.text(representative.id)?.unwrap_or_default();
    let sources: HashSet<&str> = articles.iter().map(|head| head.source.as_str()).collect();
    Ok(Some(Story {
        reason,
        snippet: snippets.of(&text).into(),
        sources: sources.len() as u64,
        is_read: articles.iter().any(|head| head.is_read),
        entities: mentions(&articles),
        representative,
        articles,
    }))
}

fn mentions<'a>(heads: impl IntoIterator<Item = &'a Head>) -> Vec<Mention> {
    cloud(heads).into_iter().take(CLOUD).map(|(entity, count)| Mention { entity, count }).collect()
}
