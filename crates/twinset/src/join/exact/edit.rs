//! Edit distance: candidates by q-grams, then the distance itself.
//!
//! One edit changes at most q of a text's q-grams, so texts within δ edits share all but q·δ of them. The q-grams,
//! padded at both ends and numbered, form sets that the other algorithms join; what they let through is checked by a
//! bit-parallel Levenshtein distance with cut-off. Texts too short for the bound to say anything are compared as well.

use rapidfuzz::distance::levenshtein;
use rayon::prelude::*;

use crate::join::results::{GroupPairs, Values};
use crate::join::task::{Groups, Match, OrderedSets, Refine, Task};
use crate::join::{JoinOptions, JoinResult, Output, find_and_keep};
use crate::model::{Bounds, Measure, Result, Run, TokenSets};
use crate::support::Strings;
use crate::tokenize::Tokenizer;

pub(crate) fn join(
    texts: &Strings,
    left: Option<usize>,
    bounds: &Bounds,
    options: &JoinOptions,
    wanted: Output,
    run: &Run,
) -> Result<JoinResult> {
    let length = gram_length(texts, bounds.count());
    let bounds = bounds.with_gram_length(length);
    let grams = grams(texts, left, length)?;
    let groups = Groups::of_texts(texts, &grams, options.empty);
    let ordered = OrderedSets::new(&grams, &groups);
    let text = |rank: u32| texts.get(groups.members(rank)[0] as usize);
    let limit = bounds.count() as usize;
    let keep_near = |matches: &mut Vec<Match>| {
        let args = levenshtein::Args::default().score_cutoff(limit);
        let mut near = Vec::new();
        // The matches of one set stand together, and its text is prepared once.
        for of_one in matches.chunk_by(|a, b| a.x == b.x) {
            let comparator = levenshtein::BatchComparator::new(text(of_one[0].x).chars());
            near.extend(of_one.iter().filter_map(|&found| {
                let distance = comparator.distance_with_args(text(found.y).chars(), &args)?;
                Some(Match { overlap: distance as u32, ..found })
            }));
        }
        *matches = near;
    };
    let refine = Some(&keep_near as &Refine<'_>);
    let task = Task { refine, ..Task::new(&ordered, &bounds, options.max_depth, run) };
    let (matches, kept) = find_and_keep(options, &task, &groups, wanted)?;
    let sizes = ordered.into_sizes();
    let values = Values::Overlaps { sizes, bounds };
    Ok(JoinResult::new(Measure::Edit, GroupPairs::new(Measure::Edit, groups, matches, values), kept))
}

/// The edit distance of two texts, however large.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    levenshtein::distance(left.chars(), right.chars())
}

/// Longer grams are rarer, but an edit spoils more of them: the bound must leave some to share.
fn gram_length(texts: &Strings, distance: u32) -> u32 {
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    let average = characters / texts.len().max(1);
    (2..=4).rev().find(|&length| average > 3 * length * distance as usize).unwrap_or(2) as u32
}

/// The padded, numbered q-grams of the texts.
fn grams(texts: &Strings, left: Option<usize>, length: u32) -> Result<TokenSets> {
    const RECORDS: usize = 4096;
    let tokenizer = Tokenizer::padded_grams(length);
    let blocks: Vec<_> = (0..texts.len().div_ceil(RECORDS))
        .into_par_iter()
        .map(|block| {
            let records = block * RECORDS..texts.len().min((block + 1) * RECORDS);
            tokenizer.block(records.map(|record| texts.get(record)))
        })
        .collect::<Result<_>>()?;
    let sets = tokenizer.finish(blocks)?;
    Ok(match left {
        Some(left) => sets.split_at(left as u32),
        None => sets,
    })
}
