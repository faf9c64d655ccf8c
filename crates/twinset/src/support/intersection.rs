//! How many elements two sorted sets share.

/// Returns the number of elements that two sorted sets, each without repeats, have in common.
///
/// ```
/// # use twinset::support::intersection_len;
/// assert_eq!(intersection_len(&[1, 3, 4, 9], &[3, 9, 10]), 2);
/// ```
#[inline]
pub fn intersection_len<T: Ord + Copy>(x: &[T], y: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(&a), Some(&b)) = (x.get(i), y.get(j)) {
        // Which comes first cannot be predicted, so there is no branch on it.
        common += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    common
}
