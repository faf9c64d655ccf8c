//! The one thread that changes articles. What waits for it goes into one commit.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use serde::Serialize;
use twinset_index::labels::Labelled;
use utoipa::ToSchema;

use crate::compared::shared;
use crate::kept::Kept;
use crate::store::{Change, NewArticle};
use crate::stories::Asked;
use crate::{Error, Result};

/// What is to be changed.
pub(crate) enum Order {
    /// An article with its terms.
    Put(Box<NewArticle>, Labelled),
    Remove(Vec<i64>),
}

/// What was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was not there before.
    New,
    /// It took the place of an earlier one from the same address.
    Replaced,
    /// It was there already, and is the same.
    Unchanged,
}

/// The number of an article, and what happened to it; for what was removed, how many there were.
pub(crate) type Done = (i64, Outcome);

struct Job {
    order: Order,
    done: SyncSender<Result<Done>>,
}

/// Hands changes to the thread that makes them.
#[derive(Clone)]
pub(crate) struct Writer {
    jobs: SyncSender<Job>,
}

/// So many changes may wait.
const WAITING: usize = 1000;
/// So many go into one commit.
const TOGETHER: usize = 200;

impl Writer {
    /// Starts the thread. It ends when the last of these is gone.
    pub(crate) fn start(kept: Arc<Kept>) -> (Self, std::thread::JoinHandle<()>) {
        let (jobs, waiting) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || work(&kept, &waiting));
        (Self { jobs }, thread)
    }

    /// Makes a change, and waits until it is there for everyone.
    pub(crate) fn change(&self, order: Order) -> Result<Done> {
        let (done, answer) = sync_channel(1);
        self.jobs.try_send(Job { order, done }).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy("too many articles arrive at once; try again later".to_owned()),
            TrySendError::Disconnected(_) => stopping(),
        })?;
        Waiting { answer }.wait()
    }

    /// Begins a change as soon as there is room for it.
    pub(crate) fn begin(&self, order: Order) -> Result<Waiting> {
        let (done, answer) = sync_channel(1);
        self.jobs.send(Job { order, done }).map_err(|_| stopping())?;
        Ok(Waiting { answer })
    }
}

/// A change that has begun.
pub(crate) struct Waiting {
    answer: Receiver<Result<Done>>,
}

impl Waiting {
    /// Waits until it is there for everyone.
    pub(crate) fn wait(self) -> Result<Done> {
        self.answer.recv().map_err(|_| stopping())?
    }
}

fn stopping() -> Error {
    Error::Busy("the service is stopping".to_owned())
}

fn work(kept: &Kept, waiting: &Receiver<Job>) {
    let mut next: Option<Job> = None;
    while let Some(first) = next.take().or_else(|| waiting.recv().ok()) {
        let mut urls = HashSet::new();
        let mut batch = Vec::new();
        let mut job = Some(first);
        // Of two articles from one address the second takes the place of the first, later.
        while let Some(current) = job.take() {
            let is_repeated = matches!(&current.order, Order::Put(article, _) if !urls.insert(article.url.clone()));
            if is_repeated || batch.len() >= TOGETHER {
                next = Some(current);
                break;
            }
            batch.push(current);
            job = waiting.try_recv().ok();
        }
        let (orders, waiters): (Vec<Order>, Vec<SyncSender<Result<Done>>>) =
            batch.into_iter().map(|job| (job.order, job.done)).unzip();
        match commit(kept, orders) {
            Ok(all) => waiters.iter().zip(all).for_each(|(waiter, done)| _ = waiter.send(Ok(done))),
            Err(error) => {
                tracing::error!(articles = waiters.len(), %error, "not kept");
                let reason = error.to_string();
                waiters.iter().for_each(|waiter| {
                    _ = waiter.send(Err(Error::storage("nothing was acknowledged", &reason)));
                });
            }
        }
    }
}

/// Makes changes: first the truth, then what follows from it.
fn commit(kept: &Kept, orders: Vec<Order>) -> Result<Vec<Done>> {
    // Something may have gone wrong after the truth was written.
    kept.catch_up()?;
    let query = Asked::kept().query();
    let mut done: Vec<Done> = Vec::new();
    let mut new: Vec<(usize, Box<NewArticle>, Labelled, Vec<(i64, f64)>)> = Vec::new();
    let mut removed: Vec<i64> = Vec::new();
    for order in orders {
        match order {
            Order::Put(article, labelled) => {
                let known = kept.store.read(|reading| reading.article_at(&article.url))?;
                let outcome = match &known {
                    None => Outcome::New,
                    Some(old)
                        if old.title == article.title
                            && old.text == article.text
                            && old.published == article.published
                            && old.source == article.source
                            && old.entities == article.entities =>
                    {
                        done.push((old.id, Outcome::Unchanged));
                        continue;
                    }
                    Some(_) => Outcome::Replaced,
                };
                let mut links = kept.labels.similar(&labelled.hashes, &query)?;
                links.retain(|(other, _)| known.as_ref().is_none_or(|known| known.id != *other));
                new.push((done.len(), article, labelled, links));
                done.push((0, outcome));
            }
            Order::Remove(ids) => {
                removed.extend(&ids);
                done.push((ids.len() as i64, Outcome::Replaced));
            }
        }
    }
    if new.is_empty() && removed.is_empty() {
        return Ok(done);
    }
    let is_alike = |x: &Labelled, y: &Labelled| {
        let (common, all) = shared(&x.hashes, &y.hashes);
        let similarity = common as f64 / all.max(1) as f64;
        (common > 0 && similarity >= query.threshold.as_f64()).then_some(similarity)
    };
    let ids = kept.store.write(|writing| {
        let mut ids: Vec<i64> = Vec::new();
        for (place, article, labelled, links) in &new {
            let (id, _) = writing.put(article)?;
            for &(other, similarity) in
                links.iter().filter(|(other, _)| !removed.contains(other) && !ids.contains(other))
            {
                // One that was taken out may still be labelled.
                if writing.reading().published(other)?.is_some() {
                    writing.link(id, other, similarity)?;
                }
            }
            for ((_, _, earlier, _), &other) in new.iter().zip(&ids) {
                if let Some(similarity) = is_alike(labelled, earlier) {
                    writing.link(id, other, similarity)?;
                }
            }
            ids.push(id);
            done[*place].0 = id;
        }
        for &id in &removed {
            writing.remove(id)?;
        }
        Ok(ids)
    })?;
    let labelled =
        new.into_iter().zip(&ids).map(|((_, _, labelled, _), id)| Labelled { id: id.to_string(), ..labelled });
    kept.labels.change(labelled.collect(), &removed)?;
    kept.text_catches_up()?;
    Ok(done)
}

/// How many changes are read at a time when something is made again.
pub(crate) const CHANGES: usize = 1000;

impl Kept {
    /// Tells the label index and the full-text index what they have not heard.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let mut last = if self.labels.is_new() { 0 } else { self.text.last_change() };
        loop {
            let changes = self.store.read(|reading| reading.changes_after(last, CHANGES))?;
            let Some(end) = changes.last().map(|change| change.number) else { break };
            let (mut added, mut removed) = (Vec::new(), Vec::new());
            for Change { id, article, .. } in &changes {
                match article {
                    None => removed.push(*id),
                    Some(article) => {
                        let terms = self.comparer.terms(&article.title, &article.text, &article.entities)?;
                        added.push(Labelled { id: id.to_string(), ..self.labels.label(terms) });
                    }
                }
            }
            self.labels.change(added, &removed)?;
            last = end;
        }
        self.labels.settle();
        self.text_catches_up()
    }

    fn text_catches_up(&self) -> Result<()> {
        let mut last = self.text.last_change();
        loop {
            let changes = self.store.read(|reading| reading.changes_after(last, CHANGES))?;
            let Some(end) = changes.last().map(|change| change.number) else { break };
            self.text.apply(&changes)?;
            last = end;
        }
        self.store.read(|reading| reading.has_deleted(last)).and_then(|has_deleted| match has_deleted {
            true => self.store.write(|writing| writing.forget(last)),
            false => Ok(()),
        })
    }
}
