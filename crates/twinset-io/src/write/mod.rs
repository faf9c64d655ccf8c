//! Results into files that are complete or not there at all.

mod output;
mod pairs;
mod table;

pub(crate) use output::write_failure;
pub use output::{Output, OutputFormat, OutputOptions, check_outputs, remove_unfinished};
pub use pairs::{PairTable, Shown, Values};
pub use table::{Kind, Table, Value};
