//! A relation between two features, with what speaks for it.

use serde::{Deserialize, Serialize};

use crate::inclusion::orphans::Orphans;
use crate::sources::Counts;

/// What two features, or two pairs of them, have to do with each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relation {
    /// Of which kind it is.
    pub kind: RelationKind,
    /// The positions of the features on the left among all: one, or several for a composite key.
    pub left: Vec<usize>,
    /// Those on the right, which the left ones are similar to, contained in, or refer to.
    pub right: Vec<usize>,
    /// How sure it is, from 0 to 1: relations are listed by it.
    pub score: f64,
    /// The Jaccard similarity of the values.
    pub similarity: f64,
    /// Its 95% interval; both ends are the same if it is exact.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Which share of the left one's different values the right one has.
    pub containment: f64,
    /// Which share of the right one's different values the left one has.
    pub coverage: f64,
    /// Whether the data was read a second time, so that containment is exact.
    pub checked: bool,
    /// Whether the database declares it.
    pub declared: bool,
    /// Values of the left that the right has not, and how many rows have them, most frequent first.
    pub orphans: Vec<(String, u64)>,
    /// How many different ones there are.
    pub orphan_values: u64,
    /// How many rows have one.
    pub orphan_rows: u64,
    /// What its score was made of: a name, what it counts, and how much it holds, from 0 to 1.
    pub evidence: Vec<Evidence>,
}

/// Something that speaks for a relation, or against it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evidence {
    /// What it is.
    pub name: &'static str,
    /// How much it counts; 0 for what the whole is multiplied with.
    pub weight: f64,
    /// How much it holds, from 0 (not at all) to 1.
    pub value: f64,
}

/// Kinds of relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum RelationKind {
    /// The left refers to the right.
    ForeignKey,
    /// The left is contained in the right, wholly or for the most part.
    Contained,
    /// Both have much the same values.
    Similar,
}

impl RelationKind {
    /// As it is written in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Relation {
    /// Its evidence in a few words.
    pub fn evidence_in_words(&self) -> String {
        let words: Vec<String> =
            self.evidence.iter().map(|evidence| format!("{} {:.2}", evidence.name, evidence.value)).collect();
        words.join(", ")
    }

    /// Takes in how many values both sides have in common, and each of them.
    pub(crate) fn take_exact(&mut self, common: f64, left: f64, right: f64) {
        self.similarity = common / (left + right - common).max(1.0);
        (self.low, self.high, self.score) = (self.similarity, self.similarity, self.similarity);
        (self.containment, self.coverage) = (common / left.max(1.0), common / right.max(1.0));
        self.checked = true;
    }

    /// Counts the blank strings that violate a declared key among its orphans.
    pub(crate) fn add_blanks(&mut self, counts: &Counts) {
        let Some(blanks) = counts.blanks.as_ref().filter(|blanks| blanks.values > 0) else { return };
        self.containment = counts.common as f64 / (counts.left + blanks.values) as f64;
        self.orphan_values += blanks.values;
        self.orphan_rows += blanks.rows;
        let all = self.orphans.iter().chain(&blanks.orphans).cloned().collect();
        self.orphans = Orphans::known(all).0;
    }

    /// The orphan values in a few words. Those that are blank are in quotes.
    pub fn orphans_in_words(&self) -> String {
        let shown = |value: &str| match value.trim().is_empty() {
            true => format!("{value:?}"),
            false => value.to_owned(),
        };
        let mut words: Vec<String> =
            self.orphans.iter().map(|(value, rows)| format!("{} ({rows})", shown(value))).collect();
        let more = self.orphan_values.saturating_sub(self.orphans.len() as u64);
        if more > 0 && !words.is_empty() {
            words.push(format!("and {more} more"));
        }
        words.join(", ")
    }
}
