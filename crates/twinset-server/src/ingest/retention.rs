//! How long articles are kept, and how many of them.

use std::collections::HashSet;

use crate::Result;
use crate::article::{Moment, Submission};
use crate::ingest::intake;
use crate::ingest::writer::Order;
use crate::limits::Limits;
use crate::store::Snapshot;

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// What was published so many days ago, or later.
    pub(crate) days: Option<u32>,
    /// So many articles, the newest.
    pub(crate) most: Option<u64>,
}

impl Retention {
    /// What takes out all else; nothing does if everything is kept.
    pub(crate) fn order(&self) -> Option<Order> {
        (self.days.is_some() || self.most.is_some())
            .then(|| Order::Expire { before: self.days.map(days_ago), most: self.most })
    }

    /// The places of articles that would be taken out at once: they are not there, and are older than is to be kept, or than enough
    /// others.
    pub(crate) fn outdated(
        &self,
        snapshot: &Snapshot<'_>,
        submissions: &[Submission],
        limits: &Limits,
    ) -> Result<HashSet<usize>> {
        let mut outdated: HashSet<usize> = HashSet::new();
        if self.order().is_none() {
            return Ok(outdated);
        }
        let before = self.days.map_or(Moment(i64::MIN), days_ago);
        let mut new: Vec<(Moment, Option<usize>)> = Vec::new();
        for (place, submission) in submissions.iter().enumerate() {
            let published = submission.published.as_deref().map_or(Ok(Moment::now()), Moment::parse);
            let url = intake::address(&submission.url, limits);
            // What makes no sense is refused later, with a reason.
            let (Ok(published), Ok(url)) = (published, url) else { continue };
            if snapshot.has_address(&url)? {
                continue;
            }
            if published < before {
                outdated.insert(place);
            } else {
                new.push((published, Some(place)));
            }
        }
        let excess = match self.most {
            Some(most) => (snapshot.count()? + new.len() as u64).saturating_sub(most),
            None => 0,
        };
        // Of two that were published together the one that is there goes first.
        new.extend(snapshot.oldest(excess)?.into_iter().map(|published| (published, None)));
        new.sort();
        outdated.extend(new.into_iter().take(excess as usize).filter_map(|(_, place)| place));
        Ok(outdated)
    }
}

fn days_ago(days: u32) -> Moment {
    Moment(Moment::now().0 - i64::from(days) * Moment::DAY)
}
