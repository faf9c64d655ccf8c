//! What tables and XML documents have in common: similar columns, contained columns, foreign keys.
//!
//! [`profile`](profile()) reads every source once and keeps a [`Feature`] for each column and each path: its synopsis, and what else one
//! look tells. From these it derives [`Relation`]s, and looks at the data a second time for what they leave open.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod blanks;
mod check;
mod counted;
mod equal;
mod error;
mod export;
mod feature;
mod frequent;
mod held;
mod inclusion;
mod kept;
mod keys;
mod lake;
mod look;
mod making;
mod names;
mod options;
mod orphans;
mod profile;
mod recent;
mod relation;
mod saved;
mod shape;
mod similar;
mod sorted;
mod source;
mod table;
mod value;

pub use error::{Error, Result};
pub use export::Export;
pub use feature::{Distinct, Feature, Frequency, Kind};
pub use kept::Kept;
pub use lake::Resembling;
pub use options::ProfileOptions;
pub use profile::{Profile, profile};
pub use relation::{Evidence, Relation, RelationKind};
pub use saved::{Change, NamedRelation, SavedProfile};
pub use source::Problem;
pub use table::{DeclaredKey, Table};
pub use value::Normalize;
