//! `twinset index join` and `count`.

use std::path::Path;

use twinset::{Measure, Threshold};
use twinset_index::labels::{LabelIndex, Pair, Query};
use twinset_io::OutputOptions;
use twinset_io::write::{Kind, Table, Value};

use super::query::Asked;
use super::{Promise, check_written};
use crate::session::{SessionOptions, count};

/// Finds all near duplicates within an index, or between two
#[derive(clap::Args)]
#[command(after_help = "Examples:
  twinset index join news --threshold 0.8
  twinset index join news archive --threshold 0.9 --output pairs.csv

Columns are left,right,similarity, in the order in which the left records came.")]
pub(crate) struct Join {
    /// The index
    #[arg(value_name = "PATH")]
    path: String,
    /// Another index, for pairs between the two
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// Pairs at or above T: a decimal or a fraction in (0, 1]
    #[arg(long, short, value_name = "T")]
    threshold: Threshold,
    #[command(flatten)]
    promise: Promise,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    session: SessionOptions,
}

impl Join {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let mut index = LabelIndex::open(&self.path)?;
        let mut other = self.other.as_deref().map(LabelIndex::open).transpose()?;
        let query = Query { threshold: self.threshold, probability: self.promise.probability };
        other.as_ref().unwrap_or(&index).check(&query)?;
        check_written(&self.path, &[], [&self.output.output])?;
        let (output, format) = self.output.open()?;
        let columns = [("left", Kind::Text), ("right", Kind::Text), ("similarity", Kind::Real)];
        let mut table = Table::create(output, format, columns)?;
        let mut pairs = 0;
        for_each_pair(&mut index, other.as_mut(), &query, |pair| {
            session.run.check()?;
            pairs += 1;
            table.row(&[Value::Text(&pair.left), Value::Text(&pair.right), Value::Real(pair.similarity)])?;
            Ok(())
        })?;
        session.clear_bar();
        table.finish()?;
        session.summarize(&[format!(
            "{}; each was found with probability {} at least",
            count(pairs, "pair"),
            query.probability
        )]);
        Ok(())
    }
}

fn for_each_pair(
    index: &mut LabelIndex,
    other: Option<&mut LabelIndex>,
    query: &Query,
    mut visit: impl FnMut(Pair) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match other {
        Some(other) => index.join_with(other, query, &mut visit),
        None => index.join(query, &mut visit),
    }
}

/// Counts near duplicates at one or many thresholds
#[derive(clap::Args)]
#[command(after_help = "Examples:
  twinset index count news --threshold 0.5,0.6,0.7,0.8,0.9
  twinset index count news archive --threshold 0.8
  twinset index count news today.jsonl --threshold 0.8

Columns are threshold,pairs. What follows PATH is another index, or files, or --id ID, or --like TEXT; nothing: pairs within.")]
pub(crate) struct Count {
    /// The index
    #[arg(value_name = "PATH")]
    path: String,
    #[command(flatten)]
    asked: Asked,
    /// Thresholds, separated by commas
    #[arg(long, short, value_name = "T,…", value_delimiter = ',', required = true)]
    threshold: Vec<Threshold>,
    #[command(flatten)]
    promise: Promise,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    session: SessionOptions,
}

impl Count {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let mut index = LabelIndex::open(&self.path)?;
        let other = match self.asked.paths() {
            [path] if is_index(path) => Some(LabelIndex::open(&path.display().to_string())?),
            _ => None,
        };
        // What is found at the lowest threshold has the others' pairs in it, found with a higher probability still.
        let lowest = self.threshold.iter().copied().min_by(|a, b| a.as_f64().total_cmp(&b.as_f64()));
        let threshold = lowest.ok_or(twinset::Error::NoThreshold)?;
        let query = Query { threshold, probability: self.promise.probability };
        for &threshold in &self.threshold {
            other.as_ref().unwrap_or(&index).check(&Query { threshold, ..query })?;
        }
        self.asked.check_written(&self.path, &self.output)?;
        let (output, format) = self.output.open()?;
        let mut table = Table::create(output, format, [("threshold", Kind::Text), ("pairs", Kind::Whole)])?;
        let mut counts = vec![0u64; self.threshold.len()];
        let mut tally = |similarity: f64| {
            for (threshold, count) in self.threshold.iter().zip(&mut counts) {
                *count += u64::from(Measure::Jaccard.reaches(similarity, threshold.as_f64()));
            }
        };
        if other.is_some() || !self.asked.is_something() {
            let mut other = other;
            for_each_pair(&mut index, other.as_mut(), &query, |pair| {
                tally(pair.similarity);
                Ok(session.run.check()?)
            })?;
        } else {
            self.asked.for_each(&mut index, &session.run, |index, asking| {
                let hits = index.query(&asking.hashes, &query)?;
                hits.iter().filter(|hit| Some(hit.number) != asking.number).for_each(|hit| tally(hit.similarity));
                Ok(())
            })?;
        }
        session.clear_bar();
        for (threshold, pairs) in self.threshold.iter().zip(counts) {
            table.row(&[Value::Text(&threshold.as_f64().to_string()), Value::Whole(pairs)])?;
        }
        table.finish()?;
        session.summarize(&[format!("each pair was found with probability {} at least", self.promise.probability)]);
        Ok(())
    }
}

/// Whether a path is that of an index, rather than of files to read.
fn is_index(path: &Path) -> bool {
    let is_address = path.to_str().is_some_and(|text| text.contains("://"));
    is_address || path.extension().is_some_and(|ending| ending == "labels") || path.join("labels.sqlite").is_file()
}
