//! Results into files that are complete or not there at all.

#[cfg_attr(not(feature = "parquet"), path = "missing.rs")]
mod columns;
mod destination;
mod link_target;
mod output;
mod pairs;
mod table;

#[cfg(feature = "parquet")]
pub(crate) use columns::parquet_error;
pub use destination::Destination;
#[cfg(feature = "parquet")]
pub(crate) use output::write_failure;
pub use output::{Output, OutputFormat, OutputOptions, check_outputs};
pub use pairs::{PairTable, Shown, add_value_cells, value_columns};
pub use table::{Kind, Table, Value};
