//! Options in, pairs or groups out: picks the method and runs it on the threads asked for.

use std::time::Instant;

use crate::cluster::{Link, Order, Ranking, cluster};
use crate::join::{Input, JoinOptions, JoinResult, Links, Output, count_synopses, join as join_exactly};
use crate::model::{Bounds, Collections, Error, Measure, Pair, Result, Run, Stats, Threshold};
use crate::sketch::{Condition, Synopses};

/// Finds the pairs that the options ask for.
///
/// [`JoinResult::iter`] has all of them that reach the threshold; [`JoinResult::selected`] has what [`top`](JoinOptions::top) and
/// [`best`](JoinOptions::best) leave. With `top` no threshold is needed, and `iter` has only pairs that may be among the
/// most similar: the bound rises as better ones are found.
///
/// ```
/// use twinset::exact::{Input, JoinOptions, join};
/// use twinset::{Run, TokenSets};
///
/// let sets = TokenSets::from_ids([vec![1, 2, 3, 4], vec![1, 2, 3, 5], vec![7, 8]])?;
/// let options = JoinOptions::at("0.6".parse()?);
/// let joined = join(Input::Sets(&sets), &options, &Run::default())?;
/// let pair = joined.iter().next().unwrap()?;
/// assert_eq!((pair.left, pair.right, pair.value), (0, 1, 0.6));
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn join(input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<JoinResult> {
    join_within(input, None, options, run)
}

/// As [`join`], but only pairs whose records have the same class, if there are classes: one for every record, those of
/// the right collection after those of the left.
///
/// See the example of [`join`].
pub fn join_within(input: Input<'_>, classes: Option<&[u32]>, options: &JoinOptions, run: &Run) -> Result<JoinResult> {
    // A one-to-one choice, or one within classes, may need pairs beyond the best.
    let wanted = match options.top {
        Some(wanted) if !options.best && classes.is_none() => Output::Top(wanted),
        _ => Output::All,
    };
    let join_at = |threshold| {
        let bounds = Bounds::new(options.measure, threshold, input.collections())?;
        let joined = join_exactly(input, &bounds, options, wanted, run)?;
        Ok(match classes {
            Some(classes) => joined.within_classes(classes.to_vec())?,
            None => joined,
        })
    };
    match (options.threshold, options.top) {
        (Some(threshold), _) => run.install(|| join_at(threshold))?,
        (None, None) => Err(Error::NoThreshold),
        (None, Some(wanted)) => run.install(|| {
            let begin = Instant::now();
            let mut steps = falling_thresholds(options.measure, input);
            loop {
                let threshold = steps.next().expect("the loop ends at the last threshold")?;
                let mut joined = join_at(threshold)?;
                // What is most alike is the same at every threshold that lets it pass.
                let enough = if options.best { joined.best()?.len() as u64 } else { joined.len() } >= wanted as u64;
                if enough || steps.peek().is_none() {
                    joined.stats.seconds.join = begin.elapsed().as_secs_f64();
                    return Ok(joined);
                }
            }
        })?,
    }
}

/// How many pairs reach the threshold, in [`Stats::pairs`]. They are not kept, so it does not matter how many they are.
///
/// ```
/// use twinset::exact::{Input, JoinOptions, count};
/// use twinset::{Run, TokenSets};
///
/// let sets = TokenSets::from_ids((0..1000).map(|_| [1, 2, 3]))?;
/// let stats = count(Input::Sets(&sets), &JoinOptions::at("0.9".parse()?), &Run::default())?;
/// assert_eq!(stats.pairs, 499_500);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn count(input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<Stats> {
    let threshold = options.threshold.ok_or(Error::NoThreshold)?;
    let bounds = Bounds::new(options.measure, threshold, input.collections())?;
    run.install(|| Ok(join_exactly(input, &bounds, options, Output::Count, run)?.stats))?
}

/// How many rows of synopses each of the conditions accepts, in one pass. They must be of one measure.
///
/// ```
/// use twinset::estimate::{Condition, Synopses, SynopsisBuilder, count_estimates};
/// use twinset::{Measure, Run};
///
/// let mut synopses = Synopses::new(64)?;
/// for record in 0..3 {
///     let mut builder = SynopsisBuilder::new(64)?;
///     (record..record + 9).for_each(|value| builder.insert(value));
///     synopses.push(builder.synopsis());
/// }
/// let at = |threshold: &str| Condition::new(Measure::Jaccard, threshold.parse()?, 0);
/// assert_eq!(count_estimates(&synopses, &[at("0.5")?, at("0.8")?], &Run::default())?, [3, 2]);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn count_estimates(synopses: &Synopses, conditions: &[Condition], run: &Run) -> Result<Vec<u64>> {
    run.install(|| count_synopses(synopses, conditions, run))?
}

/// What is known of the records of a collection beside what is joined.
///
/// See the example of [`dedup`].
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordContext<'a> {
    /// Where the collection holds each text once: for each record, which one of the collection it is a copy of. `None`: the
    /// collection holds every record.
    pub copies: Option<&'a [u32]>,
    /// Of each that the collection holds: only those of the same class form pairs.
    pub classes: Option<&'a [u32]>,
}

/// What forms a group, and which of its records is kept.
///
/// See the example of [`dedup`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Grouping<'a> {
    /// What forms a group.
    pub link: Link,
    /// The order in which records are kept.
    pub order: Order<'a>,
}

/// The record that stands for another one.
///
/// See the example of [`dedup`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Representative {
    /// A record of the same collection.
    Own(u32),
    /// A record of the other collection.
    Other(u32),
}

/// A collection without its near duplicates, or without those of another collection.
///
/// See the example of [`dedup`].
pub struct DedupResult {
    /// For each record the one that stands for it, which is itself if it is kept.
    pub representatives: Vec<Representative>,
    /// The value of the measure for each record and its representative.
    pub values: Vec<f64>,
    /// All pairs among the records that are not near the other collection.
    pub links: Links,
    /// What the join did.
    pub stats: Stats,
    /// How many records are near the other collection.
    pub known: u64,
}

impl DedupResult {
    /// Whether a record is kept.
    pub fn is_kept(&self, record: usize) -> bool {
        self.representatives[record] == Representative::Own(record as u32)
    }
}

/// Groups near duplicates, and chooses the record of each group that is kept.
///
/// ```
/// use twinset::exact::{Grouping, Input, JoinOptions, RecordContext, dedup};
/// use twinset::tokenize::tokenize;
/// use twinset::{Representative, Run, TokenOptions};
///
/// let sets = tokenize(["the cat sat", "a dog", "the cat sat down"], &TokenOptions::default())?;
/// let join = JoinOptions::at("0.7".parse()?);
/// let deduped = dedup(Input::Sets(&sets), RecordContext::default(), &join, Grouping::default(), &Run::default())?;
/// assert_eq!(deduped.representatives, [0, 1, 0].map(Representative::Own));
/// assert_eq!(deduped.values[2], 0.75);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn dedup(
    input: Input<'_>,
    records: RecordContext<'_>,
    join: &JoinOptions,
    grouping: Grouping<'_>,
    run: &Run,
) -> Result<DedupResult> {
    let joined = join_within(input, records.classes, join, run)?;
    dedup_joined(joined, input, records, join, grouping, run)
}

/// As [`dedup`], for pairs that were found already.
///
/// See the example of [`dedup`].
pub fn dedup_joined(
    joined: JoinResult,
    input: Input<'_>,
    records: RecordContext<'_>,
    join: &JoinOptions,
    grouping: Grouping<'_>,
    run: &Run,
) -> Result<DedupResult> {
    let bounds = join.threshold.map(|threshold| Bounds::new(join.measure, threshold, Collections::One)).transpose()?;
    let twin_value = |record| bounds.and_then(|bounds| input.twin_value(record, &bounds, join));
    let links = joined.links(joined.selected(join)?.as_deref(), twin_value, run)?;
    let mut stats = joined.stats;
    let links = match records.copies {
        Some(copies) => links.of_copies(copies),
        None => links,
    };
    (stats.records, stats.pairs) = (links.records() as u64, links.pairs());
    if let Some(copies) = records.copies {
        stats.empty_records =
            copies.iter().filter(|&&original| input.size(original) == 0 && !join.empty).count() as u64;
    }
    let by_degree;
    let input_order: Vec<u32>;
    let order = match grouping.order {
        Order::Ranked(ranking) if ranking.records().len() != links.records() => {
            return Err(Error::Conflict("the ranking must be one of all records"));
        }
        Order::Ranked(ranking) => ranking.records(),
        Order::Degree => {
            by_degree = Ranking::by_degree(&links);
            by_degree.records()
        }
        Order::Input => {
            input_order = (0..links.records() as u32).collect();
            &input_order
        }
    };
    let clusters = cluster(&links, order, grouping.link);
    let original = |record: u32| records.copies.map_or(record, |copies| copies[record as usize]);
    let value = |(record, &representative): (u32, &u32)| match clusters.values[record as usize] {
        Some(value) => Ok(value),
        None => input.value(join.measure, original(record), original(representative)),
    };
    let values = (0..).zip(&clusters.representatives).map(value).collect::<Result<_>>()?;
    let mut sizes = vec![0u32; clusters.representatives.len()];
    clusters.representatives.iter().for_each(|&representative| sizes[representative as usize] += 1);
    stats.kept = Some(sizes.iter().filter(|&&size| size > 0).count() as u64);
    stats.groups = Some(sizes.iter().filter(|&&size| size > 1).count() as u64);
    let representatives = clusters.representatives.into_iter().map(Representative::Own).collect();
    Ok(DedupResult { representatives, values, links, stats, known: 0 })
}

/// Of the pairs that estimates found, those whose token sets really reach the threshold, with their exact values.
///
/// See the example of [`Search::verify`](crate::Search::verify).
pub fn verify(joined: &JoinResult, input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<JoinResult> {
    let bounds = Bounds::new(options.measure, options.threshold.ok_or(Error::NoThreshold)?, input.collections())?;
    // A row of containment has its direction already.
    let bounds = bounds.one_way();
    joined.verified(input, &bounds, options.measure, run)
}

/// Keeps every record, as if no two were near each other.
fn keep_all(input: Input<'_>, records: RecordContext<'_>, measure: Measure) -> Result<DedupResult> {
    let count = records.copies.map_or(input.len(), <[u32]>::len) as u32;
    let original = |record: u32| records.copies.map_or(record, |copies| copies[record as usize]);
    let values = (0..count).map(|record| input.value(measure, original(record), original(record)));
    let stats = Stats { records: u64::from(count), kept: Some(u64::from(count)), ..Stats::default() };
    Ok(DedupResult {
        representatives: (0..count).map(Representative::Own).collect(),
        values: values.collect::<Result<_>>()?,
        links: Links::none(measure, count as usize),
        stats,
        known: 0,
    })
}

/// Removes the records of the left collection, which has `left` of them, that are near one of the right; then groups the rest, or
/// keeps all of it if there is no grouping.
///
/// See the example of [`Search::dedup_against`](crate::Search::dedup_against).
pub fn dedup_against(
    input: Input<'_>,
    records: RecordContext<'_>,
    left: usize,
    join: &JoinOptions,
    grouping: Option<Grouping<'_>>,
    run: &Run,
) -> Result<DedupResult> {
    let all_pairs = JoinOptions { top: None, best: false, ..join.clone() };
    // What the collection holds, each text once, stands for its copies.
    let held = |record: u32| records.copies.map_or(record, |copies| copies[record as usize]);
    let held_left = input.left_len() as u32;
    let first_of_right = first_records(records.copies, left, input.len(), held_left);
    let (near, near_stats) = nearest(input, records.classes, Some(&first_of_right), &all_pairs, run)?;
    let is_left = |held: u32| near[held as usize].is_none();
    let rest = input.left_where(is_left, run)?;
    let mut places = vec![u32::MAX; near.len()];
    (0..).zip((0..held_left).filter(|&held| is_left(held))).for_each(|(place, held)| places[held as usize] = place);
    let left_over: Vec<u32> = (0..left as u32).filter(|&record| is_left(held(record))).collect();
    let copies: Vec<u32> = left_over.iter().map(|&record| places[held(record) as usize]).collect();
    let classes: Option<Vec<u32>> = records
        .classes
        .map(|classes| (0..held_left).filter(|&held| is_left(held)).map(|held| classes[held as usize]).collect());
    let of_rest = RecordContext { copies: Some(&copies), classes: classes.as_deref() };
    let deduped = match grouping {
        Some(grouping) => {
            let ranking;
            let order = match grouping.order {
                Order::Ranked(all) if all.records().len() != left => {
                    return Err(Error::Conflict("the ranking must be one of all records"));
                }
                Order::Ranked(all) => {
                    ranking = all.of_subset(&left_over);
                    Order::Ranked(&ranking)
                }
                other => other,
            };
            dedup(rest.input(), of_rest, join, Grouping { order, ..grouping }, run)?
        }
        None => {
            let all = keep_all(rest.input(), of_rest, join.measure)?;
            DedupResult { stats: Stats { kept: all.stats.kept, ..near_stats }, ..all }
        }
    };
    let mut of_left_over = deduped.representatives.iter().zip(&deduped.values);
    let (mut representatives, mut values) = (Vec::with_capacity(left), Vec::with_capacity(left));
    for record in 0..left as u32 {
        let (representative, value) = match near[held(record) as usize] {
            Some(Pair { right, value, .. }) => (Representative::Other(first_of_right[right as usize]), value),
            None => {
                let (&representative, &value) =
                    of_left_over.next().expect("each record that is left over has a representative");
                let Representative::Own(place) = representative else { unreachable!("there is one collection") };
                (Representative::Own(left_over[place as usize]), value)
            }
        };
        representatives.push(representative);
        values.push(value);
    }
    Ok(DedupResult {
        representatives,
        values,
        links: deduped.links,
        stats: Stats { records: left as u64, ..deduped.stats },
        known: (left - left_over.len()) as u64,
    })
}

/// The first record of each text that the right collection holds, of `all` texts of which `before` belong to the left.
fn first_records(copies: Option<&[u32]>, left: usize, all: usize, before: u32) -> Vec<u32> {
    let Some(copies) = copies else { return (0..all as u32 - before).collect() };
    let mut firsts = vec![u32::MAX; all - before as usize];
    for (record, &held) in (0..).zip(&copies[left..]) {
        let first = &mut firsts[(held - before) as usize];
        *first = (*first).min(record);
    }
    firsts
}

/// For each left record its most similar right one within the threshold, ties by their `places`, or in
/// input order; and the statistics of the join. Of the two directions of containment either will do, and the larger value
/// counts.
///
/// See the example of [`Search::nearest`](crate::Search::nearest).
pub fn nearest(
    input: Input<'_>,
    classes: Option<&[u32]>,
    places: Option<&[u32]>,
    options: &JoinOptions,
    run: &Run,
) -> Result<(Vec<Option<Pair>>, Stats)> {
    let place = |right: u32| places.map_or(right, |places| places[right as usize]);
    let bounds = Bounds::new(options.measure, options.threshold.ok_or(Error::NoThreshold)?, Collections::One)?;
    let mut joined = run.install(|| join_exactly(input, &bounds, options, Output::All, run))??;
    if let Some(classes) = classes {
        joined = joined.within_classes(classes.to_vec())?;
    }
    let left = input.left_len();
    let mut nearest: Vec<Option<Pair>> = vec![None; left];
    for pair in joined.iter() {
        let mut pair = pair?;
        if options.measure == Measure::Containment {
            pair.value = input.value(options.measure, pair.left, left as u32 + pair.right)?;
        }
        let best = &mut nearest[pair.left as usize];
        let is_better = |best: Pair| {
            let is_earlier = || best.value == pair.value && place(pair.right) < place(best.right);
            options.measure.is_better(pair.value, best.value) || is_earlier()
        };
        if best.is_none_or(is_better) {
            *best = Some(pair);
        }
    }
    Ok((nearest, joined.stats))
}

/// Thresholds from strict to lax, the last of which lets every pair pass that shares anything.
fn falling_thresholds(
    measure: Measure,
    input: Input<'_>,
) -> std::iter::Peekable<Box<dyn Iterator<Item = Result<Threshold>>>> {
    let steps: Box<dyn Iterator<Item = Result<Threshold>>> = if measure.is_count() {
        let largest = largest_size(input);
        let doubling = std::iter::successors(Some(1u32), |&step| step.checked_mul(2)).take_while(move |&s| s < largest);
        if measure.is_distance() {
            // Two sets without a common token are as far apart as they have tokens.
            let farthest = largest.saturating_mul(2);
            Box::new(std::iter::once(0).chain(doubling).chain([largest, farthest]).map(Threshold::whole))
        } else {
            let halving: Vec<u32> = doubling.collect();
            Box::new(halving.into_iter().rev().map(Threshold::whole))
        }
    } else {
        let tenths = (1..=9).rev().map(|tenths| Threshold::new(tenths, 10));
        let small = [(1, 20), (1, 100), (1, 10_000), (1, 1_000_000_000)].into_iter().map(|(p, q)| Threshold::new(p, q));
        Box::new(tenths.chain(small))
    };
    steps.peekable()
}

/// The largest number of tokens, or characters, of a record; at least 2.
fn largest_size(input: Input<'_>) -> u32 {
    let largest = match input {
        Input::Sets(sets) => (0..sets.len()).map(|record| sets.size(record)).max(),
        Input::Spilled(sets) => Some(sets.largest()),
        Input::Texts { texts, .. } => texts.iter().map(|text| text.chars().count() as u32).max(),
        Input::Synopses(synopses) => {
            // Twice as much as one is estimated to have, as others may be estimated to have more together.
            (0..synopses.len()).map(|record| (2.0 * synopses.get(record).distinct()).min(1e9) as u32).max()
        }
    };
    largest.unwrap_or(0).clamp(2, 500_000_000)
}
