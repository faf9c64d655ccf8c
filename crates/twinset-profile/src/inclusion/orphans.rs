//! Values of one key that another has not, with what they stand for.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;

use crate::features::synopsis::SaltedHasher;
use crate::sources::ORPHANS;

/// Values that are missing somewhere, with the numbers of their rows and, for the first of them, their texts.
pub(crate) struct Orphans {
    values: HashMap<u64, (u64, Option<String>), BuildHasherDefault<SaltedHasher>>,
    /// How many have their texts.
    known: usize,
}

/// Of so many orphans the texts are kept.
const TEXTS: usize = 10_000;

impl Orphans {
    pub(crate) fn unknown(values: &[u64]) -> Self {
        Self { values: values.iter().map(|&value| (value, (0, None))).collect(), known: 0 }
    }

    pub(crate) fn add(&mut self, value: u64, text: &dyn Fn() -> String) {
        let Some((rows, known)) = self.values.get_mut(&value) else { return };
        *rows += 1;
        if known.is_none() && self.known < TEXTS {
            *known = Some(text());
            self.known += 1;
        }
    }

    pub(crate) fn finish(self) -> (Vec<(String, u64)>, u64) {
        let rows = self.values.values().map(|(rows, _)| rows).sum();
        let known = self.values.into_values().filter_map(|(rows, text)| Some((text?, rows))).collect();
        (Self::known(known).0, rows)
    }

    /// The most frequent ones, and how many rows have any.
    pub(crate) fn known(mut orphans: Vec<(String, u64)>) -> (Vec<(String, u64)>, u64) {
        let rows = orphans.iter().map(|(_, rows)| rows).sum();
        orphans.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        orphans.truncate(ORPHANS);
        (orphans, rows)
    }
}
