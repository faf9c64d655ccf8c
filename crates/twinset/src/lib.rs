//! Finds near duplicates in collections of token sets.
#![forbid(unsafe_code)]

mod join;
pub mod model;
mod pipeline;
mod tokenize;

pub use join::{Algorithm, Input, JoinOptions, Joined};
pub use model::*;
pub use pipeline::{join, tokenize};
pub use tokenize::{
    BlockTokenizer, Reduce, Repeats, TokenBlock, TokenKind, TokenNames, TokenOptions, Tokenizer, token_hash,
};
