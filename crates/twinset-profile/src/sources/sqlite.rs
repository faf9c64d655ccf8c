//! A SQLite file, opened for reading only. Anybody may have made it, so nothing that its schema asks for is trusted.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use twinset::Run;
use twinset_io::read::features::{Batch, largest_row, long_row};

use super::sql::quoted;
use super::{ENOUGH, Problem, Source, SourceOptions, Visit, hexadecimal};
use crate::table::{DeclaredKey, Table};
use crate::{Error, Result};

pub(super) struct Sqlite {
    name: String,
    connection: Connection,
    options: SourceOptions,
    /// That of all its tables.
    state: String,
}

/// Whether a file is a SQLite database.
pub(super) fn is_database(path: &Path) -> bool {
    let mut start = [0; 16];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"SQLite format 3\0"
}

/// The state of a database: that of its file and of its write-ahead log, where what was written last may be. The counter in the
/// header would not do: SQLite need not raise it in WAL mode or while it locks the file exclusively.
///
/// This is called before the file is locked: closing it here would end all locks that this process has on it.
fn state(path: &Path, options: &SourceOptions) -> String {
    if options.state.is_some() {
        return options.state_or(|| None);
    }
    // SQLite follows links, and writes its log beside the file that they lead to.
    let Ok(path) = path.canonicalize() else { return String::new() };
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let log = Path::new(&log);
    let has_log = log.metadata().is_ok_and(|log| log.len() > 0);
    options.state_of_files(&[&path, log][..if has_log { 2 } else { 1 }])
}

impl Sqlite {
    pub(super) fn open(path: &Path, options: &SourceOptions) -> Result<Self> {
        let name = path.display().to_string();
        let state = state(path, options);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&name, &error))?;
        let sqlite = Self { name, connection, options: options.clone(), state };
        let begin = "PRAGMA query_only = true; PRAGMA trusted_schema = false; PRAGMA cell_size_check = true; BEGIN";
        sqlite.connection.execute_batch(begin).map_err(|error| failure(&sqlite.name, &error))?;
        Ok(sqlite)
    }

    /// Ends a query that takes longer than allowed.
    fn limit_time(&mut self, run: &Run) -> Result<()> {
        let deadline = self.options.timeout.map(|timeout| Instant::now() + timeout);
        let cancel = run.cancel.clone();
        let ended = move || cancel.is_stopped() || deadline.is_some_and(|deadline| Instant::now() > deadline);
        self.connection.progress_handler(10_000, Some(ended)).map_err(|error| failure(&self.name, &error))
    }

    fn describe(&self) -> rusqlite::Result<Vec<Table>> {
        let kinds = if self.options.views { "'table', 'view'" } else { "'table'" };
        // A view or a virtual table may tell something else each time, whatever the file holds.
        let sql = format!(
            "SELECT name, rootpage > 0 FROM sqlite_schema WHERE type IN ({kinds}) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        );
        let names: Vec<(String, Option<bool>)> = self
            .connection
            .prepare(&sql)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let mut tables = Vec::new();
        for (name, is_stored) in names.into_iter().filter(|(name, _)| self.options.has_table(None, name)) {
            // Columns that are computed count as well; those that a virtual table hides do not.
            let sql = "SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
            let mut columns = self.connection.prepare(sql)?;
            let columns =
                columns.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
            let is_known = is_stored == Some(true) || self.options.state.is_some();
            let state = if is_known { self.state.clone() } else { String::new() };
            let declared = self.declared(&name)?;
            tables.push(Table { name, columns, state, declared, ..Table::default() });
        }
        Ok(tables)
    }

    fn declared(&self, table: &str) -> rusqlite::Result<Vec<DeclaredKey>> {
        let mut keys: Vec<(i64, DeclaredKey)> = Vec::new();
        let mut statement = self
            .connection
            .prepare("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq")?;
        let mut rows = statement.query([table])?;
        while let Some(row) = rows.next()? {
            let (id, to, from): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let to_column: Option<String> = row.get(3)?;
            if keys.last().is_none_or(|(last, _)| *last != id) {
                keys.push((id, DeclaredKey { columns: Vec::new(), to: (None, to.clone()), to_columns: Vec::new() }));
            }
            if let Some((_, key)) = keys.last_mut() {
                key.columns.push(from);
                // Without a column it is the primary key.
                key.to_columns.extend(to_column);
            }
        }
        for (_, key) in keys.iter_mut().filter(|(_, key)| key.to_columns.is_empty()) {
            let mut primary =
                self.connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
            key.to_columns = primary.query_map([&key.to.1], |row| row.get(0))?.collect::<Result<_, _>>()?;
        }
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }

    /// Reads rows as text, as far as the visitor wants them.
    fn rows(&self, table: &Table, wanted: &[usize], run: &Run, visit: &mut Visit<'_>) -> Result<()> {
        // Columns that are computed may be of any length, whatever that of the file is.
        let largest = largest_row(&self.options.read.limits) as usize;
        self.connection
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, largest as i32)
            .map_err(|error| failure(&self.name, &error))?;
        let too_long = || Error::source(&self.name, long_row(largest as u64));
        let refused = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::TooBig) => too_long(),
            _ => failure(&self.name, &error),
        };
        let names: Vec<String> = wanted.iter().map(|&column| quoted(&table.columns[column].0)).collect();
        let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
        let mut statement = self.connection.prepare(&sql).map_err(refused)?;
        let mut rows = statement.query([]).map_err(refused)?;
        let mut batch = Batch::new(table.columns.len());
        while let Some(row) = rows.next().map_err(refused)? {
            let mut length = 0;
            for (at, &column) in wanted.iter().enumerate() {
                let value = row.get_ref(at).map_err(refused)?;
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
                    length += bytes.len();
                }
                if length > largest {
                    return Err(too_long());
                }
                match value {
                    ValueRef::Null => batch.push(column, None),
                    ValueRef::Integer(number) => batch.push(column, Some(number.to_string().as_bytes())),
                    ValueRef::Real(number) => batch.push(column, Some(number.to_string().as_bytes())),
                    ValueRef::Text(text) => batch.push(column, Some(text)),
                    ValueRef::Blob(bytes) => batch.push(column, Some(hexadecimal(bytes).as_bytes())),
                }
            }
            if batch.size() >= ENOUGH {
                run.check()?;
                visit(std::slice::from_ref(&batch), &table.names())?;
                batch = Batch::new(table.columns.len());
            }
        }
        visit(std::slice::from_ref(&batch), &table.names())
    }
}

fn failure(name: &str, error: &rusqlite::Error) -> Error {
    let reason = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => "a query took longer than --timeout allows".to_owned(),
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
            format!("the SQLite file is damaged ({error}); restore it from a copy")
        }
        _ => format!("the SQLite file cannot be read: {error}"),
    };
    Error::source(name, reason)
}

impl Source for Sqlite {
    fn name(&self) -> &str {
        &self.name
    }

    fn short(&self) -> String {
        Path::new(&self.name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    fn tables(&mut self, run: &Run) -> Result<(Vec<Table>, Vec<Problem>)> {
        self.limit_time(run)?;
        Ok((self.describe().map_err(|error| failure(&self.name, &error))?, Vec::new()))
    }

    fn read(
        &mut self,
        table: &Table,
        wanted: Option<&[usize]>,
        run: &Run,
        visit: &mut Visit<'_>,
    ) -> Result<Vec<Problem>> {
        self.limit_time(run)?;
        // In a damaged file tables may share a page, and what becomes of that depends on who was there first: nobody is.
        self.connection.execute_batch("PRAGMA shrink_memory").map_err(|error| failure(&self.name, &error))?;
        let all: Vec<usize> = (0..table.columns.len()).collect();
        self.rows(table, wanted.unwrap_or(&all), run, visit)?;
        Ok(Vec::new())
    }
}
