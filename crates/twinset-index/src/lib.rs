//! Indexes on disk: records are added, replaced and removed while others query.
//!
//! [`lsh`] finds the near duplicates of a record with a probability that each query chooses. Its labels are in a folder (SQLite), in
//! PostgreSQL, in MariaDB, or in main memory. [`kmv`] estimates any measure at any threshold from small synopses in a folder (tantivy).
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod change;
mod error;
mod folder;
pub mod kmv;
pub mod lsh;
mod settings;

pub use change::AddCounts;
pub use error::{Error, Result};
#[doc(hidden)]
pub use folder::TantivyFolder;
pub use settings::{Content, Kind, Settings};
