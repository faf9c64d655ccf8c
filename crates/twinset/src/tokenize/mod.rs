//! From texts to token sets.
//!
//! A text is cut into tokens (`text`), words may be stemmed or left out (`language`), repeats within the record are
//! numbered or dropped (`repeats`), a sample may be taken (`reduce`): all of it for one record in `cutter`. The rest is
//! given ids (`dictionary`), and at the end ids become ranks from rare to frequent. Blocks of records go through all of it
//! in parallel (`tokenizer`); no string is allocated per token.

mod cutter;
mod dictionary;
mod hash;
mod language;
#[cfg_attr(not(feature = "languages"), path = "missing.rs")]
mod lexicon;
mod options;
mod reduce;
mod repeats;
mod script;
mod shingles;
mod text;
mod token_hasher;
mod tokenizer;

pub use cutter::cut;
pub(crate) use cutter::{Cutter, Scratch as CutScratch};
pub(crate) use dictionary::Key;
pub(crate) use hash::{id_hash, mix};
pub use hash::{seeded_hash, synopsis_value, token_hash};
pub use language::{Language, StopWords};
pub use options::{Reduce, Repeats, TokenKind, TokenOptions};
#[doc(hidden)]
pub use script::diff_units;
pub use script::{Normalize, Segmentation};
pub(crate) use text::is_blank;
pub use token_hasher::TokenHasher;
pub use tokenizer::{BlockTokenizer, Sets, TokenNames, Tokenizer, tokenize};

pub use crate::model::TokenBlock;
