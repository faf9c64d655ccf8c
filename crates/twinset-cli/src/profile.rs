//! `twinset profile`: what tables and XML documents have in common.

use twinset_io::OutputOptions;
use twinset_io::write::{Kind, Table, Value};
use twinset_profile::{Profile as Found, ProfileOptions, RelationKind, profile};

use crate::session::{SessionOptions, count};

/// Finds similar columns, contained columns and foreign keys in tables, databases and XML documents
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Profile {
    /// A folder of csv, tsv, parquet or xml files, one such file, a SQLite file, postgres://… or mysql://…; several are compared with each other
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    options: ProfileOptions,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  Which columns of these tables refer to which?
    twinset profile exports/";

impl Profile {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let (output, format) = self.output.open()?;
        let found = profile(&self.sources, &self.options, &session.run)?;
        session.clear_bar();
        let columns = [
            ("kind", Kind::Text),
            ("left", Kind::Text),
            ("right", Kind::Text),
            ("score", Kind::Real),
            ("similarity", Kind::Real),
            ("containment", Kind::Real),
            ("coverage", Kind::Real),
            ("evidence", Kind::Text),
            ("low", Kind::Real),
            ("high", Kind::Real),
            ("checked", Kind::Text),
            ("declared", Kind::Text),
            ("orphans", Kind::Text),
        ];
        let mut table = Table::create(output, format, columns)?;
        for relation in &found.relations {
            let names = |key: &[usize]| {
                key.iter().map(|&feature| found.features[feature].name.as_str()).collect::<Vec<_>>().join(" + ")
            };
            let (left, right) = (names(&relation.left), names(&relation.right));
            let (evidence, orphans) = (relation.evidence_in_words(), relation.orphans_in_words());
            let yes = |is: bool| Value::Text(if is { "yes" } else { "no" });
            table.row(&[
                Value::Text(relation.kind.name()),
                Value::Text(&left),
                Value::Text(&right),
                Value::Real(rounded(relation.score)),
                Value::Real(relation.similarity),
                Value::Real(relation.containment),
                Value::Real(relation.coverage),
                Value::Text(&evidence),
                Value::Real(relation.low),
                Value::Real(relation.high),
                yes(relation.checked),
                yes(relation.declared),
                Value::Text(&orphans),
            ])?;
        }
        table.finish()?;
        session.summarize(&summary(&found));
        Ok(())
    }
}

/// Scores are no exact numbers.
fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

fn summary(found: &Found) -> Vec<String> {
    let of_kind = |kind: RelationKind| found.relations.iter().filter(|relation| relation.kind == kind).count() as u64;
    let mut lines = vec![
        format!("{}, {}", count(found.tables.len() as u64, "table"), count(found.features.len() as u64, "feature")),
        format!(
            "{}, {} contained, {} similar",
            count(of_kind(RelationKind::ForeignKey), "foreign key"),
            of_kind(RelationKind::Contained),
            of_kind(RelationKind::Similar)
        ),
    ];
    lines.extend(found.problems.iter().map(|problem| format!("{}: {}", problem.place, problem.reason)));
    lines
}
