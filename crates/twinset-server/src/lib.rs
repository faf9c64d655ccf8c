//! The news service: articles arrive, near duplicates become stories, a search returns stories.
//!
//! [`News`] is the service without HTTP. SQLite holds the articles; the LSH index and the full-text index are derived from them, and
//! are brought up to date when the service starts.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod article;
mod data_dir;
mod demo;
mod error;
mod feeds;
mod http;
mod import;
mod ingest;
mod limits;
mod news;
mod options;
#[doc(hidden)]
pub mod probe;
mod search;
mod serve;
mod store;
mod stories;
mod summary;
mod terms;

pub use article::{Article, Entity, EntityKind, Head, Moment, Submission};
pub use demo::show_demo;
pub use error::{Error, Result};
pub use feeds::{Feed, Feeds};
pub use import::import;
pub use ingest::writer::{Outcome, Receipt};
pub use limits::Limits;
pub use news::{Comparison, DayCount, News, Search, SearchResult, Similar, SourceCount};
pub use options::ServeOptions;
pub use search::TextQuery;
pub use serve::serve;
pub use store::{Verdict, back_up};
pub use stories::StoryQuery;
pub use stories::story::{Mention, Piece, Story};
pub use summary::ImportSummary;
pub use terms::Compare;
