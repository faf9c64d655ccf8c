//! A file that takes its name only when it is complete, or standard output.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Destination;
use super::link_target::LinkTarget;
use crate::compression::{Compression, inner_ending};
use crate::durable::{Temporary, sync_name};
use crate::memory::Memory;
use crate::{Error, Result};

/// Where results go, and how they are written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct OutputOptions {
    /// Write results to FILE instead of standard output; it appears only when complete (.gz and .zst are compressed)
    #[cfg_attr(feature = "clap", arg(long, short, value_name = "FILE", help_heading = "Output"))]
    #[cfg_attr(feature = "clap", arg(default_value = "-", hide_default_value = true))]
    pub output: Destination,
    /// The format of the output (default: by the file's extension, otherwise csv)
    #[cfg_attr(feature = "clap", arg(long, value_name = "FORMAT", help_heading = "Output"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<OutputFormat>()))]
    pub output_format: Option<OutputFormat>,
}

impl OutputOptions {
    /// Opens the output, and tells its format: the one asked for, or the one of the file's ending. What is wrong with
    /// either is noticed now rather than after long work.
    pub fn open(&self) -> Result<(Output, OutputFormat)> {
        let Some(path) = self.output.path() else {
            let (output, format) = (self.output.open()?, self.output_format.unwrap_or_default());
            format.check(output.name())?;
            return Ok((output, format));
        };
        let format = self.output_format.map_or_else(|| OutputFormat::of_path(path), Ok)?;
        if format == OutputFormat::Parquet && Compression::of_path(path).is_some() {
            return Err(Error::Usage(format!(
                "{}: parquet is compressed by itself; leave out the last ending",
                path.display()
            )));
        }
        format.check(path.display())?;
        Ok((Output::create(path)?, format))
    }
}

/// Refuses outputs that would replace one another, or an input. Only the first, the value of `--output`, can be standard output.
pub fn check_outputs(
    output: Option<&Path>,
    others: impl IntoIterator<Item = impl AsRef<Path>>,
    inputs: &[PathBuf],
) -> Result<()> {
    let place =
        |path: &Path| std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or(path.to_owned());
    let inputs: BTreeSet<PathBuf> = inputs.iter().map(|path| place(path)).collect();
    let mut seen = BTreeSet::new();
    let others: Vec<_> = others.into_iter().collect();
    let output = output.filter(|path| *path != Path::new("-"));
    for path in output.into_iter().chain(others.iter().map(AsRef::as_ref)) {
        if path == Path::new("-") {
            return Err(Error::Usage("only --output can be standard output; name a file".to_owned()));
        }
        let destination = LinkTarget::of(path).map_err(|error| Error::file(path, error.to_string()))?;
        // A device, such as /dev/null, takes as many outputs as there are.
        if matches!(destination, LinkTarget::Device(_)) || path.is_dir() {
            continue;
        }
        if inputs.contains(&place(path)) {
            return Err(Error::Usage(format!(
                "{}: this is an input, and would be replaced; name another file",
                path.display()
            )));
        }
        if matches!(&destination, LinkTarget::File(file) if is_standard_output(file)) {
            return Err(Error::Usage(format!(
                "{}: standard output goes to this file as well; name another file",
                path.display()
            )));
        }
        if !seen.insert(destination) {
            return Err(Error::Usage(format!("{}: two outputs have this name; name another file", path.display())));
        }
    }
    Ok(())
}

/// Whether standard output goes to a file, which replacing it would detach.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let standard = io::stdout().as_fd().try_clone_to_owned().and_then(|standard| File::from(standard).metadata());
    match (standard, std::fs::metadata(path)) {
        (Ok(standard), Ok(file)) => standard.is_file() && (standard.dev(), standard.ino()) == (file.dev(), file.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}

/// How results are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum OutputFormat {
    /// CSV with a header row.
    #[default]
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

impl OutputFormat {
    /// The format that a path's ending tells, before `.gz` or `.zst`; csv if it tells nothing.
    pub fn of_path(path: &Path) -> Result<Self> {
        match inner_ending(path).as_deref() {
            Some("jsonl" | "ndjson") => Ok(Self::Jsonl),
            Some("parquet") => Self::Parquet.check(path.display()).map(|()| Self::Parquet),
            Some(other @ ("tsv" | "tab" | "txt" | "json")) => Err(Error::Usage(format!(
                "{}: {other} cannot be written; name a csv, jsonl or parquet file, or say --output-format",
                path.display()
            ))),
            _ => Ok(Self::Csv),
        }
    }

    /// Refuses a format that this build cannot write.
    pub(super) fn check(self, file: impl fmt::Display) -> Result<()> {
        match self {
            Self::Parquet if !cfg!(feature = "parquet") => {
                Err(Error::missing_feature(file, "write parquet", "parquet"))
            }
            _ => Ok(()),
        }
    }
}

/// A writer to a file or to standard output. A file is written under a temporary name beside its own, and takes its
/// name in [`finish`](Self::finish); if that is never reached, nothing is left.
pub struct Output {
    name: String,
    writer: Encoder,
    pending: Option<Pending>,
    /// Where it is written, if that is in memory.
    place: Option<Memory>,
}

/// What makes a file stay once all is written, even if the power fails.
enum Pending {
    /// It takes this name.
    Name(Temporary, PathBuf),
    /// It has this name, and its content is to stay.
    Content(File, PathBuf),
}

enum Encoder {
    Plain(Box<dyn Write + Send>),
    Gzip(Box<flate2::write::GzEncoder<Box<dyn Write + Send>>>),
    Zstd(Box<zstd::Encoder<'static, Box<dyn Write + Send>>>),
}

impl Encoder {
    /// Compresses as the path's ending says.
    fn new(file: File, path: &Path) -> io::Result<Self> {
        let file: Box<dyn Write + Send> = Box::new(BufWriter::with_capacity(1 << 18, file));
        Ok(match Compression::of_path(path) {
            None => Self::Plain(file),
            Some(Compression::Gzip) => Self::gzip(file),
            Some(Compression::Zstd) => Self::zstd(file)?,
        })
    }

    fn gzip(file: Box<dyn Write + Send>) -> Self {
        Self::Gzip(Box::new(flate2::write::GzEncoder::new(file, Default::default())))
    }

    fn zstd(file: Box<dyn Write + Send>) -> io::Result<Self> {
        Ok(Self::Zstd(Box::new(zstd::Encoder::new(file, 3)?)))
    }
}

impl Output {
    /// Standard output.
    pub fn standard() -> Self {
        let writer = Encoder::Plain(Box::new(BufWriter::with_capacity(1 << 16, io::stdout())));
        Self { name: "standard output".to_owned(), writer, pending: None, place: None }
    }

    /// A place in memory.
    pub(super) fn memory(place: Memory) -> Self {
        let writer = Encoder::Plain(Box::new(place.clone()));
        Self { name: "the result".to_owned(), writer, pending: None, place: Some(place) }
    }

    /// The place in memory that it writes to, if it does.
    pub(crate) fn place(&self) -> Option<&Memory> {
        self.place.as_ref()
    }

    /// A file that will have this path, or that a link leads to. An open descriptor, such as standard output, a pipe or
    /// a device is written to directly.
    pub fn create(path: &Path) -> Result<Self> {
        let fail = |error: io::Error| Error::file(path, format!("cannot be written: {error}; choose another place"));
        let name = path.display().to_string();
        // A link is followed, so that what it leads to is replaced, and not the link.
        let destination = LinkTarget::of(path).map_err(fail)?;
        let LinkTarget::File(target) = &destination else {
            let file = destination.open().map_err(fail)?;
            return Ok(Self { name, writer: Encoder::new(file, path).map_err(fail)?, pending: None, place: None });
        };
        if target.is_dir() {
            return Err(Error::file(path, "this is a folder; name a file in it"));
        }
        let temporary = Temporary::beside(target).map_err(fail)?;
        let file = temporary.file().try_clone().map_err(fail)?;
        let pending = Some(Pending::Name(temporary, target.clone()));
        Ok(Self { name, writer: Encoder::new(file, path).map_err(fail)?, pending, place: None })
    }

    /// A file that has its name from the beginning, for what is written bit by bit and may never end.
    pub fn growing(path: &Path) -> Result<Self> {
        let fail = |error: io::Error| Error::file(path, format!("cannot be written: {error}; choose another place"));
        let destination = LinkTarget::of(path).map_err(fail)?;
        let file = destination.open().map_err(fail)?;
        let pending = match &destination {
            LinkTarget::File(path) => Some(Pending::Content(file.try_clone().map_err(fail)?, path.clone())),
            // Of a pipe nothing stays.
            _ => None,
        };
        let writer = Encoder::new(file, path).map_err(fail)?;
        Ok(Self { name: path.display().to_string(), writer, pending, place: None })
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        let Self { name, writer, pending, .. } = self;
        let fail = |error: io::Error| write_failure(&name, &error);
        let mut inner = match writer {
            Encoder::Plain(inner) => inner,
            Encoder::Gzip(encoder) => encoder.finish().map_err(fail)?,
            Encoder::Zstd(encoder) => encoder.finish().map_err(fail)?,
        };
        inner.flush().map_err(fail)?;
        drop(inner);
        match pending {
            None => Ok(()),
            Some(Pending::Name(temporary, path)) => temporary.persist(&path),
            Some(Pending::Content(file, path)) => file.sync_all().and_then(|()| sync_name(&path)),
        }
        .map_err(fail)
    }

    /// Begins a new member of a compressed file, which can be unpacked without those before it.
    #[cfg(feature = "web")]
    pub(crate) fn begin_member(&mut self) -> io::Result<()> {
        let before = std::mem::replace(&mut self.writer, Encoder::Plain(Box::new(io::sink())));
        self.writer = match before {
            Encoder::Plain(inner) => Encoder::Plain(inner),
            Encoder::Gzip(encoder) => Encoder::gzip(encoder.finish()?),
            Encoder::Zstd(encoder) => Encoder::zstd(encoder.finish()?)?,
        };
        Ok(())
    }

    /// The file's path, or what stands for it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What a failed write means to the user.
    pub fn failure(&self, error: &io::Error) -> Error {
        write_failure(&self.name, error)
    }
}

pub(crate) fn write_failure(name: &str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Error::BrokenPipe;
    }
    Error::File {
        file: name.to_owned(),
        reason: format!("writing failed: {error}; make room, or choose another place"),
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gzip(writer) => writer.write(bytes),
            Encoder::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gzip(writer) => writer.flush(),
            Encoder::Zstd(writer) => writer.flush(),
        }
    }
}
