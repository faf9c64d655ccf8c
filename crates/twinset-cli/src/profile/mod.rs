//! `twinset profile`: what tables and XML documents have in common.

mod report;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twinset_io::write::{Kind, Table, Value, check_outputs};
use twinset_io::{Output, OutputFormat, OutputOptions};
use twinset_profile::{Export, Feature, Profile as Found, ProfileOptions, RelationKind, SavedProfile, profile};

use crate::job::{Job, own_settings};
use crate::session::{Session, SessionOptions, count, write_text};

/// Finds similar columns, contained columns and foreign keys in tables, databases and XML documents
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Profile {
    /// A folder of csv, tsv, parquet or xml files, one such file, a SQLite file, postgres://… or mysql://…; several are compared with each other
    #[arg(value_name = "SOURCE", required = true)]
    #[serde(skip)]
    pub sources: Vec<String>,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    options: ProfileOptions,
    /// Write a page with a diagram, every relation with what speaks for it, and every column
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Write what is known of each column to FILE (csv, jsonl or parquet)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    features: Option<PathBuf>,
    /// Write an export of the profile instead of the relations
    #[arg(long, value_name = "WHAT", value_parser = twinset::support::name_parser::<Export>(), help_heading = "Output")]
    export: Option<Export>,
    /// Keep the synopses in the folder PATH, an index; the next run with it profiles only tables whose contents have changed
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Write only relations that appeared, vanished or got worse since PATH was saved
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    since: Option<PathBuf>,
    /// Where the results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  Which columns of these tables refer to which? A page to look at:
    twinset profile exports/ --report profile.html
  Foreign keys of a database that declares none, as statements that declare them:
    PGPASSWORD=… twinset profile postgres://ann@db.example/shop --schema sales --export sql
  Does a path of XML documents hold what a column of a table holds?
    twinset profile shop.sqlite feeds/ --threshold 0.5
  What has become worse since yesterday?
    twinset profile exports/ --save lake --since lake
  Which columns of the lake resemble this one?
    twinset index query lake --like-column new.csv:customer --threshold 0.5

Columns are kind,left,right,score,similarity,containment,coverage,evidence,low,high,checked,declared,orphans, best first within a kind. For a foreign key, left
refers to right. Values are compared after numbers, dates and booleans were written alike; missing, empty and blank cells are no values.
Connections are encrypted as ?sslmode= says (disable, prefer, require, verify-full), with ?sslrootcert=FILE.";

impl Job for Profile {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        twinset_io::read::read_stop_words(&mut self.options.tokens)?;
        if self.export.is_some() && (self.since.is_some() || self.output.output_format.is_some()) {
            let reason = "--export writes all relations in a format of its own; leave out --since and --output-format";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        self.check_written()?;
        let mut saved =
            self.save.as_deref().map(|path| SavedProfile::open_or_create(path, &self.options)).transpose()?;
        let before = self.since.as_deref().map(SavedProfile::open).transpose()?;
        let (output, format) = match self.export {
            None => self.output.open()?,
            Some(_) => (self.output.output.open()?, OutputFormat::Csv),
        };
        let report = self.report.as_deref().map(Output::create).transpose()?;
        let features = self
            .features
            .as_deref()
            .map(|path| anyhow::Ok((Output::create(path)?, OutputFormat::of_path(path)?)))
            .transpose()?;

        let found = profile(&self.sources, &self.options, saved.as_ref().map(SavedProfile::cache), &session.run)?;
        session.clear_bar();
        if let (true, Some(problem)) = (found.features.is_empty(), found.problems.first()) {
            let reason = format!("nothing could be read: {}", problem.reason);
            return Err(twinset_io::Error::File { file: problem.place.clone(), reason }.into());
        }
        match (self.export, &before) {
            (Some(export), _) => write_text(output, &found.export(export))?,
            (None, Some(before)) => write_changes(output, format, &found, before)?,
            (None, None) => write_relations(output, format, &found)?,
        }
        if let Some((output, format)) = features {
            write_features(output, format, &found)?;
        }
        if let Some(output) = report {
            write_text(output, &report::report(&found))?;
        }
        if let Some(saved) = &mut saved {
            saved.save(&found, &self.options)?;
        }
        session.summarize(&summary(&found));
        Ok(())
    }
}

impl Profile {
    /// Refuses outputs that would replace one another, or a source.
    fn check_written(&self) -> anyhow::Result<()> {
        let outputs = [self.output.output.path(), self.report.as_deref(), self.features.as_deref()];
        let outputs: Vec<&Path> = outputs.into_iter().flatten().collect();
        let sources: Vec<PathBuf> =
            self.sources.iter().filter(|source| !source.contains("://")).map(PathBuf::from).collect();
        check_outputs(None, &outputs, &sources)?;
        let place = |path: &Path| std::fs::canonicalize(path).ok();
        let parent = |path: &Path| {
            place(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
        };
        // What is written into a folder that is read would be a source the next time.
        for output in outputs {
            let is_source = |source: &&PathBuf| {
                source.is_dir()
                    && place(source)
                        .is_some_and(|folder| parent(output).is_some_and(|parent| parent.starts_with(folder)))
            };
            let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if ["csv", "tsv", "parquet", "xml"].contains(&ending) && sources.iter().any(|source| is_source(&source)) {
                let reason = format!("{}: this lies in a folder that is read; name a file elsewhere", output.display());
                return Err(twinset_io::Error::Usage(reason).into());
            }
        }
        Ok(())
    }
}

fn write_relations(output: Output, format: OutputFormat, found: &Found) -> anyhow::Result<()> {
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
        let (left, right) = (found.key_name(&relation.left), found.key_name(&relation.right));
        let (evidence, orphans) = (relation.evidence_in_words(), relation.orphans_in_words());
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
            Value::Text(yes(Some(relation.checked))),
            Value::Text(yes(Some(relation.declared))),
            Value::Text(&orphans),
        ])?;
    }
    Ok(table.finish()?)
}

fn write_changes(output: Output, format: OutputFormat, found: &Found, before: &SavedProfile) -> anyhow::Result<()> {
    let columns = [
        ("change", Kind::Text),
        ("kind", Kind::Text),
        ("left", Kind::Text),
        ("right", Kind::Text),
        ("score", Kind::Real),
        ("similarity", Kind::Real),
        ("containment", Kind::Real),
        ("coverage", Kind::Real),
        ("orphans", Kind::Text),
    ];
    let mut table = Table::create(output, format, columns)?;
    for (change, relation) in before.changes(found) {
        table.row(&[
            Value::Text(change.name()),
            Value::Text(relation.kind.name()),
            Value::Text(&relation.left),
            Value::Text(&relation.right),
            Value::Real(rounded(relation.score)),
            Value::Real(relation.similarity),
            Value::Real(relation.containment),
            Value::Real(relation.coverage),
            Value::Text(&relation.orphans),
        ])?;
    }
    Ok(table.finish()?)
}

fn write_features(output: Output, format: OutputFormat, found: &Found) -> anyhow::Result<()> {
    let columns = [
        ("name", Kind::Text),
        ("type", Kind::Text),
        ("rows", Kind::Whole),
        ("nulls", Kind::Whole),
        ("distinct", Kind::Real),
        ("low", Kind::Real),
        ("high", Kind::Real),
        ("unique", Kind::Text),
        ("min", Kind::Text),
        ("max", Kind::Text),
        ("examples", Kind::Text),
        ("frequent", Kind::Text),
    ];
    let mut table = Table::create(output, format, columns)?;
    for feature in &found.features {
        let (examples, frequent) = (feature.examples.join(", "), frequent(feature));
        table.row(&[
            Value::Text(&feature.name),
            Value::Text(feature.kind.name()),
            Value::Whole(feature.rows),
            Value::Whole(feature.nulls),
            Value::Real(feature.distinct.count.round()),
            Value::Real(feature.distinct.low.round()),
            Value::Real(feature.distinct.high.round()),
            Value::Text(yes(feature.unique)),
            Value::Text(feature.min.as_deref().unwrap_or_default()),
            Value::Text(feature.max.as_deref().unwrap_or_default()),
            Value::Text(&examples),
            Value::Text(&frequent),
        ])?;
    }
    Ok(table.finish()?)
}

/// Scores are no exact numbers.
fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

fn yes(is: Option<bool>) -> &'static str {
    match is {
        Some(true) => "yes",
        Some(false) => "no",
        None => "maybe",
    }
}

/// The most frequent values, each with how often it occurs.
fn frequent(feature: &Feature) -> String {
    let one = |frequency: &twinset_profile::Frequency| {
        let at_least = if frequency.at_least { "at least " } else { "" };
        format!("{} ({at_least}{})", frequency.value, frequency.count)
    };
    feature.frequent.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn summary(found: &Found) -> Vec<String> {
    let of_kind = |kind: RelationKind| found.relations.iter().filter(|relation| relation.kind == kind).count() as u64;
    let unchanged = match found.unchanged {
        0 => String::new(),
        tables => format!(", {tables} of the tables unchanged and not profiled again"),
    };
    let (tables, features) = (count(found.tables.len() as u64, "table"), count(found.features.len() as u64, "feature"));
    let mut lines = vec![
        format!("{tables}, {features}{unchanged}"),
        format!(
            "{}, {} contained, {} similar",
            count(of_kind(RelationKind::ForeignKey), "foreign key"),
            of_kind(RelationKind::Contained),
            of_kind(RelationKind::Similar)
        ),
    ];
    let unchecked =
        found.relations.iter().filter(|relation| relation.kind != RelationKind::Similar && !relation.checked).count();
    if unchecked > 0 {
        lines.push(format!("{unchecked} of them are not checked: they are what the synopses do not rule out"));
    }
    let problems = &found.problems;
    lines.extend(problems.iter().take(PROBLEMS).map(|problem| format!("{}: {}", problem.place, problem.reason)));
    if problems.len() > PROBLEMS {
        lines.push(format!(
            "and {} more that could not be read, which --report and --export json list",
            problems.len() - PROBLEMS
        ));
    }
    lines
}

/// So many problems are listed in the summary.
const PROBLEMS: usize = 20;
