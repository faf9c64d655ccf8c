//! Tables and results in memory, for programs that call Twinset instead of running the command.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;

/// A table in memory.
#[cfg(feature = "parquet")]
#[derive(Debug, Clone)]
pub struct MemoryTable {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

/// A table in memory. This build has none.
#[cfg(not(feature = "parquet"))]
#[derive(Debug, Clone)]
pub enum MemoryTable {}

/// A place in memory that an output writes to. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Content>>);

/// What was written to a place in memory.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Rows, if a table was written.
    pub table: Option<MemoryTable>,
    /// Everything else.
    pub bytes: Vec<u8>,
}

impl Memory {
    /// Takes what was written so far.
    pub fn take(&self) -> Content {
        self.change(std::mem::take)
    }

    /// Begins a table.
    #[cfg(feature = "parquet")]
    pub(crate) fn set_schema(&self, schema: &SchemaRef) {
        self.change(|content| content.table = Some(MemoryTable { schema: schema.clone(), batches: Vec::new() }));
    }

    /// Adds rows to the table.
    #[cfg(feature = "parquet")]
    pub(crate) fn add_rows(&self, rows: RecordBatch) {
        self.change(|content| {
            if let Some(table) = &mut content.table {
                table.batches.push(rows);
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The same place, whatever was written to it.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.change(|content| content.bytes.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
