//! `twinset explain`: why two records are, or are not, a pair.

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::exact::JoinOptions;
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::{Content, Destination, Keeping, ReadOptions, Source, load};

use crate::job::{Job, own_settings};
use crate::session::{Session, SessionOptions, write_text};

/// Shows why two records are, or are not, a pair: tokens, measures, filters, differences
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Explain {
    /// A file, a folder, a quoted glob, or - for standard input
    #[serde(skip)]
    pub input: Source,
    /// The id, or number, of a record
    #[serde(skip)]
    pub left: String,
    /// The id, or number, of another
    #[serde(skip)]
    pub right: String,
    #[command(flatten)]
    #[serde(flatten)]
    join: JoinOptions,
    /// As JSON, for programs
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
    /// Where the explanation goes.
    #[arg(skip)]
    #[serde(skip)]
    pub output: Destination,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    read: ReadOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  twinset explain titles.tsv 3 17 --threshold 0.7
  twinset explain titles.tsv 3 17 --tokens qgrams:3 --measure cosine --threshold 0.9 --json";

impl Job for Explain {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        let inputs = Inputs::find([&self.input], self.read.format)?;
        let collection = load(&[inputs], &self.read, Keeping::all(Content::NamedSets(&self.tokens)), &session.run)?;
        session.clear_bar();
        let find = |id: &str| {
            collection.left.position(id).ok_or_else(|| {
                anyhow::anyhow!(
                    "{}: there is no record `{id}`; ids come from --id, or are numbers from 1",
                    self.input.name()
                )
            })
        };
        let (left, right) = (find(&self.left)?, find(&self.right)?);
        let (Some(sets), Some(names), Some(texts)) = (collection.token_sets(), &collection.names, &collection.texts)
        else {
            unreachable!("named sets were asked for");
        };
        let record = |at: usize| twinset::exact::NamedRecord {
            ordinal: at,
            id: collection.left.get(at).into_owned(),
            text: texts.get(at),
        };
        let tree = twinset::exact::explain(sets, names, &record(left), &record(right), &self.join, &session.run)?;
        let text = if self.json { serde_json::to_string_pretty(&tree)? + "\n" } else { tree.to_string() };
        write_text(self.output.open()?, &text)
    }
}
