//! `twinset index`: an index that is kept, and asked for near duplicates at any threshold.

mod change;
mod count;
mod create;
mod estimate;
mod join;
mod kept;
mod originals;
mod query;
mod upkeep;

pub use change::{Add, Remove};
pub use count::Count;
pub use create::Create;
pub use join::Join;
pub use query::Query;
pub use upkeep::{Check, Stats};

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use twinset::tokenize::TokenHasher;
use twinset::{Cancel, TokenOptions};
use twinset_index::{Content, Settings};
use twinset_io::read::{Difference, Inputs, RdfOptions};
use twinset_io::write::check_outputs;
use twinset_io::{Error, ReadOptions, are_rdf, guarded, tokens_for};

use crate::Failure;
use crate::job::{self, Job, run_in_terminal};
use crate::session::Listener;

/// Keeps records in an index, and finds near duplicates in it at any threshold
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Index {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  twinset index create news --kind labels
  twinset index add news articles.jsonl
  twinset index query news --threshold 0.8 --probability 0.95 today.jsonl
  twinset index query news --threshold 0.6 --like 'the old bridge near the mill was closed'
  twinset index create columns --kind synopses --tokens items
  twinset index add columns columns.jsonl --merge
  twinset index join columns --threshold 0.8

PATH is a folder (SQLite for lsh, tantivy for kmv); for lsh also a database:
postgres://user@host/db?index=NAME or mysql://user@host/db?index=NAME";

#[derive(Subcommand)]
enum Command {
    Create(create::Create),
    Add(change::Add),
    Remove(change::Remove),
    Query(query::Query),
    Join(join::Join),
    Count(count::Count),
    Stats(upkeep::Stats),
    Check(upkeep::Check),
    Export(upkeep::Export),
}

impl Index {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        // A damaged file can make the code that reads it panic. That is reported like any other error.
        static SAID: Mutex<String> = Mutex::new(String::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|panic| {
            if let Ok(mut said) = SAID.lock()
                && said.is_empty()
            {
                *said = panic.to_string().replace('\n', " ");
            }
        }));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.run_command()));
        std::panic::set_hook(before);
        done.unwrap_or_else(|_| {
            let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
            Err(damaged(&said))
        })
    }

    fn run_command(self) -> anyhow::Result<()> {
        match self.command {
            Command::Create(create) => run_in_terminal(create),
            Command::Add(add) => run_in_terminal(add),
            Command::Remove(remove) => run_in_terminal(remove),
            Command::Query(query) => run_in_terminal(query),
            Command::Join(join) => run_in_terminal(join),
            Command::Count(count) => run_in_terminal(count),
            Command::Stats(stats) => run_in_terminal(stats),
            Command::Check(check) => run_in_terminal(check),
            Command::Export(export) => run_in_terminal(export),
        }
    }
}

/// Runs a job on an index in a program, as [`run_in_program`](job::run_in_program) does. That it panics is reported like any other
/// error.
pub fn run_index_in_program(job: impl Job, cancel: Cancel, listener: Listener) -> Result<(), Failure> {
    let panicked = || Err(Failure::new(&damaged("it panicked")));
    guarded(|| job::run_in_program(job, cancel, listener)).unwrap_or_else(panicked)
}

fn damaged(said: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "the index is damaged, or twinset has a fault ({said}); `twinset index check` tells what is damaged, which must be restored \
         from a copy"
    )
}

/// How surely near duplicates are found.
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Promise {
    /// With which probability each near duplicate is to be found, by labels (default: 0.9)
    #[arg(long, value_name = "P")]
    probability: Option<f64>,
}

impl Promise {
    fn of_labels(&self) -> f64 {
        self.probability.unwrap_or(0.9)
    }

    /// Refuses it for an index of synopses.
    fn check_absent(&self) -> twinset_io::Result<()> {
        if self.probability.is_none() {
            return Ok(());
        }
        let reason = "synopses find what their estimate says; to miss less, give the files that were added: --originals INPUT \
                      --recall 0.99";
        Err(twinset_io::Error::Usage(reason.to_owned()))
    }
}

/// Refuses outputs that would replace one another, an input, or the index.
fn check_written(
    path: &str,
    inputs: &[PathBuf],
    output: Option<&Path>,
    rejects: Option<&Path>,
) -> twinset_io::Result<()> {
    let home = Path::new(path);
    let inputs: Vec<PathBuf> = inputs.iter().cloned().chain([home.to_owned()]).collect();
    let place =
        |folder: &Path| std::fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok();
    let within = |output: &&Path| place(home).is_some_and(|home| output.parent().and_then(place) == Some(home));
    if let Some(output) = output.into_iter().chain(rejects).find(within) {
        let reason =
            format!("{}: this lies in the index, where nothing else may be; name another file", output.display());
        return Err(twinset_io::Error::Usage(reason));
    }
    check_outputs(output, rejects, &inputs)
}

/// How records are read and cut into tokens: as the index was made, whatever the command would do by itself.
struct Reading {
    read: ReadOptions,
    hasher: TokenHasher,
    /// Those of the index once records that are read in this way are in it.
    settings: Settings,
}

impl Reading {
    /// Options that are given must be those of the index.
    fn new(
        settings: &Settings,
        name: &str,
        inputs: Option<&Inputs>,
        read: &ReadOptions,
        given: &TokenOptions,
    ) -> anyhow::Result<Self> {
        settings.check_tokens(given, name)?;
        let (mut read, mut settings) = (read.clone(), settings.clone());
        settings.tokens.tokens = settings.tokens.tokens.or(given.tokens);
        if let Some(Content::Rdf(kept)) = &settings.content {
            // Also where nothing is read.
            kept_options(kept, &read.rdf, name)?;
        }
        if let Some(inputs) = inputs {
            settings.tokens = tokens_for(std::slice::from_ref(inputs), &read, &settings.tokens)?.to_record();
            let is_described = are_rdf(inputs, &read)? && read.text.is_empty();
            settings.content = Some(match (settings.content, is_described) {
                (Some(Content::Rdf(kept)), true) => {
                    read.rdf = kept_options(&kept, &read.rdf, name)?;
                    Content::Rdf(kept)
                }
                (None, true) => Content::Rdf(serde_json::to_value(read.rdf.fixed()?)?),
                (None | Some(Content::Texts), false) => Content::Texts,
                (Some(Content::Texts), true) => {
                    let reason = "it holds texts, and this input describes RDF resources; name the predicates to \
                                  compare as text with --text, or use another index";
                    return Err(Error::Usage(format!("{name}: {reason}")).into());
                }
                (Some(Content::Rdf(_)), false) => {
                    let reason =
                        "it holds descriptions of RDF resources, and this input holds texts; use another index";
                    return Err(Error::Usage(format!("{name}: {reason}")).into());
                }
            });
        }
        Ok(Self { hasher: TokenHasher::new(&settings.tokens, settings.seed)?, read, settings })
    }
}

/// The RDF options that an index keeps. Others that are given are refused.
fn kept_options(kept: &serde_json::Value, given: &RdfOptions, name: &str) -> anyhow::Result<RdfOptions> {
    let options = RdfOptions::deserialize(kept).map_err(|error| damaged(&error.to_string()))?.from_record().fixed()?;
    if let Some(Difference { name: option, given, fixed }) = given.difference(&options)? {
        let fixed = fixed.map_or_else(|| format!("without --{option}"), |value| format!("with --{option} {value}"));
        let reason = format!("{name}: it was made {fixed}, not with --{option} {given}; leave --{option} out");
        return Err(Error::Usage(reason).into());
    }
    Ok(RdfOptions { allow_entities: given.allow_entities, ..options })
}
