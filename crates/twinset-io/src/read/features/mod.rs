//! Features: a name and a stream of values each. Tables have one a column, XML documents one a path.

mod batch;
#[cfg_attr(not(feature = "parquet"), path = "missing.rs")]
mod parquet;
mod paths;
mod rows;
mod table;

use std::path::Path;

pub use batch::{Batch, largest_row, long_row};
pub use paths::XmlPaths;
pub use rows::BadRows;
pub use table::{TableFile, read_rows};

/// Whether a file's ending is that of XML documents.
pub fn is_xml(path: &Path) -> bool {
    crate::compression::inner_ending(path).as_deref() == Some("xml")
}
