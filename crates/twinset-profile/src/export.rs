//! A profile for other programs: SQL statements, a diagram, JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::relation::{Relation, RelationKind};
use crate::sources::{quoted, quoted_table};
use crate::table::Table;
use crate::{Feature, Profile};

/// What is written.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
#[serde(rename_all = "lowercase")]
pub enum Export {
    /// `ALTER TABLE` statements that declare the foreign keys.
    Sql,
    /// An entity-relationship diagram for Mermaid.
    Mermaid,
    /// Everything that is known.
    Json,
}

impl Profile {
    /// The profile as text of this kind.
    pub fn export(&self, export: Export) -> String {
        match export {
            Export::Sql => self.sql(),
            Export::Mermaid => self.mermaid(),
            Export::Json => self.json(),
        }
    }

    /// The foreign keys: all that are declared, and of each other column only the best.
    pub fn best_keys(&self) -> impl Iterator<Item = &Relation> {
        let keys = || self.relations.iter().filter(|relation| relation.kind == RelationKind::ForeignKey);
        let mut seen: BTreeSet<&[usize]> = keys().filter(|key| key.declared).map(|key| key.left.as_slice()).collect();
        keys().filter(move |key| key.declared || seen.insert(&key.left))
    }

    fn table_of(&self, key: &[usize]) -> &Table {
        &self.tables[self.features[key[0]].table]
    }

    fn sql(&self) -> String {
        let mut text =
            "-- Foreign keys that `twinset profile` found, best first. Look at them before you run this. SQLite\n-- knows keys only where tables are created; MySQL wants SET sql_mode = 'ANSI' for these quotes.\n"
            .to_owned();
        for key in self.best_keys() {
            let (left, right) = (self.table_of(&key.left), self.table_of(&key.right));
            if left.is_xml() || right.is_xml() {
                continue;
            }
            let columns = |key: &[usize]| {
                key.iter().map(|&feature| quoted(&self.features[feature].column)).collect::<Vec<_>>().join(", ")
            };
            let mut notes = vec![format!("score {:.3}", key.score)];
            let mut holds = None;
            if left.source != right.source {
                holds = Some("the tables are in different databases");
            } else if key.orphan_values > 0 {
                notes.push(format!("orphan values: {}", key.orphans_in_words()));
                holds = Some(match key.declared {
                    true => {
                        "declared already, but violated: adding it again would fail until the orphan values are removed"
                    }
                    false => "adding it would fail: remove the orphan values first",
                });
            } else if key.declared {
                holds = Some("declared already");
            } else if !key.checked {
                notes.push("not checked".to_owned());
            }
            notes.extend(holds.map(str::to_owned));
            let statement = format!(
                "ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({});",
                quoted_table(left),
                columns(&key.left),
                quoted_table(right),
                columns(&key.right)
            );
            // What stands in a comment must not end it.
            let notes = notes.join("; ").replace(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'], " ");
            let before = if holds.is_some() { "-- " } else { "" };
            let statement = match holds {
                Some(_) => statement.replace(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'], " "),
                None => statement,
            };
            let _ = write!(text, "\n-- {notes}\n{before}{statement}\n");
        }
        text
    }

    fn mermaid(&self) -> String {
        let mut text = "erDiagram\n".to_owned();
        let keys: Vec<&Relation> = self.best_keys().collect();
        let plain = |name: &str| -> String {
            let plain: String =
                name.chars().map(|c| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
            if plain.starts_with(|c: char| c.is_alphabetic()) { plain } else { format!("_{plain}") }
        };
        let shown = |name: &str| name.replace(['"', '\n', '\r', '%', '\\'], "_");
        let mut referring: BTreeSet<usize> = BTreeSet::new();
        let mut referred: BTreeSet<usize> = BTreeSet::new();
        for key in &keys {
            referring.extend(&key.left);
            referred.extend(&key.right);
        }
        let mut by_table: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, feature) in self.features.iter().enumerate() {
            by_table.entry(feature.table).or_default().push(number);
        }
        for (table, features) in by_table {
            let _ = writeln!(text, "    \"{}\" {{", shown(&self.table_title(table)));
            for feature in features {
                let marks: Vec<&str> =
                    [referred.contains(&feature).then_some("PK"), referring.contains(&feature).then_some("FK")]
                        .into_iter()
                        .flatten()
                        .collect();
                let own = &self.features[feature];
                let _ = writeln!(
                    text,
                    "        {} {}",
                    own.kind.name(),
                    format!("{} {}", plain(&own.column), marks.join(", ")).trim_end()
                );
            }
            text.push_str("    }\n");
        }
        for key in keys {
            let (left, right) = (self.features[key.left[0]].table, self.features[key.right[0]].table);
            let is_optional = key.left.iter().any(|&feature| self.features[feature].nulls > 0);
            let is_single = key.left.len() == 1 && self.features[key.left[0]].unique == Some(true);
            let (many, one) = (if is_single { "|o" } else { "}o" }, if is_optional { "o|" } else { "||" });
            let columns: Vec<&str> = key.left.iter().map(|&feature| self.features[feature].column.as_str()).collect();
            let (left, right) = (shown(&self.table_title(left)), shown(&self.table_title(right)));
            let (values, s) = (key.orphan_values, if key.orphan_values == 1 { "" } else { "s" });
            let violation = match (values, key.declared) {
                (0, _) => String::new(),
                (_, true) => format!(" (violated: {values} orphan value{s})"),
                (_, false) => format!(" ({values} orphan value{s})"),
            };
            let label = format!("{}{violation}", shown(&columns.join(", ")));
            let _ = writeln!(text, "    \"{left}\" {many}--{one} \"{right}\" : \"{label}\"");
        }
        text
    }

    /// What a table is called for people.
    pub fn table_title(&self, table: usize) -> String {
        let own = &self.tables[table];
        if own.is_xml() {
            return self.sources[own.source].clone();
        }
        // What the names of its features begin with.
        let feature = self.features.iter().find(|feature| feature.table == table);
        let prefix = feature.and_then(|feature| feature.name.strip_suffix(&format!(".{}", feature.column)));
        prefix.unwrap_or(&own.name).to_owned()
    }

    fn json(&self) -> String {
        let feature = |feature: &Feature| {
            json!({
                "name": feature.name, "table": self.table_title(feature.table), "column": feature.column,
                "position": feature.position, "type": feature.kind.name(), "rows": feature.rows, "nulls": feature.nulls,
                "distinct": feature.distinct, "unique": feature.unique, "min": feature.min, "max": feature.max,
                "examples": feature.examples, "frequent": feature.frequent, "tokens": feature.is_tokens,
            })
        };
        let table = |(number, table): (usize, &Table)| {
            json!({
                "name": self.table_title(number), "source": self.sources[table.source], "schema": table.schema,
                "rows": table.rows, "columns": table.columns.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "declared": table.declared,
            })
        };
        let relation = |relation: &Relation| {
            let evidence: BTreeMap<&str, f64> =
                relation.evidence.iter().map(|evidence| (evidence.name, evidence.value)).collect();
            let names =
                |key: &[usize]| key.iter().map(|&feature| self.features[feature].name.clone()).collect::<Vec<_>>();
            json!({
                "kind": relation.kind.name(), "left": names(&relation.left), "right": names(&relation.right),
                "score": relation.score, "similarity": relation.similarity, "low": relation.low, "high": relation.high,
                "containment": relation.containment, "coverage": relation.coverage, "checked": relation.checked,
                "declared": relation.declared, "orphan_values": relation.checked.then_some(relation.orphan_values), "orphan_rows": relation.checked.then_some(relation.orphan_rows),
                "orphans": relation.orphans.iter().map(|(value, rows)| json!({"value": value, "rows": rows})).collect::<Vec<_>>(),
                "evidence": evidence,
            })
        };
        let problems: Vec<Value> =
            self.problems.iter().map(|problem| json!({"place": problem.place, "reason": problem.reason})).collect();
        let all = json!({
            "sources": self.sources,
            "tables": self.tables.iter().enumerate().map(table).collect::<Vec<_>>(),
            "features": self.features.iter().map(feature).collect::<Vec<_>>(),
            "relations": self.relations.iter().map(relation).collect::<Vec<_>>(),
            "problems": problems,
        });
        serde_json::to_string_pretty(&all).map(|text| text + "\n").unwrap_or_default()
    }
}
