//! What a join reads: token sets, texts or synopses, borrowed or owned.

use std::borrow::Cow;

use super::JoinOptions;
use super::exact::{edit_distance, overlap};
use crate::model::{Bounds, Collections, Error, Measure, Result, Run, SpilledSets, TokenSets};
use crate::sketch::Synopses;
use crate::support::Strings;
use crate::tokenize::{Sets, is_blank};

/// What is joined.
///
/// See the example of [`join`](crate::exact::join).
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Token sets, for every measure but edit distance.
    Sets(&'a TokenSets),
    /// Token sets that do not fit in memory, for the same measures.
    Spilled(&'a SpilledSets),
    /// Texts, for edit distance.
    Texts {
        /// The records' texts.
        texts: &'a Strings,
        /// How many of them form the left collection, where there are two.
        left: Option<usize>,
    },
    /// Synopses of sets, for every measure but edit distance. The values of pairs are estimates.
    Synopses(&'a Synopses),
}

impl Input<'_> {
    /// How many records there are, in both collections where there are two.
    pub fn len(&self) -> usize {
        match self {
            Self::Sets(sets) => sets.len(),
            Self::Spilled(sets) => sets.len(),
            Self::Texts { texts, .. } => texts.len(),
            Self::Synopses(synopses) => synopses.len(),
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many records the left, or only, collection has.
    pub fn left_len(&self) -> usize {
        match self {
            Self::Sets(sets) => sets.left_len(),
            Self::Spilled(sets) => sets.left_len(),
            Self::Texts { texts, left } => left.unwrap_or(texts.len()),
            Self::Synopses(synopses) => synopses.left_len(),
        }
    }

    /// The value of a record and one that is identical, if they form a pair.
    pub(crate) fn twin_value(&self, record: u32, bounds: &Bounds, options: &JoinOptions) -> Option<f64> {
        if let Self::Synopses(synopses) = self {
            let condition = options.condition().ok()?;
            let comparison = synopses.get(record as usize).compare(synopses.get(record as usize));
            let is_pair = comparison.left > 0 && condition.accepts(&comparison);
            return is_pair.then(|| comparison.value(options.measure));
        }
        let (size, is_edit) = (self.size(record), options.measure == Measure::Edit);
        let is_pair = (options.empty || size > 0) && (is_edit || bounds.accepts(size, size, size));
        is_pair.then(|| options.measure.value(size, size, if is_edit { 0 } else { size }))
    }

    /// How many tokens, or bytes of text, a record has; 0 if there is nothing to compare.
    pub(crate) fn size(&self, record: u32) -> u32 {
        match self {
            Self::Sets(sets) => sets.size(record as usize),
            Self::Spilled(sets) => sets.size_of(record),
            Self::Texts { texts, .. } => {
                let text = texts.get(record as usize);
                if is_blank(text) { 0 } else { text.len() as u32 }
            }
            Self::Synopses(synopses) => synopses.get(record as usize).values().len() as u32,
        }
    }

    /// The value of the measure for two records, if their sets are within the bounds.
    pub(crate) fn value_within(&self, measure: Measure, bounds: &Bounds, left: u32, right: u32) -> Result<Option<f64>> {
        let of_sets = |x: &[u32], y: &[u32]| {
            let (overlap, sizes) = (overlap(x, y), (x.len() as u32, y.len() as u32));
            bounds.accepts(sizes.0, sizes.1, overlap).then(|| measure.value(sizes.0, sizes.1, overlap))
        };
        match self {
            Self::Sets(sets) => Ok(of_sets(sets.get(left as usize), sets.get(right as usize))),
            Self::Spilled(sets) => Ok(of_sets(&sets.get(left)?, &sets.get(right)?)),
            Self::Texts { .. } | Self::Synopses(_) => Err(Error::WrongInput { measure }),
        }
    }

    /// The value of the measure for two records, whatever the threshold; of containment's two directions, the larger.
    pub(crate) fn value(&self, measure: Measure, left: u32, right: u32) -> Result<f64> {
        let of_sets = |x: &[u32], y: &[u32]| {
            let (overlap, sizes) = (overlap(x, y), (x.len() as u32, y.len() as u32));
            let value = measure.value(sizes.0, sizes.1, overlap);
            if measure == Measure::Containment { value.max(measure.value(sizes.1, sizes.0, overlap)) } else { value }
        };
        if left == right && !measure.is_count() {
            return Ok(1.0);
        }
        if left == right && measure.is_distance() {
            return Ok(0.0);
        }
        Ok(match self {
            Self::Sets(sets) => of_sets(sets.get(left as usize), sets.get(right as usize)),
            Self::Spilled(sets) => of_sets(&sets.get(left)?, &sets.get(right)?),
            Self::Texts { texts, .. } => edit_distance(texts.get(left as usize), texts.get(right as usize)) as f64,
            Self::Synopses(synopses) => {
                let comparison = synopses.get(left as usize).compare(synopses.get(right as usize));
                let (there, back) = (comparison.value(measure), comparison.swapped().value(measure));
                if measure == Measure::Containment { there.max(back) } else { there }
            }
        })
    }

    /// One collection, or two.
    pub fn collections(&self) -> Collections {
        match self {
            Self::Sets(sets) => sets.collections(),
            Self::Spilled(sets) => sets.collections(),
            Self::Texts { left: None, .. } => Collections::One,
            Self::Texts { left: Some(_), .. } => Collections::Two,
            Self::Synopses(synopses) => synopses.collections(),
        }
    }
}

/// What a join reads.
///
/// See the example of [`join`](crate::exact::join).
pub enum OwnedInput<'a> {
    /// Token sets, or MinHash sketches as sets of their entries.
    Sets(Cow<'a, TokenSets>),
    /// The same in a temporary file.
    Spilled(SpilledSets),
    /// Texts, and how many of them form the left collection, where there are two.
    Texts(Strings, Option<usize>),
    /// KMV synopses.
    Synopses(Synopses),
}

impl From<Sets> for OwnedInput<'_> {
    fn from(sets: Sets) -> Self {
        match sets {
            Sets::InMemory(sets) => Self::Sets(Cow::Owned(sets)),
            Sets::Spilled(sets) => Self::Spilled(sets),
        }
    }
}

impl OwnedInput<'_> {
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
    pub fn left_where(&self, passes: impl Fn(u32) -> bool, run: &Run) -> Result<OwnedInput<'static>> {
        Ok(match self {
            Self::Sets(sets) => OwnedInput::Sets(Cow::Owned(sets.left_where(passes))),
            Self::Spilled(sets) => OwnedInput::Spilled(sets.left_where(passes, run)?),
            Self::Synopses(synopses) => OwnedInput::Synopses(synopses.left_where(passes)),
            Self::Texts { texts, left } => {
                let left = left.unwrap_or(texts.len());
                let texts = (0..left).filter(|&record| passes(record as u32)).map(|record| texts.get(record));
                OwnedInput::Texts(texts.collect(), None)
            }
        })
    }
}
