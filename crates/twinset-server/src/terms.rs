//! What is compared of an article: as an RDF resource, it has its words and the entities that it mentions.

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::support::intersection_len;
use twinset::tokenize::{TokenHasher, seeded_hash};

use crate::Result;
use crate::article::Entity;

/// What articles are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum Compare {
    /// Who and what they mention.
    Entities,
    /// Their words.
    Text,
    /// Both.
    #[default]
    Both,
}

/// Turns articles into sets of terms, as hashes that mean the same for ever to whoever has the seed.
pub(crate) struct TermBuilder {
    compare: Compare,
    seed: u64,
    hasher: TokenHasher,
}

impl TermBuilder {
    pub(crate) fn new(compare: Compare, tokens: &TokenOptions, seed: u64) -> Result<Self> {
        Ok(Self { compare, seed, hasher: TokenHasher::new(tokens, seed)? })
    }

    /// The terms of an article: “word, literal” for each word and its repeats, “mentions, name” for each entity.
    pub(crate) fn of(&self, title: &str, text: &str, entities: &[Entity]) -> Result<Vec<u64>> {
        let mut terms = match self.compare {
            Compare::Entities => Vec::new(),
            Compare::Text | Compare::Both => self.hasher.hashes(&format!("{title}\n{text}"))?,
        };
        if self.compare != Compare::Text {
            let mentions = |entity: &Entity| {
                seeded_hash(format!("mentions\0{}", entity.name.to_lowercase()).as_bytes(), 1, self.seed)
            };
            terms.extend(entities.iter().map(mentions));
            terms.sort_unstable();
            terms.dedup();
        }
        Ok(terms)
    }
}

/// Articles that are alike by at least this much are copies: who has read one has read the other. It lies halfway between what links the
/// articles of a story and what makes them equal: other headlines and light edits stay above it, new facts fall below.
pub(crate) const COPY: f64 = 0.85;

/// How many terms two sorted sets share, and how many they have together.
pub(crate) fn shared(x: &[u64], y: &[u64]) -> (usize, usize) {
    let common = intersection_len(x, y);
    (common, x.len() + y.len() - common)
}

/// The Jaccard similarity of two sorted sets.
pub(crate) fn similarity(x: &[u64], y: &[u64]) -> f64 {
    let (common, all) = shared(x, y);
    common as f64 / all.max(1) as f64
}
