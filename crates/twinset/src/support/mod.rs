//! What has nothing to do with near duplicates: strings, temporary files, salted hashes, names of enums, prefetching.

mod intersection;
#[cfg(feature = "clap")]
mod names;
mod prefetch;
mod salt;
mod spill;
mod strings;

pub use intersection::intersection_len;
#[cfg(feature = "clap")]
pub use names::name_parser;
pub(crate) use prefetch::prefetch;
pub(crate) use salt::fold;
pub use salt::{salt, salted, salted_hash};
pub(crate) use spill::{Spill, SpillError};
pub use strings::Strings;
