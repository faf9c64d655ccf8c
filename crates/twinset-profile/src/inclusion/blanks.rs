//! Blank strings under declared keys. To the rest of a profile they are no values, but to a database they are strings like others: one
//! without a partner violates the key.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rayon::prelude::*;
use twinset::tokenize::synopsis_value;
use twinset_io::read::features::Batch;

use crate::Result;
use crate::features::Feature;
use crate::features::encoder::{ValueEncoder, is_blank};
use crate::features::synopsis::{SaltedHasher, beginning};
use crate::inclusion::check::{Checker, Question};
use crate::inclusion::collector::{HashPart, Key};
use crate::inclusion::orphans::Orphans;
use crate::sources::{Blanks, Counts};

/// Blank values with the numbers of their rows and, for the first of them, their texts.
type Found = HashMap<u64, (u64, Option<String>), BuildHasherDefault<SaltedHasher>>;

/// So many bytes a value takes, without its text.
const VALUE: f64 = 64.0;
/// Of so many values of a key the texts are kept.
const TEXTS: usize = 1_000;

impl Checker<'_> {
    /// Counts the blank values that violate declared keys. A key for which that is not possible has no answer.
    pub(crate) fn count_blanks(&mut self, questions: &[Question], answers: &mut [Option<Counts>]) -> Result<()> {
        let features = self.features;
        let rows = |key: &Key| {
            let blanks = key.iter().map(|&feature| features[feature].blanks).sum::<u64>();
            blanks.min(features[key[0]].rows)
        };
        let mut asked: BTreeSet<usize> = BTreeSet::new();
        for (at, question) in questions.iter().enumerate().filter(|(_, question)| question.is_declared) {
            let Some(counts) = &mut answers[at] else { continue };
            counts.blanks = Some(Blanks::default());
            if rows(&question.left) > 0 {
                asked.insert(at);
            }
        }
        let most: u64 = asked.iter().map(|&at| rows(&questions[at].left)).sum();
        let parts = ((VALUE * most as f64 / self.memory()).ceil() as u64).max(1);
        for part in HashPart::all(if most > 0 { parts } else { 0 }) {
            let own = asked.iter().map(|&at| (at, &questions[at].left, Found::default())).collect();
            let found = self.look_for(own, |found, value, text| {
                if part.has(value) {
                    let has_text = found.len() < TEXTS;
                    found.entry(value).or_insert_with(|| (0, has_text.then(text))).0 += 1;
                }
            })?;
            let (others, unmatched): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|(at, found)| !found.is_empty() && rows(&questions[*at].right) > 0);
            let others = others.into_iter().map(|(at, found)| (at, &questions[at].right, found)).collect();
            let others = self.look_for(others, |found, value, _| _ = found.remove(&value))?;
            let found: BTreeMap<usize, Found> = unmatched.into_iter().chain(others).collect();
            asked.iter().filter(|at| !found.contains_key(at)).for_each(|&at| answers[at] = None);
            asked.retain(|at| found.contains_key(at));
            for (at, found) in found {
                if let Some(blanks) = answers[at].as_mut().and_then(|counts| counts.blanks.as_mut()) {
                    blanks.values += found.len() as u64;
                    blanks.rows += found.values().map(|(rows, _)| rows).sum::<u64>();
                    blanks.orphans.extend(found.into_values().filter_map(|(rows, text)| Some((text?, rows))));
                    blanks.orphans = Orphans::known(std::mem::take(&mut blanks.orphans)).0;
                }
            }
        }
        Ok(())
    }

    /// Calls `visit` for the blank values of some keys, each with its place among the questions and what is known of it so far. A key
    /// whose table cannot be read is left out of what is returned.
    fn look_for(
        &mut self,
        keys: Vec<(usize, &Key, Found)>,
        visit: impl Fn(&mut Found, u64, &dyn Fn() -> String) + Sync,
    ) -> Result<Vec<(usize, Found)>> {
        let (features, encoder) = (self.features, self.encoder);
        let mut by_table: BTreeMap<usize, Vec<(usize, &Key, Found)>> = BTreeMap::new();
        for (at, key, found) in keys {
            by_table.entry(features[key[0]].table).or_default().push((at, key, found));
        }
        let mut all = Vec::new();
        for (table, mut keys) in by_table {
            let wanted = keys.iter().flat_map(|(_, key, _)| *key).map(|&feature| features[feature].position).collect();
            let is_read = self.read(table, &wanted, |batches| {
                keys.par_iter_mut().for_each(|(_, key, found)| {
                    for batch in batches {
                        for_each_blank(batch, key, features, encoder, |value, text| visit(found, value, text));
                    }
                });
            })?;
            if is_read {
                all.extend(keys.into_iter().map(|(at, _, found)| (at, found)));
            }
        }
        Ok(all)
    }
}

/// Calls `visit` for each row of a batch in which a key has no null and is blank, or a part of it is.
fn for_each_blank(
    batch: &Batch,
    key: &Key,
    features: &[Feature],
    encoder: &ValueEncoder,
    mut visit: impl FnMut(u64, &dyn Fn() -> String),
) {
    let values = |&feature: &usize| (features[feature].is_boolean, batch.values(features[feature].position));
    let mut columns: Vec<_> = key.iter().map(values).collect();
    let (mut row, mut buffer): (Vec<(bool, &[u8])>, Vec<u8>) = (Vec::new(), Vec::new());
    loop {
        row.clear();
        for (is_boolean, values) in &mut columns {
            let Some(raw) = values.next() else { return };
            row.extend(raw.filter(|raw| !encoder.is_null(raw)).map(|raw| (*is_boolean, raw)));
        }
        if row.len() < key.len() || !row.iter().any(|(_, raw)| is_blank(raw)) {
            continue;
        }
        let together = |all: u64, (is_boolean, raw): &(bool, &[u8])| {
            let own = encoder.value_of(*is_boolean, raw, &mut buffer).0;
            synopsis_value(own.rotate_left(1) ^ all, encoder.seed)
        };
        let value = row.iter().fold(0, together);
        let text = |raw: &[u8]| match is_blank(raw) && row.len() > 1 {
            true => format!("{:?}", beginning(raw)),
            false => beginning(raw),
        };
        visit(value, &|| row.iter().map(|(_, raw)| text(raw)).collect::<Vec<_>>().join(", "));
    }
}
