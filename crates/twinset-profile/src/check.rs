//! The second look: how many values two features share exactly, and which are missing.
//!
//! A database that has both compares them by itself. Everything else is read again: the values of each feature that takes part are
//! collected as 64-bit hashes, or, if there are too many for the memory allowed, a part of all hashes at a time. What is complete in its
//! synopsis is known already, and a feature that is only asked for such values keeps no others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use hashbrown::HashSet;
use rayon::prelude::*;
use twinset::{Run, synopsis_value, token_hash};

use crate::Result;
use crate::counted::{AsItIs, beginning};
use crate::feature::{Distinct, Feature, Kind, Making};
use crate::source::{Counts, ORPHANS, Problem, Sides, Source};
use crate::table::Table;
use crate::value::{Class, truth};

type Values = HashSet<u64, BuildHasherDefault<AsItIs>>;

/// One feature, or two of one table together.
pub(crate) type Key = Vec<usize>;

/// What is asked: which values of the left the right has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) left: Key,
    pub(crate) right: Key,
}

/// What the second look needs.
pub(crate) struct Checker<'a> {
    pub(crate) sources: &'a mut [Box<dyn Source>],
    pub(crate) tables: &'a [Table],
    pub(crate) features: &'a [Feature],
    pub(crate) making: &'a Making,
    pub(crate) run: &'a Run,
    /// What could not be asked.
    pub(crate) problems: Vec<Problem>,
    /// How many different values a key turned out to have.
    pub(crate) distinct: BTreeMap<Key, u64>,
}

/// So many bytes of hashes are held at a time, unless the run says otherwise.
const MEMORY: u64 = 96 << 20;
/// A hash in a set takes about so many bytes.
const HASH: u64 = 14;

/// How the values of a key are come by.
enum Held {
    /// They are all in its synopsis.
    Known,
    /// All are collected.
    All(Values),
    /// Only those are collected that someone asks for.
    Asked { asked: Values, found: Values },
}

impl Checker<'_> {
    /// Answers the questions, as far as they can be, and counts the values of some features.
    pub(crate) fn answer(&mut self, questions: &[Question], counted: &[usize]) -> Result<Vec<Option<Counts>>> {
        let mut answers: Vec<Option<Counts>> = vec![None; questions.len()];
        let mut by_hash = Vec::new();
        self.run.begin("check", Some(questions.len() as u64));
        for (at, question) in questions.iter().enumerate() {
            match self.database_of(question) {
                None => by_hash.push(at),
                Some(source) => answers[at] = self.ask(source, question)?,
            }
            self.run.advance(1);
        }
        let counted: Vec<usize> =
            counted.iter().copied().filter(|&feature| !self.distinct.contains_key(&vec![feature])).collect();
        self.answer_by_hash(questions, &by_hash, &counted, &mut answers)?;
        Ok(answers)
    }

    fn table(&self, key: &Key) -> &Table {
        &self.tables[self.features[key[0]].table]
    }

    /// The database that can answer a question: both sides are in it, and what it takes for equal is so here.
    fn database_of(&self, question: &Question) -> Option<usize> {
        let (left, right) = (self.table(&question.left), self.table(&question.right));
        let is_same = question.left.iter().zip(&question.right).all(|(&left, &right)| {
            let (left, right) = (&self.features[left], &self.features[right]);
            let declared = |feature: &Feature| {
                let table = &self.tables[feature.table];
                let declared = table.columns.get(feature.position).map_or("", |(_, declared)| declared.as_str());
                Declared::of(declared)
            };
            let kinds = (declared(left), declared(right));
            kinds.0 == kinds.1
                && match kinds.0 {
                    Declared::Integer => left.kind == Kind::Integer && right.kind == Kind::Integer,
                    // Numbers and dates in texts may be written differently.
                    Declared::Text => [left, right].iter().all(|feature| feature.shape.classes == Class::Text.bit()),
                    Declared::Other => false,
                }
                && [left, right].iter().all(|feature| !feature.is_tokens && !feature.is_boolean)
        });
        let are_alike = question.left.windows(2).all(|pair| self.features[pair[0]].kind == self.features[pair[1]].kind);
        let can = left.source == right.source && is_same && are_alike && self.making.is_plain();
        (can && self.sources[left.source].compares()).then_some(left.source)
    }

    fn ask(&mut self, source: usize, question: &Question) -> Result<Option<Counts>> {
        let columns =
            |key: &Key| -> Vec<&str> { key.iter().map(|&feature| self.features[feature].column.as_str()).collect() };
        let (left, right) = (columns(&question.left), columns(&question.right));
        let sides = Sides {
            left: &self.tables[self.features[question.left[0]].table],
            left_columns: &left,
            right: &self.tables[self.features[question.right[0]].table],
            right_columns: &right,
            are_texts: self.features[question.left[0]].kind == Kind::Text,
        };
        match self.sources[source].compare(sides, self.run) {
            Ok(counts) => {
                self.distinct.insert(question.left.clone(), counts.left);
                self.distinct.insert(question.right.clone(), counts.right);
                Ok(Some(counts))
            }
            Err(error) if error.is_final() || self.run.cancel.is_stopped() => Err(error),
            Err(error) => {
                let names: Vec<&str> = question
                    .left
                    .iter()
                    .chain(&question.right)
                    .map(|&feature| self.features[feature].name.as_str())
                    .collect();
                self.problems.push(Problem { place: names.join(", "), reason: format!("not checked: {error}") });
                Ok(None)
            }
        }
    }

    fn is_known(&self, key: &Key) -> bool {
        key.len() == 1 && self.features[key[0]].is_complete
    }

    /// About how many values a key has, at most.
    fn most(&self, key: &Key) -> f64 {
        let product: f64 = key.iter().map(|&feature| self.features[feature].distinct.high.max(1.0)).product();
        product.min(self.features[key[0]].rows as f64)
    }

    fn answer_by_hash(
        &mut self,
        questions: &[Question],
        by_hash: &[usize],
        counted: &[usize],
        answers: &mut [Option<Counts>],
    ) -> Result<()> {
        let mut full: BTreeSet<Key> =
            counted.iter().map(|&feature| vec![feature]).filter(|key| !self.is_known(key)).collect();
        for &at in by_hash {
            let Question { left, right } = &questions[at];
            if !self.is_known(left) {
                full.extend([left.clone(), right.clone()].into_iter().filter(|key| !self.is_known(key)));
            }
        }
        let mut asked: BTreeMap<Key, Values> = BTreeMap::new();
        for &at in by_hash {
            let Question { left, right } = &questions[at];
            if self.is_known(left) && !self.is_known(right) && !full.contains(right) {
                asked.entry(right.clone()).or_default().extend(&self.features[left[0]].values);
            }
        }
        let total: f64 = full.iter().map(|key| self.most(key)).sum();
        let memory = self.run.memory.map_or(MEMORY, |memory| memory / 2).max(1 << 20);
        let parts = ((total * HASH as f64 / memory as f64).ceil() as u64).max(1);
        let mut missing: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for part in 0..parts {
            let mut held: BTreeMap<Key, Held> = BTreeMap::new();
            for &at in by_hash {
                let Question { left, right } = &questions[at];
                for key in [left, right].into_iter().filter(|key| self.is_known(key)) {
                    held.insert(key.clone(), Held::Known);
                }
            }
            for key in &full {
                let room = (self.most(key) / parts as f64 * 1.02) as usize;
                held.insert(key.clone(), Held::All(Values::with_capacity_and_hasher(room, Default::default())));
            }
            for (key, asked) in &asked {
                held.insert(key.clone(), Held::Asked { asked: asked.clone(), found: Values::default() });
            }
            self.collect(&mut held, (part, parts))?;
            for (key, held) in &held {
                if let Held::All(values) = held {
                    *self.distinct.entry(key.clone()).or_insert(0) += values.len() as u64;
                }
            }
            for &at in by_hash {
                let Question { left, right } = &questions[at];
                let counts = answers[at].get_or_insert_default();
                let mut look = |value: u64| {
                    if !is_in(value, part, parts) {
                        return;
                    }
                    counts.left += 1;
                    let is_there = match &held[right] {
                        Held::Known => self.features[right[0]].values.binary_search(&value).is_ok(),
                        Held::All(values) | Held::Asked { found: values, .. } => values.contains(&value),
                    };
                    if is_there {
                        counts.common += 1;
                    } else {
                        missing.entry(at).or_default().push(value);
                    }
                };
                match &held[left] {
                    Held::All(values) => values.iter().for_each(|&value| look(value)),
                    _ => self.features[left[0]].values.iter().for_each(|&value| look(value)),
                }
            }
        }
        for &at in by_hash {
            let right = &questions[at].right;
            if let Some(counts) = &mut answers[at] {
                let feature = &self.features[right[0]];
                counts.right = match self.distinct.get(right) {
                    Some(&distinct) => distinct,
                    None if feature.unique == Some(true) => feature.present(),
                    None => feature.distinct.count.round() as u64,
                };
            }
        }
        self.find_orphans(questions, answers, &missing)
    }

    /// Reads the tables of all keys that are held.
    fn collect(&mut self, held: &mut BTreeMap<Key, Held>, part: (u64, u64)) -> Result<()> {
        let mut by_table: BTreeMap<usize, Vec<(Key, Held)>> = BTreeMap::new();
        let keys: Vec<Key> =
            held.iter().filter(|(_, held)| !matches!(held, Held::Known)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            if let Some(values) = held.remove(&key) {
                by_table.entry(self.features[key[0]].table).or_default().push((key, values));
            }
        }
        for (table, mut keys) in by_table {
            let (features, making) = (self.features, self.making);
            let visit = |key: &Key, value: u64, held: &mut Held| {
                if part.1 > 1 && !is_in(value, part.0, part.1) {
                    return;
                }
                debug_assert!(!key.is_empty());
                match held {
                    Held::All(values) => {
                        values.insert(value);
                    }
                    Held::Asked { asked, found } => {
                        if asked.contains(&value) {
                            found.insert(value);
                        }
                    }
                    Held::Known => {}
                }
            };
            let wanted: BTreeSet<usize> =
                keys.iter().flat_map(|(key, _)| key.iter().map(|&feature| features[feature].position)).collect();
            let wanted: Vec<usize> = wanted.into_iter().collect();
            let source = self.tables[table].source;
            self.sources[source].read(&self.tables[table], Some(&wanted), self.run, &mut |batches, _| {
                keys.par_iter_mut().for_each(|(key, held)| {
                    for batch in batches {
                        for_each_value(batch, key, features, making, |value, _| visit(key, value, held));
                    }
                });
                Ok(())
            })?;
            held.extend(keys);
        }
        Ok(())
    }

    /// The texts of the values that are missing, and how many rows have them.
    fn find_orphans(
        &mut self,
        questions: &[Question],
        answers: &mut [Option<Counts>],
        missing: &BTreeMap<usize, Vec<u64>>,
    ) -> Result<()> {
        let mut by_table: BTreeMap<usize, Vec<(usize, Orphans)>> = BTreeMap::new();
        for (&at, values) in missing {
            // Of what is hardly contained, the list would be long and say little.
            if answers[at].as_ref().is_some_and(|counts| counts.common * 2 < counts.left) {
                continue;
            }
            let mut values = values.clone();
            values.sort_unstable();
            let orphans = Orphans { values: values.iter().map(|&value| (value, 0)).collect(), texts: HashMap::new() };
            by_table.entry(self.features[questions[at].left[0]].table).or_default().push((at, orphans));
        }
        for (table, mut asked) in by_table {
            let (features, making) = (self.features, self.making);
            let keys = asked.iter().flat_map(|(at, _)| &questions[*at].left);
            let wanted: BTreeSet<usize> = keys.map(|&feature| features[feature].position).collect();
            let wanted: Vec<usize> = wanted.into_iter().collect();
            let source = self.tables[table].source;
            self.sources[source].read(&self.tables[table], Some(&wanted), self.run, &mut |batches, _| {
                asked.par_iter_mut().for_each(|(at, orphans)| {
                    for batch in batches {
                        let key = &questions[*at].left;
                        for_each_value(batch, key, features, making, |value, text| orphans.add(value, text));
                    }
                });
                Ok(())
            })?;
            for (at, orphans) in asked {
                if let Some(counts) = &mut answers[at] {
                    (counts.orphans, counts.orphan_rows) = orphans.most();
                }
            }
        }
        Ok(())
    }
}

/// Values that are missing somewhere.
struct Orphans {
    /// Each with the number of its rows.
    values: HashMap<u64, u64, BuildHasherDefault<AsItIs>>,
    texts: HashMap<u64, String>,
}

/// Of so many orphans the texts are kept.
const TEXTS: usize = 10_000;

impl Orphans {
    fn add(&mut self, value: u64, text: &dyn Fn() -> String) {
        let Some(rows) = self.values.get_mut(&value) else { return };
        *rows += 1;
        if self.texts.len() < TEXTS {
            self.texts.entry(value).or_insert_with(text);
        }
    }

    /// The most frequent ones, and how many rows have any.
    fn most(self) -> (Vec<(String, u64)>, u64) {
        let mut shown: Vec<(String, u64)> =
            self.texts.into_iter().map(|(value, text)| (text, self.values[&value])).collect();
        shown.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        shown.truncate(ORPHANS);
        (shown, self.values.values().sum())
    }
}

/// Whether a value belongs to a part of all.
fn is_in(value: u64, part: u64, parts: u64) -> bool {
    // Neither the upper nor the lower bits, by which sets are made.
    parts == 1 || (value >> 24 & 0xffff_ffff) % parts == part
}

/// Calls `visit` with the values of a key in a batch, and what writes out what a value stands for.
fn for_each_value(
    batch: &twinset_io::read::features::Batch,
    key: &Key,
    features: &[Feature],
    making: &Making,
    mut visit: impl FnMut(u64, &dyn Fn() -> String),
) {
    let mut buffer = Vec::new();
    match key.as_slice() {
        [only] => {
            let feature = &features[*only];
            for raw in batch.values(feature.position) {
                making.for_each(feature, raw, &mut buffer, |value, text| visit(value, &|| beginning(text)));
            }
        }
        [first, second] => {
            let (first, second) = (&features[*first], &features[*second]);
            for (left, right) in batch.values(first.position).zip(batch.values(second.position)) {
                let mut one = |feature: &Feature, raw| {
                    let mut found = None;
                    making.for_each(feature, raw, &mut buffer, |value, _| found = Some(value));
                    found
                };
                let (Some(a), Some(b)) = (one(first, left), one(second, right)) else { continue };
                let both = [a.to_le_bytes(), b.to_le_bytes()].concat();
                let text =
                    || format!("{}, {}", beginning(left.unwrap_or_default()), beginning(right.unwrap_or_default()));
                visit(synopsis_value(token_hash(&both, 1), making.seed), &text);
            }
        }
        _ => {}
    }
}

impl Making {
    /// Whether values are compared as databases compare them.
    fn is_plain(&self) -> bool {
        self.nulls.is_empty() && !self.empty_values && self.rules.is_default()
    }

    /// Calls `visit` with the value of a row, if it has one, or with its tokens.
    #[inline]
    fn for_each(&self, feature: &Feature, raw: Option<&[u8]>, buffer: &mut Vec<u8>, mut visit: impl FnMut(u64, &[u8])) {
        let Some(raw) = self.present(raw) else { return };
        if feature.is_tokens {
            let text = String::from_utf8_lossy(raw);
            let hashes = self.hasher.hashes(&text).unwrap_or_default();
            hashes.iter().for_each(|&hash| visit(synopsis_value(hash, self.seed), raw));
            return;
        }
        let text = self.rules.apply(raw, buffer).text;
        match feature.is_boolean.then(|| truth(text, true)).flatten() {
            Some((is_true, _)) => visit(self.value(if is_true { b"true" } else { b"false" }), text),
            None => visit(self.value(text), text),
        }
    }
}

/// What a database says of the type of a column, as far as it matters for comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Integer,
    Text,
    Other,
}

impl Declared {
    fn of(declared: &str) -> Self {
        let declared = declared.to_ascii_lowercase();
        let base = declared.split(['(', ' ']).next().unwrap_or_default();
        match base {
            "int" | "integer" | "bigint" | "smallint" | "tinyint" | "mediumint" | "int2" | "int4" | "int8" => {
                Self::Integer
            }
            "text" | "varchar" | "nvarchar" | "char" | "nchar" | "character" | "bpchar" | "longtext" | "mediumtext"
            | "tinytext" | "citext" => Self::Text,
            _ => Self::Other,
        }
    }
}

impl Feature {
    /// What the second look found out about it.
    pub(crate) fn settle(&mut self, distinct: u64) {
        self.distinct = Distinct::exactly(distinct);
        if !self.is_tokens {
            self.unique = Some(distinct == self.present() && distinct > 0);
        }
    }
}
