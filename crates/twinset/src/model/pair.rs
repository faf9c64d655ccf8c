//! What a join returns.

use serde::Serialize;

/// Two records that are near duplicates, by their ordinals.
///
/// See the example of [`join`](crate::exact::join).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The left record's position in its collection, from 0. In a self-join by a symmetric measure, the earlier one.
    pub left: u32,
    /// The right record's position in its collection, from 0.
    pub right: u32,
    /// The value of the measure: a similarity, or a distance.
    pub value: f64,
}
