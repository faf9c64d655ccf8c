//! Joins that may miss pairs or estimate their values, with a known probability.

pub(crate) mod kmv;
pub(crate) mod lsh;
mod options;

pub use kmv::KmvPlan;
pub(crate) use kmv::count as count_synopses;
pub use lsh::LshPlan;
pub use options::{EstimateOptions, Method};
