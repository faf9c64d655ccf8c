//! Labels in PostgreSQL.

use std::ops::RangeInclusive;

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{ToSql, Type};
use postgres::{Client, Row, Statement, Transaction};
use twinset_io::database::{Address, postgres_reason};

use super::address::Tables;
use super::backend::{Backend, LabeledRecord, StoredRecord, Visit, from_bytes, to_bytes};
use crate::{Error, Result, Settings};

pub(super) struct Postgres {
    client: Client,
    /// What the tables' names begin with: only letters, digits and `_`.
    prefix: String,
    name: String,
    settings: Settings,
    candidates: Statement,
}

impl Postgres {
    pub(super) fn create(tables: &Tables, settings: &Settings) -> Result<Self> {
        let (name, prefix) = (tables.name(), tables.prefix.as_str());
        let mut client = tables.connect(Address::postgres)?;
        let made = (|| {
            let mut transaction = client.transaction()?;
            let exists =
                transaction.query_one("SELECT to_regclass($1) IS NOT NULL", &[&format!("{prefix}_settings")])?;
            if exists.get(0) {
                return Ok(false);
            }
            transaction.batch_execute(&format!(
                "CREATE TABLE {prefix}_settings (json TEXT NOT NULL);
                 CREATE TABLE {prefix}_records (number BIGINT PRIMARY KEY, id TEXT COLLATE \"C\" NOT NULL UNIQUE, tokens BYTEA NOT NULL);
                 CREATE TABLE {prefix}_labels (tree SMALLINT NOT NULL, label BIGINT NOT NULL, record BIGINT NOT NULL,
                                               PRIMARY KEY (tree, label, record));"
            ))?;
            transaction.execute(&format!("INSERT INTO {prefix}_settings VALUES ($1)"), &[&settings.to_json()])?;
            transaction.commit()?;
            Ok(true)
        })();
        match made.map_err(|error| failure(&name, &error))? {
            false => Err(Error::index(&name, "this index exists; name another one with ?index=NAME")),
            true => Self::open(tables),
        }
    }

    pub(super) fn open(tables: &Tables) -> Result<Self> {
        let (name, prefix) = (tables.name(), tables.prefix.as_str());
        let mut client = tables.connect(Address::postgres)?;
        let refused = |error: postgres::Error| failure(&name, &error);
        let exists = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&format!("{prefix}_settings")]);
        if !exists.map_err(refused)?.get::<_, bool>(0) {
            let reason = "there is no such index in the database; make one with `twinset index create`";
            return Err(Error::index(&name, reason));
        }
        let row = client.query_one(&format!("SELECT json FROM {prefix}_settings"), &[]).map_err(refused)?;
        let settings = Settings::from_json(row.get(0), &name)?;
        // Tables that have just grown are thought to be small, and would be read whole.
        let plans = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";
        client.batch_execute(plans).map_err(refused)?;
        let candidates = client.prepare(&format!(
            "SELECT r.number, r.id, r.tokens FROM {prefix}_records r WHERE r.number IN (
                 SELECT l.record FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS q (tree, low, high)
                 JOIN {prefix}_labels l ON l.tree = q.tree AND l.label BETWEEN q.low AND q.high)
             ORDER BY r.number"
        ));
        let candidates = candidates.map_err(refused)?;
        Ok(Self { client, prefix: prefix.to_owned(), name, settings, candidates })
    }

    /// Changes the tables when no other process does.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Transaction<'_>, &str) -> Result<T, postgres::Error>,
    ) -> Result<T> {
        let Self { client, prefix, name, .. } = self;
        let changed = (|| {
            let mut transaction = client.transaction()?;
            transaction.batch_execute(&format!("LOCK TABLE {prefix}_records IN SHARE ROW EXCLUSIVE MODE"))?;
            let changed = change(&mut transaction, prefix)?;
            transaction.commit()?;
            Ok(changed)
        })();
        changed.map_err(|error| failure(name, &error))
    }

    fn query(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let sql = sql.replace('#', &self.prefix);
        self.client.query(&sql, parameters).map_err(|error| failure(&self.name, &error))
    }
}

fn stored(row: &Row, name: &str) -> Result<StoredRecord> {
    let damaged = || Error::damaged(name, "a record is damaged", "restore the tables from a copy");
    Ok(StoredRecord { number: row.get(0), id: row.get(1), hashes: from_bytes(row.get(2)).ok_or_else(damaged)? })
}

fn failure(name: &str, error: &postgres::Error) -> Error {
    Error::index(name, postgres_reason(error))
}

/// Takes out the records with these ids, and their labels. Returns their numbers and ids.
fn take(
    transaction: &mut Transaction<'_>,
    prefix: &str,
    ids: &[&str],
    relabel: &dyn Fn(&[u64]) -> Vec<i64>,
) -> Result<Vec<(i64, String)>, postgres::Error> {
    let taken = transaction
        .query(&format!("DELETE FROM {prefix}_records WHERE id = ANY($1) RETURNING number, id, tokens"), &[&ids])?;
    let (mut trees, mut labels, mut records) = (Vec::new(), Vec::new(), Vec::new());
    for row in &taken {
        let Some(hashes) = from_bytes(row.get(2)) else {
            // What it was labelled by is not known any more.
            transaction.execute(&format!("DELETE FROM {prefix}_labels WHERE record = $1"), &[&row.get::<_, i64>(0)])?;
            continue;
        };
        for (tree, label) in (0i16..).zip(relabel(&hashes)) {
            trees.push(tree);
            labels.push(label);
            records.push(row.get::<_, i64>(0));
        }
    }
    transaction.execute(
        &format!(
            "DELETE FROM {prefix}_labels l USING unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS q (tree, label, record)
             WHERE l.tree = q.tree AND l.label = q.label AND l.record = q.record"
        ),
        &[&trees, &labels, &records],
    )?;
    Ok(taken.iter().map(|row| (row.get(0), row.get(1))).collect())
}

impl Backend for Postgres {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        self.change(|transaction, prefix| {
            transaction.execute(&format!("UPDATE {prefix}_settings SET json = $1"), &[&settings.to_json()])
        })?;
        self.settings = settings.clone();
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn len(&mut self) -> Result<u64> {
        let rows = self.query("SELECT count(*) FROM #_records", &[])?;
        Ok(rows[0].get::<_, i64>(0) as u64)
    }

    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        self.change(|transaction, prefix| {
            let next =
                transaction.query_one(&format!("SELECT coalesce(max(number), 0) + 1 FROM {prefix}_records"), &[])?;
            let mut next: i64 = next.get(0);
            let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
            let replaced = take(transaction, prefix, &ids, relabel)?;
            let numbers: std::collections::HashMap<&str, i64> =
                replaced.iter().map(|(number, id)| (id.as_str(), *number)).collect();
            let mut labels = Vec::new();
            let sink = transaction.copy_in(&format!("COPY {prefix}_records (number, id, tokens) FROM STDIN BINARY"))?;
            let mut writer = BinaryCopyInWriter::new(sink, &[Type::INT8, Type::TEXT, Type::BYTEA]);
            for record in records {
                let number = numbers.get(record.id.as_str()).copied().unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                writer.write(&[&number, &record.id, &to_bytes(&record.hashes)])?;
                labels.extend((0i16..).zip(&record.labels).map(|(tree, &label)| (tree, label, number)));
            }
            writer.finish()?;
            labels.sort_unstable();
            let sink = transaction.copy_in(&format!("COPY {prefix}_labels (tree, label, record) FROM STDIN BINARY"))?;
            let mut writer = BinaryCopyInWriter::new(sink, &[Type::INT2, Type::INT8, Type::INT8]);
            for (tree, label, number) in &labels {
                writer.write(&[tree, label, number])?;
            }
            writer.finish()?;
            Ok(replaced.len() as u64)
        })
    }

    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.change(|transaction, prefix| Ok(take(transaction, prefix, &ids, relabel)?.len() as u64))
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        let rows = self.query("SELECT number, id, tokens FROM #_records WHERE id = $1", &[&id])?;
        rows.first().map(|row| stored(row, &self.name)).transpose()
    }

    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()> {
        let trees: Vec<i16> = (0..ranges.len() as i16).collect();
        let lows: Vec<i64> = ranges.iter().map(|range| *range.start()).collect();
        let highs: Vec<i64> = ranges.iter().map(|range| *range.end()).collect();
        let Self { client, candidates, name, .. } = self;
        let parameters: [&(dyn ToSql + Sync); 3] = [&trees, &lows, &highs];
        let mut rows = client.query_raw(&*candidates, parameters).map_err(|error| failure(name, &error))?;
        while let Some(row) = rows.next().map_err(|error| failure(name, &error))? {
            let record = stored(&row, name)?;
            visit(record.number, &record.id, &record.hashes);
        }
        Ok(())
    }

    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>> {
        let sql = "SELECT number, id, tokens FROM #_records WHERE number > $1 ORDER BY number LIMIT $2";
        self.query(sql, &[&number, &(count as i64)])?.iter().map(|row| stored(row, &self.name)).collect()
    }

    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize> {
        let trees: Vec<i16> = (0..labels.len() as i16).collect();
        let sql = "SELECT count(*) FROM unnest($1::smallint[], $2::bigint[]) AS q (tree, label)
                   JOIN #_labels l ON l.tree = q.tree AND l.label = q.label AND l.record = $3";
        let rows = self.query(sql, &[&trees, &labels, &record.number])?;
        Ok(rows[0].get::<_, i64>(0) as usize)
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.client.batch_execute(begin).map_err(|error| failure(&self.name, &error))
    }

    fn end_snapshot(&mut self) -> Result<()> {
        self.client.batch_execute("COMMIT").map_err(|error| failure(&self.name, &error))
    }

    fn label_count(&mut self) -> Result<u64> {
        let rows = self.query("SELECT count(*) FROM #_labels", &[])?;
        Ok(rows[0].get::<_, i64>(0) as u64)
    }

    fn bytes(&mut self) -> Result<Option<u64>> {
        let sql = "SELECT pg_total_relation_size('#_records') + pg_total_relation_size('#_labels')";
        Ok(Some(self.query(sql, &[])?[0].get::<_, i64>(0) as u64))
    }
}
