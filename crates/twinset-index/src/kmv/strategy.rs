//! Strategies that find the records that share enough values with a query.

use serde::{Deserialize, Serialize};
use strum::VariantArray;
use tantivy::DocId;
use twinset::estimate::Condition;

use super::segment::Segment;
use super::{frontier, optimistic, or, pivot};
use crate::Result;

/// How candidates are found.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
#[serde(rename_all = "lowercase")]
pub enum CandidateStrategy {
    /// All records that share any value.
    Or,
    /// Walks all lists together, and counts the values that each record shares.
    Frontier,
    /// Skips records that cannot share enough.
    #[default]
    Pivot,
    /// Looks for records that share some of the first few values, and may miss others.
    Optimistic,
}

/// So many lists are walked together; each takes about a kilobyte.
const MOST_LISTS: usize = 10_000;

impl CandidateStrategy {
    /// All strategies.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Calls `visit` for the records of a segment that may be wanted, each once: at least for those that share as many of the
    /// values as the condition asks.
    pub(super) fn candidates(
        self,
        segment: &Segment,
        values: &[u64],
        k: u32,
        condition: &Condition,
        visit: &mut dyn FnMut(DocId) -> Result<()>,
    ) -> Result<()> {
        let least = condition.least_common(values.len() as u32, k) as usize;
        match self {
            // A record may be wanted that shares no value, and no list leads to it.
            _ if least == 0 => segment.documents().try_for_each(visit),
            Self::Or => or::candidates(segment, values, 1, visit),
            Self::Frontier | Self::Pivot if values.len() > MOST_LISTS => or::candidates(segment, values, least, visit),
            Self::Frontier => frontier::candidates(segment, values, least, visit),
            Self::Pivot => pivot::candidates(segment, values, least, visit),
            Self::Optimistic => optimistic::candidates(segment, values, condition, visit),
        }
    }
}
