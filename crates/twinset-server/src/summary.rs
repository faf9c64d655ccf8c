//! What became of articles that came together: from a file, a folder or a feed.

use crate::article::{Origin, Submission};
use crate::ingest::writer::Outcome;
use crate::news::News;
use crate::{Error, Result};

/// What became of the articles of some files, or of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Articles that were not there before.
    pub new: u64,
    /// Articles that took the place of others.
    pub replaced: u64,
    /// Articles that were there already.
    pub unchanged: u64,
    /// Articles that were ignored, as another source or feed has as much text or more.
    pub ignored: u64,
    /// What could not be taken in, and why; the first ones.
    pub problems: Vec<String>,
    /// How many could not be.
    pub refused: u64,
    /// Articles of feeds that are older than is to be kept, and were left out.
    pub outdated: u64,
}

/// So many problems are told.
const TOLD: usize = 10;

impl ImportSummary {
    /// Counts what cannot be taken in, and why.
    pub(crate) fn refuse(&mut self, count: u64, problem: String) {
        self.refused += count;
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }

    /// Adds what became of a part, which is called so.
    pub(crate) fn add(&mut self, part: Self, name: &str) {
        self.new += part.new;
        self.replaced += part.replaced;
        self.unchanged += part.unchanged;
        self.ignored += part.ignored;
        self.outdated += part.outdated;
        self.refused += part.refused;
        let left = TOLD - self.problems.len();
        self.problems.extend(part.problems.into_iter().take(left).map(|problem| format!("{name}: {problem}")));
    }

    /// Takes articles in, each with the place where it was found. Fails if something cannot be kept.
    pub(crate) fn take(
        &mut self,
        news: &News,
        batch: Vec<(String, Submission)>,
        origin: Origin<'_>,
        progress: &mut impl FnMut(u64),
    ) -> Result<()> {
        let (places, submissions): (Vec<String>, Vec<Submission>) = batch.into_iter().unzip();
        let taken = news.submit_all(submissions, origin)?;
        progress(taken.len() as u64);
        for (place, result) in places.into_iter().zip(taken) {
            match result {
                Ok(receipt) => match receipt.outcome {
                    Outcome::New => self.new += 1,
                    Outcome::Replaced => self.replaced += 1,
                    Outcome::Unchanged => self.unchanged += 1,
                    Outcome::Ignored => self.ignored += 1,
                },
                Err(error @ Error::Request(_)) => self.refuse(1, format!("{place}: {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
