//! What a join returns: all pairs, the most similar ones, their number, or a graph.

mod group_pairs;
mod join_result;
mod links;
mod pair_count;
mod pair_list;
mod selection;
mod top_k;

pub(crate) use group_pairs::{GroupPairs, Values};
pub use join_result::JoinResult;
pub(crate) use links::Link;
pub use links::{Links, ValuedPairs};
pub(crate) use pair_count::PairCount;
pub(crate) use pair_list::{PairCollector, PairList};
pub(crate) use top_k::TopK;
