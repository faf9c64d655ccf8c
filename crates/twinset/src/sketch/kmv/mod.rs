//! KMV: the k smallest hash values of a set, its synopsis, also known as bottom-k sketch.

mod condition;
mod errors;
mod synopses;
mod synopsis;

pub use condition::Condition;
pub use errors::{count_error, error_bound, kmv_size, lowest_estimate};
pub use synopses::Synopses;
pub(crate) use synopses::words_of;
pub(crate) use synopsis::share_below;
pub use synopsis::{Comparison, KmvSettings, SYNOPSIS_SIZE, Synopsis, SynopsisBuilder};
