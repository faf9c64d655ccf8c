//! `twinset index join`.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twinset::estimate::{Comparison, Intervals};
use twinset::{Run, Threshold};
use twinset_index::kmv::{self, KmvIndex, Snapshot};
use twinset_index::lsh::{self, LshIndex};
use twinset_io::write::{Kind, Table, Value};
use twinset_io::{Error, OutputOptions, ReadOptions};

use super::estimate::EstimateArgs;
use super::kept::Kept;
use super::originals::Originals;
use super::query::files;
use super::{Promise, check_written};
use crate::job::{Job, own_settings};
use crate::session::{Session, SessionOptions, count};

/// Finds all near duplicates within an index, or between two
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = "Examples:
  twinset index join news --threshold 0.8
  twinset index join news archive --threshold 0.9 --output pairs.csv
  By synopses, columns that share 20 values at least:
    twinset index join columns --threshold 0.8 --min-overlap 20

Columns are left,right,similarity, in the order in which the left records came; by synopses also low,high, a 95% interval.")]
pub struct Join {
    /// The index
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// Another index, for pairs between the two
    #[arg(value_name = "OTHER")]
    #[serde(skip)]
    pub other: Option<String>,
    /// Pairs at or above T: a decimal or a fraction in (0, 1]; a whole number for overlap and hamming
    #[arg(long, short, value_name = "T", required = true)]
    threshold: Option<Threshold>,
    #[command(flatten)]
    #[serde(flatten)]
    promise: Promise,
    #[command(flatten)]
    #[serde(flatten)]
    estimate: EstimateArgs,
    /// How --originals are read.
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    read: ReadOptions,
    /// Where the results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

impl Job for Join {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(self, session: &Session) -> anyhow::Result<()> {
        let index = Kept::open(&self.path)?;
        let other = self.other.as_deref().map(Kept::open).transpose()?;
        let originals = files(&self.estimate.originals, &self.read);
        for path in [Some(&self.path), self.other.as_ref()].into_iter().flatten() {
            check_written(path, &originals, self.output.output.path(), self.read.rejects.as_deref())?;
        }
        match two(index, other)? {
            Two::Labels(index, other) => self.run_labels(index, other, session),
            Two::Synopses(index, other) => self.run_synopses(&index, other.as_deref(), session),
        }
    }
}

impl Join {
    fn threshold(&self) -> anyhow::Result<Threshold> {
        Ok(self.threshold.ok_or(twinset::Error::NoThreshold)?)
    }

    fn run_labels(self, mut index: LshIndex, mut other: Option<LshIndex>, session: &Session) -> anyhow::Result<()> {
        self.estimate.check_absent()?;
        let query = lsh::Query { threshold: self.threshold()?, probability: self.promise.of_labels() };
        other.as_ref().unwrap_or(&index).check(&query)?;
        let (output, format) = self.output.open()?;
        let columns = [("left", Kind::Text), ("right", Kind::Text), ("similarity", Kind::Real)];
        let mut table = Table::create(output, format, columns)?;
        let mut pairs = 0;
        each_pair_of_labels(&mut index, other.as_mut(), &query, |pair| {
            session.run.check()?;
            pairs += 1;
            table.row(&[Value::Text(&pair.left), Value::Text(&pair.right), Value::Real(pair.similarity)])?;
            Ok(())
        })?;
        session.clear_bar();
        table.finish()?;
        let pairs = count(pairs, "pair");
        session.summarize(&[format!("{pairs}; each was found with probability {} at least", query.probability)]);
        Ok(())
    }

    fn run_synopses(self, index: &KmvIndex, other: Option<&KmvIndex>, session: &Session) -> anyhow::Result<()> {
        self.promise.check_absent()?;
        let query = self.estimate.query(self.threshold()?, values_of(index, other))?;
        let (output, format) = self.output.open()?;
        let columns = [("left", Kind::Text), ("right", Kind::Text)].into_iter().chain(self.estimate.columns());
        let mut table = Table::create(output, format, columns)?;
        let mut intervals = Intervals::new(self.estimate.measure);
        let mut pairs = 0;
        let mut row = |left: &str, right: &str, comparison: &Comparison| -> anyhow::Result<()> {
            pairs += 1;
            let mut cells = vec![Value::Text(left), Value::Text(right)];
            cells.extend(self.estimate.cells(comparison, &mut intervals));
            Ok(table.row(&cells)?)
        };
        let snapshots = (index.snapshot()?, other.map(KmvIndex::snapshot).transpose()?);
        let snapshots = (&snapshots.0, snapshots.1.as_ref());
        if self.estimate.is_checked() {
            // Once for the ids, and once more to check each pair: there may be too many to keep.
            let mut ids = (HashSet::new(), HashSet::new());
            each_pair_of_synopses(snapshots, &self.estimate, &query, &session.run, |left, right, _| {
                for (ids, id) in [(&mut ids.0, left), (&mut ids.1, right)] {
                    if !ids.contains(id) {
                        ids.insert(id.to_owned());
                    }
                }
                Ok(())
            })?;
            let originals = self.originals((index, other), snapshots, ids, &session.run)?;
            let of_right = originals.1.as_ref().unwrap_or(&originals.0);
            let condition = self.estimate.condition(self.threshold()?)?;
            each_pair_of_synopses(snapshots, &self.estimate, &query, &session.run, |left, right, _| {
                session.run.check()?;
                let comparison = originals.0.get(left)?.compare(of_right.get(right)?);
                if condition.accepts(&comparison) { row(left, right, &comparison) } else { Ok(()) }
            })?;
        } else {
            each_pair_of_synopses(snapshots, &self.estimate, &query, &session.run, |left, right, comparison| {
                session.run.check()?;
                row(left, right, &comparison)
            })?;
        }
        session.clear_bar();
        table.finish()?;
        session.summarize(&[count(pairs, "pair"), self.estimate.note(&query)]);
        Ok(())
    }
}

impl Join {
    /// What was added to the index, and to the other if there are two.
    fn originals(
        &self,
        (index, other): (&KmvIndex, Option<&KmvIndex>),
        snapshots: (&Snapshot, Option<&Snapshot>),
        (mut left, right): (HashSet<String>, HashSet<String>),
        run: &Run,
    ) -> anyhow::Result<(Originals, Option<Originals>)> {
        let id = self.estimate.originals_id.clone().or(self.read.id.clone());
        let how = ReadOptions { id, ..self.read.clone() };
        let read = |paths: &[PathBuf], index, ids| Originals::read((paths, &how), index, ids, run);
        match (other.zip(snapshots.1), self.estimate.originals.as_slice()) {
            (None, all) => {
                left.extend(right);
                Ok((read(all, (index, snapshots.0), &left)?, None))
            }
            (Some(other), [of_index, of_other]) => {
                let of_index = read(std::slice::from_ref(of_index), (index, snapshots.0), &left)?;
                Ok((of_index, Some(read(std::slice::from_ref(of_other), other, &right)?)))
            }
            _ => {
                let reason = "there are two indexes: give --originals twice, first for PATH and then for OTHER (a folder or a quoted glob \
                              stands for several files)";
                Err(Error::Usage(reason.to_owned()).into())
            }
        }
    }
}

/// How many values of synopses are compared.
pub(super) fn values_of(index: &KmvIndex, other: Option<&KmvIndex>) -> u32 {
    other.map_or(u32::MAX, |other| other.settings().size()).min(index.settings().size())
}

/// One index or two of the same kind.
pub(super) enum Two {
    Labels(LshIndex, Option<LshIndex>),
    Synopses(Box<KmvIndex>, Option<Box<KmvIndex>>),
}

/// Refuses two that cannot be compared.
pub(super) fn two(index: Kept, other: Option<Kept>) -> anyhow::Result<Two> {
    Ok(match (index, other) {
        (Kept::Labels(index), None) => Two::Labels(index, None),
        (Kept::Labels(index), Some(Kept::Labels(other))) => Two::Labels(index, Some(other)),
        (Kept::Synopses(index), None) => Two::Synopses(index, None),
        (Kept::Synopses(index), Some(Kept::Synopses(other))) => {
            index.check_alike(&other)?;
            Two::Synopses(index, Some(other))
        }
        _ => {
            return Err(
                Error::Usage("one index is of labels and the other of synopses; make both alike".to_owned()).into()
            );
        }
    })
}

pub(super) fn each_pair_of_labels(
    index: &mut LshIndex,
    other: Option<&mut LshIndex>,
    query: &lsh::Query,
    mut visit: impl FnMut(lsh::Pair) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match other {
        Some(other) => index.join_with(other, query, &mut visit),
        None => index.join(query, &mut visit),
    }
}

/// By a query for each record, if a way is named, otherwise by the exact join of all values.
pub(super) fn each_pair_of_synopses(
    (left, right): (&Snapshot, Option<&Snapshot>),
    estimate: &EstimateArgs,
    query: &kmv::Query,
    run: &Run,
    visit: impl FnMut(&str, &str, Comparison) -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    match estimate.algorithm {
        Some(_) => left.join_by_probes(right, query, run, visit),
        None => left.join(right, &query.condition, query.size, run, visit),
    }
}
