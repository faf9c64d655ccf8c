//! Reads collections from files, and writes what was found in them.
//!
//! [`read`] turns files into blocks of records, [`load`](load()) turns those into a [`Collection`], [`write`](mod@write)
//! puts results into files that are complete or not there at all. [`generate`] makes collections up.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

// The macro of limits names the crate as other crates do.
extern crate self as twinset_io;

mod compression;
mod error;
mod guard;
mod ids;
mod keep;
mod limits;
mod memory;
mod repeated;
mod size;
mod uniques;

mod collection;
mod copy;
pub mod database;
pub mod durable;
mod find;
pub mod generate;
mod load;
pub mod read;
mod records;
mod sketches;
mod source;
mod texts;
pub mod write;

pub use collection::{Collection, Copies};
pub use compression::inner_ending;
pub use copy::{Fate, Target, copy_records};
pub use error::{Error, Result};
pub use find::find_records;
pub use guard::{guarded, is_guarded};
pub use ids::Ids;
pub use keep::{DedupOptions, KeepRule};
pub use limits::{Limit, LimitOptions, LimitSet, Limits, Unit};
#[cfg(feature = "clap")]
pub use limits::{limit_arguments, set_limits};
pub use load::{Content, Keeping, are_rdf, load, tokens_for};
pub use memory::{Content as MemoryContent, Memory, MemoryTable};
pub use read::{Format, ReadOptions};
pub use records::{Prepared, for_each_record};
pub use repeated::{comma_separated, one_or_more};
pub use size::ByteSize;
pub use sketches::{SketchFile, SketchSettings, is_sketch_file, write_sketches};
pub use source::Source;
pub use texts::read_texts;
pub use write::{Destination, Output, OutputFormat, OutputOptions};
