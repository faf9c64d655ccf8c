//! One self-contained HTML page for every report: tables, charts as SVG, word differences. No network, readable on a phone
//! and in the dark; everything that comes from outside is escaped.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod chart;
mod curve;
mod dedup;
mod diagram;
mod diff;
mod page;
mod profile;
mod tune;

pub use chart::{Chart, Line, bars, histogram};
pub use curve::Steps;
pub use dedup::{Against, DedupReport, Member, ShownGroup};
pub use diff::{side_by_side, word_diff};
pub use page::{page, table};
pub use profile::{COLUMN_HEADER, ProfileReport, ShownRelation, ShownTable};
pub use tune::TuneReport;
