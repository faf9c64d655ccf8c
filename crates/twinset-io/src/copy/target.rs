//! Where copied records go: one file, or a folder with as many files as were read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::compression::Compression;
use crate::durable::create_folder;
use crate::read::{Format, InputFile, Inputs, ReadOptions, format_of};
use crate::{Destination, Error, Output, Result};

/// One file, standard output, or a folder with a file for each input.
pub enum Target {
    /// For a single input file.
    File(Option<Output>),
    /// A path for each input file.
    Folder(Vec<PathBuf>),
}

impl Target {
    /// Opens the target for the records of the inputs. What is wrong with it is noticed now rather than after long work.
    pub fn open_for(destination: &Destination, inputs: &Inputs, options: &ReadOptions) -> Result<Self> {
        let is_one = inputs.files.len() == 1 && !inputs.has_folder;
        match (destination.path(), is_one) {
            (None, true) => Ok(Self::File(Some(destination.open()?))),
            (None, false) => Err(Error::Usage(
                "there are several input files: name a folder with --output, where each gets a file of its own"
                    .to_owned(),
            )),
            (Some(path), true) => {
                check_format(path, inputs, options)?;
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
                let paths: Vec<PathBuf> =
                    copied_names(inputs, options)?.into_iter().map(|name| folder.join(name)).collect();
                for parent in paths.iter().filter_map(|path| path.parent()) {
                    let fail = |error: std::io::Error| {
                        Error::file(parent, format!("the folder cannot be made: {error}; choose another place"))
                    };
                    create_folder(parent).map_err(fail)?;
                }
                Ok(Self::Folder(paths))
            }
        }
    }

    /// The paths that will be written.
    pub fn paths(path: &Path, inputs: &Inputs, options: &ReadOptions) -> Result<Vec<PathBuf>> {
        Ok(match inputs.files.len() == 1 && !inputs.has_folder {
            true => vec![path.to_owned()],
            false => copied_names(inputs, options)?.into_iter().map(|name| path.join(name)).collect(),
        })
    }

    /// A single file that has its name from the beginning, or standard output.
    pub fn growing(destination: &Destination, inputs: &Inputs, options: &ReadOptions) -> Result<Output> {
        let Some(path) = destination.path() else { return destination.open() };
        check_format(path, inputs, options)?;
        Output::growing(path)
    }

    /// The output for the input file at a position.
    pub(super) fn open(&mut self, at: usize) -> Result<Output> {
        match self {
            Self::File(output) => Ok(output.take().expect("a single file is opened once")),
            Self::Folder(paths) => Output::create(&paths[at]),
        }
    }
}

/// The names of the copies: those of the inputs, but what is RDF becomes N-Quads.
fn copied_names(inputs: &Inputs, options: &ReadOptions) -> Result<Vec<PathBuf>> {
    let name = |file: &InputFile| {
        let format = format_of(file, options)?;
        if !format.is_rdf() || format == Format::Nq {
            return Ok(file.name.clone());
        }
        let plain =
            if Compression::of_path(&file.name).is_some() { file.name.with_extension("") } else { file.name.clone() };
        let mut name = plain.into_os_string();
        name.push(".nq");
        Ok(PathBuf::from(name))
    };
    inputs.files.iter().map(name).collect()
}

/// Refuses a path whose ending tells another format than that of the input.
fn check_format(path: &Path, inputs: &Inputs, options: &ReadOptions) -> Result<()> {
    let Some(file) = inputs.files.first() else { return Ok(()) };
    let format = format_of(file, options)?;
    let format = if format.is_rdf() { Format::Nq } else { format };
    match Format::of_path(path).filter(|&told| told != format) {
        None => Ok(()),
        Some(told) => Err(Error::Usage(format!(
            "{}: records are written as {format} and not {told}; name a file that ends so",
            path.display()
        ))),
    }
}
