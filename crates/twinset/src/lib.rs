#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod explain;
mod join;
pub mod model;
mod pipeline;
mod tokenize;

pub use explain::{Explained, explain};
pub use join::{Algorithm, Input, JoinOptions, Joined};
pub use model::*;
pub use pipeline::{count, join, join_within, tokenize};
pub use tokenize::{BlockTokenizer, Reduce, Repeats, Sets, TokenKind, TokenNames, TokenOptions, Tokenizer, token_hash};
