//! Results into files that are complete or not there at all.

mod destination;
mod folder;
mod output;
mod pairs;
mod table;

pub use folder::{create_folder, sync_name};
pub(crate) use output::write_failure;
pub use output::{
    Output, OutputFormat, OutputOptions, Temporary, check_outputs, remove_unfinished, remove_unfinished_at_once,
};
pub use pairs::{PairTable, Shown, Values};
pub(crate) use table::parquet_error;
pub use table::{Kind, Table, Value};
