//! What forms a group of near duplicates.

use serde::{Deserialize, Serialize};

use crate::model::Error;

/// What forms a group.
///
/// See the example of [`Search::dedup`](crate::Search::dedup).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Link {
    /// All that pairs connect.
    #[default]
    Any,
    /// A record and those that joined it, each within the threshold of it.
    Representative,
}
