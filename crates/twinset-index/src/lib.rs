//! Indexes that are kept: records are added, replaced and removed while others ask.
//!
//! [`labels`] finds near duplicates of a record with a probability that each query chooses. An index lies in a home: a file,
//! a folder, or a database.
#![warn(missing_docs)]

mod error;
pub mod labels;
mod settings;

pub use error::{Error, Result};
pub use settings::{Kind, Settings};
