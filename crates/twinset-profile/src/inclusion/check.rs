//! The second pass: how many values two features share exactly, and which are missing.
//!
//! A database that has both compares them by itself. Everything else is read again: the values of each feature that takes part are
//! collected as 64-bit hashes, or, if there are too many for the memory allowed, a part of all hashes at a time. What is complete in its
//! synopsis is known already, and a feature that is only asked for such values keeps no others.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use rayon::prelude::*;
use twinset::Run;
use twinset_io::read::features::Batch;

use crate::Result;
use crate::features::encoder::ValueEncoder;
use crate::features::recent::RecentValues;
use crate::features::sorted::SortedValues;
use crate::features::value::Class;
use crate::features::{Feature, Kind};
use crate::inclusion::collector::{CollectedValues, HashPart, Key, ValueCollector, for_each_value};
use crate::inclusion::orphans::Orphans;
use crate::sources::{ColumnPair, Counts, Problem, Source};
use crate::table::Table;

/// What is asked: which values of the left the right has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) left: Key,
    pub(crate) right: Key,
    /// Whether the first pass does not rule out that the left is contained in the right.
    pub(crate) is_candidate: bool,
    /// Whether a database declares that the left refers to the right.
    pub(crate) is_declared: bool,
}

impl Question {
    pub(crate) fn candidate(left: Key, right: Key) -> Self {
        Self { left, right, is_candidate: true, is_declared: false }
    }
}

/// The second pass over the data.
pub(crate) struct Checker<'a> {
    pub(crate) sources: &'a mut [Box<dyn Source>],
    pub(crate) tables: &'a [Table],
    pub(crate) features: &'a [Feature],
    pub(crate) encoder: &'a ValueEncoder,
    pub(crate) run: &'a Run,
    /// The least share that counts as contained.
    pub(crate) share: f64,
    /// What could not be asked.
    pub(crate) problems: Vec<Problem>,
    /// How many different values a key turned out to have.
    pub(crate) distinct: BTreeMap<Key, u64>,
}

/// So many bytes of hashes are held at a time, unless the run says otherwise.
const MEMORY: f64 = (120 << 20) as f64;
/// So many bytes a hash takes while others come.
const HASH: f64 = 9.0;
/// So many values of a key are kept with their texts.
const FEW: f64 = 20_000.0;
/// So many bytes a value takes with its text.
const TEXT: f64 = 110.0;

impl Checker<'_> {
    /// Answers the questions, as far as they can be, and counts the values of some features.
    pub(crate) fn answer(&mut self, questions: &[Question], counted: &[usize]) -> Result<Vec<Option<Counts>>> {
        let mut answers: Vec<Option<Counts>> = vec![None; questions.len()];
        let mut by_hash = Vec::new();
        self.run.begin("check", Some(questions.len() as u64));
        for (at, question) in questions.iter().enumerate() {
            match self.database_of(question) {
                None => by_hash.push(at),
                Some(source) => {
                    self.run.check()?;
                    answers[at] = self.ask(source, question)?;
                }
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
                ColumnType::of(declared)
            };
            let kinds = (declared(left), declared(right));
            kinds.0 == kinds.1
                && match kinds.0 {
                    ColumnType::Integer => left.kind == Kind::Integer && right.kind == Kind::Integer,
                    // Numbers and dates in texts may be written differently.
                    ColumnType::Text => [left, right].iter().all(|feature| feature.shape.classes == Class::Text.bit()),
                    ColumnType::Other => false,
                }
                && [left, right].iter().all(|feature| !feature.is_tokens && !feature.is_boolean && !feature.has_blanks)
        });
        let are_alike = question.left.windows(2).all(|pair| self.features[pair[0]].kind == self.features[pair[1]].kind);
        let can = left.source == right.source && is_same && are_alike && self.encoder.is_plain();
        (can && self.sources[left.source].compares()).then_some(left.source)
    }

    fn ask(&mut self, source: usize, question: &Question) -> Result<Option<Counts>> {
        let columns =
            |key: &Key| -> Vec<&str> { key.iter().map(|&feature| self.features[feature].column.as_str()).collect() };
        let (left, right) = (columns(&question.left), columns(&question.right));
        let sides = ColumnPair {
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

    /// How many bytes of what is collected are held at a time.
    pub(crate) fn memory(&self) -> f64 {
        self.run.memory.map_or(MEMORY, |memory| memory as f64 / 2.0).max((1 << 20) as f64)
    }

    fn is_known(&self, key: &Key) -> bool {
        key.len() == 1 && self.features[key[0]].is_complete
    }

    /// About how many values a key has, at most.
    fn most(&self, key: &Key) -> f64 {
        let product: f64 = key.iter().map(|&feature| self.features[feature].distinct.high.max(1.0)).product();
        let is_tokens = self.features[key[0]].is_tokens;
        if is_tokens { product } else { product.min(self.features[key[0]].rows as f64) }
    }

    /// What is to be collected for some questions, and about how many values that is at most; for what is only asked for a few
    /// values, these.
    fn plan(&self, questions: &[&Question], counted: &[usize]) -> (BTreeMap<Key, f64>, BTreeMap<Key, Vec<u64>>) {
        let counted = counted.iter().map(|&feature| vec![feature]);
        let of_unknown = questions.iter().filter(|question| !self.is_known(&question.left));
        let keys = counted.chain(of_unknown.flat_map(|question| [question.left.clone(), question.right.clone()]));
        let mut full: BTreeMap<Key, f64> =
            keys.filter(|key| !self.is_known(key)).map(|key| (key.clone(), self.most(&key))).collect();
        let mut asked: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
        for Question { left, right, is_declared, .. } in questions {
            if left.len() > 1 && !is_declared {
                // A pair of columns that is contained has hardly more values than the pair that contains it.
                let bound = self.most(right) / self.share;
                full.entry(left.clone()).and_modify(|own| *own = own.min(bound));
            }
            if self.is_known(left) && !self.is_known(right) && !full.contains_key(right) {
                asked.entry(right.clone()).or_default().extend(&self.features[left[0]].values);
            }
        }
        (full, asked)
    }

    fn answer_by_hash(
        &mut self,
        questions: &[Question],
        by_hash: &[usize],
        counted: &[usize],
        answers: &mut [Option<Counts>],
    ) -> Result<()> {
        let asking: Vec<&Question> = by_hash.iter().map(|&at| &questions[at]).collect();
        let (full, asked) = self.plan(&asking, counted);
        let memory = self.memory();
        let parts = ((HASH * full.values().sum::<f64>() / memory).ceil() as u64).max(1);
        // Texts take more, and there must be room for them.
        let texts: f64 = full.values().filter(|most| **most <= FEW).map(|most| TEXT * most).sum();
        let few = if texts <= memory { FEW } else { 0.0 };
        let mut missing: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        let mut whole: BTreeMap<Key, CollectedValues> = BTreeMap::new();
        let mut counted_values: BTreeMap<Key, u64> = BTreeMap::new();
        for part in HashPart::all(parts) {
            let mut held: BTreeMap<Key, ValueCollector> = BTreeMap::new();
            for (key, &most) in &full {
                if most > few || key.len() > 1 {
                    held.insert(
                        key.clone(),
                        ValueCollector::Part { values: SortedValues::default(), recent: RecentValues::default() },
                    );
                } else if part.is_first() {
                    held.insert(
                        key.clone(),
                        ValueCollector::All { values: HashMap::default(), recent: RecentValues::default() },
                    );
                }
            }
            for (key, asked) in asked.iter().filter(|_| part.is_first()) {
                let asked = asked.iter().copied().collect();
                held.insert(key.clone(), ValueCollector::Lookup { asked, found: SortedValues::default() });
            }
            let (of_part, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
                self.collect(held, part)?.into_iter().partition(|(_, collected)| collected.is_part);
            whole.extend(rest);
            let of_whole = whole.iter().filter(|(key, _)| part.is_first() && full.contains_key(*key));
            for (key, collected) in of_part.iter().chain(of_whole) {
                *counted_values.entry(key.clone()).or_insert(0) += collected.values.len() as u64;
            }
            let of = |key: &Key| -> Cow<'_, [u64]> {
                if let Some(collected) = of_part.get(key) {
                    return Cow::Borrowed(&collected.values);
                }
                let all = whole.get(key).map_or(&self.features[key[0]].values, |collected| &collected.values);
                match parts {
                    1 => Cow::Borrowed(all),
                    _ => all.iter().copied().filter(|&value| part.has(value)).collect(),
                }
            };
            let features = self.features;
            let is_known = |key: &Key| key.len() == 1 && features[key[0]].is_complete;
            let is_there = |key: &Key| of_part.contains_key(key) || whole.contains_key(key) || is_known(key);
            let can_compare = |at: &&usize| is_there(&questions[**at].left) && is_there(&questions[**at].right);
            let compare = |&at: &usize| {
                let (own, others) = (of(&questions[at].left), of(&questions[at].right));
                (at, own.len(), missing_from(&own, &others))
            };
            for (at, values, lacking) in by_hash.par_iter().filter(can_compare).map(compare).collect::<Vec<_>>() {
                let counts = answers[at].get_or_insert_default();
                counts.left += values as u64;
                counts.common += (values - lacking.len()) as u64;
                missing.entry(at).or_default().extend(lacking);
            }
        }
        self.distinct.extend(counted_values);
        for &at in by_hash {
            let right = &questions[at].right;
            if let Some(counts) = &mut answers[at] {
                let feature = &self.features[right[0]];
                let exact =
                    self.distinct.get(right).copied().or((feature.unique == Some(true)).then(|| feature.present()));
                counts.right = exact.unwrap_or(feature.distinct.count.round() as u64);
                counts.right_is_estimate = exact.is_none() && !feature.distinct.is_exact();
            }
        }
        // What is neither contained nor declared is not listed.
        missing.retain(|&at, values| {
            let is_listed = |counts: &Counts| questions[at].is_declared || counts.containment() >= self.share;
            !values.is_empty() && answers[at].as_ref().is_some_and(is_listed)
        });
        self.find_orphans(questions, answers, missing, &whole)
    }

    /// Reads the tables of all keys that are held.
    fn collect(
        &mut self,
        held: BTreeMap<Key, ValueCollector>,
        part: HashPart,
    ) -> Result<BTreeMap<Key, CollectedValues>> {
        let mut by_table: BTreeMap<usize, Vec<(Key, ValueCollector)>> = BTreeMap::new();
        for (key, held) in held {
            by_table.entry(self.features[key[0]].table).or_default().push((key, held));
        }
        let mut collected = BTreeMap::new();
        for (table, mut keys) in by_table {
            let (features, encoder) = (self.features, self.encoder);
            let wanted = keys.iter().flat_map(|(key, _)| key).map(|&feature| features[feature].position);
            let is_read = self.read(table, &wanted.collect(), |batches| {
                keys.par_iter_mut().with_max_len(1).for_each(|(key, held)| {
                    batches.iter().for_each(|batch| held.add(batch, key, features, encoder, part));
                });
            })?;
            if !is_read {
                continue;
            }
            collected.extend(keys.into_iter().map(|(key, held)| (key, held.finish())));
        }
        Ok(collected)
    }

    /// Reads some columns of a table. Whether that was possible.
    pub(crate) fn read(
        &mut self,
        table: usize,
        wanted: &BTreeSet<usize>,
        mut visit: impl FnMut(&[Batch]) + Send,
    ) -> Result<bool> {
        let wanted: Vec<usize> = wanted.iter().copied().collect();
        let table = &self.tables[table];
        let source = &mut self.sources[table.source];
        let read = source.read(table, Some(&wanted), self.run, &mut |batches, _| {
            visit(batches);
            Ok(())
        });
        match read {
            Ok(_) => Ok(true),
            Err(error) if error.is_final() || self.run.cancel.is_stopped() => Err(error),
            Err(error) => {
                let place = format!("{} {}", source.name(), table.name);
                self.problems.push(Problem { place, reason: format!("not looked at a second time: {error}") });
                Ok(false)
            }
        }
    }

    /// The texts of the values that are missing, and how many rows have them.
    fn find_orphans(
        &mut self,
        questions: &[Question],
        answers: &mut [Option<Counts>],
        missing: BTreeMap<usize, Vec<u64>>,
        whole: &BTreeMap<Key, CollectedValues>,
    ) -> Result<()> {
        let mut by_table: BTreeMap<usize, Vec<(usize, Orphans)>> = BTreeMap::new();
        for (at, values) in missing {
            let left = &questions[at].left;
            let known = |value: &u64| match whole.get(left).and_then(|collected| collected.counted.as_ref()) {
                Some(counted) => counted.get(value).map(|counted| (counted.text.to_string(), counted.count)),
                None => self.features[left[0]].sampled(*value).filter(|_| left.len() == 1),
            };
            let orphans = match values.iter().map(known).collect::<Option<Vec<_>>>() {
                Some(known) => Orphans::known(known),
                None => {
                    let orphans = Orphans::unknown(&values);
                    by_table.entry(self.features[left[0]].table).or_default().push((at, orphans));
                    continue;
                }
            };
            if let Some(counts) = &mut answers[at] {
                (counts.orphans, counts.orphan_rows) = orphans;
            }
        }
        for (table, mut asked) in by_table {
            let (features, encoder) = (self.features, self.encoder);
            let keys = asked.iter().flat_map(|(at, _)| &questions[*at].left);
            let wanted = keys.map(|&feature| features[feature].position).collect();
            self.read(table, &wanted, |batches| {
                asked.par_iter_mut().for_each(|(at, orphans)| {
                    for batch in batches {
                        for_each_value(batch, &questions[*at].left, features, encoder, |_, value, text| {
                            orphans.add(value(), text)
                        });
                    }
                });
            })?;
            for (at, orphans) in asked {
                if let Some(counts) = &mut answers[at] {
                    (counts.orphans, counts.orphan_rows) = orphans.finish();
                }
            }
        }
        Ok(())
    }
}

/// The values of one list that another has not; both are in order.
fn missing_from(own: &[u64], others: &[u64]) -> Vec<u64> {
    // A short list is looked up, a long one is merged.
    if own.len() * 16 < others.len() {
        return own.iter().copied().filter(|value| others.binary_search(value).is_err()).collect();
    }
    let mut at = 0;
    let mut is_missing = |value: &u64| {
        while others.get(at).is_some_and(|other| other < value) {
            at += 1;
        }
        others.get(at) != Some(value)
    };
    own.iter().copied().filter(|value| is_missing(value)).collect()
}

/// What a database says of the type of a column, as far as it matters for comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Integer,
    Text,
    Other,
}

impl ColumnType {
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
