#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod cluster;
mod explain;
mod join;
pub mod model;
mod pipeline;
mod search;
mod shuffle;
mod sketch;
mod stream;
mod tokenize;

pub use cluster::{DedupOptions, KeepRule, Link, Order, Step, by_field, by_length, steps};
pub use explain::{Explained, explain};
pub use join::{Algorithm, Estimating, Input, JoinOptions, Joined, Labelling, Links, Prepared, ValuedPairs};
pub use model::*;
pub use pipeline::{
    Deduped, DedupedAgainst, Grouping, RecordContext, Representative, count, count_estimates, dedup, dedup_against,
    dedup_joined, join, join_within, nearest, tokenize, verify,
};
pub use search::{
    Group, Groups, Keep, Pairs, Plan, Records, Representation, Search, SimilarPair, Source, Texts, TokenLists, Values,
};
pub use shuffle::{Candidates, Card, Meeting, SetName, Shuffle, Tally, TokenOrder};
pub use sketch::{
    EstimateOptions, Interval, Intervals, LabelOptions, Labeler, Method, agreement, count_error, error_bound,
    found_by_agreement, found_by_labels, label_length, lowest_estimate, same_beginning, synopsis_size, trees_for,
};
pub use stream::{Near, Stream};
pub use tokenize::{
    BlockTokenizer, Language, Reduce, Repeats, Sets, StopWords, TokenHasher, TokenKind, TokenNames, TokenOptions,
    Tokenizer, cut, seeded_hash, synopsis_value, token_hash,
};
