//! What every stricter threshold would give, from the pairs of one run.

use super::root;
use crate::join::Links;

/// What a threshold gives.
///
/// See the example of [`steps`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The threshold.
    pub threshold: f64,
    /// How many pairs reach it.
    pub pairs: u64,
    /// How many groups of at least two records they connect.
    pub groups: u64,
    /// How many records are removed if one of each group is kept.
    pub removed: u64,
}

/// What each threshold gives. They go from strict to lax, and none is laxer than that of the run.
///
/// ```
/// use twinset::exact::{Grouping, Input, JoinOptions, RecordContext, dedup, steps};
/// use twinset::tokenize::tokenize;
/// use twinset::{Run, TokenOptions};
///
/// let sets = tokenize(["a b c", "a b c", "a b c d"], &TokenOptions::default())?;
/// let join = JoinOptions::at("0.7".parse()?);
/// let result = dedup(Input::Sets(&sets), RecordContext::default(), &join, Grouping::default(), &Run::default())?;
/// let pairs: Vec<u64> = steps(&result.links, &[1.0, 0.7]).iter().map(|step| step.pairs).collect();
/// assert_eq!(pairs, [1, 3]);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn steps(links: &Links, thresholds: &[f64]) -> Vec<Step> {
    let is_distance = links.measure().is_distance();
    let mut pairs = links.valued_pairs();
    pairs.sort_by(|a, b| if is_distance { a.value.total_cmp(&b.value) } else { b.value.total_cmp(&a.value) });
    let mut parents: Vec<u32> = (0..links.len() as u32).collect();
    // Records of nodes whose members are linked, for each root.
    let mut sizes: Vec<u64> = (0..links.len() as u32).map(|node| u64::from(links.weight(node)).min(1)).collect();
    let (mut found, mut groups, mut removed, mut next) = (0, 0u64, 0u64, 0);
    let mut result = Vec::with_capacity(thresholds.len());
    for &threshold in thresholds {
        while next < pairs.len() && links.measure().reaches(pairs[next].value, threshold) {
            let pair = pairs[next];
            next += 1;
            found += pair.pairs;
            let (a, b) = (root(&mut parents, pair.nodes.0), root(&mut parents, pair.nodes.1));
            let before = [sizes[a as usize], if a == b { 0 } else { sizes[b as usize] }];
            let after = match a == b {
                // All records of the node are linked to each other.
                true => before[0] + u64::from(links.weight(pair.nodes.0)) - 1,
                false => before[0] + before[1],
            };
            if a == b && pair.nodes.0 != pair.nodes.1 {
                continue;
            }
            let counted = |size: u64| (u64::from(size > 1), size.saturating_sub(1));
            for size in before {
                groups -= counted(size).0;
                removed -= counted(size).1;
            }
            groups += counted(after).0;
            removed += counted(after).1;
            let (root, other) = (a.min(b), a.max(b));
            parents[other as usize] = root;
            sizes[root as usize] = after;
        }
        result.push(Step { threshold, pairs: found, groups, removed });
    }
    result
}
