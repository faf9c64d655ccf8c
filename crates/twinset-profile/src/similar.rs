//! Features that have much the same values.

use std::collections::{BTreeSet, HashMap};

use twinset::estimate::{Intervals, Synopses};
use twinset::exact::{Input, JoinOptions};
use twinset::{Measure, Run};

use crate::features::Feature;
use crate::inclusion::check::Question;
use crate::inclusion::collector::Key;
use crate::inclusion::groups::Groups;
use crate::relation::{Relation, RelationKind};
use crate::sources::Counts;
use crate::{ProfileOptions, Result};

/// For each feature the most similar others, by their synopses; exact where the second pass has counted both.
pub(crate) fn similar(
    features: &[Feature],
    groups: &Groups,
    answers: &[(Question, Counts)],
    declared: &BTreeSet<(Key, Key)>,
    options: &ProfileOptions,
    run: &Run,
) -> Result<Vec<Relation>> {
    let counted: HashMap<(usize, usize), &Counts> = answers
        .iter()
        .filter(|(question, counts)| question.left.len() == 1 && !counts.right_is_estimate)
        .map(|(question, counts)| ((question.left[0], question.right[0]), counts))
        .collect();
    let mut intervals = Intervals::new(Measure::Jaccard);
    let mut relations = Vec::new();
    for (left, right) in most_similar(features, groups, options, run)? {
        let (own, other) = (&features[left], &features[right]);
        let comparison = own.synopsis().compare(other.synopsis());
        let interval = intervals.of(&comparison);
        let mut relation = Relation {
            kind: RelationKind::Similar,
            left: vec![left],
            right: vec![right],
            score: interval.similarity,
            similarity: interval.similarity,
            low: interval.low,
            high: interval.high,
            containment: comparison.value(Measure::Containment),
            coverage: comparison.swapped().value(Measure::Containment),
            checked: comparison.is_exact(),
            declared: declared.contains(&(vec![left], vec![right])),
            orphans: Vec::new(),
            orphan_values: 0,
            orphan_rows: 0,
            evidence: Vec::new(),
        };
        let known = [(left, right), (right, left)].iter().find_map(|pair| counted.get(pair));
        if let Some(counts) =
            known.filter(|_| !relation.checked && own.distinct.is_exact() && other.distinct.is_exact())
        {
            relation.take_exact(counts.common as f64, own.distinct.count, other.distinct.count);
        }
        if relation.similarity >= options.threshold.as_f64() {
            relations.push(relation);
        }
    }
    Ok(relations)
}

/// Of each group the first with each other; and pairs of the first of groups, at or above the threshold, that are among the best of one of
/// the two.
fn most_similar(
    features: &[Feature],
    groups: &Groups,
    options: &ProfileOptions,
    run: &Run,
) -> Result<Vec<(usize, usize)>> {
    let mut pairs: Vec<(f64, u32, u32)> = Vec::new();
    for is_tokens in [false, true] {
        let members: Vec<u32> =
            groups.firsts().filter(|&at| features[at].is_tokens == is_tokens).map(|at| at as u32).collect();
        let mut synopses = Synopses::new(options.size)?;
        members.iter().for_each(|&feature| synopses.push(features[feature as usize].synopsis()));
        let joined = twinset::exact::join(Input::Synopses(&synopses), &JoinOptions::at(options.threshold), run)?;
        for pair in joined.iter() {
            let pair = pair?;
            pairs.push((pair.value, members[pair.left as usize], members[pair.right as usize]));
        }
    }
    pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut listed = vec![0_usize; features.len()];
    pairs.retain(|&(_, left, right)| {
        let sides = [left, right].map(|side| {
            listed[side as usize] += 1;
            listed[side as usize] <= options.top
        });
        sides[0] || sides[1]
    });
    let between = pairs.into_iter().map(|(_, left, right)| (left as usize, right as usize));
    let others = |first: usize| groups.members(first)[1..].iter().map(move |&other| (first, other));
    Ok(between.chain(groups.firsts().flat_map(others)).collect())
}
