//! Results into files that are complete or not there at all.

#[cfg_attr(not(feature = "parquet"), path = "missing.rs")]
mod columns;
mod destination;
mod folder;
mod output;
mod pairs;
mod table;

#[cfg(feature = "parquet")]
pub(crate) use columns::parquet_error;
pub use folder::{create_folder, sync_name};
#[cfg(feature = "parquet")]
pub(crate) use output::write_failure;
pub use output::{
    Output, OutputFormat, OutputOptions, Temporary, check_outputs, remove_unfinished, remove_unfinished_at_once,
};
pub use pairs::{PairTable, Shown, add_value_cells, value_columns};
pub use table::{Kind, Table, Value};
