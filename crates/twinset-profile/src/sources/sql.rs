//! What all databases are asked in the same words: which values of a column another has not.

use super::{ColumnPair, ORPHANS};
use crate::table::Table;

/// A name in quotes; quotes in it are doubled.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A table with its schema, in quotes.
pub(crate) fn quoted_table(table: &Table) -> String {
    let schema = table.schema.as_ref().map(|schema| format!("{}.", quoted(schema)));
    format!("{}{}", schema.unwrap_or_default(), quoted(&table.name))
}

/// How a database says things, with `{}` for a column.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// A column as text.
    pub(super) text: &'static str,
    /// A column of texts, so that only equal bytes are equal.
    pub(super) bytes: &'static str,
}

/// The questions that are asked about two columns, or as many columns of one table as of another.
pub(super) struct ComparisonSql {
    left: Side,
    right: Side,
    dialect: Dialect,
}

struct Side {
    table: String,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    is_text: bool,
}

impl ComparisonSql {
    pub(super) fn new(sides: ColumnPair<'_>, dialect: Dialect) -> Self {
        let side = |table: &Table, columns: &[&str]| Side {
            table: quoted_table(table),
            columns: columns.iter().map(|name| Column { name: quoted(name), is_text: sides.are_texts }).collect(),
        };
        Self { left: side(sides.left, sides.left_columns), right: side(sides.right, sides.right_columns), dialect }
    }

    /// A column as it is compared.
    fn key(&self, column: &Column, prefix: &str) -> String {
        let name = format!("{prefix}{}", column.name);
        if column.is_text { self.dialect.bytes.replace("{}", &name) } else { name }
    }

    fn text(&self, column: &Column, prefix: &str) -> String {
        self.dialect.text.replace("{}", &format!("{prefix}{}", column.name))
    }

    /// That a row has values.
    fn present(&self, side: &Side, prefix: &str) -> String {
        let present = |column: &Column| {
            let name = format!("{prefix}{}", column.name);
            match column.is_text {
                true => format!("{name} IS NOT NULL AND octet_length({}) > 0", self.text(column, prefix)),
                false => format!("{name} IS NOT NULL"),
            }
        };
        side.columns.iter().map(present).collect::<Vec<_>>().join(" AND ")
    }

    /// The different values of a side.
    fn distinct(&self, side: &Side) -> String {
        let named = |(at, column): (usize, &Column)| format!("{} AS c{at}", self.key(column, ""));
        let columns: Vec<String> = side.columns.iter().enumerate().map(named).collect();
        format!("SELECT DISTINCT {} FROM {} WHERE {}", columns.join(", "), side.table, self.present(side, ""))
    }

    /// How many different values the left side has, and how many of them the right one has.
    pub(super) fn common(&self) -> String {
        let equal: Vec<String> = (0..self.left.columns.len()).map(|at| format!("l.c{at} = r.c{at}")).collect();
        let (left, right) = (self.distinct(&self.left), self.distinct(&self.right));
        format!("SELECT count(*), count(r.c0) FROM ({left}) l LEFT JOIN ({right}) r ON {}", equal.join(" AND "))
    }

    /// How many different values the right side has.
    pub(super) fn right(&self) -> String {
        format!("SELECT count(*) FROM ({}) r", self.distinct(&self.right))
    }

    /// Rows of the left side whose value the right one has not.
    fn without_partner(&self) -> String {
        let keys = self.left.columns.iter().enumerate();
        let equal: Vec<String> = keys.map(|(at, column)| format!("r.c{at} = {}", self.key(column, "l."))).collect();
        let (left, right) = (&self.left.table, self.distinct(&self.right));
        let present = self.present(&self.left, "l.");
        format!("FROM {left} l LEFT JOIN ({right}) r ON {} WHERE {present} AND r.c0 IS NULL", equal.join(" AND "))
    }

    /// The values that most of them have, as text, and how many.
    pub(super) fn orphans(&self) -> String {
        let each = |make: &dyn Fn(&Column) -> String| self.left.columns.iter().map(make).collect::<Vec<_>>();
        let shown = each(&|column| format!("min({})", self.text(column, "l."))).join(" || ', ' || ");
        let (keys, rows) = (each(&|column| self.key(column, "l.")).join(", "), self.without_partner());
        format!("SELECT {shown} AS a, count(*) AS n {rows} GROUP BY {keys} ORDER BY n DESC, {keys} LIMIT {ORPHANS}")
    }

    /// How many there are.
    pub(super) fn orphan_rows(&self) -> String {
        format!("SELECT count(*) {}", self.without_partner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_whatever_they_hold() {
        assert_eq!(quoted("a\"; drop table x; --"), "\"a\"\"; drop table x; --\"");
        let table = Table { schema: Some("s.\"".to_owned()), name: "t".to_owned(), ..Table::default() };
        assert_eq!(quoted_table(&table), "\"s.\"\"\".\"t\"");
    }
}
