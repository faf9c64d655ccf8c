//! Pairs as rows: the two ids, the similarity or distance, and the fields that the user wants to see.

use twinset::estimate::Interval;
use twinset::exact::{Pair, Values};
use twinset::support::Strings;

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
    values: Values<'a>,
}

/// The names and kinds of the columns of values.
pub fn value_columns(values: &Values<'_>) -> Vec<(String, Kind)> {
    let columns: &[(&str, Kind)] = match values {
        Values::Exact(measure) if measure.is_distance() => &[("distance", Kind::Whole)],
        Values::Exact(measure) if measure.is_count() => &[("similarity", Kind::Whole)],
        Values::Exact(_) => &[("similarity", Kind::Real)],
        Values::Estimated(measure, ..) if measure.is_distance() => {
            &[("distance", Kind::Real), ("low", Kind::Real), ("high", Kind::Real)]
        }
        Values::Agreement(_) | Values::Estimated(..) => {
            &[("similarity", Kind::Real), ("low", Kind::Real), ("high", Kind::Real)]
        }
    };
    columns.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect()
}

/// Adds what stands in these columns for a value and its interval.
pub fn add_value_cells(values: &Values<'_>, interval: Interval, row: &mut Vec<Value<'_>>) {
    let Interval { similarity, low, high } = interval;
    match values {
        Values::Exact(measure) if measure.is_count() => row.push(Value::Whole(similarity as u64)),
        Values::Exact(_) => row.push(Value::Real(similarity)),
        Values::Agreement(_) | Values::Estimated(..) => row.extend([similarity, low, high].map(Value::Real)),
    }
}

impl<'a> PairTable<'a> {
    /// Starts the table.
    pub fn create(
        output: Output,
        format: OutputFormat,
        values: Values<'a>,
        (left, right): (&'a Ids, &'a Ids),
        shown: &'a [Shown<'a>],
    ) -> Result<Self> {
        let mut columns = vec![("left".to_owned(), Kind::of(left)), ("right".to_owned(), Kind::of(right))];
        columns.extend(value_columns(&values));
        for field in shown {
            columns.push((format!("left_{}", field.name), Kind::Text));
            columns.push((format!("right_{}", field.name), Kind::Text));
        }
        Ok(Self { table: Table::create(output, format, columns)?, left, right, shown, values })
    }

    /// Adds a pair.
    pub fn pair(&mut self, pair: &Pair) -> Result<()> {
        let mut row = Vec::with_capacity(5 + 2 * self.shown.len());
        row.extend([Value::Record(self.left, pair.left as usize), Value::Record(self.right, pair.right as usize)]);
        let interval = self.values.interval(pair.value, pair.left, pair.right + self.values.right_offset());
        add_value_cells(&self.values, interval, &mut row);
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
