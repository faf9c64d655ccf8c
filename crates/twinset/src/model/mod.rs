//! The nouns that every other layer speaks: token sets, measures, thresholds, pairs, statistics, explanations.
//!
//! Nothing here depends on another layer of the crate.

mod condition;
mod error;
mod explanation;
mod fetch;
mod measure;
mod names;
mod pair;
mod run;
mod salt;
mod spill;
mod spilled_sets;
mod stats;
mod strings;
mod synopses;
mod synopsis;
mod threshold;
mod token_block;
mod token_sets;

pub use condition::Condition;
pub use error::{Error, Result};
pub use explanation::Explanation;
pub(crate) use fetch::fetch;
pub use measure::Measure;
#[cfg(feature = "clap")]
pub use names::name_parser;
pub use names::unknown_name;
pub use pair::Pair;
pub use run::{Cancel, Progress, Run};
pub(crate) use salt::fold;
pub use salt::{salt, salted, salted_hash};
pub(crate) use spill::Spill;
pub(crate) use spilled_sets::Part;
pub use spilled_sets::SpilledSets;
pub use stats::{CandidateCounts, Seconds, Stats};
pub use strings::Strings;
pub use synopses::Synopses;
pub(crate) use synopses::words_of;
pub(crate) use synopsis::share_below;
pub use synopsis::{Comparison, SYNOPSIS_SIZE, Synopsis, SynopsisBuilder};
pub use threshold::{Bounds, Collections, Side, Threshold};
pub(crate) use token_block::SINGLE;
pub use token_block::TokenBlock;
pub use token_sets::TokenSets;
