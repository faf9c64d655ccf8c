//! Articles from files: jsonl as the API takes them, web pages, texts, feeds; compressed or not.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use twinset_io::read::open_text;
use twinset_io::{Limits, inner_ending};

use crate::article::Submission;
use crate::feeds;
use crate::news::News;
use crate::writer::Outcome;
use crate::{Error, Result};

/// What became of the articles of some files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Articles that were not there before.
    pub new: u64,
    /// Articles that took the place of others.
    pub replaced: u64,
    /// Articles that were there already.
    pub unchanged: u64,
    /// What could not be taken in, and why; the first ones.
    pub problems: Vec<String>,
    /// How many could not be.
    pub refused: u64,
}

/// So many articles are handed on at a time.
const TOGETHER: usize = 400;
/// So many problems are told.
const TOLD: usize = 10;

/// Takes in a file, or all files of a folder that can be understood. Tells after each batch how many were taken in.
pub fn import(news: &News, path: &Path, mut progress: impl FnMut(u64)) -> Result<Imported> {
    let mut imported = Imported::default();
    let files = files(path)?;
    for file in &files {
        let below = file.strip_prefix(path).ok().filter(|below| !below.as_os_str().is_empty());
        let name = below.unwrap_or(file.file_name().map_or(file, Path::new)).to_string_lossy().replace('\\', "/");
        match ending(file).as_str() {
            "jsonl" | "ndjson" => lines(news, file, &mut imported, &mut progress)?,
            "rss" | "atom" | "xml" => match whole(file, news.limits())?
                .and_then(|bytes| feeds::take_in(news, &bytes, &format!("file:///{name}")))
            {
                Ok((_, new)) => imported.new += new,
                Err(reason) => imported.refuse(format!("{}: {reason}", file.display())),
            },
            kind => {
                let text = match whole(file, news.limits())? {
                    Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(reason) => {
                        imported.refuse(format!("{}: {reason}", file.display()));
                        continue;
                    }
                };
                let url = format!("file:///{name}");
                let title = Some(name.rsplit('/').next().unwrap_or(&name).to_owned());
                let submission = match kind {
                    "txt" => Submission { url, title, text: Some(text), ..Submission::default() },
                    _ => Submission { url, html: Some(text), ..Submission::default() },
                };
                let place = file.display().to_string();
                imported.take(news, vec![(place, submission)], &mut progress)?;
            }
        }
    }
    Ok(imported)
}

impl Imported {
    fn refuse(&mut self, problem: String) {
        self.refused += 1;
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }

    fn take(&mut self, news: &News, batch: Vec<(String, Submission)>, progress: &mut impl FnMut(u64)) -> Result<()> {
        let (places, submissions): (Vec<String>, Vec<Submission>) = batch.into_iter().unzip();
        progress(submissions.len() as u64);
        for (place, result) in places.into_iter().zip(news.submit_all(submissions)?) {
            match result {
                Ok(receipt) => match receipt.outcome {
                    Outcome::New => self.new += 1,
                    Outcome::Replaced => self.replaced += 1,
                    Outcome::Unchanged => self.unchanged += 1,
                },
                Err(error @ Error::Request(_)) => self.refuse(format!("{place}: {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn lines(news: &News, file: &Path, imported: &mut Imported, progress: &mut impl FnMut(u64)) -> Result<()> {
    let mut reader = BufReader::new(opened(file, news.limits())?);
    let largest = news.limits().record;
    let (mut batch, mut line, mut number) = (Vec::new(), Vec::new(), 0u64);
    loop {
        line.clear();
        number += 1;
        let place = || format!("{}, line {number}", file.display());
        let fail = |error| unreadable(file, &error);
        let length = reader.by_ref().take(largest + 1).read_until(b'\n', &mut line).map_err(fail)?;
        if line.strip_suffix(b"\n").unwrap_or(&line).len() as u64 > largest {
            imported.refuse(format!("{}: {}", place(), too_large(largest)));
            reader.skip_until(b'\n').map_err(fail)?;
        } else if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Submission>(&line) {
                Ok(submission) => batch.push((place(), submission)),
                Err(error) => imported.refuse(format!("{}: {error}", place())),
            }
        }
        if batch.len() >= TOGETHER || length == 0 {
            imported.take(news, std::mem::take(&mut batch), progress)?;
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
        .map_err(|error| unreadable(path, &error))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
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
fn whole(file: &Path, limits: &Limits) -> Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    let read = opened(file, limits)?.take(limits.record + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(file, &error))?;
    Ok(if bytes.len() as u64 > limits.record { Err(too_large(limits.record)) } else { Ok(bytes) })
}

fn too_large(largest: u64) -> String {
    format!("it is longer than {largest} bytes; --max-record allows more")
}

fn opened(file: &Path, limits: &Limits) -> Result<impl Read> {
    open_text(file, limits).map_err(|error| Error::Usage(error.to_string()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::storage(&file.display().to_string(), format!("it cannot be read: {error}"))
}
