//! Optimistic: a record is a candidate if it shares a third as many of the first few values as it should.

use statrs::distribution::{Binomial, DiscreteCDF};
use tantivy::DocId;
use twinset::estimate::Condition;

use super::frontier;
use super::segment::Segment;
use crate::{Error, Result};

/// k': how many values are looked up.
const FIRST: u32 = 8;
/// What part of the threshold is asked of them.
const PART: u32 = 3;

pub(super) fn candidates(
    segment: &Segment,
    values: &[u64],
    condition: &Condition,
    visit: &mut dyn FnMut(DocId) -> Result<()>,
) -> Result<()> {
    let first = &values[..values.len().min(FIRST as usize)];
    frontier::candidates(segment, first, least(first.len() as u32, condition) as usize, visit)
}

fn least(first: u32, condition: &Condition) -> u32 {
    condition.least_common(first, FIRST).div_ceil(PART).max(1)
}

/// With which probability [`CandidateStrategy::Optimistic`](super::CandidateStrategy::Optimistic) misses a record on the threshold, at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissRate {
    /// By Chebyshev's inequality, as in the paper.
    pub by_chebyshev: f64,
    /// By the binomial distribution.
    pub exactly: f64,
}

/// The miss rate of synopses with this k. Measures for which nothing can be said are refused.
pub fn miss_rate(condition: &Condition, k: u32) -> Result<MissRate> {
    let Some(jaccard) = condition.least_jaccard() else {
        let reason = format!(
            "optimistic knows jaccard, dice and cosine, and not {}; leave out --algorithm",
            condition.measure()
        );
        return Err(Error::Usage(reason));
    };
    let (first, share) = (FIRST.min(k), 1.0 - 1.0 / f64::from(PART));
    let by_chebyshev = (1.0 - jaccard) / (f64::from(first) * jaccard * share * share);
    let binomial = Binomial::new(jaccard, u64::from(first)).map_err(|error| Error::Usage(error.to_string()))?;
    let exactly = binomial.cdf(u64::from(least(first, condition)) - 1);
    Ok(MissRate { by_chebyshev: by_chebyshev.min(1.0), exactly })
}
