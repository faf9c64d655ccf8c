//! Indexes that are kept: records are added, replaced and removed while others ask.
//!
//! [`labels`] finds near duplicates of a record with a probability that each query chooses. Such an index lies in a home: a file,
//! a folder, or a database. [`synopses`] estimates any measure of sets at any threshold, from little room in a folder.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod change;
mod error;
mod folder;
pub mod labels;
mod settings;
pub mod synopses;

pub use change::Added;
pub use error::{Error, Result};
pub use settings::{Content, Kind, Settings};
