//! The front door: what to compare, how, how surely; and what to find.

mod plan;
mod records;
mod results;

pub use plan::{Plan, Representation, Values};
pub use records::{Records, Source, Texts, TokenLists};
pub use results::{Group, Groups, Pairs, SimilarPair};

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::cluster::{Link, Order, Ranking};
use crate::explain::{Detail, NamedRecord, explain};
use crate::join::{EstimateOptions, JoinOptions, JoinResult, Method, OwnedInput};
use crate::model::{Collections, Error, Explanation, Measure, Result, Run, Threshold};
use crate::pipeline::{self, Grouping, RecordContext};
use crate::stream::Stream;
use crate::tokenize::{TokenOptions, Tokenizer};

/// What to compare, which pairs to find, by which method, and how surely.
///
/// A search is built from a threshold ([`at`](Self::at)) or a number of pairs ([`top`](Self::top)) and the setters, or read from its
/// options with serde. Its calls take texts, [`TokenLists`] or [`TokenSets`](crate::TokenSets).
///
/// ```
/// use twinset::{Measure, Search};
///
/// let texts = ["yes as soon as possible", "as soon as possible please", "something else"];
/// let search = Search::at("2/3")?.measure(Measure::Jaccard);
/// for pair in &search.join(texts)? {
///     let pair = pair?;
///     assert_eq!((pair.left, pair.right, pair.similarity), (0, 1, 2.0 / 3.0));
/// }
/// assert_eq!(search.count(texts)?, 1);
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// How texts become tokens.
    pub tokens: TokenOptions,
    /// Which pairs are wanted.
    pub join: JoinOptions,
    /// Whether pairs are found exactly or by estimates, and how surely.
    pub estimate: EstimateOptions,
    /// What forms a group of near duplicates.
    pub link: Link,
    /// Which record of a group is kept.
    pub keep: Keep,
    /// The class of each record, those of a right collection after those of the left; only records of one class form pairs.
    pub classes: Option<Vec<u32>>,
    /// Threads, memory, progress and cancellation.
    #[serde(skip)]
    pub run: Run,
}

/// Which record of a group of near duplicates is kept. Ties go to the earlier record.
///
/// See the example of [`Search::dedup`](crate::Search::dedup).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The earliest.
    #[default]
    First,
    /// The one with the longest text.
    Longest,
    /// The one with most pairs.
    Central,
    /// The one that comes first in this list of all records.
    Ranked(Vec<u32>),
}

impl Search {
    /// A search for pairs at or above a threshold; for distances, at or below it. `0.8` and `"4/5"` are the same number.
    pub fn at<T>(threshold: T) -> Result<Self>
    where
        T: TryInto<Threshold>,
        Error: From<T::Error>,
    {
        Ok(Self { join: JoinOptions::at(threshold.try_into()?), ..Self::default() })
    }

    /// A search for the `k` most similar pairs.
    pub fn top(k: usize) -> Self {
        Self { join: JoinOptions { top: Some(k), ..JoinOptions::default() }, ..Self::default() }
    }

    /// Sets the measure; Jaccard is the default.
    #[must_use]
    pub fn measure(mut self, measure: Measure) -> Self {
        self.join.measure = measure;
        self
    }

    /// Sets how texts become tokens: a [`TokenKind`](crate::TokenKind) or [`TokenOptions`]. Words are the default.
    #[must_use]
    pub fn tokens(mut self, tokens: impl Into<TokenOptions>) -> Self {
        self.tokens = tokens.into();
        self
    }

    /// Sets the method; exact is the default.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.estimate.method = method;
        self
    }

    /// Sets with which probability a pair on the threshold is found by a method that estimates.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.estimate.probability = probability;
        self
    }

    /// Sets the number of entries of a MinHash sketch.
    #[must_use]
    pub fn permutations(mut self, permutations: u32) -> Self {
        // Zero is refused with every other number that is out of range, when the search runs.
        self.estimate.permutations = NonZeroU32::new(permutations).unwrap_or(NonZeroU32::MAX);
        self
    }

    /// Sets the number of LSH trees, and of the bits of their labels.
    #[must_use]
    pub fn trees(mut self, trees: u32, bits: u32) -> Self {
        (self.estimate.lsh.trees, self.estimate.lsh.bits) = (trees, bits);
        self
    }

    /// Sets the number of values of a KMV synopsis.
    #[must_use]
    pub fn size(mut self, size: u32) -> Self {
        self.estimate.size = size;
        self
    }

    /// Sets the seed of every method that estimates.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.estimate.seed = seed;
        self
    }

    /// Verifies every estimated pair exactly, and leaves out those below the threshold.
    ///
    /// ```
    /// use twinset::{Method, Search};
    ///
    /// let search = Search::at(0.7)?.method(Method::MinHash).verify();
    /// assert_eq!(search.join(["a b c", "a b c"])?.len(), 1);
    /// # Ok::<(), twinset::Error>(())
    /// ```
    #[must_use]
    pub fn verify(mut self) -> Self {
        self.estimate.verify = true;
        self
    }

    /// Chooses pairs one to one: each record at most once, the most similar pairs first.
    #[must_use]
    pub fn best(mut self) -> Self {
        self.join.best = true;
        self
    }

    /// Lets records without tokens take part; they match each other.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.join.empty = true;
        self
    }

    /// Sets which record of a group is kept; the first is the default.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets what forms a group: all that pairs connect (the default), or a representative and its near duplicates.
    #[must_use]
    pub fn link(mut self, link: Link) -> Self {
        self.link = link;
        self
    }

    /// Lets only records of one class form pairs. There is one class for each record, those of a right collection after those of
    /// the left.
    #[must_use]
    pub fn within(mut self, classes: impl IntoIterator<Item = u32>) -> Self {
        self.classes = Some(classes.into_iter().collect());
        self
    }

    /// Sets threads, memory, progress and cancellation.
    #[must_use]
    pub fn run(mut self, run: Run) -> Self {
        self.run = run;
        self
    }

    /// Checks the options, and returns how the search runs.
    pub fn plan(&self) -> Result<Plan> {
        Plan::new(&self.join, &self.tokens, &self.estimate, &self.run)
    }

    /// Finds the pairs of one collection, or those between the two collections of [`TokenSets::split_at`](crate::TokenSets::split_at).
    pub fn join<'a>(&self, records: impl Records<'a>) -> Result<Pairs<'a>> {
        self.found(&self.plan()?, &records.source(), None)
    }

    /// Finds the pairs between two collections.
    ///
    /// ```
    /// use twinset::Search;
    ///
    /// let pairs = Search::at(0.5)?.join_two(["Bo Ek", "Ann Lind"], ["Ek, Bo"])?;
    /// assert_eq!(pairs.len(), 1);
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn join_two<'a, L, R>(&self, left: L, right: R) -> Result<Pairs<'a>>
    where
        L: Texts<'a>,
        R: Texts<'a, Kind = L::Kind>,
    {
        let (source, left) = left.source().followed_by(right.source());
        self.found(&self.plan()?, &source, Some(left))
    }

    /// Counts the pairs of one collection, without keeping them.
    pub fn count<'a>(&self, records: impl Records<'a>) -> Result<u64> {
        let (plan, source) = (self.plan()?, records.source());
        if plan.verifies() || self.classes.is_some() || self.join.top.is_some() || self.join.best {
            return Ok(self.found(&plan, &source, None)?.len());
        }
        let prepared = self.prepare(&plan, &source, None)?;
        Ok(pipeline::count(prepared.input(), plan.joined(), &self.run)?.pairs)
    }

    /// Finds for each left record the most similar right record at the threshold.
    ///
    /// ```
    /// use twinset::Search;
    ///
    /// let nearest = Search::at(0.5)?.nearest(["a b c", "x"], ["a b", "a b c d"])?;
    /// assert_eq!(nearest[0].unwrap().right, 1);
    /// assert!(nearest[1].is_none());
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn nearest<'a, L, R>(&self, left: L, right: R) -> Result<Vec<Option<SimilarPair>>>
    where
        L: Texts<'a>,
        R: Texts<'a, Kind = L::Kind>,
    {
        let plan = self.plan()?;
        let (source, left) = left.source().followed_by(right.source());
        if plan.verifies() {
            return Err(Error::Conflict("the nearest records are not verified; search exactly"));
        }
        let prepared = self.prepare(&plan, &source, Some(left))?;
        let options = JoinOptions { top: None, best: false, ..plan.joined().clone() };
        let (nearest, _) = pipeline::nearest(prepared.input(), self.classes.as_deref(), None, &options, &self.run)?;
        let mut values = plan.values(options.measure, prepared.synopses());
        Ok(nearest.into_iter().map(|pair| pair.map(|pair| SimilarPair::new(&pair, &mut values))).collect())
    }

    /// Groups near duplicates, and chooses the record of each group that is kept.
    ///
    /// ```
    /// use twinset::{Keep, Search};
    ///
    /// let groups = Search::at(0.7)?.keep(Keep::Longest).dedup(["a b c", "a b c d", "x"])?;
    /// assert!(groups.kept().eq([1, 2]));
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn dedup<'a>(&self, records: impl Records<'a>) -> Result<Groups> {
        let (plan, source) = (self.plan()?, records.source());
        let prepared = self.prepare(&plan, &source, None)?;
        if prepared.input().collections() == Collections::Two {
            return Err(Error::Conflict("these are two collections; give one, or call `dedup_against`"));
        }
        let (joined, exact) = self.joined(&plan, &source, &prepared, None)?;
        let input = exact.as_ref().unwrap_or(&prepared).input();
        let ranking = self.ranking(&source, source.len())?;
        let context = RecordContext { classes: self.classes.as_deref(), ..RecordContext::default() };
        let grouping = Grouping { link: self.link, order: self.order(ranking.as_ref()) };
        let deduped = pipeline::dedup_joined(joined, input, context, plan.selection(), grouping, &self.run)?;
        Ok(Groups::new(deduped, &mut plan.values(plan.joined().measure, prepared.synopses()), None))
    }

    /// Removes the records that are near one of another collection, then groups the rest.
    ///
    /// ```
    /// use twinset::{Representative, Search};
    ///
    /// let groups = Search::at(0.7)?.dedup_against(["a b c", "x"], ["q", "a b c d"])?;
    /// assert_eq!(groups.of_records()[0].representative, Representative::Other(1));
    /// assert!(groups.kept().eq([1]));
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn dedup_against<'a, L, R>(&self, records: L, others: R) -> Result<Groups>
    where
        L: Texts<'a>,
        R: Texts<'a, Kind = L::Kind>,
    {
        let plan = self.plan()?;
        if plan.verifies() {
            return Err(Error::Conflict("near duplicates of another collection are not verified; search exactly"));
        }
        let (source, left) = records.source().followed_by(others.source());
        let prepared = self.prepare(&plan, &source, Some(left))?;
        let ranking = self.ranking(&source, left)?;
        let context = RecordContext { classes: self.classes.as_deref(), ..RecordContext::default() };
        let grouping = Grouping { link: self.link, order: self.order(ranking.as_ref()) };
        let deduped =
            pipeline::dedup_against(prepared.input(), context, left, plan.joined(), Some(grouping), &self.run)?;
        Ok(Groups::new(deduped, &mut plan.values(plan.joined().measure, prepared.synopses()), Some(left)))
    }

    /// Explains why two texts are a pair, or are not: sizes, common and different tokens, every measure, a word diff.
    ///
    /// ```
    /// use twinset::Search;
    ///
    /// let tree = Search::at(0.6)?.explain("a b c d", "a b c e")?;
    /// assert!(tree.to_string().contains("jaccard: 0.6"));
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn explain(&self, left: &str, right: &str) -> Result<Explanation> {
        let tokenizer = Tokenizer::new(&self.tokens)?;
        let block = tokenizer.block([left, right])?;
        let (sets, names) = tokenizer.finish_named([block])?;
        let record = |ordinal: usize, text| NamedRecord { ordinal, id: ordinal.to_string(), text };
        explain(&sets, &names, &record(0, left), &record(1, right), &self.join, Detail::default(), &self.run)
    }

    /// Starts a stream, which decides on each record as it arrives.
    ///
    /// ```
    /// use twinset::Search;
    ///
    /// let mut stream = Search::at(0.7)?.stream()?;
    /// assert!(stream.arrive("a b c")?.is_none());
    /// assert_eq!(stream.arrive("a b c d")?.unwrap().record, 0);
    /// # Ok::<(), twinset::Error>(())
    /// ```
    pub fn stream(&self) -> Result<Stream> {
        if self.estimate.method != Method::Exact {
            return Err(Error::Conflict("a stream is exact"));
        }
        Stream::new(&self.join, &self.tokens, None)
    }

    fn prepare<'a>(&self, plan: &Plan, source: &Source<'a>, left: Option<usize>) -> Result<OwnedInput<'a>> {
        if self.classes.as_ref().is_some_and(|classes| classes.len() != source.len()) {
            return Err(Error::Conflict("there must be one class for each record"));
        }
        self.run.install(|| source.prepare(plan.representation(), plan.tokens(), left, &self.run))?
    }

    /// The pairs of a join, verified if the plan says so, and then with the token sets.
    fn joined<'a>(
        &self,
        plan: &Plan,
        source: &Source<'a>,
        prepared: &OwnedInput<'a>,
        left: Option<usize>,
    ) -> Result<(JoinResult, Option<OwnedInput<'a>>)> {
        let joined = plan.find(prepared.input(), self.classes.as_deref(), &self.run)?;
        if !plan.verifies() {
            return Ok((joined, None));
        }
        let exact = self.run.install(|| source.prepare(Representation::Sets, plan.tokens(), left, &self.run))??;
        Ok((plan.verify(&joined, exact.input(), &self.run)?, Some(exact)))
    }

    fn found<'a>(&self, plan: &Plan, source: &Source<'a>, left: Option<usize>) -> Result<Pairs<'a>> {
        let prepared = self.prepare(plan, source, left)?;
        let (joined, _) = self.joined(plan, source, &prepared, left)?;
        Pairs::new(joined, plan, prepared)
    }

    /// The order in which records are kept, where it is known before the join.
    fn ranking(&self, source: &Source<'_>, records: usize) -> Result<Option<Ranking>> {
        Ok(match &self.keep {
            Keep::First | Keep::Central => None,
            Keep::Longest => Some(Ranking::by_length(&source.lengths()[..records])),
            Keep::Ranked(records) => Some(Ranking::new(records.clone())?),
        })
    }

    fn order<'r>(&self, ranking: Option<&'r Ranking>) -> Order<'r> {
        match (ranking, &self.keep) {
            (Some(ranking), _) => Order::Ranked(ranking),
            (None, Keep::Central) => Order::Degree,
            (None, _) => Order::Input,
        }
    }
}
