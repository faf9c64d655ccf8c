//! A join of records on many machines, by the options of `twinset join`.

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::estimate::EstimateOptions;
use twinset::exact::{Collections, JoinOptions};
use twinset::shuffle::Shuffle;
use twinset_io::read::read_stop_words;

use crate::Failure;
use crate::job::own_settings;

/// The settings of a join of records on many machines. They are the same on each of them.
#[derive(Clone, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub struct ShuffleSettings {
    #[command(flatten)]
    #[serde(flatten)]
    join: JoinOptions,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    estimate: EstimateOptions,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
}

impl ShuffleSettings {
    /// Reads the file of stop words, if there is one: other machines may not have it.
    pub fn read_stop_words(&mut self) -> Result<(), Failure> {
        read_stop_words(&mut self.tokens).map(|_| ()).map_err(|error| Failure::new(&error.into()))
    }

    /// The join. `salt` chooses among the hashes of tokens.
    pub fn shuffle(&self, collections: Collections, salt: u64) -> Result<Shuffle, Failure> {
        let Self { join, tokens, estimate } = self;
        Shuffle::new(join, tokens, estimate, collections, salt).map_err(|error| Failure::new(&error.into()))
    }
}
