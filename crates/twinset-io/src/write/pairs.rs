//! Pairs as rows: the two ids, the similarity or distance, and the fields that the user wants to see.

use twinset::{Collections, Interval, Intervals, Measure, Pair, Strings, Synopses};

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

/// What the values of pairs are.
pub enum Values<'a> {
    /// Those of a measure.
    Exact(Measure),
    /// In how many entries sketches agree; for each number, the estimate that it stands for.
    Agreement(Vec<Interval>),
    /// Estimates of a measure by synopses.
    Estimated(Measure, Intervals, &'a Synopses),
}

impl<'a> Values<'a> {
    /// Those of a measure that synopses estimate.
    pub fn estimated(measure: Measure, synopses: &'a Synopses) -> Self {
        Self::Estimated(measure, Intervals::new(measure), synopses)
    }

    /// Those of sketches with so many entries.
    pub fn agreement(entries: u32) -> Self {
        Self::Agreement((0..=entries).map(|agreeing| Interval::of_agreement(agreeing, entries)).collect())
    }

    /// The names and kinds of their columns.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        let columns: &[(&str, Kind)] = match self {
            Self::Exact(measure) if measure.is_distance() => &[("distance", Kind::Whole)],
            Self::Exact(measure) if measure.is_count() => &[("similarity", Kind::Whole)],
            Self::Exact(_) => &[("similarity", Kind::Real)],
            Self::Estimated(measure, ..) if measure.is_distance() => {
                &[("distance", Kind::Real), ("low", Kind::Real), ("high", Kind::Real)]
            }
            Self::Agreement(_) | Self::Estimated(..) => {
                &[("similarity", Kind::Real), ("low", Kind::Real), ("high", Kind::Real)]
            }
        };
        columns.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect()
    }

    /// What the numbers of right records start from, where they are looked up.
    fn right_offset(&self) -> u32 {
        match self {
            Self::Estimated(_, _, synopses) if synopses.collections() == Collections::Two => synopses.left_len() as u32,
            _ => 0,
        }
    }

    /// What stands in them for a value, and the two records that it belongs to; those of the right collection after those of
    /// the left.
    pub fn cells(&mut self, value: f64, (left, right): (u32, u32), row: &mut Vec<Value<'_>>) {
        match self {
            Self::Exact(measure) if measure.is_count() => row.push(Value::Whole(value as u64)),
            Self::Exact(_) => row.push(Value::Real(value)),
            Self::Agreement(estimates) => {
                let Interval { similarity, low, high } = estimates[value as usize];
                row.extend([similarity, low, high].map(Value::Real));
            }
            // A record is like itself, even if it has no token.
            Self::Estimated(..) if left == right => row.extend([value; 3].map(Value::Real)),
            Self::Estimated(_, intervals, synopses) => {
                let comparison = synopses.get(left as usize).compare(synopses.get(right as usize));
                let Interval { similarity, low, high } = intervals.of(&comparison);
                row.extend([similarity, low, high].map(Value::Real));
            }
        }
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
        let mut columns = vec![("left".to_owned(), Kind::Text), ("right".to_owned(), Kind::Text)];
        columns.extend(values.columns());
        for field in shown {
            columns.push((format!("left_{}", field.name), Kind::Text));
            columns.push((format!("right_{}", field.name), Kind::Text));
        }
        Ok(Self { table: Table::create(output, format, columns)?, left, right, shown, values })
    }

    /// Adds a pair.
    pub fn pair(&mut self, pair: &Pair) -> Result<()> {
        let (left, right) = (self.left.get(pair.left as usize), self.right.get(pair.right as usize));
        let mut row = Vec::with_capacity(5 + 2 * self.shown.len());
        row.extend([Value::Text(&left), Value::Text(&right)]);
        let right = pair.right + self.values.right_offset();
        self.values.cells(pair.value, (pair.left, right), &mut row);
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
