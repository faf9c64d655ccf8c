//! MariaDB or MySQL, in a read-only transaction.

use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use twinset::Run;
use twinset_io::database::{Address, mysql_reason};
use twinset_io::read::features::{Batch, largest_row, long_row};

use super::sql::{ComparisonSql, Dialect, quoted, quoted_table};
use super::{ColumnPair, Counts, ENOUGH, Problem, Source, SourceOptions, Visit, hexadecimal};
use crate::table::{DeclaredKey, Table};
use crate::{Error, Result};

pub(super) struct Mysql {
    name: String,
    database: String,
    connection: Conn,
    options: SourceOptions,
}

const DIALECT: Dialect = Dialect { text: "CAST({} AS CHAR)", bytes: "CAST(CONVERT({} USING utf8mb4) AS BINARY)" };

impl Mysql {
    pub(super) fn connect(text: &str, options: &SourceOptions) -> Result<Self> {
        let address = Address::parse(text)?;
        let (name, database) = (address.name(), address.database().to_owned());
        let mut connection = address.mysql()?;
        let refused = |error: mysql::Error| failure(&name, &error);
        // Names stand in double quotes, and texts are joined by bars, as in the other databases.
        connection.query_drop("SET SESSION sql_mode = 'ANSI'").map_err(refused)?;
        if let Some(timeout) = options.timeout {
            // MariaDB knows the one, MySQL the other.
            let of_mariadb =
                connection.query_drop(format!("SET SESSION max_statement_time = {}", timeout.as_secs_f64()));
            if of_mariadb.is_err() {
                connection
                    .query_drop(format!("SET SESSION max_execution_time = {}", timeout.as_millis()))
                    .map_err(refused)?;
            }
        }
        connection.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ").map_err(refused)?;
        connection.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").map_err(refused)?;
        Ok(Self { name, database, connection, options: options.clone() })
    }

    fn describe(&mut self) -> mysql::Result<Vec<Table>> {
        let schemas =
            if self.options.schemas.is_empty() { vec![self.database.clone()] } else { self.options.schemas.clone() };
        let mut tables = Vec::new();
        for schema in schemas {
            let mut named: Vec<(String, String)> = self.connection.exec(
                "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = ?",
                (&schema,),
            )?;
            named.sort();
            for (name, kind) in named {
                let is_wanted =
                    ["BASE TABLE", "SYSTEM VERSIONED"].contains(&kind.as_str()) || self.options.views && kind == "VIEW";
                if !is_wanted || !self.options.has_table(Some(&schema), &name) {
                    continue;
                }
                let columns: Vec<(String, String)> = self.connection.exec(
                    "SELECT column_name, CAST(column_type AS CHAR) FROM information_schema.columns
                     WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position",
                    (&schema, &name),
                )?;
                let declared = self.declared(&schema, &name)?;
                let mut table = Table { schema: Some(schema.clone()), name, columns, declared, ..Table::default() };
                let (connection, sql) = (&mut self.connection, checksum(&table));
                // A view may tell something else each time.
                let sum = || connection.query_first::<Option<String>, _>(sql).ok().flatten().flatten();
                table.state = self.options.state_or(|| if kind == "VIEW" { None } else { sum() });
                tables.push(table);
            }
        }
        Ok(tables)
    }

    fn declared(&mut self, schema: &str, table: &str) -> mysql::Result<Vec<DeclaredKey>> {
        let rows: Vec<(String, String, String, String, String)> = self.connection.exec(
            "SELECT constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name
             FROM information_schema.key_column_usage
             WHERE table_schema = ? AND table_name = ? AND referenced_table_name IS NOT NULL
             ORDER BY constraint_name, ordinal_position",
            (schema, table),
        )?;
        let mut keys: Vec<(String, DeclaredKey)> = Vec::new();
        for (name, column, to_schema, to, to_column) in rows {
            if keys.last().is_none_or(|(last, _)| *last != name) {
                let key = DeclaredKey { columns: Vec::new(), to: (Some(to_schema), to), to_columns: Vec::new() };
                keys.push((name, key));
            }
            if let Some((_, key)) = keys.last_mut() {
                key.columns.push(column);
                key.to_columns.push(to_column);
            }
        }
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }

    fn counts(&mut self, sql: &ComparisonSql) -> mysql::Result<Counts> {
        let (left, common): (u64, u64) = self.connection.query_first(sql.common())?.unwrap_or_default();
        let right: u64 = self.connection.query_first(sql.right())?.unwrap_or_default();
        let mut counts = Counts { left, right, common, ..Counts::default() };
        if common < left {
            // Bytes that are no text may come as nothing at all.
            let orphans: Vec<(Option<Vec<u8>>, u64)> = self.connection.query(sql.orphans())?;
            let text = |bytes: Option<Vec<u8>>| String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            counts.orphans = orphans.into_iter().map(|(value, rows)| (text(value), rows)).collect();
            counts.orphan_rows = self.connection.query_first(sql.orphan_rows())?.unwrap_or_default();
        }
        Ok(counts)
    }
}

/// A query for a checksum of all rows as they are read, whatever their order. `CHECKSUM TABLE` would have only 32 bits. There is none if
/// that of any row is not known, as that of a value that cannot be written as text.
fn checksum(table: &Table) -> String {
    let of = |(name, declared): &(String, String)| {
        let name = quoted(name);
        let text = if is_binary(declared) { name.clone() } else { format!("CONVERT({name} USING utf8mb4)") };
        format!("IF({name} IS NULL, '-', MD5({text}))")
    };
    let row = table.columns.iter().map(of).collect::<Vec<_>>().join(", ");
    let sum = |part: &str| format!("SUM(CAST(CONV({part}(h, 16), 16, 10) AS UNSIGNED))");
    format!(
        "SELECT IF(COUNT(*) = COUNT(h), CONCAT_WS(' ', COUNT(*), {}, {}), NULL) FROM (SELECT MD5(CONCAT({row})) AS h FROM {}) AS t",
        sum("LEFT"),
        sum("RIGHT"),
        quoted_table(table)
    )
}

/// Whether values of a type are bytes rather than text.
fn is_binary(declared: &str) -> bool {
    ["binary", "varbinary", "blob", "tinyblob", "mediumblob", "longblob", "bit"]
        .iter()
        .any(|kind| declared.starts_with(kind))
}

fn failure(name: &str, error: &mysql::Error) -> Error {
    let reason = match error {
        // Too long for MariaDB, and for MySQL.
        mysql::Error::MySqlError(error) if [1969, 3024].contains(&error.code) => {
            "a query took longer than --timeout allows".to_owned()
        }
        _ => mysql_reason(error),
    };
    Error::source(name, reason)
}

impl Source for Mysql {
    fn name(&self) -> &str {
        &self.name
    }

    fn short(&self) -> String {
        self.database.clone()
    }

    fn tables(&mut self, _: &Run) -> Result<(Vec<Table>, Vec<Problem>)> {
        Ok((self.describe().map_err(|error| failure(&self.name, &error))?, Vec::new()))
    }

    fn read(
        &mut self,
        table: &Table,
        wanted: Option<&[usize]>,
        run: &Run,
        visit: &mut Visit<'_>,
    ) -> Result<Vec<Problem>> {
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let wanted = wanted.unwrap_or(&all);
        let columns: Vec<String> = wanted.iter().map(|&column| quoted(&table.columns[column].0)).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), quoted_table(table));
        let refused = |error: mysql::Error| failure(&self.name, &error);
        let largest = largest_row(&self.options.read.limits);
        let mut batch = Batch::new(table.columns.len());
        for row in self.connection.query_iter(sql).map_err(refused)? {
            let values = row.map_err(refused)?.unwrap();
            let length = |value: &Value| if let Value::Bytes(bytes) = value { bytes.len() as u64 } else { 0 };
            if values.iter().map(length).sum::<u64>() > largest {
                return Err(Error::source(&self.name, long_row(largest)));
            }
            for (value, &column) in values.iter().zip(wanted) {
                match value {
                    Value::NULL => batch.push(column, None),
                    Value::Bytes(bytes) if is_binary(&table.columns[column].1) => {
                        batch.push(column, Some(hexadecimal(bytes).as_bytes()));
                    }
                    Value::Bytes(bytes) => batch.push(column, Some(bytes)),
                    other => batch.push(column, Some(other.as_sql(true).as_bytes())),
                }
            }
            if batch.size() >= ENOUGH {
                run.check()?;
                visit(std::slice::from_ref(&batch), &table.names())?;
                batch = Batch::new(table.columns.len());
            }
        }
        visit(std::slice::from_ref(&batch), &table.names())?;
        Ok(Vec::new())
    }

    fn compares(&self) -> bool {
        true
    }

    fn compare(&mut self, sides: ColumnPair<'_>, _: &Run) -> Result<Counts> {
        let sql = ComparisonSql::new(sides, DIALECT);
        self.counts(&sql).map_err(|error| failure(&self.name, &error))
    }
}
