//! What a search takes: texts, lists of tokens, or token sets.

use std::borrow::Cow;

use rayon::prelude::*;

use super::plan::Representation;
use crate::join::OwnedInput;
use crate::model::{Error, Result, Run, TokenSets};
use crate::sketch::{KmvSettings, Synopses};
use crate::support::Strings;
use crate::tokenize::{TokenKind, TokenOptions, Tokenizer};

/// Records that a [`Search`](super::Search) compares: anything that yields texts, [`TokenLists`], or ready [`TokenSets`].
///
/// See the example of [`Search`](crate::Search).
pub trait Records<'a>: sealed::Sealed {
    /// The records as a search reads them.
    #[doc(hidden)]
    fn source(self) -> Source<'a>;
}

/// Texts, or [`TokenLists`]: records of which two collections can be compared, if they are of one kind.
///
/// See the example of [`Search::join_two`](crate::Search::join_two).
pub trait Texts<'a>: Records<'a> {
    /// The kind.
    #[doc(hidden)]
    type Kind;
}

/// Records as lists of tokens that the caller made. Equal strings are equal tokens, whatever they contain; a second occurrence in a
/// record is another token, unless the [`TokenOptions`] ignore repeats.
///
/// ```
/// use twinset::{Search, TokenLists};
///
/// let lists = [vec!["New York", "Oslo"], vec!["Oslo", "New York"]];
/// assert_eq!(Search::at(1)?.count(TokenLists(lists))?, 1);
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TokenLists<L>(
    /// A list of tokens for each record.
    pub L,
);

/// Records as a search reads them.
#[doc(hidden)]
pub enum Source<'a> {
    /// Texts.
    Texts(Strings),
    /// Lists of tokens, one token a line.
    Tokens(Strings),
    /// Token sets of one or two collections.
    Sets(&'a TokenSets),
}

mod sealed {
    pub trait Sealed {}
}

impl<I: IntoIterator<Item: AsRef<str>>> sealed::Sealed for I {}

impl<'a, I: IntoIterator<Item: AsRef<str>>> Records<'a> for I {
    fn source(self) -> Source<'a> {
        Source::Texts(self.into_iter().collect())
    }
}

impl<'a, I: IntoIterator<Item: AsRef<str>>> Texts<'a> for I {
    type Kind = String;
}

impl<L> sealed::Sealed for TokenLists<L> {}

impl<'a, L: IntoIterator<Item: IntoIterator<Item: AsRef<str>>>> Records<'a> for TokenLists<L> {
    fn source(self) -> Source<'a> {
        Source::Tokens(self.0.into_iter().map(as_lines).collect())
    }
}

impl<'a, L: IntoIterator<Item: IntoIterator<Item: AsRef<str>>>> Texts<'a> for TokenLists<L> {
    type Kind = Vec<String>;
}

impl sealed::Sealed for &TokenSets {}

impl<'a> Records<'a> for &'a TokenSets {
    fn source(self) -> Source<'a> {
        Source::Sets(self)
    }
}

/// Tokens as lines that differ where the tokens do: none is blank, and none has a line break.
fn as_lines<S: AsRef<str>>(tokens: impl IntoIterator<Item = S>) -> String {
    let mut lines = String::new();
    for token in tokens {
        lines.push('=');
        for character in token.as_ref().chars() {
            match character {
                '\\' => lines.push_str("\\\\"),
                '\n' => lines.push_str("\\n"),
                '\r' => lines.push_str("\\r"),
                other => lines.push(other),
            }
        }
        lines.push('\n');
    }
    lines
}

/// Records per block; blocks are tokenized in parallel.
const BLOCK: usize = 1024;

impl<'a> Source<'a> {
    /// The records of two collections of one kind as one, and how many belong to the first.
    pub(super) fn followed_by(mut self, other: Self) -> (Self, usize) {
        let left = self.len();
        match (&mut self, other) {
            (Self::Texts(texts) | Self::Tokens(texts), Self::Texts(others) | Self::Tokens(others)) => {
                texts.append(&others);
            }
            _ => unreachable!("token sets are no `Texts`"),
        }
        (self, left)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) | Self::Tokens(texts) => texts.len(),
            Self::Sets(sets) => sets.len(),
        }
    }

    /// How long each record is: in characters, or in tokens where these are given.
    pub(super) fn lengths(&self) -> Vec<u32> {
        match self {
            Self::Texts(texts) => texts.iter().map(|text| text.chars().count() as u32).collect(),
            Self::Tokens(lists) => lists.iter().map(|list| list.lines().count() as u32).collect(),
            Self::Sets(sets) => (0..sets.len()).map(|record| sets.size(record)).collect(),
        }
    }

    /// What a join reads: the records in this representation. The first `left` form the left collection, where there are two.
    pub(super) fn prepare(
        &self,
        representation: Representation,
        tokens: &TokenOptions,
        left: Option<usize>,
        run: &Run,
    ) -> Result<OwnedInput<'a>> {
        let texts = match (self, representation) {
            (Self::Sets(sets), Representation::Sets) => return Ok(OwnedInput::Sets(Cow::Borrowed(*sets))),
            (Self::Sets(_), _) => {
                return Err(Error::Conflict(
                    "token sets are compared exactly or by LSH; estimates and edit distance need texts or token lists",
                ));
            }
            (Self::Tokens(_), Representation::Texts) => {
                return Err(Error::Conflict("edit distance compares texts, not lists of tokens"));
            }
            (Self::Texts(texts), Representation::Texts) => return Ok(OwnedInput::Texts(texts.clone(), left)),
            (Self::Texts(texts) | Self::Tokens(texts), _) => texts,
        };
        let options = match self {
            Self::Tokens(_) => &TokenOptions { tokens: Some(TokenKind::Lines), ..tokens.clone() },
            _ => tokens,
        };
        let tokenizer = match representation {
            Representation::Texts | Representation::Sets => Tokenizer::within(options, run)?,
            Representation::Sketches(settings) => Tokenizer::minhash(options, settings, run)?,
            Representation::Synopses(settings) => Tokenizer::kmv(options, settings)?,
        };
        let starts: Vec<usize> = (0..texts.len()).step_by(BLOCK).collect();
        let block = |&start: &usize| {
            run.check()?;
            tokenizer.block((start..texts.len().min(start + BLOCK)).map(|record| texts.get(record)))
        };
        let blocks = starts.par_iter().map(block).collect::<Result<Vec<_>>>()?;
        if let Representation::Synopses(KmvSettings { size, .. }) = representation {
            let synopses = Synopses::of_blocks(blocks, size)?;
            return Ok(OwnedInput::Synopses(match left {
                Some(left) => synopses.split_at(left as u32),
                None => synopses,
            }));
        }
        let sets = tokenizer.finish_within(blocks, texts.bytes())?;
        Ok(match left {
            Some(left) => sets.split_at(left as u32).into(),
            None => sets.into(),
        })
    }
}
