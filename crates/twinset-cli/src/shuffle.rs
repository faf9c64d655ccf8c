//! A join of records on many machines, told in the words of `twinset join`.

use std::ffi::OsString;

use clap::Parser;
use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::estimate::EstimateOptions;
use twinset::exact::{Collections, JoinOptions};
use twinset::shuffle::Shuffle;
use twinset_io::read::read_stop_words;

use crate::Failure;

/// The settings of a join of records on many machines. They are the same on each of them.
#[derive(Parser, Clone, Serialize, Deserialize)]
#[command(name = "twinset join", no_binary_name = true, disable_help_flag = true)]
pub struct ShuffleSettings {
    #[command(flatten)]
    join: JoinOptions,
    #[command(flatten)]
    estimate: EstimateOptions,
    #[command(flatten)]
    tokens: TokenOptions,
}

impl ShuffleSettings {
    /// From the words of a command.
    pub fn of_words(words: Vec<OsString>) -> Result<Self, Failure> {
        let mut settings = Self::try_parse_from(words).map_err(|error| Failure::of_words(&error))?;
        read_stop_words(&mut settings.tokens).map_err(|error| Failure::new(&error.into()))?;
        Ok(settings)
    }

    /// The join. `salt` chooses among the hashes of tokens.
    pub fn shuffle(&self, collections: Collections, salt: u64) -> Result<Shuffle, Failure> {
        let Self { join, tokens, estimate } = self;
        Shuffle::new(join, tokens, estimate, collections, salt).map_err(|error| Failure::new(&error.into()))
    }
}
