//! What was read: one or two collections in memory, ready to be joined.

use twinset::estimate::Synopses;
use twinset::exact::Input;
use twinset::exact::Seconds;
use twinset::support::Strings;
use twinset::tokenize::TokenBlock;
use twinset::tokenize::{Sets, TokenNames};
use twinset::{Run, TokenSets};

use crate::ids::Ids;
use crate::sketches::{SketchFile, SketchSettings};
use crate::{Error, Result};

/// One or two collections in memory.
pub struct Collection {
    /// The names of the left, or only, collection's records.
    pub left: Ids,
    /// The names of the right collection's records.
    pub right: Option<Ids>,
    /// Token sets, unless only texts were wanted.
    pub sets: Option<Sets>,
    /// Sketches, if these were wanted as they are.
    pub sketches: Vec<TokenBlock>,
    /// Synopses, if these were wanted.
    pub synopses: Option<Synopses>,
    /// The names of the tokens, if they were wanted.
    pub names: Option<TokenNames>,
    /// The texts, if they were wanted; those of the right collection after those of the left.
    pub texts: Option<Strings>,
    /// Further fields, in the order in which they were asked for; the right collection's after the left's.
    pub extra: Vec<Strings>,
    /// Which records have equal texts, if these are kept once.
    pub copies: Option<Copies>,
    /// How many characters the text of each record has, if that is kept.
    pub lengths: Vec<u32>,
    /// The files of each collection, in their order.
    pub(crate) layout: Vec<Vec<FileLayout>>,
    /// Bad records that were left out.
    pub rejected: u64,
    /// Files of folders that were left out, as their endings are not known.
    pub skipped_files: u64,
    /// Time for reading and tokenising.
    pub seconds: Seconds,
}

impl Collection {
    /// What the library joins.
    pub fn input(&self) -> Input<'_> {
        if let Some(synopses) = &self.synopses {
            return Input::Synopses(synopses);
        }
        match (&self.sets, &self.texts) {
            (Some(Sets::InMemory(sets)), _) => Input::Sets(sets),
            (Some(Sets::Spilled(sets)), _) => Input::Spilled(sets),
            (None, Some(texts)) => Input::Texts { texts, left: self.right.as_ref().map(|_| self.left_held()) },
            (None, None) => panic!("a collection of raw sketches cannot be joined"),
        }
    }

    /// A collection of sketches, or two, that files hold.
    pub fn of_sketches(mut files: Vec<SketchFile>, run: &Run) -> Result<(Self, SketchSettings)> {
        let right = (files.len() > 1).then(|| files.pop()).flatten();
        let left = files.pop().ok_or_else(|| Error::Usage("there is no file of sketches".to_owned()))?;
        let ids = (left.ids.clone(), right.as_ref().map(|file| file.ids.clone()));
        let (sets, settings) = left.into_sets(right, run)?;
        let collection = Self {
            left: ids.0,
            right: ids.1,
            sets: Some(sets),
            sketches: Vec::new(),
            synopses: None,
            names: None,
            texts: None,
            extra: Vec::new(),
            copies: None,
            lengths: Vec::new(),
            layout: Vec::new(),
            rejected: 0,
            skipped_files: 0,
            seconds: Seconds::default(),
        };
        Ok((collection, settings))
    }

    /// The token sets, if they are in memory.
    pub fn token_sets(&self) -> Option<&TokenSets> {
        match &self.sets {
            Some(Sets::InMemory(sets)) => Some(sets),
            _ => None,
        }
    }

    /// How many sets, or texts, of the left collection there are.
    pub fn left_held(&self) -> usize {
        self.copies.as_ref().map_or(self.left.len(), |copies| copies.left)
    }

    /// About how many bytes the names, texts and further fields take.
    pub fn bytes(&self) -> u64 {
        let ids = [Some(&self.left), self.right.as_ref()].into_iter().flatten().map(Ids::bytes);
        let strings = self.extra.iter().chain(&self.texts).map(Strings::bytes);
        let copies = self.copies.as_ref().map(|copies| 8 * copies.originals.len() as u64);
        ids.chain(strings).chain(copies).sum()
    }

    /// The names of the records that stand on the right of a pair.
    pub fn right_ids(&self) -> &Ids {
        self.right.as_ref().unwrap_or(&self.left)
    }
}

/// Which records have equal texts.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    /// For each record, which of the texts, or sets, of its collection is its own; those of the right collection after
    /// those of the left.
    pub originals: Vec<u32>,
    /// How many different texts the left, or only, collection has.
    pub left: usize,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileLayout {
    /// How many records there are, bad ones included.
    pub(crate) records: u64,
    /// Those that were left out, as positions among all.
    pub(crate) left_out: Vec<u64>,
}
