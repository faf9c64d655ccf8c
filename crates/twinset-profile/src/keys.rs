//! Foreign keys: what speaks for a contained column being one, and how much.

use std::collections::{BTreeMap, HashMap};

use crate::feature::{Feature, Kind};
use crate::names::{is_key_like, refers, without_prefix};
use crate::relation::{Evidence, Relation, RelationKind};
use crate::table::Table;

/// Weighs contained columns.
pub(crate) struct Scorer<'a> {
    features: &'a [Feature],
    tables: &'a [Table],
    /// The words of each feature's name, without what its table puts before all.
    words: Vec<Vec<String>>,
}

/// What counts how much. A score is the weighted mean of what holds.
const WEIGHTS: [(&str, f64); 9] = [
    ("name", 4.0),
    ("contained", 2.0),
    ("coverage", 1.5),
    ("range", 1.0),
    ("key", 2.0),
    ("refers", 2.0),
    ("type", 1.0),
    ("values", 1.0),
    ("choice", 1.5),
];

/// A column that is not unique can be referred to if nearly all of its values are.
const NEARLY: f64 = 0.98;
/// A name that says what is referred to.
const TELLING: f64 = 0.7;

impl<'a> Scorer<'a> {
    pub(crate) fn new(features: &'a [Feature], tables: &'a [Table]) -> Self {
        let mut siblings: HashMap<usize, Vec<&str>> = HashMap::new();
        for feature in features {
            siblings.entry(feature.table).or_default().push(&feature.column);
        }
        let words = features
            .iter()
            .map(|feature| without_prefix(own_name(&feature.column), &siblings[&feature.table]))
            .collect();
        Self { features, tables, words }
    }

    /// How well the name of one says that it refers to the other.
    pub(crate) fn name(&self, left: usize, right: usize) -> f64 {
        let (l, r) = (&self.features[left], &self.features[right]);
        let table = self.table_name(r);
        let own = refers(&self.words[left], &self.words[right], table);
        // What is named after its own table is the table's own key.
        let is_own = l.table != r.table && self.is_named_after_table(left) && own < 1.0;
        if is_own { 0.0 } else { own }
    }

    fn table_name(&self, feature: &'a Feature) -> &'a str {
        let table = &self.tables[feature.table];
        if table.is_xml() { parent(&feature.column) } else { &table.name }
    }

    fn is_named_after_table(&self, feature: usize) -> bool {
        let own = &self.features[feature];
        let generic = ["id", "key", "code", "no", "nr", "pk"].contains(&self.words[feature].concat().as_str());
        generic || refers(&self.words[feature], &["id".to_owned()], self.table_name(own)) >= 1.0
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
        let present = if own.nulls == 0 { 1.0 } else { 0.0 };
        uniqueness * (0.3 * position + 0.35 * name + 0.2 * kind + 0.15 * present)
    }

    /// Whether a column can be referred to.
    pub(crate) fn is_target(&self, feature: usize) -> bool {
        let own = &self.features[feature];
        !own.is_tokens && own.unique.unwrap_or(true)
            || !own.is_tokens && own.uniqueness() >= NEARLY && own.distinct.count >= 50.0
    }

    /// Foreign keys among the relations of containment, best first.
    pub(crate) fn foreign_keys(&self, contained: &[Relation]) -> Vec<Relation> {
        let single = |relation: &&Relation| relation.left.len() == 1 && self.is_target(relation.right[0]);
        let candidates: Vec<&Relation> = contained.iter().filter(single).collect();
        let mut targets: BTreeMap<usize, usize> = BTreeMap::new();
        // Who is referred to by name.
        let mut claimed: BTreeMap<usize, f64> = BTreeMap::new();
        for relation in &candidates {
            let (left, right) = (relation.left[0], relation.right[0]);
            *targets.entry(left).or_insert(0) += 1;
            let name = self.name(left, right);
            let best = claimed.entry(right).or_insert(0.0);
            *best = best.max(name);
        }
        let mut keys: Vec<Relation> = candidates
            .iter()
            .map(|relation| {
                let claim = claimed[&relation.right[0]];
                let evidence = self.evidence(relation, targets[&relation.left[0]], claim);
                Relation { kind: RelationKind::ForeignKey, score: mean(&evidence), evidence, ..(*relation).clone() }
            })
            .collect();
        // Of several targets of one column at most one is right.
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        for key in &keys {
            let own = best.entry(key.left[0]).or_insert(0.0);
            *own = own.max(key.score);
        }
        for key in &mut keys {
            if key.score < best[&key.left[0]] {
                key.score *= SECOND;
            }
        }
        keys
    }

    /// A key of two columns.
    pub(crate) fn composite(&self, relation: &Relation) -> Relation {
        let pairs = || relation.left.iter().zip(&relation.right);
        let name = pairs().map(|(&left, &right)| self.name(left, right)).sum::<f64>() / 2.0;
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
        Relation { kind: RelationKind::ForeignKey, score: SECOND * mean(&evidence), evidence, ..relation.clone() }
    }

    fn evidence(&self, relation: &Relation, targets: usize, claim: f64) -> Vec<Evidence> {
        let (left, right) = (relation.left[0], relation.right[0]);
        let (l, r) = (&self.features[left], &self.features[right]);
        let name = self.name(left, right);
        let type_fits = match (l.kind, r.kind) {
            (Kind::Integer, Kind::Integer) => 1.0,
            (Kind::Text, Kind::Text) => 0.9,
            (Kind::Date | Kind::Timestamp | Kind::Boolean | Kind::Decimal, _) => 0.0,
            _ => 0.4,
        };
        // The key of a table seldom refers, unless its name says so.
        let refers = match (l.unique, self.key(left)) {
            (Some(true) | None, key) if key > 0.6 && name < 1.0 => 0.0,
            (Some(true) | None, _) => 0.4,
            _ => 1.0,
        };
        let choice = if name >= TELLING {
            1.0
        } else {
            let free = if claim < TELLING { 1.0 } else { 0.0 };
            0.5 * free + 0.5 / (targets as f64).sqrt()
        };
        let value = |name: &str| match name {
            "name" => self.name(left, right),
            "contained" => ((relation.containment - 0.8) / 0.2).clamp(0.0, 1.0),
            "coverage" => relation.coverage.clamp(0.0, 1.0).sqrt(),
            "range" => l.shape.spans(&r.shape).unwrap_or(0.5).sqrt(),
            "key" => self.key(right),
            "refers" => refers,
            "type" => type_fits,
            "values" => 1.0 - 1.0 / l.distinct.count.max(1.0),
            _ => choice,
        };
        WEIGHTS.iter().map(|&(name, weight)| Evidence { name, weight, value: value(name) }).collect()
    }
}

/// What is left of the score of a target that is not a column's best.
const SECOND: f64 = 0.8;

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
