//! Chooses among pairs: the most similar ones, or a one-to-one assignment.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::model::{Measure, Pair, Result};

/// Orders pairs from the most similar to the least, ties in input order.
fn by_likeness(measure: Measure, a: &Pair, b: &Pair) -> Ordering {
    let values = if measure.is_distance() { a.value.total_cmp(&b.value) } else { b.value.total_cmp(&a.value) };
    values.then((a.left, a.right).cmp(&(b.left, b.right)))
}

/// The `k` most similar of the pairs, most similar first.
pub(crate) fn top(pairs: impl Iterator<Item = Result<Pair>>, k: usize, measure: Measure) -> Result<Vec<Pair>> {
    // The least similar of the pairs kept is on top of the heap, ready to be replaced.
    struct Kept(Pair, Measure);
    impl Ord for Kept {
        fn cmp(&self, other: &Self) -> Ordering {
            by_likeness(self.1, &self.0, &other.0)
        }
    }
    impl PartialOrd for Kept {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl PartialEq for Kept {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }
    impl Eq for Kept {}

    let mut heap: BinaryHeap<Kept> = BinaryHeap::new();
    for pair in pairs {
        let pair = pair?;
        if heap.len() < k {
            heap.push(Kept(pair, measure));
        } else if let Some(mut worst) = heap.peek_mut()
            && by_likeness(measure, &pair, &worst.0).is_lt()
        {
            worst.0 = pair;
        }
    }
    Ok(heap.into_sorted_vec().into_iter().map(|kept| kept.0).collect())
}

/// Takes pairs from the most similar down, each record at most once. Right records are numbered from `offset`.
pub(crate) fn best(mut pairs: Vec<Pair>, measure: Measure, offset: usize, records: usize) -> Vec<Pair> {
    pairs.sort_unstable_by(|a, b| by_likeness(measure, a, b));
    let mut taken = vec![false; records];
    pairs.retain(|pair| {
        let (left, right) = (pair.left as usize, pair.right as usize + offset);
        let free = !taken[left] && !taken[right];
        if free {
            (taken[left], taken[right]) = (true, true);
        }
        free
    });
    pairs
}
