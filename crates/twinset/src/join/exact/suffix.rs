//! The suffix filter (Algorithms 3 and 4): a lower bound of the Hamming distance of two sorted sets, by divide and
//! conquer.

/// A lower bound of the Hamming distance of `x` and `y`, or at least something above `limit` if it exceeds that.
///
/// Both are split at the middle token of `y`; what differs in the lengths of the halves must differ in their tokens.
/// The halves are split again, `max_depth` times in all.
pub(crate) fn suffix_filter(x: &[u32], y: &[u32], limit: i64, max_depth: u32) -> i64 {
    lower_bound(x, y, limit, 1, max_depth)
}

fn lower_bound(x: &[u32], y: &[u32], limit: i64, depth: u32, max_depth: u32) -> i64 {
    let (length_x, length_y) = (x.len() as i64, y.len() as i64);
    let difference = (length_x - length_y).abs();
    if depth > max_depth || y.is_empty() || x.is_empty() || difference > limit {
        return difference;
    }
    let middle = (y.len() - 1) / 2;
    let token = y[middle];
    // If the token's place in x lies further off than this, the halves alone differ by more than the limit.
    let spare = (limit - difference) / 2;
    let (before, after) = if length_x < length_y { (difference, 0) } else { (0, difference) };
    let (low, high) = (middle as i64 - spare - before, middle as i64 + spare + after);
    let Some((place, is_common)) = partition(x, token, low, high) else { return limit + 1 };
    let (left_y, right_y) = (&y[..middle], &y[middle + 1..]);
    let (left_x, right_x) = (&x[..place], &x[place + usize::from(is_common)..]);
    let missing = i64::from(!is_common);
    let left_difference = (left_x.len() as i64 - left_y.len() as i64).abs();
    let right_difference = (right_x.len() as i64 - right_y.len() as i64).abs();
    let distance = left_difference + right_difference + missing;
    if distance > limit {
        return distance;
    }
    let left = lower_bound(left_x, left_y, limit - right_difference - missing, depth + 1, max_depth);
    let distance = left + right_difference + missing;
    if distance > limit {
        return distance;
    }
    let right = lower_bound(right_x, right_y, limit - left - missing, depth + 1, max_depth);
    left + right + missing
}

/// The place of the first token of `set` that is not smaller than `token`, if it lies in `low..=high`, and whether it
/// is that token. Positions before the set count as −∞, those after it as +∞.
fn partition(set: &[u32], token: u32, low: i64, high: i64) -> Option<(usize, bool)> {
    let length = set.len() as i64;
    let starts_above = low >= length || (low >= 0 && set[low as usize] > token);
    let ends_below = high < 0 || (high < length && set[high as usize] < token);
    if starts_above || ends_below {
        return None;
    }
    let (from, to) = (low.max(0) as usize, (high + 1).min(length) as usize);
    let place = from + set[from..to].partition_point(|&own| own < token);
    Some((place, set.get(place) == Some(&token)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Example 4: D and F stand at places 2 and 5 of one suffix, 3 and 4 of the other. A single probe bounds the
    /// distance by 2, which is allowed; probes that build on each other show that it is more.
    #[test]
    fn example_4_coordinated_probes() {
        let x = [10, 40, 50, 55, 60, 70];
        let y = [20, 30, 40, 60, 80, 90];
        assert_eq!(suffix_filter(&x, &y, 2, 1), 2);
        assert!(suffix_filter(&x, &y, 2, 2) > 2);
    }

    /// Example 5: with a distance of 2 allowed, F, at place 4 of y, is looked for at places 3 to 5 of x only.
    #[test]
    fn example_5_narrow_search() {
        let token = 60;
        let (low, high) = (4 - 1 - 1, 4 - 1 + 1);
        assert_eq!(partition(&[10, 40, 50, 55, 60, 70], token, low, high), Some((4, true)));
        assert_eq!(partition(&[10, 40, 50, 55, 58, 60], token, low, high), None);
        assert_eq!(partition(&[10, 60, 70, 80, 90, 95], token, low, high), None);
        // Places outside the set count as −∞ and +∞.
        assert_eq!(partition(&[70], token, -2, 1), Some((0, false)));
        assert_eq!(partition(&[10], token, -2, 1), Some((1, false)));
    }

    proptest! {
        #[test]
        fn no_pair_within_the_limit_is_dropped(
            x in prop::collection::btree_set(0..40u32, 0..25),
            y in prop::collection::btree_set(0..40u32, 0..25),
            limit in 0..30i64,
            max_depth in 0..6u32,
        ) {
            let distance = x.symmetric_difference(&y).count() as i64;
            let (x, y): (Vec<u32>, Vec<u32>) = (x.into_iter().collect(), y.into_iter().collect());
            let bound = suffix_filter(&x, &y, limit, max_depth);
            prop_assert!(bound <= distance || distance > limit, "{bound} of {distance}, limit {limit}");
        }
    }
}
