//! `twinset index create`.

use twinset::{LabelOptions, TokenOptions};
use twinset_index::labels::LabelIndex;
use twinset_index::{Kind, Settings};
use twinset_io::read::read_stop_words;

use crate::session::SessionOptions;

/// Makes an empty index
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Create {
    /// A folder, a file that ends in .labels, or the address of a database
    #[arg(value_name = "PATH")]
    path: String,
    /// What kind of index: labels
    #[arg(long, value_name = "KIND", default_value_t = Kind::Labels)]
    kind: Kind,
    #[command(flatten)]
    labels: LabelOptions,
    /// The seed of the hash functions; keep it secret where records may come from an enemy
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  twinset index create news
  twinset index create people --tokens qgrams:3 --trees 40
  twinset index create 'postgres://me@localhost/db?index=news' --kind labels --bits 64";

impl Create {
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        let session = self.session.begin();
        // What is wrong with them is noticed now.
        twinset::TokenHasher::new(&self.tokens)?;
        self.labels.check()?;
        let settings = Settings::new(self.kind, self.tokens, self.labels, self.seed);
        let index = LabelIndex::create(&self.path, &settings)?;
        let made = format!("made {}: labels of {} bits in {} trees", index.name(), self.labels.bits, self.labels.trees);
        session.summarize(&[made]);
        Ok(())
    }
}
