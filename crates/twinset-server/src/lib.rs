//! The news service: articles arrive, near duplicates become stories, a search returns stories.
//!
//! [`News`] is the service without HTTP. SQLite holds the truth; the label index and the full-text index follow from
//! it, and are brought up to date when the service starts.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod article;
mod compared;
mod demo;
mod entries;
mod error;
mod extract;
mod feeds;
mod fetch;
mod http;
mod import;
mod imported;
mod intake;
mod kept;
mod labels;
mod news;
mod opml;
mod options;
mod overview;
#[doc(hidden)]
pub mod probe;
mod retention;
mod search;
mod serve;
mod store;
mod stories;
mod story;
mod text;
mod until;
mod writer;

pub use article::{Article, Entity, EntityKind, Head, Moment, Submission};
pub use compared::Compare;
pub use demo::show_demo;
pub use error::{Error, Result};
pub use feeds::{Feed, Feeds};
pub use import::import;
pub use imported::Imported;
pub use news::{Comparison, Judged, News, Similar};
pub use options::ServeOptions;
pub use search::{DayCount, Found, Search, SourceCount};
pub use serve::serve;
pub use store::back_up;
pub use stories::Asked;
pub use story::{Mention, Piece, Story};
pub use text::TextQuery;
pub use writer::{Outcome, Receipt};
