//! Files: a table each, and XML documents.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use twinset::Run;
use twinset_io::Format;
use twinset_io::read::features::{Batch, TableFile, XmlPaths, is_xml};
use walkdir::WalkDir;

use super::{Problem, Source, SourceOptions, Visit};
use crate::table::Table;
use crate::{Error, Result};

/// The files of a folder, or one file.
pub(super) struct Files {
    name: String,
    options: SourceOptions,
    tables: Vec<(String, PathBuf)>,
    documents: Vec<PathBuf>,
    paths: XmlPaths,
    /// Files of a folder that are neither.
    skipped: u64,
}

impl Files {
    pub(super) fn find(path: &Path, options: &SourceOptions) -> Result<Self> {
        let name = path.display().to_string();
        let mut files = Self {
            name: name.clone(),
            options: options.clone(),
            tables: Vec::new(),
            documents: Vec::new(),
            paths: XmlPaths::default(),
            skipped: 0,
        };
        if !path.exists() {
            return Err(Error::source(&name, "there is no such file or folder"));
        }
        if !path.is_dir() {
            files.add(path, path.file_name().map_or(path, Path::new));
            if files.skipped > 0 {
                let reason = "the ending is not that of a table or of XML; csv, tsv, parquet and xml are known (the first two and xml also with \
                              .gz or .zst), and SQLite files by what they hold";
                return Err(Error::source(&name, reason));
            }
            return Ok(files);
        }
        let is_hidden =
            |entry: &walkdir::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with('.'));
        let entries = WalkDir::new(path).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
            let entry = entry.map_err(|error| Error::source(&name, error))?;
            if entry.path().is_file() {
                files.add(entry.path(), entry.path().strip_prefix(path).unwrap_or(entry.path()));
            }
        }
        files.tell_apart();
        if files.tables.is_empty() && files.documents.is_empty() && options.tables.is_empty() {
            return Err(Error::source(&name, "there is no csv, tsv, parquet or xml file in this folder"));
        }
        Ok(files)
    }

    /// Documents that are named one by one.
    pub(super) fn of_documents(paths: &[&Path], options: &SourceOptions) -> Self {
        let first = paths.first().map_or_else(String::new, |path| path.display().to_string());
        Self {
            name: format!("{first} and {} more", paths.len() - 1),
            options: options.clone(),
            tables: Vec::new(),
            documents: paths.iter().map(|path| path.to_path_buf()).collect(),
            paths: XmlPaths::default(),
            skipped: 0,
        }
    }

    fn add(&mut self, path: &Path, below: &Path) {
        if is_xml(path) {
            self.documents.push(path.to_owned());
        } else if self.options.read.format.is_some()
            || matches!(Format::of_path(path), Some(Format::Csv | Format::Tsv | Format::Parquet))
        {
            let name = table_name(below);
            if self.options.has_table(None, &name) {
                self.tables.push((name, path.to_owned()));
            }
        } else {
            self.skipped += 1;
        }
    }

    /// Names files whose names differ only in their endings with these.
    fn tell_apart(&mut self) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        self.tables.iter().for_each(|(name, _)| *counts.entry(name.clone()).or_insert(0) += 1);
        for (name, path) in self.tables.iter_mut().filter(|(name, _)| counts[name] > 1) {
            let whole = path.file_name().map_or_else(String::new, |whole| whole.to_string_lossy().into_owned());
            let folder = name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            *name = format!("{folder}{whole}");
        }
    }

    fn path_of(&self, table: &Table) -> Result<&Path> {
        let found = self.tables.iter().find(|(name, _)| *name == table.name);
        found
            .map(|(_, path)| path.as_path())
            .ok_or_else(|| Error::source(&self.name, format!("there is no table {}", table.name)))
    }
}

impl Files {
    /// Reads all documents as one table, whose columns are their paths.
    fn read_documents(&mut self, wanted: Option<&[usize]>, run: &Run, visit: &mut Visit<'_>) -> Result<Vec<Problem>> {
        let (mut batch, mut problems) = (Batch::default(), Vec::new());
        let wanted: Option<HashSet<usize>> = wanted.map(|wanted| wanted.iter().copied().collect());
        let is_wanted = |path| wanted.as_ref().is_none_or(|wanted| wanted.contains(&path));
        for path in &self.documents {
            run.check()?;
            let read = self.paths.read(path, &self.options.read, run, |found, names| -> Result<()> {
                batch.append(found, is_wanted);
                if batch.size() >= super::ENOUGH {
                    visit(std::slice::from_ref(&batch), names)?;
                    batch = Batch::default();
                }
                Ok(())
            });
            match read {
                Err(Error::File(error)) if !matches!(error, twinset_io::Error::Library(_)) => {
                    problems.push(Problem::of_file(&error, path));
                }
                other => other?,
            }
        }
        visit(std::slice::from_ref(&batch), self.paths.names())?;
        Ok(problems)
    }
}

/// A file's path below its folder, without its endings.
fn table_name(below: &Path) -> String {
    let text = below.to_string_lossy().replace('\\', "/");
    let text = text.strip_suffix(".gz").or_else(|| text.strip_suffix(".zst")).unwrap_or(&text);
    let name_at = text.rfind('/').map_or(0, |at| at + 1);
    match text[name_at..].rfind('.') {
        Some(dot) if dot > 0 => text[..name_at + dot].to_owned(),
        _ => text.to_owned(),
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

impl Source for Files {
    fn name(&self) -> &str {
        &self.name
    }

    fn short(&self) -> String {
        let path = Path::new(&self.name);
        let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
        stem.map_or_else(|| self.name.clone(), |stem| stem.to_string_lossy().into_owned())
    }

    fn tables(&mut self, run: &Run) -> Result<(Vec<Table>, Vec<Problem>)> {
        let (mut tables, mut problems) = (Vec::new(), Vec::new());
        let quiet = Run { progress: None, ..run.clone() };
        for (name, path) in &self.tables {
            run.check()?;
            // Before the file is opened: if it changes in between, the next run reads it again.
            let state = self.options.state_of_files(&[path]);
            // What cannot be opened now cannot be read later.
            match TableFile::open(path, &self.options.read, &quiet) {
                Ok(file) => {
                    let columns = file.names().iter().map(|name| (name.clone(), String::new())).collect();
                    tables.push(Table { name: name.clone(), columns, state, bytes: size(path), ..Table::default() });
                }
                Err(error) => problems.push(Problem::of_file(&error, path)),
            }
        }
        if !self.documents.is_empty() && self.options.tables.is_empty() {
            let state = self.options.state_of_files(&self.documents.iter().map(PathBuf::as_path).collect::<Vec<_>>());
            let bytes = self.documents.iter().map(|path| size(path)).sum();
            tables.push(Table { state, bytes, ..Table::default() });
        }
        if self.skipped > 0 {
            let reason = format!(
                "{} of its files have other endings than csv, tsv, parquet and xml, and were not read",
                self.skipped
            );
            problems.push(Problem { place: self.name.clone(), reason });
        }
        Ok((tables, problems))
    }

    fn read(
        &mut self,
        table: &Table,
        wanted: Option<&[usize]>,
        run: &Run,
        visit: &mut Visit<'_>,
    ) -> Result<Vec<Problem>> {
        if table.is_xml() {
            return self.read_documents(wanted, run, visit);
        }
        let path = self.path_of(table)?;
        let file = TableFile::open(path, &self.options.read, run)?;
        let names = table.names();
        let bad = file.for_each(wanted, run, |batches| visit(batches, &names))?;
        Ok(Vec::from_iter(Problem::of_rows(&path.display().to_string(), bad)))
    }
}

impl Problem {
    fn of_file(error: &twinset_io::Error, path: &Path) -> Self {
        let (place, text) = (path.display().to_string(), error.to_string());
        let reason = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text).to_owned();
        Self { place, reason }
    }
}
