//! Files of sketches: parquet with an id and a sketch in each row, and how they were made in the metadata.

#[cfg_attr(not(feature = "parquet"), path = "missing.rs")]
mod file;

pub use file::{SketchFile, write_sketches};

use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twinset::estimate::EstimateOptions;
use twinset::{Method, TokenOptions};

use crate::read::RdfOptions;
use crate::{Error, Result};

/// How sketches were made. Only sketches that were made in the same way can be compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SketchSettings {
    version: u32,
    /// How many entries each has.
    pub permutations: u32,
    /// The seed of the permutations.
    pub seed: u64,
    /// What the tokens were.
    pub tokens: TokenOptions,
    /// How resources were described, if the records are resources of RDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rdf: Option<RdfOptions>,
}

const VERSION: u32 = 1;

impl SketchSettings {
    /// Those of sketches that are made now.
    pub fn new(permutations: u32, seed: u64, tokens: &TokenOptions, rdf: Option<RdfOptions>) -> Self {
        Self { version: VERSION, permutations, seed, tokens: tokens.to_record(), rdf }
    }

    /// The options for comparing such sketches. Options that contradict how they were made are refused, unless they are the
    /// defaults, which cannot be told from options that were not given.
    pub fn estimate(&self, options: &EstimateOptions, tokens: &TokenOptions) -> Result<EstimateOptions> {
        let defaults = EstimateOptions::default();
        let own = NonZeroU32::new(self.permutations).unwrap_or(defaults.permutations);
        let told = tokens.or_recorded(&self.tokens);
        let contradicted = [
            ("--permutations", options.permutations != defaults.permutations && options.permutations != own),
            ("--seed", options.seed != defaults.seed && options.seed != self.seed),
            ("token options", *tokens != TokenOptions::default() && told != self.tokens),
        ];
        if let Some((option, _)) = contradicted.iter().find(|(_, is_contradicted)| *is_contradicted) {
            let made = serde_json::to_string(self).unwrap_or_default();
            return Err(Error::Usage(format!("the sketches were made with other {option} ({made}); leave them out")));
        }
        Ok(EstimateOptions { method: Method::MinHash, permutations: own, seed: self.seed, ..options.clone() })
    }
}

/// Whether a path's ending says that it is a file of sketches.
pub fn is_sketch_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "sketch")
}
