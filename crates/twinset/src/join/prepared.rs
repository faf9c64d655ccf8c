//! Records that are ready to be joined, owned or borrowed.

use std::borrow::Cow;

use super::Input;
use crate::model::{Result, Run, SpilledSets, Strings, Synopses, TokenSets};
use crate::tokenize::Sets;

/// What a join reads.
pub enum Prepared<'a> {
    /// Token sets, or MinHash sketches as sets of their entries.
    Sets(Cow<'a, TokenSets>),
    /// The same in a temporary file.
    Spilled(SpilledSets),
    /// Texts, and how many of them form the left collection, where there are two.
    Texts(Strings, Option<usize>),
    /// KMV synopses.
    Synopses(Synopses),
}

impl From<Sets> for Prepared<'_> {
    fn from(sets: Sets) -> Self {
        match sets {
            Sets::InMemory(sets) => Self::Sets(Cow::Owned(sets)),
            Sets::Spilled(sets) => Self::Spilled(sets),
        }
    }
}

impl Prepared<'_> {
    /// What the engines of a join take.
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::Sets(sets) => Input::Sets(sets),
            Self::Spilled(sets) => Input::Spilled(sets),
            Self::Texts(texts, left) => Input::Texts { texts, left: *left },
            Self::Synopses(synopses) => Input::Synopses(synopses),
        }
    }

    /// The synopses, if it is these.
    pub fn synopses(&self) -> Option<&Synopses> {
        match self {
            Self::Synopses(synopses) => Some(synopses),
            _ => None,
        }
    }
}

impl Input<'_> {
    /// The left, or only, collection by itself, but only those of its records that pass.
    pub fn left_where(&self, passes: impl Fn(u32) -> bool, run: &Run) -> Result<Prepared<'static>> {
        Ok(match self {
            Self::Sets(sets) => Prepared::Sets(Cow::Owned(sets.left_where(passes))),
            Self::Spilled(sets) => Prepared::Spilled(sets.left_where(passes, run)?),
            Self::Synopses(synopses) => Prepared::Synopses(synopses.left_where(passes)),
            Self::Texts { texts, left } => {
                let left = left.unwrap_or(texts.len());
                let texts = (0..left).filter(|&record| passes(record as u32)).map(|record| texts.get(record));
                Prepared::Texts(texts.collect(), None)
            }
        })
    }
}
