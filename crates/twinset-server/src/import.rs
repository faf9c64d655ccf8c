//! Articles from files: jsonl as the API takes them, web pages, texts, feeds; compressed or not.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use twinset_io::inner_ending;
use twinset_io::read::{decoded_page, open_bytes, open_text};

use crate::limits::Limits;
use url::Url;

use crate::article::{Origin, Submission};
use crate::feeds::entries;
use crate::news::News;
use crate::summary::ImportSummary;
use crate::{Error, Result};

/// So many articles are handed on at a time.
const TOGETHER: usize = 400;

/// Takes in a file, or all files of a folder that can be understood. Tells after each batch how many were taken in.
pub fn import(news: &News, path: &Path, mut progress: impl FnMut(u64)) -> Result<ImportSummary> {
    let mut imported = ImportSummary::default();
    let files = files(path)?;
    for file in &files {
        let place = file.display().to_string();
        let kind = ending(file);
        let submission = match kind.as_str() {
            "jsonl" | "ndjson" => {
                lines(news, file, &mut imported, &mut progress)?;
                continue;
            }
            "rss" | "atom" | "xml" => {
                let taken = whole(open_bytes(file, &news.limits().read), file, news.limits())?;
                match taken.and_then(|bytes| entries::take_in(news, &bytes, &address(file)?)) {
                    Ok(taken) => imported.add(taken.imported, &place),
                    Err(reason) => imported.refuse(1, format!("{place}: {reason}")),
                }
                continue;
            }
            "txt" => whole(open_text(file, &news.limits().read), file, news.limits())?.and_then(|bytes| {
                let text = String::from_utf8(bytes).map_err(|error| not_unicode(&error))?;
                let title = file.file_name().map(|name| name.to_string_lossy().into_owned());
                Ok(Submission { url: address(file)?, title, text: Some(text), ..Submission::default() })
            }),
            _ => whole(open_bytes(file, &news.limits().read), file, news.limits())?.and_then(|bytes| {
                let html = Some(decoded_page(&bytes).into_owned());
                Ok(Submission { url: address(file)?, html, ..Submission::default() })
            }),
        };
        match submission {
            Ok(submission) => imported.take(news, vec![(place, submission)], Origin::Direct, &mut progress)?,
            Err(reason) => imported.refuse(1, format!("{place}: {reason}")),
        }
    }
    Ok(imported)
}

/// The address of a file, which is the same however its folder was named.
pub(crate) fn address(file: &Path) -> Result<String, String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|error| format!("its folder cannot be found: {error}"))?;
    let whole = folder.join(file.file_name().unwrap_or_default());
    Url::from_file_path(&whole).map(String::from).map_err(|()| "its path is no address".to_owned())
}

fn lines(news: &News, file: &Path, imported: &mut ImportSummary, progress: &mut impl FnMut(u64)) -> Result<()> {
    let mut reader = BufReader::new(opened(open_text(file, &news.limits().read))?);
    let largest = news.limits().read.record;
    let (mut batch, mut line, mut number) = (Vec::new(), Vec::new(), 0u64);
    loop {
        line.clear();
        number += 1;
        let place = || format!("{}, line {number}", file.display());
        let fail = |error| unreadable(file, &error);
        let length = reader.by_ref().take(largest + 1).read_until(b'\n', &mut line).map_err(fail)?;
        if line.strip_suffix(b"\n").unwrap_or(&line).len() as u64 > largest {
            imported.refuse(1, format!("{}: {}", place(), too_large(largest)));
            reader.skip_until(b'\n').map_err(fail)?;
        } else if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Submission>(&line) {
                Ok(submission) => batch.push((place(), submission)),
                Err(error) => imported.refuse(1, format!("{}: {error}", place())),
            }
        }
        if batch.len() >= TOGETHER || length == 0 {
            imported.take(news, std::mem::take(&mut batch), Origin::Direct, progress)?;
        }
        if length == 0 {
            return Ok(());
        }
    }
}

/// The ending of a file, before that of its compression.
fn ending(path: &Path) -> String {
    inner_ending(path).unwrap_or_default()
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    const KNOWN: [&str; 8] = ["jsonl", "ndjson", "rss", "atom", "xml", "html", "htm", "txt"];
    if !path.is_dir() {
        if !path.exists() {
            return Err(Error::Usage(format!("--import {}: there is no such file or folder", path.display())));
        }
        if !KNOWN.contains(&ending(path).as_str()) {
            return Err(Error::Usage(format!("--import {}: {} can be taken in", path.display(), KNOWN.join(", "))));
        }
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|error| unreadable(path, &error))?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() && !entry.is_symlink() {
            found.extend(files(&entry)?);
        } else if entry.is_file() && KNOWN.contains(&ending(&entry).as_str()) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// All bytes of a file, or why these are too many.
fn whole(open: twinset_io::Result<impl Read>, file: &Path, limits: &Limits) -> Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    let read = opened(open)?.take(limits.read.record + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(file, &error))?;
    Ok(if bytes.len() as u64 > limits.read.record { Err(too_large(limits.read.record)) } else { Ok(bytes) })
}

fn too_large(largest: u64) -> String {
    format!("it is longer than {largest} bytes; --max-record allows more")
}

fn not_unicode(error: &std::string::FromUtf8Error) -> String {
    format!(
        "it is no UTF-8 after byte {}; convert it, or let it begin with a byte order mark",
        error.utf8_error().valid_up_to()
    )
}

fn opened<R>(open: twinset_io::Result<R>) -> Result<R> {
    open.map_err(|error| Error::Usage(error.to_string()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::storage(&file.display().to_string(), format!("it cannot be read: {error}"))
}
