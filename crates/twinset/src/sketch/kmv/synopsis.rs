//! Synopses: the smallest hash values of a set, and what two of them tell about their sets.

use crate::model::{Error, Measure, Result};

/// The k smallest values of a set under one hash function (KMV). If the set has no more, the synopsis is complete, and what
/// it tells is exact.
///
/// See the example of [`SynopsisBuilder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synopsis<'a> {
    values: &'a [u64],
    size: u32,
    is_complete: bool,
}

/// How KMV synopses are made. Only synopses of the same seed can be compared.
///
/// See the example of [`EstimateOptions`](crate::estimate::EstimateOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KmvSettings {
    /// k: how many values a synopsis has at most.
    pub size: u32,
    /// The seed of the hash values.
    pub seed: u64,
}

/// The k that is used if no other is asked for.
///
/// See the example of [`SynopsisBuilder`].
pub const SYNOPSIS_SIZE: u32 = 128;

/// The smallest and largest k. One value alone says nothing about how many there are.
pub(crate) const SIZES: std::ops::RangeInclusive<u32> = 2..=1_000_000;

impl<'a> Synopsis<'a> {
    /// Refuses a k that makes no sense.
    pub fn check_size(size: u32) -> Result<()> {
        if SIZES.contains(&size) {
            return Ok(());
        }
        Err(Error::BadOption { text: size.to_string(), expected: "a size of synopses: 2 to 1000000" })
    }

    /// From values in ascending order, each once: all that a set has if it is complete, otherwise the `size` smallest. `None`
    /// if they cannot be those of a synopsis.
    pub fn new(values: &'a [u64], size: u32, is_complete: bool) -> Option<Self> {
        let fits = if is_complete { values.len() <= size as usize } else { values.len() == size as usize };
        (fits && values.is_sorted_by(|a, b| a < b)).then_some(Self { values, size, is_complete })
    }

    /// The same, for values that are known to be in order and as many as they must be.
    pub(crate) fn of_sorted(values: &'a [u64], size: u32, is_complete: bool) -> Self {
        Self { values, size, is_complete }
    }

    /// The values, in ascending order.
    pub fn values(&self) -> &'a [u64] {
        self.values
    }

    /// k: how many values it can have.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether it has all values of the set.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The synopsis of the same set with a smaller k. A larger one changes nothing.
    pub fn truncated(self, size: u32) -> Self {
        let size = size.min(self.size);
        let kept = self.values.len().min(size as usize);
        Self { values: &self.values[..kept], size, is_complete: self.is_complete && kept == self.values.len() }
    }

    /// How many values the set has: exact if it is complete, otherwise an estimate without bias.
    pub fn distinct(&self) -> f64 {
        match self.values.last() {
            Some(&last) if !self.is_complete => estimated_count(self.size, last),
            _ => self.values.len() as f64,
        }
    }

    /// Compares two sets by the k smallest values of their union, where k is the smaller of the two.
    pub fn compare(self, other: Synopsis<'_>) -> Comparison {
        let size = self.size.min(other.size);
        let (x, y) = (self.truncated(size), other.truncated(size));
        let is_exact = x.is_complete && y.is_complete;
        let (x, y) = (x.values, y.values);
        let limit = if is_exact { x.len() + y.len() } else { size as usize };
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < x.len() && j < y.len() && i + j - common < limit {
            let (a, b) = (x[i], y[j]);
            common += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        // What is left of one of them, as far as it is among the smallest.
        let room = limit - (i + j - common);
        let (more_x, more_y) = (room.min(x.len() - i), room.min(y.len() - j));
        debug_assert!(more_x == 0 || more_y == 0 || room == 0);
        (i, j) = (i + more_x, j + more_y);
        let last = (!is_exact).then(|| x[..i].last().max(y[..j].last()).copied().unwrap_or(0));
        Comparison { left: i as u32, right: j as u32, common: common as u32, last }
    }
}

/// An estimate of how many values a set has, the k-th smallest of which is this one.
fn estimated_count(k: u32, kth: u64) -> f64 {
    f64::from(k - 1) / share_below(kth)
}

/// Which share of all numbers is not larger than this one.
pub(crate) fn share_below(value: u64) -> f64 {
    (value as f64 + 1.0) / 2f64.powi(64)
}

/// What the smallest values of the union of two sets tell about these.
///
/// The k smallest are a sample of the union, and as such they estimate what share of it is common, or of one side. If both
/// synopses are complete, they are the whole union.
///
/// See the example of [`error_bound`](crate::estimate::error_bound).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// How many of the values are in the left set.
    pub left: u32,
    /// How many are in the right one.
    pub right: u32,
    /// How many are in both.
    pub common: u32,
    /// The largest of the values, if the sets have more than these.
    pub last: Option<u64>,
}

impl Comparison {
    /// Whether both synopses were complete, so that nothing is an estimate.
    pub fn is_exact(&self) -> bool {
        self.last.is_none()
    }

    /// How many values were compared.
    pub fn compared(&self) -> u32 {
        self.left + self.right - self.common
    }

    /// How many values the two sets have together.
    pub fn union(&self) -> f64 {
        match self.last {
            None => f64::from(self.compared()),
            Some(last) => estimated_count(self.compared(), last),
        }
    }

    /// An estimate of the measure, without bias for jaccard, overlap and hamming. Sets of which no common value is known are
    /// taken to have none.
    pub fn value(&self, measure: Measure) -> f64 {
        let counted = |values: u32| match self.last {
            None => f64::from(values),
            Some(_) => self.union() * (f64::from(values) / f64::from(self.compared())),
        };
        match measure {
            Measure::Overlap => counted(self.common),
            Measure::Hamming => counted(self.compared() - self.common),
            _ if self.common == 0 => 0.0,
            _ => measure.value(self.left, self.right, self.common),
        }
    }

    /// The same, with the sides changed.
    pub fn swapped(self) -> Self {
        Self { left: self.right, right: self.left, ..self }
    }
}

/// Makes the synopsis of a set from its values one by one, in memory that does not grow with the set.
///
/// ```
/// # use twinset::estimate::SynopsisBuilder;
/// let mut builder = SynopsisBuilder::new(2)?;
/// [7, 5, 7, 3, 5].into_iter().for_each(|value| builder.insert(value));
/// let synopsis = builder.synopsis();
/// assert_eq!((synopsis.values(), synopsis.is_complete()), (&[3, 5][..], false));
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SynopsisBuilder {
    size: u32,
    /// The smallest values, in ascending order, and then some more.
    values: Vec<u64>,
    /// How many stand at the beginning in order.
    sorted: usize,
    /// Values that are not smaller are not among the smallest.
    limit: Option<u64>,
    is_complete: bool,
}

impl SynopsisBuilder {
    /// For an empty set.
    pub fn new(size: u32) -> Result<Self> {
        Synopsis::check_size(size)?;
        Ok(Self { size, values: Vec::new(), sorted: 0, limit: None, is_complete: true })
    }

    /// Adds a value, whether it is there or not.
    #[inline]
    pub fn insert(&mut self, value: u64) {
        if let Some(limit) = self.limit
            && value >= limit
        {
            self.is_complete &= value == limit;
            return;
        }
        self.values.push(value);
        if self.values.len() >= 2 * self.size as usize + SPARE {
            self.sort();
        }
    }

    /// Adds what is known of another set. The synopsis is that of the union then, with the smaller k of the two.
    pub fn merge(&mut self, other: Synopsis<'_>) {
        self.sort();
        if other.size < self.size {
            let own = Synopsis::of_sorted(&self.values, self.size, self.is_complete).truncated(other.size);
            let (kept, is_complete) = (own.values.len(), own.is_complete);
            self.values.truncate(kept);
            (self.size, self.sorted, self.is_complete) = (other.size, kept, is_complete);
            self.limit = self.values.get(other.size as usize - 1).copied();
        }
        let other = other.truncated(self.size);
        other.values.iter().for_each(|&value| self.insert(value));
        self.sort();
        self.is_complete &= other.is_complete;
    }

    /// The synopsis of all that was added.
    pub fn synopsis(&mut self) -> Synopsis<'_> {
        self.sort();
        Synopsis::of_sorted(&self.values, self.size, self.is_complete)
    }

    /// Forgets everything but its k.
    pub fn clear(&mut self) {
        self.values.clear();
        (self.sorted, self.limit, self.is_complete) = (0, None, true);
    }

    /// Leaves the smallest values, each once, in order, and gives back what it needs no more for now.
    pub fn settle(&mut self) {
        self.sort();
        self.values.shrink_to_fit();
    }

    /// Leaves the smallest values, each once, in order.
    fn sort(&mut self) {
        if self.sorted == self.values.len() {
            return;
        }
        let size = self.size as usize;
        self.values.sort_unstable();
        self.values.dedup();
        self.is_complete &= self.values.len() <= size;
        self.values.truncate(size);
        self.sorted = self.values.len();
        self.limit = self.values.get(size - 1).copied();
    }
}

/// Room for so many values more, so that tiny synopses are not sorted all the time.
const SPARE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn memory_does_not_grow_with_the_set() {
        for size in [2, 128] {
            let mut builder = SynopsisBuilder::new(size).unwrap();
            numbers(5_000_000).for_each(|value| builder.insert(value));
            assert!(builder.values.capacity() <= 4 * (2 * size as usize + SPARE), "{}", builder.values.capacity());
            let mut all: Vec<u64> = numbers(5_000_000).collect();
            all.sort_unstable();
            assert_eq!(builder.synopsis().values(), &all[..size as usize]);
            assert!(!builder.synopsis().is_complete());
        }
    }

    #[test]
    fn completeness_is_told_to_the_value() {
        for (values, is_complete) in [(0, true), (1, true), (99, true), (100, true), (101, false), (1000, false)] {
            let mut builder = SynopsisBuilder::new(100).unwrap();
            for _ in 0..3 {
                numbers(values).for_each(|value| builder.insert(value));
            }
            assert_eq!(builder.synopsis().is_complete(), is_complete, "{values}");
            assert_eq!(builder.synopsis().truncated(99).is_complete(), values <= 99);
        }
    }

    #[test]
    fn a_merged_synopsis_is_that_of_the_union() {
        let of = |from: u64, to: u64, size| {
            let mut builder = SynopsisBuilder::new(size).unwrap();
            numbers(to).skip(from as usize).for_each(|value| builder.insert(value));
            builder
        };
        for (a, b) in
            [((0, 30), (20, 60)), ((0, 500), (0, 3)), ((0, 3), (0, 500)), ((0, 0), (5, 900)), ((0, 50), (50, 101))]
        {
            for (size, size_other) in [(50, 50), (101, 101), (50, 20), (20, 50)] {
                let mut merged = of(a.0, a.1, size);
                merged.merge(of(b.0, b.1, size_other).synopsis());
                let mut all = of(a.0, a.1, size.min(size_other));
                numbers(b.1).skip(b.0 as usize).for_each(|value| all.insert(value));
                assert_eq!(merged.synopsis(), all.synopsis(), "{a:?} {b:?} {size}");
                assert_eq!(of(a.0, a.1, 200).synopsis().truncated(50), of(a.0, a.1, 50).synopsis());
            }
        }
    }

    #[test]
    fn what_is_complete_is_exact() {
        let (x, y) = ([1, 5, 9, u64::MAX], [5, 9, 10]);
        let compared = Synopsis::new(&x, 4, true).unwrap().compare(Synopsis::new(&y, 4, true).unwrap());
        assert_eq!(compared, Comparison { left: 4, right: 3, common: 2, last: None });
        assert_eq!((compared.union(), compared.value(Measure::Hamming)), (5.0, 3.0));
        assert_eq!(compared.value(Measure::Jaccard), 0.4);
        // With k = 3 the smallest of the union are 1, 5, 9.
        let compared = Synopsis::new(&x, 4, true).unwrap().truncated(3).compare(Synopsis::new(&y, 4, true).unwrap());
        assert_eq!(compared, Comparison { left: 3, right: 2, common: 2, last: Some(9) });
    }
}
