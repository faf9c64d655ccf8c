//! The one thread that changes articles. What waits for it goes into one commit.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use serde::Serialize;
use twinset_index::lsh::LabeledRecord;
use utoipa::ToSchema;

use crate::article::{Article, Moment};
use crate::data_dir::DataDir;
use crate::store::{Change, Link, NewArticle};
use crate::stories::similarity::link_query;
use crate::terms::similarity;
use crate::{Error, Result};

/// What is to be changed.
pub(crate) enum Order {
    /// An article with its terms.
    Put(Box<NewArticle>, LabeledRecord),
    /// An article goes.
    Remove(i64),
    /// Articles that are too old or too many go, some at a time.
    Expire { before: Option<Moment>, most: Option<u64> },
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
    /// It was ignored: another source or feed has sent an article from the same address, with as much text or more.
    Ignored,
}

/// What was done with an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Receipt {
    /// Its number.
    pub id: i64,
    /// What happened.
    pub outcome: Outcome,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderResult {
    /// An article was taken in.
    Put(Receipt),
    /// So many articles are gone.
    Removed(u64),
}

impl OrderResult {
    /// Of an article that was to be taken in.
    pub(crate) fn receipt(self) -> Result<Receipt> {
        match self {
            Self::Put(receipt) => Ok(receipt),
            Self::Removed(_) => Err(Error::storage("the service", "it removed articles in place of taking one in")),
        }
    }
}

struct Job {
    order: Order,
    done: SyncSender<Result<OrderResult>>,
}

/// Hands changes to the thread that makes them.
#[derive(Clone)]
pub(crate) struct Writer {
    jobs: SyncSender<Job>,
}

/// So many changes may wait.
const WAITING: usize = 1000;
/// After a failure it is seen so often whether the indexes can be told what they have not heard.
const AGAIN: Duration = Duration::from_secs(5);
/// After a commit for several, the next one waits as long as that took, and so long at most.
const REST: Duration = Duration::from_millis(25);
/// So many go into one commit.
const TOGETHER: usize = 200;

impl Writer {
    /// Starts the thread. It ends when the last of these is gone.
    pub(crate) fn start(data: Arc<DataDir>) -> (Self, std::thread::JoinHandle<()>) {
        let (jobs, waiting) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || work(&data, &waiting));
        (Self { jobs }, thread)
    }

    /// Makes a change, and waits until it is there for everyone.
    pub(crate) fn change(&self, order: Order) -> Result<OrderResult> {
        let (done, answer) = sync_channel(1);
        self.jobs.try_send(Job { order, done }).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy("too many articles arrive at once; try again later".to_owned()),
            TrySendError::Disconnected(_) => stopping(),
        })?;
        PendingOrder { answer }.wait()
    }

    /// Begins a change as soon as there is room for it.
    pub(crate) fn begin(&self, order: Order) -> Result<PendingOrder> {
        let (done, answer) = sync_channel(1);
        self.jobs.send(Job { order, done }).map_err(|_| stopping())?;
        Ok(PendingOrder { answer })
    }
}

/// A change that has begun.
pub(crate) struct PendingOrder {
    answer: Receiver<Result<OrderResult>>,
}

impl PendingOrder {
    /// Waits until it is there for everyone.
    pub(crate) fn wait(self) -> Result<OrderResult> {
        self.answer.recv().map_err(|_| stopping())?
    }
}

fn stopping() -> Error {
    Error::Busy("the service is stopping".to_owned())
}

/// A panic, which was printed, is a failure to whoever waits.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(Error::storage("the service", "it failed; its log tells why"));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

fn work(data: &DataDir, waiting: &Receiver<Job>) {
    let mut next: Option<Job> = None;
    let (mut is_behind, mut rested) = (false, Instant::now());
    loop {
        let first = match next.take() {
            Some(job) => job,
            None => match waiting.recv_timeout(if is_behind { AGAIN } else { Duration::MAX }) {
                Ok(job) => job,
                // The indexes may be able to hear by now what they could not before.
                Err(RecvTimeoutError::Timeout) => {
                    is_behind = caught(|| data.catch_up()).is_err();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            },
        };
        let mut urls = HashSet::new();
        let mut batch = Vec::new();
        let mut job = Some(first);
        // Of two articles from one address the second takes the place of the first, later; and what removes stands alone.
        while let Some(current) = job.take() {
            let is_later = match &current.order {
                Order::Put(article, _) => !urls.insert(article.url.clone()),
                Order::Remove(_) | Order::Expire { .. } => !batch.is_empty(),
            };
            if is_later || batch.len() >= TOGETHER {
                next = Some(current);
                break;
            }
            let is_alone = !matches!(current.order, Order::Put(..));
            batch.push(current);
            let rest = rested.saturating_duration_since(Instant::now());
            job = if is_alone { None } else { waiting.recv_timeout(rest).ok() };
        }
        let (begin, articles) = (Instant::now(), batch.len());
        let (orders, waiters): (Vec<Order>, Vec<SyncSender<Result<OrderResult>>>) =
            batch.into_iter().map(|job| (job.order, job.done)).unzip();
        // Whatever happens, the next ones are to be heard.
        let done = caught(|| commit(data, orders));
        is_behind = done.is_err();
        // Who posted a moment ago will often post again: a commit with all of them costs hardly more than one with the first, and
        // readers get the processor meanwhile.
        let rest = if articles > 1 && articles < TOGETHER { begin.elapsed().min(REST) } else { Duration::ZERO };
        rested = Instant::now() + rest;
        match done {
            Ok(all) => waiters.iter().zip(all).for_each(|(waiter, done)| _ = waiter.send(Ok(done))),
            Err(error) => {
                tracing::error!(articles = waiters.len(), %error, "not kept");
                waiters.iter().for_each(|waiter| _ = waiter.send(Err(error.unacknowledged())));
            }
        }
    }
}

/// An article that is new, or has changed.
struct PendingArticle {
    /// Where its outcome stands.
    place: usize,
    /// The one from the same address, if there is one.
    old: Option<OldVersion>,
    article: Box<NewArticle>,
    labelled: LabeledRecord,
}

/// An article that another one from the same address replaces.
struct OldVersion {
    id: i64,
    /// The Jaccard distance of its terms from the new ones.
    distance: f64,
}

/// Makes changes: first the truth, then what follows from it.
fn commit(data: &DataDir, orders: Vec<Order>) -> Result<Vec<OrderResult>> {
    // Something may have gone wrong after the truth was written.
    data.catch_up()?;
    let mut done: Vec<OrderResult> = Vec::new();
    let (mut new, mut removed): (Vec<PendingArticle>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut shared: Vec<i64> = Vec::new();
    for order in orders {
        let place = done.len();
        match order {
            Order::Put(article, labelled) => match data.store.read(|snapshot| snapshot.article_at(&article.url))? {
                Some(old) if article.is_same_as(&old) => {
                    let feed = data.store.read(|snapshot| snapshot.feed_of(old.id))?;
                    if feed.is_some() && feed != article.feed {
                        shared.push(old.id);
                    }
                    done.push(OrderResult::Put(Receipt { id: old.id, outcome: Outcome::Unchanged }));
                }
                Some(old) if data.store.read(|snapshot| article.yields_to(&old, snapshot))? => {
                    let Article { id, url, source, .. } = old;
                    tracing::info!(id, url, source, ignored = article.source, "another text of this address is longer");
                    done.push(OrderResult::Put(Receipt { id, outcome: Outcome::Ignored }));
                }
                old => {
                    let outcome = if old.is_some() { Outcome::Replaced } else { Outcome::New };
                    let old = old.map(|old| -> Result<OldVersion> {
                        let terms = data.terms.of(&old.title, &old.text, &old.entities)?;
                        Ok(OldVersion { id: old.id, distance: 1.0 - similarity(&terms, &labelled.hashes) })
                    });
                    new.push(PendingArticle { place, old: old.transpose()?, article, labelled });
                    // Its number is known when it is written.
                    done.push(OrderResult::Put(Receipt { id: 0, outcome }));
                }
            },
            Order::Remove(id) => removed.push(id),
            Order::Expire { before, most } => {
                removed = data.store.read(|snapshot| snapshot.outdated(before, most, TOGETHER))?;
            }
        }
    }
    if !shared.is_empty() {
        data.store.write(|update| update.share(&shared))?;
    }
    if !removed.is_empty() || new.is_empty() && done.is_empty() {
        removed = data.store.write(|update| {
            let there = removed.iter().map(|&id| Ok(update.remove(id)?.then_some(id)));
            Ok(there.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })?;
        done.push(OrderResult::Removed(removed.len() as u64));
    }
    if new.is_empty() && removed.is_empty() {
        return Ok(done);
    }
    let begin = Instant::now();
    let query = link_query();
    let links = data.similarity.links(&new.iter().map(|new| &new.labelled).collect::<Vec<_>>(), &query)?;
    let linked = begin.elapsed();
    let ids = data.store.write(|update| {
        let mut ids: Vec<i64> = Vec::new();
        for (own, links) in new.iter().zip(&links) {
            let id = update.put(&own.article)?;
            if let Some(old) = &own.old {
                update.drift(old.id, old.distance)?;
            }
            for &Link { other, similarity } in links.iter().take(data.limits.story as usize) {
                // What is labelled may be an older text, or be gone already.
                let is_older = own.old.as_ref().is_some_and(|old| old.id == other) || ids.contains(&other);
                if !is_older && update.snapshot().published(other)?.is_some() {
                    update.link(id, other, similarity)?;
                }
            }
            for (earlier, &other) in new.iter().zip(&ids) {
                let similarity = similarity(&own.labelled.hashes, &earlier.labelled.hashes);
                if similarity >= query.threshold.as_f64() {
                    update.link(id, other, similarity)?;
                }
            }
            ids.push(id);
        }
        Ok(ids)
    })?;
    for (own, &id) in new.iter().zip(&ids) {
        if let OrderResult::Put(receipt) = &mut done[own.place] {
            receipt.id = id;
        }
    }
    let kept_at = begin.elapsed();
    let articles = new.len();
    let labelled = new.into_iter().zip(&ids).map(|(own, id)| LabeledRecord { id: id.to_string(), ..own.labelled });
    data.similarity.change(labelled.collect(), &removed)?;
    let labelled_at = begin.elapsed();
    data.text_catches_up()?;
    let millis = |from: Duration, to: Duration| (to - from).as_millis() as u64;
    let searchable = begin.elapsed();
    tracing::info!(
        articles,
        linked = millis(Duration::ZERO, linked),
        stored = millis(linked, kept_at),
        labelled = millis(kept_at, labelled_at),
        searchable = millis(labelled_at, searchable),
        "commit, in milliseconds"
    );
    Ok(done)
}

/// How many changes are read at a time when something is made again.
pub(crate) const CHANGES: usize = 1000;

impl DataDir {
    /// Tells the label index and the full-text index what they have not heard.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let mut last = if self.similarity.is_new() { 0 } else { self.text.last_change() };
        loop {
            let changes = self.store.read(|snapshot| snapshot.changes_after(last, CHANGES))?;
            let Some(end) = changes.last().map(|change| change.number) else { break };
            let (mut added, mut removed) = (Vec::new(), Vec::new());
            for Change { id, article, .. } in &changes {
                match article {
                    None => removed.push(*id),
                    Some(article) => {
                        let terms = self.terms.of(&article.title, &article.text, &article.entities)?;
                        added.push(LabeledRecord { id: id.to_string(), ..self.similarity.label(terms) });
                    }
                }
            }
            self.similarity.change(added, &removed)?;
            last = end;
        }
        self.similarity.settle();
        self.text_catches_up()
    }

    fn text_catches_up(&self) -> Result<()> {
        let mut last = self.text.last_change();
        loop {
            let changes = self.store.read(|snapshot| snapshot.changes_after(last, CHANGES))?;
            let Some(end) = changes.last().map(|change| change.number) else { break };
            self.text.apply(&changes)?;
            last = end;
        }
        self.store.read(|snapshot| snapshot.has_deleted(last)).and_then(|has_deleted| match has_deleted {
            true => self.store.write(|update| update.forget(last)),
            false => Ok(()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ServeOptions;

    #[test]
    fn who_panics_writes_again_once_that_has_passed() {
        let folder = tempfile::tempdir().unwrap();
        let data = Arc::new(DataDir::open(folder.path(), &ServeOptions::default()).unwrap());
        let (writer, _thread) = Writer::start(data.clone());
        data.store.fail_readers(true);
        assert!(matches!(writer.change(Order::Remove(1)), Err(Error::Storage { .. })));
        // Meanwhile it was tried again, without anyone asking.
        std::thread::sleep(AGAIN + Duration::from_secs(1));
        assert!(matches!(writer.change(Order::Remove(1)), Err(Error::Storage { .. })));
        data.store.fail_readers(false);
        assert_eq!(writer.change(Order::Remove(1)).unwrap(), OrderResult::Removed(0));
    }
}
