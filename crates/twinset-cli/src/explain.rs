//! `twinset explain`: why two records are, or are not, a pair.

use std::path::PathBuf;

use twinset::TokenOptions;
use twinset::exact::JoinOptions;
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::{Content, Keeping, ReadOptions, load};

use crate::session::{self, SessionOptions};

/// Shows why two records are, or are not, a pair: tokens, measures, filters, differences
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// A file, a folder, a quoted glob, or - for standard input
    input: PathBuf,
    /// The id, or number, of a record
    left: String,
    /// The id, or number, of another
    right: String,
    #[command(flatten)]
    join: JoinOptions,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  twinset explain titles.tsv 3 17 --threshold 0.7
  twinset explain titles.tsv 3 17 --tokens qgrams:3 --measure cosine --threshold 0.9 --json";

impl Explain {
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        let session = self.session.begin();
        let inputs = Inputs::find([&self.input], self.read.format)?;
        let collection = load(&[inputs], &self.read, Keeping::all(Content::NamedSets(&self.tokens)), &session.run)?;
        session.clear_bar();
        let find = |id: &str| {
            collection.left.position(id).ok_or_else(|| {
                anyhow::anyhow!(
                    "{}: there is no record `{id}`; ids come from --id, or are numbers from 1",
                    self.input.display()
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
        session::print(&text)
    }
}
