//! Which features may be contained in which: a test by synopses that never misses full inclusion, and one for the most part.

pub(crate) mod blanks;
pub(crate) mod check;
pub(crate) mod collector;
pub(crate) mod groups;
pub(crate) mod orphans;

use rayon::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use twinset::support::intersection_len;

use self::groups::Groups;
use crate::features::Feature;

/// With this probability at most, a feature that is contained for the most part is taken for one that is not, by its values.
const RISK: f64 = 1e-4;
/// And by its shape.
const RISK_OF_SHAPE: f64 = 1e-6;

/// How many of some values must be found, so that containment of at least a given share is possible.
pub(crate) struct Shares {
    share: f64,
    /// For each number of values, the fewest that must be found.
    found: Vec<u32>,
    /// And the fewest that must be of a shape that could hold them.
    fitting: Vec<u32>,
}

impl Shares {
    /// For features that have so many values in their synopses at most.
    pub(crate) fn new(share: f64, most: usize) -> Self {
        let least = |values: u64, risk: f64| {
            let Some(found) = Binomial::new(share, values).ok().filter(|_| share < 1.0) else { return values as u32 };
            // The fewest that are not too improbable.
            let (mut low, mut high) = (0, values);
            while low < high {
                let middle = (low + high) / 2;
                if found.cdf(middle) >= risk { high = middle } else { low = middle + 1 }
            }
            low as u32
        };
        let all = |risk: f64| (0..=most as u64).map(|values| least(values, risk)).collect();
        Self { share, found: all(RISK), fitting: all(RISK_OF_SHAPE) }
    }
}

/// All pairs of features of which the first may be contained in the second by at least this share, in their order, as far as they are
/// wanted. Those that are listed for a group of equal features are always among them; of the others with the same first, `cut` says which
/// are kept.
pub(crate) fn candidates(
    features: &[Feature],
    groups: &Groups,
    share: f64,
    is_wanted: impl Fn(usize, usize) -> bool + Sync,
    cut: impl Fn(Vec<(usize, usize)>) -> Vec<(usize, usize)> + Sync,
) -> Vec<(usize, usize)> {
    let most = features.iter().map(|feature| feature.values.len()).max().unwrap_or(0);
    let shares = Shares::new(share, most);
    let firsts: Vec<usize> = groups.firsts().collect();
    let partners = Partners::new(features, &firsts, &shares);
    // Features of the same values pass the same test.
    let is_same = |first: usize| features[first].is_complete;
    let of_left = |left: usize, rights: &[usize]| -> Vec<(usize, usize)> {
        let others = rights.iter().flat_map(|&right| groups.members(right).iter().map(move |&other| (right, other)));
        let wanted = others.filter(|&(_, other)| other != left && is_wanted(left, other));
        let found = wanted.filter(|&(right, other)| {
            is_same(left) && is_same(right) || may_be_within(&features[left], &features[other], &shares)
        });
        let pairs = found.map(|(_, other)| (left, other));
        let (mut within, others): (Vec<_>, Vec<_>) = pairs.partition(|&(left, right)| groups.is_within(left, right));
        within.extend(cut(others));
        within
    };
    let of_group = |&first: &usize| -> Vec<(usize, usize)> {
        let may_hold = |&right: &usize| {
            !(is_same(first) && is_same(right)) || may_be_within(&features[first], &features[right], &shares)
        };
        let rights: Vec<usize> = partners.of(first).into_iter().filter(may_hold).collect();
        groups.members(first).par_iter().flat_map_iter(|&left| of_left(left, &rights)).collect()
    };
    let mut pairs = firsts.par_iter().map(of_group).collect::<Vec<_>>().concat();
    pairs.par_sort_unstable();
    pairs
}

/// Who may contain whom: who has a value of it, or is so much larger that it need not show one. All others are not looked at.
struct Partners<'a> {
    features: &'a [Feature],
    /// All values with the features that have them, in order.
    values: Vec<(u64, u32)>,
    /// Features that are not complete, by the largest values of their synopses.
    limits: Vec<(u64, u32)>,
    /// Of so many values none need be found.
    silent: usize,
}

impl<'a> Partners<'a> {
    /// Of some features.
    fn new(features: &'a [Feature], chosen: &[usize], shares: &Shares) -> Self {
        let each = |&at: &usize| features[at].values.iter().map(move |&value| (value, at as u32));
        let mut values: Vec<(u64, u32)> = chosen.iter().flat_map(each).collect();
        values.par_sort_unstable();
        let open = chosen.iter().filter(|&&at| !features[at].is_complete);
        let mut limits: Vec<(u64, u32)> =
            open.filter_map(|&at| Some((*features[at].values.last()?, at as u32))).collect();
        limits.sort_unstable();
        let silent = shares.found.iter().take_while(|&&least| least == 0).count() - 1;
        Self { features, values, limits, silent }
    }

    fn of(&self, left: usize) -> Vec<usize> {
        let own = &self.features[left].values;
        let mut partners: Vec<u32> = Vec::new();
        for &value in own {
            let start = self.values.partition_point(|&(other, _)| other < value);
            let sharing = self.values[start..].iter().take_while(|&&(other, _)| other == value);
            partners.extend(sharing.map(|&(_, feature)| feature));
        }
        // Those whose synopses end before enough values of the left have come.
        let silent = match own.get(self.silent) {
            Some(&value) => self.limits.partition_point(|&(limit, _)| limit < value),
            None => self.limits.len(),
        };
        partners.extend(self.limits[..silent].iter().map(|&(_, feature)| feature));
        partners.sort_unstable();
        partners.dedup();
        partners.into_iter().map(|feature| feature as usize).collect()
    }
}

/// Whether a feature may be contained in another by at least this share: how many values were looked for tells, and how many
/// of them were found.
pub(crate) fn within(left: &Feature, right: &Feature, shares: &Shares) -> Option<(u32, u32)> {
    if !may_be_within(left, right, shares) {
        return None;
    }
    let known = looked_for(left, right);
    Some((intersection_len(known, &right.values) as u32, known.len() as u32))
}

/// Values of the left that must be among the right one's smallest, if it has them.
fn looked_for<'a>(left: &'a Feature, right: &Feature) -> &'a [u64] {
    let limit = if right.is_complete { u64::MAX } else { right.values.last().copied().unwrap_or(0) };
    &left.values[..left.values.partition_point(|&value| value <= limit)]
}

/// Which share of the left one's values is in the right one, as far as synopses tell. Where they tell nothing, what was not denied
/// is taken to be contained.
pub(crate) fn estimate(left: &Feature, right: &Feature) -> f64 {
    let known = looked_for(left, right);
    if known.is_empty() { 1.0 } else { intersection_len(known, &right.values) as f64 / known.len() as f64 }
}

/// Whether a feature may be contained in another. It is never denied if it is wholly contained.
fn may_be_within(left: &Feature, right: &Feature, shares: &Shares) -> bool {
    if left.values.is_empty() || right.values.is_empty() || left.is_tokens != right.is_tokens {
        return false;
    }
    // How many values may be missing.
    let missing =
        if left.is_complete { ((1.0 - shares.share) * left.values.len() as f64 + 1e-9).floor() } else { f64::INFINITY };
    let needed = left.values.len() as f64 - if left.is_complete { missing } else { 0.0 };
    if right.is_complete && (right.values.len() as f64) < needed * if left.is_complete { 1.0 } else { shares.share } {
        return false;
    }
    let is_whole = missing < 1.0;
    if is_whole && !left.is_tokens && !left.shape.fits_into(&right.shape) {
        return false;
    }
    let known = looked_for(left, right);
    let below = known.len();
    let is_counted = left.is_complete && below == left.values.len();
    // A few of them tell most pairs apart.
    let first = &known[..known.len().min(QUICK)];
    let lacking = first.iter().filter(|value| right.values.binary_search(value).is_err()).count();
    let is_hopeless = match is_whole || is_counted {
        true => lacking as f64 > missing,
        false => lacking == first.len() && shares.found[first.len()] > 0,
    };
    if is_hopeless {
        return false;
    }
    let found = intersection_len(known, &right.values);
    let is_possible = match (is_whole, is_counted) {
        (true, _) => found == below,
        // All values were looked for.
        (false, true) => (below - found) as f64 <= missing,
        (false, false) => found as u32 >= shares.found[below],
    };
    if !is_possible || is_whole || is_counted || left.is_tokens {
        return is_possible;
    }
    // Where the synopses say little, so do the shapes.
    let fitting = left.sample.iter().filter(|value| right.shape.may_hold(value)).count();
    fitting as u32 >= shares.fitting[left.sample.len()]
}

/// So many values are looked up before all are compared.
const QUICK: usize = 8;
