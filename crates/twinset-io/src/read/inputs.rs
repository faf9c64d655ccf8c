//! The files that a user's paths, folders and globs stand for.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::Format;
use crate::{Error, Result};

/// The files of one collection, in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    pub(crate) files: Vec<PathBuf>,
    /// What a folder holds besides: files whose endings are not known, links that lead nowhere or to folders.
    pub(crate) skipped: u64,
}

/// Stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

impl Inputs {
    /// The files, in the order in which they are read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The files that the paths stand for: files, folders (all files in them, in path order), quoted globs, or `-`.
    pub fn find<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, format: Option<Format>) -> Result<Self> {
        let mut inputs = Self::default();
        for path in paths {
            inputs.add(path.as_ref(), format)?;
        }
        Ok(inputs)
    }

    fn add(&mut self, path: &Path, format: Option<Format>) -> Result<()> {
        if path == Path::new(STANDARD_INPUT) {
            self.files.push(path.to_owned());
        } else if path.is_dir() {
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
            let found: Vec<PathBuf> = found.collect::<Result<_, _>>().map_err(|error| Error::file(path, error))?;
            let mut files: Vec<PathBuf> = found.into_iter().filter(|path| !path.is_dir()).collect();
            if files.is_empty() {
                return Err(Error::file(path, "no file matches this glob"));
            }
            files.sort();
            self.files.append(&mut files);
        } else {
            self.files.push(path.to_owned());
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
                self.files.push(entry.into_path());
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }
}
