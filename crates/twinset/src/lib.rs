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
#[doc(hidden)]
pub mod support;
pub mod tokenize;

pub use cluster::Link;
pub use join::Method;
pub use model::{Cancel, Error, Explanation, Measure, Progress, Result, Run, Stats, Threshold, TokenSets};
pub use pipeline::Representative;
#[doc(hidden)]
pub use search::Source;
pub use search::{Group, Groups, Keep, Pairs, Records, Search, SimilarPair, Texts, TokenLists};
pub use stream::{Near, Stream};
pub use tokenize::{TokenKind, TokenOptions};

/// The engines behind [`Search`]: joins of token sets, their bounds, and what is made of pairs.
pub mod exact {
    pub use crate::cluster::{Order, Ranking, Step, steps};
    pub use crate::explain::{Detail, NamedRecord, explain};
    pub use crate::join::{Algorithm, Input, JoinOptions, JoinResult, Links, OwnedInput, ValuedPairs};
    pub use crate::model::{Bounds, CandidateCounts, Collections, Pair, Seconds, Side, SpilledSets};
    pub use crate::pipeline::{
        DedupResult, Grouping, RecordContext, count, dedup, dedup_against, dedup_joined, join, join_within, nearest,
        verify,
    };
    pub use crate::search::{Plan, Representation, Values};
}

/// What estimates promise, and what they are made of: MinHash sketches, LSH labels and KMV synopses.
pub mod estimate {
    pub use crate::join::{EstimateOptions, KmvPlan, LshPlan};
    pub use crate::pipeline::count_estimates;
    pub use crate::sketch::{
        Comparison, Condition, Interval, Intervals, KmvSettings, Labeler, LshOptions, MinHashSettings, SYNOPSIS_SIZE,
        Synopses, Synopsis, SynopsisBuilder, count_error, error_bound, kmv_size, label_range, lowest_estimate,
        lsh_bits, lsh_recall, lsh_trees, min_agreement, minhash_recall,
    };
}
