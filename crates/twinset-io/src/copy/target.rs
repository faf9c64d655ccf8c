//! Where copied records go: one file, or a folder with as many files as were read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::read::{Format, Inputs, ReadOptions, format_of};
use crate::{Error, Output, Result};

/// One file, standard output, or a folder with a file for each input.
pub enum Target {
    /// For a single input file.
    File(Option<Output>),
    /// A path for each input file.
    Folder(Vec<PathBuf>),
}

impl Target {
    /// Opens the target for the records of the inputs. What is wrong with it is noticed now rather than after long work.
    pub fn open_for(path: Option<&Path>, inputs: &Inputs, options: &ReadOptions) -> Result<Self> {
        let path = path.filter(|path| *path != Path::new("-"));
        let is_one = inputs.files.len() == 1 && !inputs.has_folder;
        match (path, is_one) {
            (None, true) => Ok(Self::File(Some(Output::standard()))),
            (None, false) => Err(Error::Usage(
                "there are several input files: name a folder with --output, where each gets a file of its own"
                    .to_owned(),
            )),
            (Some(path), true) => {
                let format = format_of(&inputs.files[0], options)?;
                if let Some(told) = Format::of_path(path).filter(|&told| told != format) {
                    return Err(Error::Usage(format!(
                        "{}: records are written as they stand, which is {format} and not {told}; name a file that ends so",
                        path.display()
                    )));
                }
                Ok(Self::File(Some(Output::create(path)?)))
            }
            (Some(folder), false) => {
                let mut names = BTreeSet::new();
                if let Some(twice) = inputs.files.iter().find(|file| !names.insert(&file.name)) {
                    return Err(Error::Usage(format!(
                        "two input files have the name {}, and would get the same file in {}; join them from a folder",
                        twice.name.display(),
                        folder.display()
                    )));
                }
                let paths: Vec<PathBuf> = inputs.files.iter().map(|file| folder.join(&file.name)).collect();
                for parent in paths.iter().filter_map(|path| path.parent()) {
                    let fail =
                        |error: std::io::Error| Error::file(parent, format!("the folder cannot be made: {error}"));
                    std::fs::create_dir_all(parent).map_err(fail)?;
                }
                Ok(Self::Folder(paths))
            }
        }
    }

    /// The paths that will be written.
    pub fn paths(path: &Path, inputs: &Inputs) -> Vec<PathBuf> {
        match inputs.files.len() == 1 && !inputs.has_folder {
            true => vec![path.to_owned()],
            false => inputs.files.iter().map(|file| path.join(&file.name)).collect(),
        }
    }

    /// The output for a single input file.
    pub fn into_single(mut self) -> Result<Output> {
        self.open(0)
    }

    /// The output for the input file at a position.
    pub(super) fn open(&mut self, at: usize) -> Result<Output> {
        match self {
            Self::File(output) => Ok(output.take().expect("a single file is opened once")),
            Self::Folder(paths) => Output::create(&paths[at]),
        }
    }
}
