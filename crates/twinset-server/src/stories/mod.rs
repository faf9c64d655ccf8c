//! Stories: articles that are linked by pairs of near duplicates, unless a reader says otherwise.

pub(crate) mod similarity;
pub(crate) mod story;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use twinset::Threshold;
use twinset_index::lsh::Query;

use crate::article::Moment;
use crate::store::{Link, Snapshot};
use crate::stories::similarity::{SimilarityIndex, link_query};
use crate::{Error, Result};

/// How alike articles of a story are, and with which probability each of them is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoryQuery {
    /// How alike two articles are, at least.
    pub min_sim: Threshold,
    /// With which probability each near duplicate is found, at least.
    pub min_prob: f64,
}

impl Default for StoryQuery {
    fn default() -> Self {
        Self::of_links()
    }
}

impl StoryQuery {
    /// What the index promises for the links that are kept: whoever asks for no more is answered from these.
    pub fn of_links() -> Self {
        let Query { threshold, probability } = link_query();
        Self { min_sim: threshold, min_prob: probability }
    }

    /// What a request asks for, which must be worth the work.
    pub fn new(min_sim: Option<Threshold>, min_prob: Option<f64>) -> Result<Self> {
        let links = Self::of_links();
        let query = Self { min_sim: min_sim.unwrap_or(links.min_sim), min_prob: min_prob.unwrap_or(links.min_prob) };
        if !(LEAST..=1.0).contains(&query.min_sim.as_f64()) {
            return Err(Error::Request(format!("min_sim must be between {LEAST} and 1")));
        }
        if !(LEAST_PROBABILITY..=MOST_PROBABILITY).contains(&query.min_prob) {
            let reason = format!("min_prob must be between {LEAST_PROBABILITY} and {MOST_PROBABILITY}");
            return Err(Error::Request(reason));
        }
        Ok(query)
    }

    pub(crate) fn query(&self) -> Query {
        Query { threshold: self.min_sim, probability: self.min_prob }
    }

    fn is_answered_by_links(&self) -> bool {
        let links = Self::of_links();
        self.min_sim.as_f64() >= links.min_sim.as_f64() && self.min_prob <= links.min_prob
    }
}

/// Less is hardly ever the same story, and nearly everything has to be compared.
pub(crate) const LEAST: f64 = 0.5;
pub(crate) const LEAST_PROBABILITY: f64 = 0.5;
pub(crate) const MOST_PROBABILITY: f64 = 0.99;

/// Finds the stories of articles in one state of everything.
pub(crate) struct Stories<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) similarity: &'a SimilarityIndex,
    pub(crate) query: StoryQuery,
    /// How many days lie between copies at most.
    pub(crate) window: Option<u32>,
    /// Whether a reader said anything at all.
    pub(crate) has_verdicts: bool,
    /// A story has so many articles; more are not looked for.
    pub(crate) most: usize,
    pub(crate) deadline: Instant,
}

impl Stories<'_> {
    /// The articles of a story, by their numbers, given one of them.
    pub(crate) fn of(&self, id: i64) -> Result<BTreeSet<i64>> {
        let mut times: HashMap<i64, Option<Moment>> = HashMap::new();
        let mut pairs: BTreeMap<(i64, i64), f64> = BTreeMap::new();
        let mut apart: BTreeSet<(i64, i64)> = BTreeSet::new();
        let (mut members, mut open) = (BTreeSet::from([id]), vec![id]);
        while let Some(article) = open.pop() {
            if Instant::now() > self.deadline {
                let reason = "this takes too long; ask for more similar articles, or for a lower probability";
                return Err(Error::Busy(reason.to_owned()));
            }
            let mut neighbours = self.neighbours(article)?;
            if self.window.is_some() {
                let mut near = Vec::with_capacity(neighbours.len());
                for link in neighbours {
                    if self.are_near(article, link.other, &mut times)? {
                        near.push(link);
                    }
                }
                neighbours = near;
            }
            if self.has_verdicts {
                for verdict in self.snapshot.verdicts_of(article)? {
                    let other = if verdict.left == article { verdict.right } else { verdict.left };
                    match verdict.same {
                        // What a reader says counts more than any likeness.
                        true => neighbours.push(Link { other, similarity: 2.0 }),
                        false => _ = apart.insert(pair(article, other)),
                    }
                }
            }
            for Link { other, similarity } in neighbours {
                let known = pairs.entry(pair(article, other)).or_insert(similarity);
                *known = known.max(similarity);
                if members.len() < self.most && members.insert(other) {
                    open.push(other);
                }
            }
        }
        if apart.is_empty() { Ok(members) } else { Ok(divided(id, &members, &pairs, &apart)) }
    }

    /// What is alike enough, and how alike it is.
    fn neighbours(&self, id: i64) -> Result<Vec<Link>> {
        if self.query.is_answered_by_links() {
            let least = self.query.min_sim.as_f64();
            return self.snapshot.links(id, least, self.most);
        }
        let mut found = self.similarity.similar_to(id, &self.query.query())?;
        // What was taken out a moment ago may still be labelled.
        let mut there = Vec::with_capacity(found.len());
        for link in found.drain(..) {
            if self.snapshot.published(link.other)?.is_some() {
                there.push(link);
            }
        }
        Ok(there)
    }

    fn are_near(&self, id: i64, other: i64, times: &mut HashMap<i64, Option<Moment>>) -> Result<bool> {
        let Some(window) = self.window else { return Ok(true) };
        let mut time = |id: i64| -> Result<Option<Moment>> {
            if let Some(&known) = times.get(&id) {
                return Ok(known);
            }
            let time = self.snapshot.published(id)?;
            times.insert(id, time);
            Ok(time)
        };
        let (Some(own), Some(other)) = (time(id)?, time(other)?) else { return Ok(false) };
        Ok(own.0.abs_diff(other.0) <= u64::from(window) * Moment::DAY as u64)
    }
}

fn pair(a: i64, b: i64) -> (i64, i64) {
    (a.min(b), a.max(b))
}

/// Puts articles together, the most similar first, as long as none comes together with one that it is apart from. Returns those
/// that are with the given one then.
fn divided(
    id: i64,
    members: &BTreeSet<i64>,
    pairs: &BTreeMap<(i64, i64), f64>,
    apart: &BTreeSet<(i64, i64)>,
) -> BTreeSet<i64> {
    let mut group_of: HashMap<i64, i64> = members.iter().map(|&member| (member, member)).collect();
    let mut groups: HashMap<i64, BTreeSet<i64>> =
        members.iter().map(|&member| (member, BTreeSet::from([member]))).collect();
    let mut order: Vec<(&(i64, i64), &f64)> = pairs.iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    for (&(left, right), _) in order {
        let (Some(&first), Some(&second)) = (group_of.get(&left), group_of.get(&right)) else { continue };
        if first == second {
            continue;
        }
        let crosses = |&(a, b): &(i64, i64)| {
            let of = |article: i64| group_of.get(&article).copied();
            (of(a) == Some(first) && of(b) == Some(second)) || (of(a) == Some(second) && of(b) == Some(first))
        };
        if apart.iter().any(crosses) {
            continue;
        }
        let moved = groups.remove(&second).unwrap_or_default();
        for &article in &moved {
            group_of.insert(article, first);
        }
        groups.entry(first).or_default().extend(moved);
    }
    group_of.get(&id).and_then(|group| groups.remove(group)).unwrap_or_else(|| BTreeSet::from([id]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(id: i64, pairs: &[(i64, i64, f64)], apart: &[(i64, i64)]) -> Vec<i64> {
        let members = pairs.iter().flat_map(|&(a, b, _)| [a, b]).collect();
        let pairs = pairs.iter().map(|&(a, b, similarity)| ((a, b), similarity)).collect();
        divided(id, &members, &pairs, &apart.iter().copied().collect()).into_iter().collect()
    }

    #[test]
    fn what_is_apart_never_comes_together() {
        let pairs = [(1, 2, 0.9), (2, 3, 0.8), (3, 4, 0.95)];
        assert_eq!(divide(1, &pairs, &[]), [1, 2, 3, 4]);
        // Also not by way of others: the weakest pair gives way.
        assert_eq!(divide(1, &pairs, &[(1, 4)]), [1, 2]);
        assert_eq!(divide(3, &pairs, &[(1, 4)]), [3, 4]);
        assert_eq!(divide(1, &pairs, &[(1, 2)]), [1]);
        assert_eq!(divide(2, &pairs, &[(1, 2)]), [2, 3, 4]);
    }
}
