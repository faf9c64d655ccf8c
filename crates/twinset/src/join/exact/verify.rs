//! Counts the common tokens of two sets.

use crate::support::intersection_len;

/// The number of common tokens.
pub(crate) fn overlap(x: &[u32], y: &[u32]) -> u32 {
    intersection_len(x, y) as u32
}

/// The number of common tokens, if that is at least `needed`.
pub(crate) fn overlap_at_least(x: &[u32], y: &[u32], needed: u32) -> Option<u32> {
    overlap_from(x, y, 0, needed)
}

/// `found` plus the number of common tokens, if that is at least `needed`; stops as soon as it cannot be.
pub(crate) fn overlap_from(x: &[u32], y: &[u32], found: u32, needed: u32) -> Option<u32> {
    let (mut i, mut j, mut count) = (0, 0, found);
    // How many tokens of each may still go unmatched.
    let reach = |length: usize| i64::from(found) + length as i64 - i64::from(needed);
    let (mut spare_x, mut spare_y) = (reach(x.len()), reach(y.len()));
    if spare_x < 0 || spare_y < 0 {
        return None;
    }
    while i < x.len() && j < y.len() {
        match x[i].cmp(&y[j]) {
            std::cmp::Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
            std::cmp::Ordering::Less => {
                i += 1;
                spare_x -= 1;
                if spare_x < 0 {
                    return None;
                }
            }
            std::cmp::Ordering::Greater => {
                j += 1;
                spare_y -= 1;
                if spare_y < 0 {
                    return None;
                }
            }
        }
    }
    (count >= needed).then_some(count)
}

/// A set, and how long its prefix is.
#[derive(Clone, Copy)]
pub(crate) struct Prefixed<'a> {
    pub(crate) set: &'a [u32],
    pub(crate) prefix: u32,
}

/// The paper's Algorithm 2: the overlap of `x` and `y`, if it is at least `needed`, given that `found` common tokens
/// were counted in their prefixes of these lengths (for `y`, the indexed prefix).
///
/// Only the suffix of the set whose prefix ends earlier can still meet the other set, and there the first `found`
/// tokens have been met already.
pub(crate) fn verify(x: Prefixed<'_>, y: Prefixed<'_>, found: u32, needed: u32) -> Option<u32> {
    let (prefix_x, prefix_y) = (x.prefix as usize, y.prefix as usize);
    let (x, y) = (x.set, y.set);
    if x[prefix_x - 1] < y[prefix_y - 1] {
        overlap_from(&x[prefix_x..], &y[found as usize..], found, needed)
    } else {
        overlap_from(&x[found as usize..], &y[prefix_y..], found, needed)
    }
}
