//! The nouns that every other layer speaks: token sets, measures, thresholds, pairs, statistics, explanations.

mod error;
mod explanation;
mod measure;
mod pair;
mod run;
mod spilled_sets;
mod stats;
mod threshold;
mod token_block;
mod token_sets;

pub use error::{Error, Result};
pub use explanation::Explanation;
pub use measure::Measure;
pub use pair::Pair;
pub use run::{Cancel, Progress, Run};
pub(crate) use spilled_sets::Part;
pub use spilled_sets::SpilledSets;
pub use stats::{CandidateCounts, Seconds, Stats};
pub use threshold::{Bounds, Collections, Side, Threshold};
pub(crate) use token_block::SINGLE;
pub use token_block::TokenBlock;
pub use token_sets::TokenSets;
