//! The page of a profile.

use std::collections::HashSet;

use twinset_profile::{Feature, Profile, Relation, RelationKind};
use twinset_report::{ProfileReport, ShownRelation, ShownTable};

use crate::session::count;

/// So many relations, tables, and columns of a table are shown.
const RELATIONS: usize = 1000;
const TABLES: usize = 500;
const COLUMNS: usize = 200;

pub(super) fn report(found: &Profile) -> String {
    let of_kind = |kind: RelationKind| found.relations.iter().filter(|relation| relation.kind == kind).count() as u64;
    let number = |name: &str, value: u64| (name.to_owned(), indicatif::HumanCount(value).to_string());
    let drawn: HashSet<*const Relation> = found.best_keys().map(std::ptr::from_ref).collect();
    // Some of each kind, rather than all of the first.
    let mut left = [RELATIONS / 3; 3];
    let shown = found.relations.iter().filter(|relation| {
        let left = &mut left[relation.kind as usize];
        let is_shown = *left > 0;
        *left -= usize::from(is_shown);
        is_shown
    });
    let relations: Vec<ShownRelation> =
        shown.map(|relation| relation_of(found, relation, drawn.contains(&std::ptr::from_ref(relation)))).collect();
    let report = ProfileReport {
        title: format!("Profile of {}", found.sources.join(", ")),
        summary: vec![
            number("tables", found.tables.len() as u64),
            number("columns and paths", found.features.len() as u64),
            number("foreign keys", of_kind(RelationKind::ForeignKey)),
            number("contained", of_kind(RelationKind::Contained)),
            number("similar", of_kind(RelationKind::Similar)),
        ],
        tables: tables(found),
        more_relations: (found.relations.len() - relations.len()) as u64,
        relations,
        problems: found.problems.iter().map(|problem| (problem.place.clone(), problem.reason.clone())).collect(),
    };
    report.render()
}

fn relation_of(found: &Profile, relation: &Relation, is_drawn: bool) -> ShownRelation {
    let columns = |key: &[usize]| key.iter().map(|&feature| found.features[feature].column.clone()).collect();
    let table = |key: &[usize]| found.features[key[0]].table;
    let checked = if relation.checked { "exact" } else { "an estimate, not checked" };
    let facts = [
        ("similarity", format!("{:.3} ({:.3} to {:.3})", relation.similarity, relation.low, relation.high)),
        ("contained", format!("{:.4}, {checked}", relation.containment)),
        ("covered", format!("{:.4} of the right one's values occur on the left", relation.coverage)),
        ("orphan values", if relation.checked { relation.orphan_values.to_string() } else { "not known".to_owned() }),
        ("declared", if relation.declared { "yes" } else { "no" }.to_owned()),
    ];
    ShownRelation {
        kind: relation.kind.name(),
        left: found.key_name(&relation.left),
        right: found.key_name(&relation.right),
        tables: (table(&relation.left), table(&relation.right)),
        columns: (columns(&relation.left), columns(&relation.right)),
        score: relation.score,
        facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        evidence: relation.evidence.iter().map(|evidence| (evidence.name, evidence.value)).collect(),
        orphans: relation.orphans.clone(),
        is_drawn: is_drawn && table(&relation.left) < TABLES && table(&relation.right) < TABLES,
    }
}

fn tables(found: &Profile) -> Vec<ShownTable> {
    let mut shown: Vec<ShownTable> = found
        .tables
        .iter()
        .enumerate()
        .take(TABLES)
        .map(|(number, table)| ShownTable {
            name: found.table_title(number),
            rows: count(table.rows, "row"),
            columns: Vec::new(),
            more_columns: 0,
        })
        .collect();
    for feature in found.features.iter().filter(|feature| feature.table < TABLES) {
        let table = &mut shown[feature.table];
        if table.columns.len() < COLUMNS {
            table.columns.push(column(feature));
        } else {
            table.more_columns += 1;
        }
    }
    shown
}

fn column(feature: &Feature) -> Vec<String> {
    vec![
        feature.column.clone(),
        feature.kind.name().to_owned(),
        indicatif::HumanCount(feature.nulls).to_string(),
        distinct(feature),
        super::yes(feature.unique).to_owned(),
        feature.min.clone().unwrap_or_default(),
        feature.max.clone().unwrap_or_default(),
        feature.examples.join(", "),
        super::frequent(feature),
    ]
}

fn distinct(feature: &Feature) -> String {
    let number = |value: f64| indicatif::HumanCount(value.round() as u64).to_string();
    let distinct = feature.distinct;
    match distinct.is_exact() {
        true => number(distinct.count),
        false => format!("about {} ({} to {})", number(distinct.count), number(distinct.low), number(distinct.high)),
    }
}
