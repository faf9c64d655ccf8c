#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod cluster;
mod explain;
mod join;
mod model;
mod pipeline;
mod search;
pub mod shuffle;
mod sketch;
mod stream;
pub mod tokenize;

pub use cluster::Link;
pub use model::{Cancel, Error, Explanation, Measure, Progress, Result, Run, Stats, Threshold, TokenSets};
pub use pipeline::Representative;
pub use search::{Group, Groups, Keep, Pairs, Records, Search, SimilarPair, Texts, TokenLists};
pub use sketch::Method;
pub use stream::{Near, Stream};
pub use tokenize::{TokenKind, TokenOptions};

/// The engines behind [`Search`]: joins of token sets, their bounds, and what is made of pairs.
pub mod exact {
    pub use crate::cluster::{DedupOptions, KeepRule, Order, Step, by_field, by_length, steps};
    pub use crate::explain::{Explained, explain};
    pub use crate::join::{Algorithm, Input, JoinOptions, Joined, Links, Prepared, ValuedPairs};
    pub use crate::model::{Bounds, Collections, Pair, Side};
    pub use crate::pipeline::{
        Deduped, DedupedAgainst, Grouping, RecordContext, count, dedup, dedup_against, dedup_joined, join, join_within,
        nearest, verify,
    };
    pub use crate::search::{Plan, Representation, Values};
}

/// What estimates promise, and what they are made of: MinHash sketches, LSH labels and KMV synopses.
pub mod estimate {
    pub use crate::join::{Estimating, Labelling};
    pub use crate::model::{Comparison, Condition, SYNOPSIS_SIZE, Synopses, Synopsis, SynopsisBuilder};
    pub use crate::pipeline::count_estimates;
    pub use crate::sketch::{
        EstimateOptions, Interval, Intervals, LabelOptions, Labeler, agreement, count_error, error_bound,
        found_by_agreement, found_by_labels, label_length, lowest_estimate, same_beginning, synopsis_size, trees_for,
    };
}

/// What the other crates of Twinset share.
#[doc(hidden)]
pub mod support {
    #[cfg(feature = "clap")]
    pub use crate::model::name_parser;
    pub use crate::model::{
        CandidateCounts, Seconds, SpilledSets, Strings, TokenBlock, salt, salted, salted_hash, unknown_name,
    };
    pub use crate::search::Source;
}
