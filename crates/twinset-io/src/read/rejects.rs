//! Where bad records go when the run is to go on without them.

use std::collections::BTreeMap;
use std::path::Path;

use super::block::Bad;
use crate::Result;
use crate::write::{Kind, Output, OutputFormat, Table, Value};

/// The file of bad records. Blocks are parsed in any order, and their bad records written in the order of the input.
pub(crate) struct Rejects {
    table: Table,
    next_block: usize,
    waiting: BTreeMap<usize, (String, Vec<Bad>)>,
    count: u64,
}

impl Rejects {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let columns = [
            ("file", Kind::Text),
            ("line", Kind::Text),
            ("column", Kind::Text),
            ("reason", Kind::Text),
            ("record", Kind::Text),
        ];
        let table = Table::create(Output::create(path)?, OutputFormat::Csv, columns)?;
        Ok(Self { table, next_block: 0, waiting: BTreeMap::new(), count: 0 })
    }

    /// Takes the bad records of a block; every block must be reported, even one that has none.
    pub(crate) fn add(&mut self, block: usize, file: &str, bad: Vec<Bad>) -> Result<()> {
        self.waiting.insert(block, (file.to_owned(), bad));
        while let Some((file, bad)) = self.waiting.remove(&self.next_block) {
            self.next_block += 1;
            for bad in bad {
                self.write(&file, &bad)?;
            }
        }
        Ok(())
    }

    /// Writes a bad record after all blocks.
    pub(crate) fn write(&mut self, file: &str, bad: &Bad) -> Result<()> {
        self.count += 1;
        let (line, column) = (bad.line.to_string(), bad.column.map(|column| column.to_string()));
        self.table.row(&[
            Value::Text(file),
            Value::Text(&line),
            Value::Text(column.as_deref().unwrap_or_default()),
            Value::Text(&bad.reason),
            Value::Text(&bad.record),
        ])
    }

    /// Completes the file, and tells how many there were.
    pub(crate) fn finish(self) -> Result<u64> {
        self.table.finish()?;
        Ok(self.count)
    }
}
