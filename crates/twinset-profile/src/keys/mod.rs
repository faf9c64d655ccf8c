//! Foreign keys: what speaks for a contained column being one, and how much.

mod names;

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use self::names::{belongs, is_key_like, is_kin, refers, says_nothing, words};
use crate::features::{Feature, Kind};
use crate::relation::{Evidence, Relation, RelationKind};
use crate::table::Table;

/// Weighs contained columns.
pub(crate) struct Scorer<'a> {
    features: &'a [Feature],
    tables: &'a [Table],
    /// The words of each feature's name, and those without what its table puts before all.
    words: Vec<[Vec<String>; 2]>,
    /// What each feature belongs to: its table, or for a path the element that it is of.
    owners: Vec<usize>,
    /// How much each feature looks like the key of its table.
    keys: Vec<f64>,
    /// Whether it looks like it more than all others of the table.
    is_best: Vec<bool>,
}

/// What counts how much. A score is the weighted mean of what holds.
const WEIGHTS: [(&str, f64); 8] = [
    ("name", 4.0),
    ("contained", 2.0),
    ("coverage", 1.5),
    ("range", 1.0),
    ("refers", 2.0),
    ("type", 1.0),
    ("values", 1.0),
    ("choice", 1.5),
];

/// A column that is not unique can be referred to if nearly all of its values are.
const NEARLY: f64 = 0.98;
/// A name that says what is referred to.
const TELLING: f64 = 0.6;
/// What is left of the score of a target that is not a column's best.
const SECOND: f64 = 0.8;
/// What is left of it if the target itself refers to another that the column could refer to.
const DERIVED: f64 = 0.75;
/// What a key of several columns is worth beside one of a single column.
const COMPOSITE: f64 = 0.75;
/// What is left of it if the target is no key at all.
const NO_KEY: f64 = 0.5;

impl<'a> Scorer<'a> {
    pub(crate) fn new(features: &'a [Feature], tables: &'a [Table]) -> Self {
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        let owner = |feature: &'a Feature| {
            let element = if tables[feature.table].is_xml() { parent(&feature.column) } else { "" };
            let next = known.len();
            *known.entry((feature.table, element)).or_insert(next)
        };
        let owners: Vec<usize> = features.iter().map(owner).collect();
        let prefixes = common_prefixes(features, &owners);
        let of = |(feature, owner): (&Feature, &usize)| {
            let own = words(own_name(&feature.column));
            let short = if prefixes[*owner] && own.len() > 1 { own[1..].to_vec() } else { own.clone() };
            [own, short]
        };
        let words = features.iter().zip(&owners).map(of).collect();
        let mut scorer = Self { features, tables, words, owners, keys: Vec::new(), is_best: Vec::new() };
        let keys: Vec<f64> = (0..features.len()).map(|feature| scorer.key(feature)).collect();
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (&owner, &key) in scorer.owners.iter().zip(&keys) {
            let own = best.entry(owner).or_insert(0.0);
            *own = own.max(key);
        }
        // A table has one key that is referred to, as a rule.
        scorer.is_best = scorer.owners.iter().zip(&keys).map(|(owner, &key)| key > 0.0 && key >= best[owner]).collect();
        let relative =
            |(at, &key): (usize, &f64)| match scorer.is_best[at] || is_key_like(own_name(&features[at].column)) {
                true => key,
                false => key / 2.0,
            };
        scorer.keys = keys.iter().enumerate().map(relative).collect();
        scorer
    }

    /// How well the name of one says that it refers to the other.
    pub(crate) fn name(&self, left: usize, right: usize) -> f64 {
        let (l, r) = (&self.features[left], &self.features[right]);
        let (own, others) = (&self.words[left], &self.words[right]);
        if self.owners[left] == self.owners[right] {
            // What a table's own name says about it is no reference.
            return if is_kin(&own[0]) { 0.7 } else { 0.0 };
        }
        let table = self.table_name(r);
        let named = (0..2).map(|way| refers(&own[way], &others[way], table)).fold(0.0, f64::max);
        let is_repeated = l.unique == Some(false);
        let is_own_key = !is_repeated && self.is_best[left] && self.is_named_after_table(left);
        if is_own_key && own[0] != others[0] {
            return 0.0;
        }
        let is_same = own[0] == others[0] && is_repeated;
        let belongs_to_left = named >= TELLING && belongs(table, self.table_name(l));
        let is_part = !is_own_key && belongs(self.table_name(l), table) && (says_nothing(&own[1]) || is_kin(&own[0]));
        let named = if belongs_to_left { (named + 0.1).min(1.0) } else { named };
        named.max(if is_same { 0.65 } else { 0.0 }).max(if is_part { 0.7 } else { 0.0 })
    }

    fn table_name(&self, feature: &'a Feature) -> &'a str {
        let table = &self.tables[feature.table];
        if table.is_xml() { parent(&feature.column) } else { &table.name }
    }

    fn is_named_after_table(&self, feature: usize) -> bool {
        let own = &self.features[feature];
        let is_tables = |words: &Vec<String>| refers(words, &["id".to_owned()], self.table_name(own)) >= 1.0;
        self.words[feature].iter().any(|words| says_nothing(words) || is_tables(words))
    }

    /// How much a column looks like the key of its table, from 0 to 1.
    fn key(&self, feature: usize) -> f64 {
        let own = &self.features[feature];
        let uniqueness = match own.unique {
            Some(true) => 1.0,
            None => 0.8,
            Some(false) => 0.0,
        };
        let position = 1.0 / (1.0 + own.position as f64).sqrt();
        let name = if self.is_named_after_table(feature) {
            1.0
        } else if is_key_like(own_name(&own.column)) {
            0.6
        } else {
            0.0
        };
        let kind = match own.kind {
            Kind::Integer => 1.0,
            Kind::Text => 0.7,
            _ => 0.1,
        };
        // Every row of a table has its key.
        let present = if own.nulls == 0 { 1.0 } else { 0.5 };
        uniqueness * present * (0.35 * position + 0.4 * name + 0.25 * kind)
    }

    /// Whether a column can be referred to.
    pub(crate) fn is_target(&self, feature: usize) -> bool {
        let own = &self.features[feature];
        !own.is_tokens && (own.unique.unwrap_or(true) || own.uniqueness() >= NEARLY && own.distinct.count >= 50.0)
    }

    /// Foreign keys among the relations of containment: those with at least this score, and those that are declared.
    pub(crate) fn foreign_keys(&self, contained: &[Relation], least: f64) -> Vec<Relation> {
        let single = |relation: &&Relation| relation.left.len() == 1 && self.is_target(relation.right[0]);
        let candidates: Vec<&Relation> = contained.iter().filter(single).collect();
        let names: HashMap<(usize, usize), f64> =
            candidates.iter().map(|key| ((key.left[0], key.right[0]), self.name(key.left[0], key.right[0]))).collect();
        let mut targets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        // Who is referred to by name.
        let mut claimed: BTreeMap<usize, f64> = BTreeMap::new();
        for (&(left, right), &name) in &names {
            targets.entry(left).or_default().push(right);
            // What a table says of itself is no claim.
            let is_other = self.owners[left] != self.owners[right];
            let best = claimed.entry(right).or_insert(0.0);
            *best = best.max(if is_other { name } else { 0.0 });
        }
        let is_derived = |left: usize, right: usize| {
            let name = names[&(left, right)];
            targets.get(&right).is_some_and(|roots| {
                roots.iter().any(|&root| {
                    let tells = |from: usize| names.get(&(from, root)).copied().unwrap_or(0.0);
                    let of = |feature: usize| &self.words[feature][0];
                    let is_same = of(right) == of(root) && of(left) == of(root);
                    root != left
                        && (is_same || tells(right) >= TELLING)
                        && tells(left) + 0.2 >= name
                        && self.is_root(root, right)
                })
            })
        };
        let weigh = |relation: &Relation| {
            let (left, right) = (relation.left[0], relation.right[0]);
            let mut evidence = self.evidence(relation, names[&(left, right)], targets[&left].len(), claimed[&right]);
            let mut score = mean(&evidence) * (NO_KEY + (1.0 - NO_KEY) * self.keys[right]);
            if is_derived(left, right) {
                score *= DERIVED;
                evidence.push(factor("root", 0.0));
            }
            (score, evidence)
        };
        // Most candidates are no keys: of these no more than the score is kept.
        let scores: Vec<f64> = candidates.par_iter().map(|relation| weigh(relation).0).collect();
        // Of several targets of one column at most one is right.
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        for (key, &score) in candidates.iter().zip(&scores) {
            let own = best.entry(key.left[0]).or_insert(0.0);
            *own = own.max(score);
        }
        let key = |(relation, &score): (&&Relation, &f64)| {
            let is_best = score >= best[&relation.left[0]];
            let score = if is_best { score } else { score * SECOND };
            if score < least && !relation.declared {
                return None;
            }
            let (_, mut evidence) = weigh(relation);
            if !is_best {
                evidence.push(factor("best", 0.0));
            }
            Some(Relation { kind: RelationKind::ForeignKey, score, evidence, ..(*relation).clone() })
        };
        candidates.iter().zip(&scores).filter_map(key).collect()
    }

    /// Whether of two columns, the second of which is contained in the first, the first is where the values come from.
    fn is_root(&self, root: usize, other: usize) -> bool {
        let (r, o) = (&self.features[root], &self.features[other]);
        let by_size = r.distinct.count.total_cmp(&o.distinct.count);
        let by_key = self.keys[root].total_cmp(&self.keys[other]);
        // With the same values, the table whose name says less.
        let length = |feature: &'a Feature| self.table_name(feature).len();
        by_size.then(by_key).then(length(o).cmp(&length(r))).then(other.cmp(&root)).is_gt()
    }

    /// A key of several columns, or one that is declared though nothing else speaks for it: by less evidence.
    pub(crate) fn other_key(&self, relation: &Relation) -> Relation {
        let pairs = || relation.left.iter().zip(&relation.right);
        let name = pairs().map(|(&left, &right)| self.name(left, right)).sum::<f64>() / relation.left.len() as f64;
        let value = |of: &str| match of {
            "name" => Some(name),
            "contained" => Some(((relation.containment - 0.8) / 0.2).clamp(0.0, 1.0)),
            "coverage" => Some(relation.coverage.clamp(0.0, 1.0).sqrt()),
            _ => None,
        };
        let evidence: Vec<Evidence> = WEIGHTS
            .iter()
            .filter_map(|&(name, weight)| value(name).map(|value| Evidence { name, weight, value }))
            .collect();
        let factor = if relation.left.len() > 1 { COMPOSITE } else { NO_KEY };
        Relation { kind: RelationKind::ForeignKey, score: factor * mean(&evidence), evidence, ..relation.clone() }
    }

    fn evidence(&self, relation: &Relation, name: f64, targets: usize, claim: f64) -> Vec<Evidence> {
        let (left, right) = (relation.left[0], relation.right[0]);
        let (l, r) = (&self.features[left], &self.features[right]);
        let type_fits = match (l.kind, r.kind) {
            (Kind::Integer, Kind::Integer) => 1.0,
            (Kind::Text, Kind::Text) => 0.9,
            (Kind::Date | Kind::Timestamp | Kind::Boolean | Kind::Decimal, _) => 0.0,
            _ => 0.4,
        };
        // The key of a table seldom refers, unless its name says so.
        let refers = match l.unique {
            Some(false) => 1.0,
            _ if name >= TELLING => 0.6,
            _ if self.keys[left] > 0.6 => 0.0,
            _ => 0.4,
        };
        let choice = if name >= TELLING {
            1.0
        } else {
            let free = if claim < TELLING { 1.0 } else { 0.0 };
            0.5 * free + 0.5 / (targets as f64).sqrt()
        };
        let value = |of: &str| match of {
            "name" => name,
            "contained" => ((relation.containment - 0.8) / 0.2).clamp(0.0, 1.0),
            "coverage" => relation.coverage.clamp(0.0, 1.0).sqrt(),
            "range" => l.shape.spans(&r.shape).unwrap_or(0.5).sqrt(),
            "refers" => refers,
            "type" => type_fits,
            "values" => 1.0 - 1.0 / l.distinct.count.max(1.0),
            _ => choice,
        };
        let mut evidence: Vec<Evidence> =
            WEIGHTS.iter().map(|&(name, weight)| Evidence { name, weight, value: value(name) }).collect();
        evidence.push(factor("key", self.keys[right]));
        evidence
    }
}

/// What the mean is multiplied with, more or less, rather than a part of it.
pub(crate) fn factor(name: &'static str, value: f64) -> Evidence {
    Evidence { name, weight: 0.0, value }
}

/// For each owner of features, whether all of their names begin with the same word, as in `l_orderkey`, `l_partkey`.
fn common_prefixes(features: &[Feature], owners: &[usize]) -> Vec<bool> {
    let count = owners.iter().max().map_or(0, |last| last + 1);
    let mut firsts: Vec<(usize, Option<String>)> = vec![(0, None); count];
    for (feature, &owner) in features.iter().zip(owners) {
        let first = words(own_name(&feature.column)).into_iter().next();
        let (seen, known) = &mut firsts[owner];
        if *seen == 0 {
            *known = first;
        } else if *known != first {
            *known = None;
        }
        *seen += 1;
    }
    firsts.into_iter().map(|(seen, known)| seen > 2 && known.is_some()).collect()
}

fn mean(evidence: &[Evidence]) -> f64 {
    let weights: f64 = evidence.iter().map(|evidence| evidence.weight).sum();
    evidence.iter().map(|evidence| evidence.weight * evidence.value).sum::<f64>() / weights
}

/// The last part of a path; the name of a column as it is.
fn own_name(column: &str) -> &str {
    if column.starts_with('/') { column.rsplit('/').next().unwrap_or(column).trim_start_matches('@') } else { column }
}

/// The element that a path belongs to.
fn parent(path: &str) -> &str {
    let before = path.rsplit_once('/').map_or("", |(before, _)| before);
    before.rsplit('/').next().unwrap_or(before)
}
