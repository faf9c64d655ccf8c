//! Options in, pairs out: picks the method and runs it on the threads asked for.

use std::time::Instant;

use rayon::prelude::*;

use crate::join::{Input, JoinOptions, Joined, Keep, join as join_exactly};
use crate::model::{Bounds, Error, Measure, Result, Run, Stats, Threshold, TokenSets};
use crate::tokenize::{TokenOptions, Tokenizer};

/// Finds the pairs that the options ask for.
///
/// [`Joined::iter`] has all of them that reach the threshold; [`Joined::selected`] has what [`top`](JoinOptions::top) and
/// [`best`](JoinOptions::best) leave. With `top` no threshold is needed, and `iter` has only pairs that may be among the
/// most similar: the bound rises as better ones are found.
///
/// ```
/// use twinset::{Input, JoinOptions, Run, TokenSets, join};
///
/// let sets = TokenSets::from_ids([vec![1, 2, 3, 4], vec![1, 2, 3, 5], vec![7, 8]])?;
/// let options = JoinOptions::at("0.6".parse()?);
/// let joined = join(Input::Sets(&sets), &options, &Run::default())?;
/// let pair = joined.iter().next().unwrap()?;
/// assert_eq!((pair.left, pair.right, pair.value), (0, 1, 0.6));
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn join(input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<Joined> {
    join_within(input, None, options, run)
}

/// As [`join`], but only pairs whose records have the same class, if there are classes: one for every record, those of
/// the right collection after those of the left.
pub fn join_within(input: Input<'_>, classes: Option<&[u32]>, options: &JoinOptions, run: &Run) -> Result<Joined> {
    // A one-to-one choice, or one within classes, may need pairs beyond the best.
    let keep = match options.top {
        Some(wanted) if !options.best && classes.is_none() => Keep::Best(wanted),
        _ => Keep::All,
    };
    let join_at = |threshold| {
        let bounds = Bounds::new(options.measure, threshold, input.collections())?;
        let joined = join_exactly(input, &bounds, options, keep, run)?;
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
/// use twinset::{Input, JoinOptions, Run, TokenSets, count};
///
/// let sets = TokenSets::from_ids((0..1000).map(|_| [1, 2, 3]))?;
/// let stats = count(Input::Sets(&sets), &JoinOptions::at("0.9".parse()?), &Run::default())?;
/// assert_eq!(stats.pairs, 499_500);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn count(input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<Stats> {
    let threshold = options.threshold.ok_or(Error::NoThreshold)?;
    let bounds = Bounds::new(options.measure, threshold, input.collections())?;
    run.install(|| Ok(join_exactly(input, &bounds, options, Keep::Count, run)?.stats))?
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
    };
    largest.unwrap_or(0).clamp(2, 500_000_000)
}

/// Token sets of texts, in one call, in the caller's rayon pool. For more texts than fit in memory, see [`Tokenizer`].
///
/// ```
/// use twinset::{Input, JoinOptions, Run, TokenOptions, join, tokenize};
///
/// let texts = ["yes as soon as possible", "as soon as possible please"];
/// let sets = tokenize(texts, &TokenOptions::default())?;
/// let joined = join(Input::Sets(&sets), &JoinOptions::at("2/3".parse()?), &Run::default())?;
/// assert_eq!(joined.len(), 1);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn tokenize<'t>(texts: impl IntoIterator<Item = &'t str>, options: &TokenOptions) -> Result<TokenSets> {
    const RECORDS: usize = 1024;
    let texts: Vec<&str> = texts.into_iter().collect();
    let tokenizer = Tokenizer::new(options);
    let blocks = texts.par_chunks(RECORDS).map(|block| tokenizer.block(block.iter().copied()));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    tokenizer.finish(blocks)
}
