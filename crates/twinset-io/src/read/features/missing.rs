//! Stands in for tables in parquet files where this build has no parquet.

use std::path::Path;

use twinset::Run;

use super::batch::Batch;
use crate::{Error, Limits, Result};

pub(super) fn names(path: &Path, _: &Limits) -> Result<Vec<String>> {
    Err(missing(path))
}

pub(super) fn for_each<E: From<Error>>(
    (path, _): (&Path, &Limits),
    _: &[bool],
    _: &Run,
    _: impl FnMut(&[Batch]) -> Result<(), E>,
) -> Result<(), E> {
    Err(missing(path).into())
}

fn missing(path: &Path) -> Error {
    Error::missing_feature(path.display(), "read parquet", "parquet")
}
