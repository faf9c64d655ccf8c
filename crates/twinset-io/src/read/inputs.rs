//! The files that a user's paths, folders and globs stand for.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twinset::Run;
use walkdir::WalkDir;

use super::fields::Wanted;
use super::{Format, ReadOptions, parquet};
use crate::guard::guarded;
use crate::memory::MemoryTable;
use crate::{Error, Result, Source};

/// The files of one collection, in the order in which they are read.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    pub(crate) files: Vec<InputFile>,
    /// Whether a folder was among the paths.
    pub(crate) has_folder: bool,
    /// What a folder holds besides: files whose endings are not known, links that lead nowhere or to folders.
    pub(crate) skipped: u64,
}

/// A file that is read.
#[derive(Debug, Clone)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    /// The path below the folder that was named, or the file's own name.
    pub(crate) name: PathBuf,
    /// A copy of standard input, if that is what the path stands for and it is read more than once.
    pub(crate) spool: Option<Arc<File>>,
    /// The table that is read instead; the path is then what messages call it.
    pub(crate) table: Option<Arc<MemoryTable>>,
}

impl InputFile {
    pub(super) fn new(path: PathBuf, folder: Option<&Path>) -> Self {
        let below = folder.and_then(|folder| path.strip_prefix(folder).ok()).map(Path::to_owned);
        let name = below.or_else(|| path.file_name().map(PathBuf::from)).unwrap_or_else(|| path.clone());
        Self { path, name, spool: None, table: None }
    }

    fn of_table(name: &str, table: Arc<MemoryTable>) -> Self {
        Self { path: name.into(), name: name.into(), spool: None, table: Some(table) }
    }

    /// The format asked for, or the one of its ending. A table in memory is columns, as a parquet file is.
    pub(super) fn format(&self, asked: Option<Format>) -> Option<Format> {
        if self.table.is_some() {
            return Some(Format::Parquet);
        }
        asked.or_else(|| if self.is_standard() { Some(Format::Txt) } else { Format::of_path(&self.path) })
    }

    /// Refuses a format that this build cannot read.
    pub(super) fn check_format(&self, format: Format) -> Result<()> {
        format.missing(self.title()).map_or(Ok(()), Err)
    }

    pub(crate) fn is_standard(&self) -> bool {
        self.path == Path::new(STANDARD_INPUT)
    }

    /// What a message calls it.
    pub(crate) fn title(&self) -> String {
        if self.is_standard() { "standard input".to_owned() } else { self.path.display().to_string() }
    }
}

/// Stands for standard input.
const STANDARD_INPUT: &str = "-";

impl Inputs {
    /// The paths of the files, in the order in which they are read. Tables in memory have none.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(|file| file.table.is_none()).map(|file| &file.path)
    }

    /// Whether they are a table in memory.
    pub(crate) fn are_table(&self) -> bool {
        matches!(self.files.as_slice(), [file] if file.table.is_some())
    }

    /// Whether they are tables in memory whose texts are lists of tokens.
    pub(crate) fn have_token_lists(&self, options: &ReadOptions) -> bool {
        let wanted = Wanted::new(options, &[]);
        let mut tables = self.files.iter().filter_map(|file| file.table.as_ref());
        tables.next().is_some_and(|table| parquet::has_token_lists(table, &wanted))
    }

    /// Puts standard input, if it is among the files, into a temporary file, so that it can be read again.
    pub fn spool(&mut self, run: &Run) -> Result<()> {
        for file in self.files.iter_mut().filter(|file| file.is_standard()) {
            let fail =
                |error: io::Error| Error::file(&file.path, format!("cannot be kept for a second reading: {error}"));
            let mut copy = run.spill.as_ref().map_or_else(tempfile::tempfile, tempfile::tempfile_in).map_err(fail)?;
            io::copy(&mut io::stdin(), &mut copy).map_err(fail)?;
            file.spool = Some(Arc::new(copy));
        }
        Ok(())
    }

    /// The files that paths stand for, which are files, folders (all files in them, in path order), quoted globs, or `-`; and
    /// tables in memory.
    pub fn find<S: Into<Source>>(sources: impl IntoIterator<Item = S>, format: Option<Format>) -> Result<Self> {
        let mut inputs = Self::default();
        for source in sources {
            match source.into() {
                Source::Path(path) => inputs.add(&path, format)?,
                Source::Table(name, table) => inputs.files.push(InputFile::of_table(name, table)),
            }
        }
        // What cannot be read is refused now rather than after long work.
        for file in &inputs.files {
            file.format(format).map_or(Ok(()), |format| file.check_format(format))?;
        }
        Ok(inputs)
    }

    fn add(&mut self, path: &Path, format: Option<Format>) -> Result<()> {
        if path == Path::new(STANDARD_INPUT) {
            self.files.push(InputFile::new(path.to_owned(), None));
        } else if path.is_dir() {
            self.has_folder = true;
            let before = self.files.len();
            self.add_folder(path, format)?;
            if self.files.len() == before {
                let reason = format!("there is no readable file in this folder; known endings are {}", Format::KNOWN);
                return Err(Error::file(path, reason));
            }
        } else if !path.exists() && path.to_str().is_some_and(|text| text.contains(['*', '?', '['])) {
            let pattern = path.to_str().unwrap_or_default();
            let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
            let found =
                glob::glob_with(pattern, options).map_err(|error| Error::file(path, format!("not a glob: {error}")))?;
            let odd = "a name in one of these folders is not UTF-8, which globs cannot read; name the folder";
            let found = guarded(|| found.collect::<Result<Vec<PathBuf>, _>>()).ok_or_else(|| Error::file(path, odd))?;
            let found = found.map_err(|error| Error::file(path, error))?;
            let mut files: Vec<PathBuf> = found.into_iter().filter(|path| !path.is_dir()).collect();
            if files.is_empty() {
                return Err(Error::file(path, "no file matches this glob"));
            }
            files.sort();
            self.files.extend(files.into_iter().map(|file| InputFile::new(file, None)));
        } else {
            self.files.push(InputFile::new(path.to_owned(), None));
        }
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path, format: Option<Format>) -> Result<()> {
        let is_hidden = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with('.'));
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name())) {
            let entry = entry.map_err(|error| Error::file(folder, error))?;
            if entry.file_type().is_dir() {
                continue;
            }
            let is_file = entry.path().is_file();
            if is_file && (format.is_some() || Format::of_path(entry.path()).is_some()) {
                self.files.push(InputFile::new(entry.into_path(), Some(folder)));
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }
}
