//! MinHash sketches, LSH labels and KMV synopses: small stand-ins for sets, and how sure what they tell is.

mod intervals;
mod kmv;
mod lsh;
mod minhash;

pub use intervals::{Interval, Intervals};
pub(crate) use kmv::words_of;
pub use kmv::{
    Comparison, Condition, KmvSettings, SYNOPSIS_SIZE, Synopses, Synopsis, SynopsisBuilder, count_error, error_bound,
    kmv_size, lowest_estimate,
};
pub use lsh::{Labeler, LshOptions, label_range, lsh_bits, lsh_recall, lsh_trees};
pub use minhash::{MinHashSettings, min_agreement, minhash_recall};
pub(crate) use minhash::{MinHasher, low_bit};
