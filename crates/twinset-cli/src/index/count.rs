//! `twinset index count`.

use serde::{Deserialize, Serialize};
use twinset::estimate::{Comparison, Condition};
use twinset::{Measure, Threshold};
use twinset_index::kmv::KmvIndex;
use twinset_index::lsh::{self, LshIndex};
use twinset_io::write::{Kind, Table, Value};
use twinset_io::{OutputOptions, Source, one_or_more};

use super::Promise;
use super::estimate::{EstimateArgs, missed};
use super::join::{Two, each_pair_of_labels, two, values_of};
use super::kept::Kept;
use super::query::Asked;
use crate::job::Job;
use crate::session::{Session, SessionOptions};

/// Counts near duplicates at one or many thresholds
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Examples:
  twinset index count news --threshold 0.5,0.6,0.7,0.8,0.9
  twinset index count news archive --threshold 0.8
  twinset index count news today.jsonl --threshold 0.8
  By synopses, the whole curve:
    twinset index count columns

Columns are threshold,pairs. What follows PATH is another index, or files, or --id ID, or --like TEXT; nothing: pairs within.")]
pub struct Count {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// What near duplicates are sought of.
    #[command(flatten)]
    #[serde(flatten)]
    pub asked: Asked,
    /// Thresholds, separated by commas (by synopses default: the whole curve)
    #[arg(long, short, value_name = "T,…", value_delimiter = ',')]
    #[serde(deserialize_with = "one_or_more")]
    threshold: Vec<Threshold>,
    #[command(flatten)]
    #[serde(flatten)]
    promise: Promise,
    #[command(flatten)]
    #[serde(flatten)]
    estimate: EstimateArgs,
    /// Where the results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

impl Job for Count {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        let index = Kept::open(&self.path)?;
        let other = match self.asked.sources() {
            [Source::Path(path)] if Kept::is_at(path) => Some(Kept::open(&path.display().to_string())?),
            _ => None,
        };
        if self.threshold.is_empty() {
            match index {
                Kept::Labels(_) => return Err(twinset::Error::NoThreshold.into()),
                Kept::Synopses(_) => self.threshold = curve(self.estimate.measure)?,
            }
        }
        if other.is_some() && self.asked.names_record() {
            let reason = "count pairs of two indexes, or those of a record or text, and not both; leave out --id and --like, or OTHER";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        self.asked.check_written(&self.path, &[], &self.output)?;
        if let (Some(_), [other]) = (&other, self.asked.sources()) {
            self.asked.check_written(&other.name(), &[], &self.output)?;
        }
        let (output, format) = self.output.open()?;
        let mut table = Table::create(output, format, [("threshold", Kind::Text), ("pairs", Kind::Whole)])?;
        let thresholds = self.threshold.clone();
        let (counts, note) = match two(index, other)? {
            Two::Labels(index, other) => self.count_labels(index, other, session)?,
            Two::Synopses(index, other) => self.count_synopses(&index, other.as_deref(), session)?,
        };
        session.clear_bar();
        for (threshold, pairs) in thresholds.iter().zip(counts) {
            table.row(&[Value::Text(&threshold.as_f64().to_string()), Value::Whole(pairs)])?;
        }
        table.finish()?;
        session.summarize(&[note]);
        Ok(())
    }
}

impl Count {
    /// The threshold that lets most pairs pass: among these are those of all others.
    fn laxest(&self) -> anyhow::Result<Threshold> {
        let measure = self.estimate.measure;
        let laxest = self.threshold.iter().copied().max_by(|a, b| measure.order(a.as_f64(), b.as_f64()));
        Ok(laxest.ok_or(twinset::Error::NoThreshold)?)
    }

    fn count_labels(
        self,
        mut index: LshIndex,
        mut other: Option<LshIndex>,
        session: &Session,
    ) -> anyhow::Result<(Vec<u64>, String)> {
        self.estimate.check_absent()?;
        // What is found at the lowest threshold is found with a higher probability still at the others.
        let query = lsh::Query { threshold: self.laxest()?, probability: self.promise.of_labels() };
        for &threshold in &self.threshold {
            other.as_ref().unwrap_or(&index).check(&lsh::Query { threshold, ..query })?;
        }
        let mut counts = vec![0u64; self.threshold.len()];
        let mut tally = |similarity: f64| {
            for (threshold, count) in self.threshold.iter().zip(&mut counts) {
                *count += u64::from(Measure::Jaccard.reaches(similarity, threshold.as_f64()));
            }
        };
        if other.is_some() || !self.asked.is_something() {
            each_pair_of_labels(&mut index, other.as_mut(), &query, |pair| {
                tally(pair.similarity);
                Ok(session.run.check()?)
            })?;
        } else {
            self.asked.for_each_of_labels(&mut index, &query, &session.run, |_, hits| {
                hits.iter().for_each(|hit| tally(hit.similarity));
                Ok(())
            })?;
        }
        Ok((counts, format!("each pair was found with probability {} at least", query.probability)))
    }

    fn count_synopses(
        self,
        index: &KmvIndex,
        other: Option<&KmvIndex>,
        session: &Session,
    ) -> anyhow::Result<(Vec<u64>, String)> {
        self.promise.check_absent()?;
        if self.estimate.is_checked() {
            let reason = "counts are of estimates; to count what is checked, join with --originals";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let query = self.estimate.query(self.laxest()?, values_of(index, other))?;
        let conditions = self.threshold.iter().map(|&threshold| self.estimate.condition(threshold));
        let conditions: Vec<Condition> = conditions.collect::<twinset::Result<_>>()?;
        let mut counts = vec![0u64; conditions.len()];
        let snapshot = index.snapshot()?;
        let other = other.map(KmvIndex::snapshot).transpose()?;
        let is_join = other.is_some() || !self.asked.is_something();
        if is_join && self.estimate.algorithm.is_none() {
            counts = snapshot.count(other.as_ref(), &conditions, query.size, &session.run)?;
        } else {
            let mut tally = |comparison: &Comparison| {
                for (condition, count) in conditions.iter().zip(&mut counts) {
                    *count += u64::from(condition.accepts(comparison));
                }
            };
            if is_join {
                snapshot.join_by_probes(other.as_ref(), &query, &session.run, |_, _, comparison| {
                    tally(&comparison);
                    Ok::<_, anyhow::Error>(())
                })?;
            } else {
                self.asked.for_each_of_synopses((index, &snapshot), &query, &session.run, |_, found| {
                    found.hits.iter().for_each(|hit| tally(&hit.comparison));
                    Ok(())
                })?;
            }
        }
        let size = query.size.unwrap_or_default();
        let note =
            format!("pairs whose estimate, from synopses of {size} values, reaches the threshold{}", missed(&query));
        Ok((counts, note))
    }
}

/// Thresholds of a whole curve.
fn curve(measure: Measure) -> twinset::Result<Vec<Threshold>> {
    match measure.is_count() {
        false => (1..=20).map(|twentieths| Threshold::new(twentieths, 20)).collect(),
        true => (0..=20).map(|doublings| Threshold::whole(1 << doublings)).collect(),
    }
}
