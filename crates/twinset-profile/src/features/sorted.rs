//! The different values of a long stream, in order: sorting a little at a time is faster than looking each up in a large table.

/// Values of which each is kept once.
#[derive(Debug, Clone, Default)]
pub(crate) struct SortedValues {
    sorted: Vec<u64>,
    /// What came since.
    recent: Vec<u64>,
}

/// So many new values are sorted at a time at least, and at most.
const FEW: usize = 1 << 10;
const MANY: usize = 1 << 18;

impl SortedValues {
    #[inline]
    pub(crate) fn push(&mut self, value: u64) {
        self.recent.push(value);
        if self.recent.len() >= self.sorted.len().clamp(FEW, MANY) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.recent.sort_unstable();
        self.recent.dedup();
        if self.sorted.is_empty() {
            std::mem::swap(&mut self.sorted, &mut self.recent);
            return;
        }
        // New values are moved to the end, and from there all are merged backwards, so that no second copy is needed.
        let mut at = 0;
        self.recent.retain(|&value| {
            while self.sorted.get(at).is_some_and(|&own| own < value) {
                at += 1;
            }
            self.sorted.get(at) != Some(&value)
        });
        let (mut i, mut j) = (self.sorted.len(), self.recent.len());
        // No more than is needed: there are many of these.
        self.sorted.reserve_exact(j);
        self.sorted.resize(i + j, 0);
        for place in (0..i + j).rev() {
            if j == 0 {
                break;
            }
            if i > 0 && self.sorted[i - 1] > self.recent[j - 1] {
                self.sorted[place] = self.sorted[i - 1];
                i -= 1;
            } else {
                self.sorted[place] = self.recent[j - 1];
                j -= 1;
            }
        }
        self.recent.clear();
    }

    /// All of them, in order.
    pub(crate) fn finish(mut self) -> Vec<u64> {
        self.merge();
        self.sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_kept_once_in_order() {
        for (count, distinct) in [(0, 1), (1, 1), (5000, 7), (100_000, 90_000), (600_000, 300_000)] {
            let value = |number: u64| (number % distinct).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut values = SortedValues::default();
            (0..count).for_each(|number| values.push(value(number)));
            let mut expected: Vec<u64> = (0..count).map(value).collect();
            expected.sort_unstable();
            expected.dedup();
            assert!(values.finish() == expected, "{count} {distinct}");
        }
    }
}
