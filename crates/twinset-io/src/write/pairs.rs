//! Pairs as rows: the two ids, the similarity or distance, and the fields that the user wants to see.

use twinset::{Measure, Pair, Strings};

use super::{Kind, Output, OutputFormat, Table, Value};
use crate::{Ids, Result};

/// A field that is shown for both records of a pair.
pub struct Shown<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value in each left record.
    pub left: &'a Strings,
    /// Its value in each right record.
    pub right: &'a Strings,
}

/// Writes pairs under the names of their records.
pub struct PairTable<'a> {
    table: Table,
    left: &'a Ids,
    right: &'a Ids,
    shown: &'a [Shown<'a>],
    measure: Measure,
}

impl<'a> PairTable<'a> {
    /// Starts the table.
    pub fn create(
        output: Output,
        format: OutputFormat,
        measure: Measure,
        (left, right): (&'a Ids, &'a Ids),
        shown: &'a [Shown<'a>],
    ) -> Result<Self> {
        let value = if measure.is_distance() { "distance" } else { "similarity" };
        let kind = if measure.is_count() { Kind::Whole } else { Kind::Real };
        let mut columns =
            vec![("left".to_owned(), Kind::Text), ("right".to_owned(), Kind::Text), (value.to_owned(), kind)];
        for field in shown {
            columns.push((format!("left_{}", field.name), Kind::Text));
            columns.push((format!("right_{}", field.name), Kind::Text));
        }
        Ok(Self { table: Table::create(output, format, columns)?, left, right, shown, measure })
    }

    /// Adds a pair.
    pub fn pair(&mut self, pair: &Pair) -> Result<()> {
        let (left, right) = (self.left.get(pair.left as usize), self.right.get(pair.right as usize));
        let value = if self.measure.is_count() { Value::Whole(pair.value as u64) } else { Value::Real(pair.value) };
        if self.shown.is_empty() {
            return self.table.row(&[Value::Text(&left), Value::Text(&right), value]);
        }
        let mut row = vec![Value::Text(&left), Value::Text(&right), value];
        for field in self.shown {
            row.push(Value::Text(field.left.get(pair.left as usize)));
            row.push(Value::Text(field.right.get(pair.right as usize)));
        }
        self.table.row(&row)
    }

    /// Completes the table.
    pub fn finish(self) -> Result<()> {
        self.table.finish()
    }
}
