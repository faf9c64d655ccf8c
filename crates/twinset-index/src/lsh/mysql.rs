//! Labels in MariaDB or MySQL.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

use mysql::prelude::Queryable;
use mysql::{Conn, Params, Row, TxOpts, params};
use twinset_io::database::{Address, mysql_reason};

use super::address::Tables;
use super::backend::{Backend, LabeledRecord, StoredRecord, Visit, from_bytes, to_bytes};
use crate::{Error, Result, Settings};

pub(super) struct Mysql {
    connection: Conn,
    /// What the tables' names begin with: only letters, digits and `_`.
    prefix: String,
    name: String,
    settings: Settings,
}

/// So many rows are written by one statement.
const ROWS: usize = 1000;

impl Mysql {
    pub(super) fn create(tables: &Tables, settings: &Settings) -> Result<Self> {
        let (name, prefix) = (tables.name(), tables.prefix.as_str());
        let mut connection = tables.connect(Address::mysql)?;
        if exists(&mut connection, prefix).map_err(|error| failure(&name, &error))? {
            return Err(Error::index(&name, "this index exists; name another one with ?index=NAME"));
        }
        let definitions = [
            format!(
                "{prefix}_records (number BIGINT PRIMARY KEY, id VARBINARY(2000) NOT NULL UNIQUE, tokens LONGBLOB NOT NULL)"
            ),
            format!(
                "{prefix}_labels (tree SMALLINT NOT NULL, label BIGINT NOT NULL, record BIGINT NOT NULL, \
                 PRIMARY KEY (tree, label, record))"
            ),
            format!("{prefix}_settings (json LONGTEXT NOT NULL)"),
        ];
        let refused = |error: mysql::Error| failure(&name, &error);
        for table in definitions {
            connection.query_drop(format!("CREATE TABLE IF NOT EXISTS {table} ENGINE = InnoDB")).map_err(refused)?;
        }
        let others: Option<u64> =
            connection.query_first(format!("SELECT count(*) FROM {prefix}_records")).map_err(refused)?;
        if others != Some(0) {
            let reason = format!("there is a table {prefix}_records already, with rows; name another index");
            return Err(Error::index(&name, reason));
        }
        // The settings come last: without them there is no index.
        let insert = format!("INSERT INTO {prefix}_settings VALUES (?)");
        connection.exec_drop(insert, (settings.to_json(),)).map_err(refused)?;
        Self::open(tables)
    }

    pub(super) fn open(tables: &Tables) -> Result<Self> {
        let (name, prefix) = (tables.name(), tables.prefix.as_str());
        let mut connection = tables.connect(Address::mysql)?;
        let refused = |error: mysql::Error| failure(&name, &error);
        if !exists(&mut connection, prefix).map_err(refused)? {
            let reason = "there is no such index in the database; make one with `twinset index create`";
            return Err(Error::index(&name, reason));
        }
        let json: Option<String> =
            connection.query_first(format!("SELECT json FROM {prefix}_settings")).map_err(refused)?;
        let settings = Settings::from_json(&json.unwrap_or_default(), &name)?;
        Ok(Self { connection, prefix: prefix.to_owned(), name, settings })
    }

    /// Changes the tables when no other process does.
    fn change<T>(&mut self, change: impl FnOnce(&mut mysql::Transaction<'_>, &str) -> mysql::Result<T>) -> Result<T> {
        let Self { connection, prefix, name, .. } = self;
        // Names of locks are those of the whole server, and short.
        let got: mysql::Result<Option<i64>> =
            connection.exec_first("SELECT GET_LOCK(SHA1(CONCAT(DATABASE(), '.', ?)), 60)", (&*prefix,));
        match got.map_err(|error| failure(name, &error))? {
            Some(1) => {}
            _ => return Err(Error::index(name, "another process is writing to it; try again later")),
        }
        let changed = (|| {
            let mut transaction = connection.start_transaction(TxOpts::default())?;
            let changed = change(&mut transaction, prefix)?;
            transaction.commit()?;
            Ok(changed)
        })();
        // The lock ends with the connection at the latest.
        let _ = connection.exec_drop("DO RELEASE_LOCK(SHA1(CONCAT(DATABASE(), '.', ?)))", (&*prefix,));
        changed.map_err(|error| failure(name, &error))
    }

    fn query(&mut self, sql: &str, parameters: impl Into<Params>) -> Result<Vec<Row>> {
        let sql = sql.replace('#', &self.prefix);
        self.connection.exec(sql, parameters).map_err(|error| failure(&self.name, &error))
    }

    fn number(&mut self, sql: &str) -> Result<u64> {
        let rows = self.query(sql, ())?;
        Ok(rows.into_iter().next().map_or(0, |row| mysql::from_row::<(u64,)>(row).0))
    }
}

fn stored(row: Row, name: &str) -> Result<StoredRecord> {
    let (number, id, tokens): (i64, Vec<u8>, Vec<u8>) = mysql::from_row(row);
    let damaged = || Error::damaged(name, "a record is damaged", "restore the tables from a copy");
    let id = String::from_utf8(id).map_err(|_| damaged())?;
    Ok(StoredRecord { number, id, hashes: from_bytes(&tokens).ok_or_else(damaged)? })
}

fn exists(connection: &mut Conn, prefix: &str) -> mysql::Result<bool> {
    let sql = "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?";
    let count: Option<u64> = connection.exec_first(sql, (format!("{prefix}_settings"),))?;
    if count.unwrap_or(0) == 0 {
        return Ok(false);
    }
    let rows: Option<u64> = connection.query_first(format!("SELECT count(*) FROM {prefix}_settings"))?;
    Ok(rows.unwrap_or(0) > 0)
}

fn failure(name: &str, error: &mysql::Error) -> Error {
    Error::index(name, mysql_reason(error))
}

/// Takes out the records with these ids, and their labels. Returns their numbers by their ids.
fn take(
    transaction: &mut mysql::Transaction<'_>,
    prefix: &str,
    ids: &[&str],
    relabel: &dyn Fn(&[u64]) -> Vec<i64>,
) -> mysql::Result<HashMap<Vec<u8>, i64>> {
    let mut numbers = HashMap::new();
    for ids in ids.chunks(ROWS) {
        let places = vec!["?"; ids.len()].join(", ");
        let parameters = Params::Positional(ids.iter().map(|id| mysql::Value::from(id.as_bytes())).collect());
        let sql = format!("SELECT number, id, tokens FROM {prefix}_records WHERE id IN ({places})");
        let found: Vec<(i64, Vec<u8>, Vec<u8>)> = transaction.exec(sql, parameters)?;
        for (number, id, tokens) in found {
            let labels = match from_bytes(&tokens) {
                Some(hashes) => relabel(&hashes),
                None => {
                    // What it was labelled by is not known any more.
                    transaction.exec_drop(format!("DELETE FROM {prefix}_labels WHERE record = ?"), (number,))?;
                    Vec::new()
                }
            };
            let delete =
                format!("DELETE FROM {prefix}_labels WHERE tree = :tree AND label = :label AND record = :record");
            let rows = (0i16..)
                .zip(&labels)
                .map(|(tree, label)| params! { "tree" => tree, "label" => label, "record" => number });
            // Over TLS the driver would send a batch at once, which MariaDB knows for other statements only.
            let delete = transaction.prep(delete)?;
            rows.into_iter().try_for_each(|row| transaction.exec_drop(&delete, row))?;
            transaction.exec_drop(format!("DELETE FROM {prefix}_records WHERE number = ?"), (number,))?;
            numbers.insert(id, number);
        }
    }
    Ok(numbers)
}

impl Backend for Mysql {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        self.change(|transaction, prefix| {
            transaction.exec_drop(format!("UPDATE {prefix}_settings SET json = ?"), (settings.to_json(),))
        })?;
        self.settings = settings.clone();
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn len(&mut self) -> Result<u64> {
        self.number("SELECT count(*) FROM #_records")
    }

    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        self.change(|transaction, prefix| {
            let next: Option<i64> =
                transaction.query_first(format!("SELECT coalesce(max(number), 0) + 1 FROM {prefix}_records"))?;
            let mut next = next.unwrap_or(1);
            let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
            let replaced = take(transaction, prefix, &ids, relabel)?;
            let mut labels = Vec::new();
            for records in records.chunks(ROWS / 10) {
                let places = vec!["(?, ?, ?)"; records.len()].join(", ");
                let mut values: Vec<mysql::Value> = Vec::new();
                for record in records {
                    let number = replaced.get(record.id.as_bytes()).copied().unwrap_or_else(|| {
                        next += 1;
                        next - 1
                    });
                    values.extend([number.into(), record.id.as_bytes().into(), to_bytes(&record.hashes).into()]);
                    labels.extend((0i16..).zip(&record.labels).map(|(tree, &label)| (tree, label, number)));
                }
                let sql = format!("INSERT INTO {prefix}_records (number, id, tokens) VALUES {places}");
                transaction.exec_drop(sql, Params::Positional(values))?;
            }
            labels.sort_unstable();
            for labels in labels.chunks(ROWS) {
                let mut sql = format!("INSERT INTO {prefix}_labels (tree, label, record) VALUES ");
                for (at, (tree, label, number)) in labels.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(sql, "{comma}({tree},{label},{number})").expect("a string takes everything");
                }
                transaction.query_drop(sql)?;
            }
            Ok(replaced.len() as u64)
        })
    }

    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.change(|transaction, prefix| Ok(take(transaction, prefix, &ids, relabel)?.len() as u64))
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        let rows = self.query("SELECT number, id, tokens FROM #_records WHERE id = ?", (id.as_bytes(),))?;
        rows.into_iter().next().map(|row| stored(row, &self.name)).transpose()
    }

    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()> {
        if ranges.is_empty() {
            return Ok(());
        }
        let of_tree = |(tree, range): (usize, &RangeInclusive<i64>)| {
            let (low, high) = (range.start(), range.end());
            format!("SELECT record FROM {}_labels WHERE tree = {tree} AND label BETWEEN {low} AND {high}", self.prefix)
        };
        let union: Vec<String> = ranges.iter().enumerate().map(of_tree).collect();
        let sql = format!(
            "SELECT STRAIGHT_JOIN r.number, r.id, r.tokens FROM ({}) c JOIN {}_records r ON r.number = c.record ORDER BY r.number",
            union.join(" UNION "),
            self.prefix
        );
        let Self { connection, name, .. } = self;
        let rows = connection.query_iter(sql).map_err(|error| failure(name, &error))?;
        for row in rows {
            let record = stored(row.map_err(|error| failure(name, &error))?, name)?;
            visit(record.number, &record.id, &record.hashes);
        }
        Ok(())
    }

    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>> {
        let sql = "SELECT number, id, tokens FROM #_records WHERE number > ? ORDER BY number LIMIT ?";
        let rows = self.query(sql, (number, count as u64))?;
        rows.into_iter().map(|row| stored(row, &self.name)).collect()
    }

    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize> {
        if labels.is_empty() {
            return Ok(0);
        }
        let key = |(tree, label): (usize, &i64)| format!("({tree}, {label}, {})", record.number);
        let keys: Vec<String> = labels.iter().enumerate().map(key).collect();
        let sql =
            format!("SELECT count(*) FROM {}_labels WHERE (tree, label, record) IN ({})", self.prefix, keys.join(", "));
        let count: mysql::Result<Option<u64>> = self.connection.query_first(sql);
        Ok(count.map_err(|error| failure(&self.name, &error))?.unwrap_or(0) as usize)
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        let begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
        self.connection.query_drop(begin).map_err(|error| failure(&self.name, &error))
    }

    fn end_snapshot(&mut self) -> Result<()> {
        self.connection.query_drop("COMMIT").map_err(|error| failure(&self.name, &error))
    }

    fn label_count(&mut self) -> Result<u64> {
        self.number("SELECT count(*) FROM #_labels")
    }

    fn bytes(&mut self) -> Result<Option<u64>> {
        let sql = "SELECT CAST(coalesce(sum(data_length + index_length), 0) AS UNSIGNED) FROM information_schema.tables
                   WHERE table_schema = DATABASE() AND table_name IN ('#_records', '#_labels')";
        Ok(Some(self.number(sql)?))
    }
}
