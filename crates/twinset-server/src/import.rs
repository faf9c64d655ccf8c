//! Articles from files: jsonl as the API takes them, web pages, texts, feeds.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

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
/// A line, or a file that is one article, has so many bytes.
const LARGEST: u64 = 4 << 20;
/// So many problems are told.
const TOLD: usize = 10;

/// Takes in a file, or all files of a folder that can be understood. Tells after each batch how many were taken in.
pub fn import(news: &News, path: &Path, mut progress: impl FnMut(u64)) -> Result<Imported> {
    let mut imported = Imported::default();
    let files = files(path)?;
    for file in &files {
        let below = file.strip_prefix(path).ok().filter(|below| !below.as_os_str().is_empty());
        let name = below.unwrap_or(file.file_name().map_or(file, Path::new)).to_string_lossy().replace('\\', "/");
        match ending(file) {
            "jsonl" | "ndjson" => lines(news, file, &mut imported, &mut progress)?,
            "rss" | "atom" | "xml" => match feeds::take_in(news, &whole(file)?, &format!("file:///{name}")) {
                Ok((_, new)) => imported.new += new,
                Err(reason) => imported.refuse(format!("{}: {reason}", file.display())),
            },
            kind => {
                let text = String::from_utf8_lossy(&whole(file)?).into_owned();
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
    let opened = std::fs::File::open(file).map_err(|error| unreadable(file, &error))?;
    let mut reader = BufReader::new(opened);
    let (mut batch, mut line, mut number) = (Vec::new(), Vec::new(), 0u64);
    loop {
        line.clear();
        number += 1;
        let length =
            reader.by_ref().take(LARGEST).read_until(b'\n', &mut line).map_err(|error| unreadable(file, &error))?;
        if length as u64 == LARGEST {
            imported.refuse(format!(
                "{}, line {number}: it is longer than {LARGEST} bytes; nothing after it was read",
                file.display()
            ));
            line.clear();
        }
        let place = || format!("{}, line {number}", file.display());
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Submission>(&line) {
                Ok(submission) => batch.push((place(), submission)),
                Err(error) => imported.refuse(format!("{}: {error}", place())),
            }
        }
        let is_over = length == 0 || length as u64 == LARGEST;
        if batch.len() >= TOGETHER || is_over {
            imported.take(news, std::mem::take(&mut batch), progress)?;
        }
        if is_over {
            return Ok(());
        }
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    const KNOWN: [&str; 8] = ["jsonl", "ndjson", "rss", "atom", "xml", "html", "htm", "txt"];
    if !path.is_dir() {
        if !path.exists() {
            return Err(Error::Usage(format!("--import {}: there is no such file or folder", path.display())));
        }
        if !KNOWN.contains(&ending(path)) {
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
        } else if entry.is_file() && KNOWN.contains(&ending(&entry)) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn whole(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(|error| unreadable(file, &error))?;
    opened.take(LARGEST).read_to_end(&mut bytes).map_err(|error| unreadable(file, &error))?;
    Ok(bytes)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::storage(&file.display().to_string(), format!("it cannot be read: {error}"))
}
