//! PostgreSQL, in a read-only transaction. Rows come as csv, which the server writes and the reader of files reads.

use postgres::{Client, Row};
use twinset::Run;
use twinset_io::database::{Address, postgres_reason};
use twinset_io::read::features::{largest_row, read_rows};

use super::sql::{ComparisonSql, Dialect, quoted, quoted_table};
use super::{ColumnPair, Counts, Problem, Source, SourceOptions, Visit};
use crate::table::{DeclaredKey, Table};
use crate::{Error, Result};

pub(super) struct Postgres {
    name: String,
    database: String,
    client: Client,
    options: SourceOptions,
}

const DIALECT: Dialect = Dialect { text: "{}::text", bytes: "{}::text COLLATE \"C\"" };

impl Postgres {
    pub(super) fn connect(text: &str, options: &SourceOptions) -> Result<Self> {
        let address = Address::parse(text)?;
        let name = address.name();
        let mut client = address.postgres()?;
        let timeout = options.timeout.map_or(0, |timeout| timeout.as_millis());
        // All that follows sees one state of the database, and cannot change it.
        let begin = format!(
            "SET statement_timeout = {timeout}; SET datestyle = 'ISO'; SET extra_float_digits = 1;
             BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        );
        client.batch_execute(&begin).map_err(|error| failure(&name, &error))?;
        Ok(Self { name, database: address.database().to_owned(), client, options: options.clone() })
    }

    fn describe(&mut self) -> Result<Vec<Table>, postgres::Error> {
        let kinds = if self.options.views { "'r', 'p', 'f', 'v', 'm'" } else { "'r', 'p', 'f'" };
        let rows = self.client.query(
            &format!(
                "SELECT n.nspname::text, c.relname::text, c.oid, c.relkind IN ('r', 'p') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE c.relkind IN ({kinds}) AND NOT c.relispartition
                   AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'
                   AND (cardinality($1::text[]) = 0 OR n.nspname::text = ANY($1))
                 ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\""
            ),
            &[&self.options.schemas],
        )?;
        let mut tables = Vec::new();
        for row in &rows {
            let (schema, name, oid): (String, String, u32) = (row.get(0), row.get(1), row.get(2));
            if !self.options.has_table(Some(&schema), &name) {
                continue;
            }
            let columns = self.client.query(
                "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
                 WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                &[&oid],
            )?;
            let columns = columns.iter().map(|row| (row.get(0), row.get(1))).collect();
            let declared = self.declared(oid)?;
            let mut table = Table { schema: Some(schema), name, columns, declared, ..Table::default() };
            let (client, sql) = (&mut self.client, checksum(&table));
            // A view or a foreign table may tell something else each time.
            let is_own: bool = row.get(3);
            let sum = || guarded(client, |client| client.query_one(&sql, &[])).ok().map(|row| row.get(0));
            table.state = self.options.state_or(|| is_own.then(sum).flatten());
            tables.push(table);
        }
        Ok(tables)
    }

    fn declared(&mut self, oid: u32) -> Result<Vec<DeclaredKey>, postgres::Error> {
        let rows = self.client.query(
            "SELECT n.nspname::text, t.relname::text,
                    ARRAY(SELECT attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
                          JOIN pg_attribute ON attrelid = c.conrelid AND attnum = k.number ORDER BY place),
                    ARRAY(SELECT attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k (number, place)
                          JOIN pg_attribute ON attrelid = c.confrelid AND attnum = k.number ORDER BY place)
             FROM pg_constraint c JOIN pg_class t ON t.oid = c.confrelid JOIN pg_namespace n ON n.oid = t.relnamespace
             WHERE c.contype = 'f' AND c.conrelid = $1 AND NOT t.relispartition ORDER BY c.conname COLLATE \"C\"",
            &[&oid],
        )?;
        let key =
            |row: &Row| DeclaredKey { columns: row.get(2), to: (Some(row.get(0)), row.get(1)), to_columns: row.get(3) };
        Ok(rows.iter().map(key).collect())
    }
}

/// A query for a checksum of all rows as they are read, whatever their order.
fn checksum(table: &Table) -> String {
    let columns: Vec<String> = table.columns.iter().map(|(name, _)| format!("{}::text", quoted(name))).collect();
    let row = format!("ROW({})::text COLLATE \"C\"", columns.join(", "));
    format!(
        "SELECT concat_ws(' ', count(*), sum(hashtextextended(r, 1)), sum(hashtextextended(r, 2)))
         FROM (SELECT {row} AS r FROM {}) AS t",
        quoted_table(table)
    )
}

fn failure(name: &str, error: &postgres::Error) -> Error {
    let reason = match error.as_db_error() {
        Some(error) if error.code() == &postgres::error::SqlState::QUERY_CANCELED => {
            "a query took longer than --timeout allows".to_owned()
        }
        _ => postgres_reason(error),
    };
    Error::source(name, reason)
}

impl Source for Postgres {
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
        let columns: Vec<String> =
            wanted.iter().map(|&column| format!("{}::text", quoted(&table.columns[column].0))).collect();
        let sql = format!(
            "COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)",
            columns.join(", "),
            quoted_table(table)
        );
        let names = table.names();
        let largest = largest_row(&self.options.read.limits);
        let refused = |error: postgres::Error| failure(&self.name, &error);
        let bad = guarded(&mut self.client, |client| {
            let rows = client.copy_out(&sql).map_err(refused)?;
            let failed = |error: std::io::Error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(error) => failure(&self.name, error),
                None => Error::source(&self.name, format!("the database does not answer: {error}")),
            };
            read_rows(rows, (wanted, largest), run, failed, |batches| visit(batches, &names))
        })?;
        Ok(Vec::from_iter(Problem::of_rows(&format!("{} {}", self.name, table.name), bad)))
    }

    fn compares(&self) -> bool {
        true
    }

    fn compare(&mut self, sides: ColumnPair<'_>, _: &Run) -> Result<Counts> {
        let sql = ComparisonSql::new(sides, DIALECT);
        let counted = guarded(&mut self.client, |client| {
            let number = |row: &Row, at: usize| row.get::<_, i64>(at) as u64;
            let row = client.query_one(&sql.common(), &[])?;
            let right = client.query_one(&sql.right(), &[])?;
            let mut counts = Counts {
                left: number(&row, 0),
                common: number(&row, 1),
                right: number(&right, 0),
                ..Counts::default()
            };
            if counts.common < counts.left {
                let orphans = client.query(&sql.orphans(), &[])?;
                counts.orphans = orphans.iter().map(|row| (row.get(0), number(row, 1))).collect();
                counts.orphan_rows = number(&client.query_one(&sql.orphan_rows(), &[])?, 0);
            }
            Ok(counts)
        });
        counted.map_err(|error: postgres::Error| failure(&self.name, &error))
    }
}

/// A failed statement ends a transaction, so each is followed by a way back.
fn guarded<T, E>(client: &mut Client, work: impl FnOnce(&mut Client) -> Result<T, E>) -> Result<T, E> {
    // If the connection is lost, the work says so.
    let _ = client.batch_execute("SAVEPOINT twinset");
    let done = work(client);
    let _ =
        client.batch_execute(if done.is_ok() { "RELEASE SAVEPOINT twinset" } else { "ROLLBACK TO SAVEPOINT twinset" });
    done
}
