//! Reads collections from files, and writes what was found in them.
//!
//! [`read`] turns files into blocks of records, [`load`](load()) turns those into a [`Collection`], [`write`](mod@write)
//! puts results into files that are complete or not there at all. [`generate`] makes collections up.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod compression;
mod error;
mod guard;
mod host;
mod ids;
mod keep;
mod limits;
mod size;
mod uniques;

mod collection;
mod copy;
pub mod database;
pub mod durable;
pub mod generate;
mod load;
pub mod read;
mod records;
mod sketches;
mod texts;
pub mod write;

pub use collection::{Collection, Copies};
pub use compression::inner_ending;
pub use copy::{Fate, Target, copy_records};
pub use error::{Error, Result};
pub use guard::{guarded, is_guarded};
pub use host::{Host, Listener, MemoryTable, Written};
pub use ids::Ids;
pub use keep::{DedupOptions, KeepRule};
pub use limits::{Limit, Limits, Unit};
pub use load::{Content, Keeping, are_rdf, load, tokens_for};
pub use read::{Format, ReadOptions};
pub use records::{Prepared, for_each_record};
pub use size::ByteSize;
pub use sketches::{SketchFile, SketchSettings, is_sketch_file, write_sketches};
pub use texts::read_texts;
pub use write::{Output, OutputFormat, OutputOptions};
