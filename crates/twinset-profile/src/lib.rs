//! What tables and XML documents have in common: similar columns, contained columns, foreign keys.
//!
//! [`profile`](profile()) reads every source once and makes a [`Feature`] of each column and each path: its synopsis and its statistics. From
//! these it derives [`Relation`]s, and reads the data a second time for what they leave open.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod cache;
mod error;
mod export;
mod features;
mod inclusion;
mod keys;
mod lookup;
mod options;
mod profile;
mod relation;
mod saved;
mod similar;
mod sources;
mod table;

pub use cache::ProfileCache;
pub use error::{Error, Result};
pub use export::Export;
pub use features::{Distinct, Feature, Frequency, Kind};
pub use lookup::SimilarFeature;
pub use options::{Normalize, ProfileOptions};
pub use profile::{Profile, profile};
pub use relation::{Evidence, Relation, RelationKind};
pub use saved::{Change, NamedRelation, SavedProfile};
pub use sources::Problem;
pub use table::{DeclaredKey, Table};
