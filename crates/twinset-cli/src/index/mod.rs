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

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use twinset::{TokenHasher, TokenOptions};
use twinset_index::Settings;
use twinset_io::read::Inputs;
use twinset_io::write::check_outputs;
use twinset_io::{ReadOptions, tokens_for};

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

PATH is a folder (SQLite for labels, tantivy for synopses); for labels also a file that ends in .labels (held in memory), or a database:
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
        match self.command {
            Command::Create(create) => create.run(),
            Command::Add(add) => add.run(),
            Command::Remove(remove) => remove.run(),
            Command::Query(query) => query.run(),
            Command::Join(join) => join.run(),
            Command::Count(count) => count.run(),
            Command::Stats(stats) => stats.run(),
            Command::Check(check) => check.run(),
            Command::Export(export) => export.run(),
        }
    }
}

/// How surely near duplicates are found.
#[derive(Args)]
struct Promise {
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
fn check_written<'a>(
    path: &str,
    inputs: &[PathBuf],
    outputs: impl IntoIterator<Item = &'a Option<PathBuf>>,
) -> twinset_io::Result<()> {
    let home = Path::new(path);
    let own = [home.to_owned(), home.join("labels.sqlite"), home.join("meta.json")];
    let inputs: Vec<PathBuf> = inputs.iter().chain(&own).cloned().collect();
    let outputs = outputs.into_iter().flatten().map(PathBuf::as_path);
    check_outputs(outputs.filter(|output| output.as_os_str() != "-"), &inputs)
}

/// Turns texts into token hashes as the index wants them. Token options that are given must be those of the index.
fn hasher(
    settings: &Settings,
    name: &str,
    inputs: Option<&Inputs>,
    read: &ReadOptions,
    given: &TokenOptions,
) -> anyhow::Result<TokenHasher> {
    settings.check_tokens(given, name)?;
    let tokens = TokenOptions { tokens: settings.tokens.tokens.or(given.tokens), ..settings.tokens.clone() };
    let tokens = match inputs {
        Some(inputs) => tokens_for(std::slice::from_ref(inputs), read, &tokens)?,
        None => tokens,
    };
    Ok(TokenHasher::new(&tokens)?)
}
