//! What is asked of an index of synopses: a measure, a threshold, how sure the answer is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twinset::estimate::{Condition, Interval, Intervals, lowest_estimate};
use twinset::support::name_parser;
use twinset::{Measure, Threshold};
use twinset_index::kmv::{CandidateStrategy, MissRate, Query, miss_rate};
use twinset_io::write::{Kind, Value};
use twinset_io::{Error, one_or_more};

/// Options of queries, joins and counts by synopses.
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EstimateArgs {
    /// How the likeness of two records is measured: any measure but edit
    ///
    /// containment is |query ∩ record| / |query|, in joins |left ∩ right| / |left|.
    #[arg(long, short, value_name = "MEASURE", value_parser = name_parser::<Measure>(), default_value_t, help_heading = "Synopses")]
    pub(super) measure: Measure,
    /// How records are found that share enough values
    ///
    /// The first three give the same. optimistic may miss records, and says how often. A query takes pivot if none is named; a
    /// join takes the exact join of all values instead, and with one named asks a query for each record.
    #[arg(long, value_name = "NAME", value_parser = name_parser::<CandidateStrategy>(), help_heading = "Synopses")]
    pub(super) algorithm: Option<CandidateStrategy>,
    /// Compare only K values of each synopsis: less sure, and faster
    #[arg(long, value_name = "K", help_heading = "Synopses")]
    pub(super) size: Option<u32>,
    /// Only records that share N tokens or more, as far as that can be estimated
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Synopses")]
    pub(super) min_overlap: u32,
    /// Check what was found against the originals: what was added; for a join of two indexes, once for each
    #[arg(long, value_name = "INPUT", help_heading = "Synopses")]
    #[serde(deserialize_with = "one_or_more")]
    pub(super) originals: Vec<PathBuf>,
    /// The field of --originals with the ids, where --id names a record
    #[arg(long, value_name = "FIELD", help_heading = "Synopses")]
    pub(super) originals_id: Option<String>,
    /// Miss at most 1 - R of the pairs on the threshold, by looking for lower estimates (jaccard, dice); needs --originals
    #[arg(long, value_name = "R", help_heading = "Synopses")]
    pub(super) recall: Option<f64>,
}

/// What optimistic may miss, in words.
pub(super) fn missed(query: &Query) -> String {
    let missed = (query.strategy == CandidateStrategy::Optimistic)
        .then(|| miss_rate(&query.condition, query.size.unwrap_or(u32::MAX)).ok());
    missed.flatten().map_or(String::new(), |MissRate { by_chebyshev, exactly }| {
        format!(
            "; optimistic misses a record whose estimate is on the threshold with probability {exactly:.4} at most ({by_chebyshev:.2} by \
             Chebyshev's inequality)"
        )
    })
}

impl EstimateArgs {
    /// Refuses what an index of labels does not know.
    pub(super) fn check_absent(&self) -> anyhow::Result<()> {
        let is_absent = self.measure == Measure::Jaccard
            && self.algorithm.is_none()
            && self.size.is_none()
            && self.min_overlap == 0
            && self.originals.is_empty()
            && self.originals_id.is_none()
            && self.recall.is_none();
        if is_absent {
            return Ok(());
        }
        let reason = "--measure, --algorithm, --size, --min-overlap, --originals and --recall are for indexes of synopses, and this \
                      is one of labels; leave them out";
        Err(Error::Usage(reason.to_owned()).into())
    }

    /// Whether what is found is checked, so that it is exact.
    pub(super) fn is_checked(&self) -> bool {
        !self.originals.is_empty()
    }

    /// What a record must fulfil.
    pub(super) fn condition(&self, threshold: Threshold) -> twinset::Result<Condition> {
        Condition::new(self.measure, threshold, self.min_overlap)
    }

    /// What is looked for in synopses of so many values: the same, or lower estimates if little is to be missed.
    pub(super) fn query(&self, threshold: Threshold, values: u32) -> anyhow::Result<Query> {
        if self.originals.is_empty() && (self.originals_id.is_some() || self.recall.is_some()) {
            return Err(Error::Usage("--originals-id and --recall need --originals".to_owned()).into());
        }
        let size = self.size.unwrap_or(values);
        twinset::estimate::Synopsis::check_size(size)?;
        if size > values {
            let reason = format!("--size {size}: the synopses of this index have {values} values; name fewer");
            return Err(Error::Usage(reason).into());
        }
        let condition = self.condition(threshold)?;
        let condition = match self.recall {
            Some(recall) => condition.lowered(lowest_estimate(&condition, size, recall)?)?,
            None => condition,
        };
        let strategy = self.algorithm.unwrap_or_default();
        if strategy == CandidateStrategy::Optimistic {
            miss_rate(&condition, size)?;
            if self.recall.is_some() {
                let reason = "--recall promises what optimistic may miss; leave out --algorithm";
                return Err(Error::Usage(reason.to_owned()).into());
            }
        }
        Ok(Query { condition, strategy, size: Some(size) })
    }

    /// What the summary says about errors and misses.
    pub(super) fn note(&self, query: &Query) -> String {
        let mut note = format!("synopses of {} values", query.size.unwrap_or_default());
        match (self.is_checked(), self.recall) {
            (true, Some(recall)) => {
                note += &format!(
                    "; estimates from {} on were checked against the originals, so a pair on the threshold is found with \
                                  probability {recall} at least",
                    query.condition.lowest()
                );
            }
            (true, None) => note += "; what was found is checked against the originals",
            (false, _) => {
                note += "; low and high are 95% intervals, for records chosen beforehand: those found are overestimated \
                                   more often"
            }
        }
        note + &missed(query)
    }

    /// The names and kinds of the columns that tell how alike two records are.
    pub(super) fn columns(&self) -> Vec<(&'static str, Kind)> {
        let name = if self.measure.is_distance() { "distance" } else { "similarity" };
        match (self.is_checked(), self.measure.is_count()) {
            (true, true) => vec![(name, Kind::Whole)],
            (true, false) => vec![(name, Kind::Real)],
            (false, _) => vec![(name, Kind::Real), ("low", Kind::Real), ("high", Kind::Real)],
        }
    }

    /// What stands in them: an exact value, or an estimate.
    pub(super) fn cells(
        &self,
        comparison: &twinset::estimate::Comparison,
        intervals: &mut Intervals,
    ) -> Vec<Value<'static>> {
        if self.is_checked() {
            let value = comparison.value(self.measure);
            return vec![if self.measure.is_count() { Value::Whole(value as u64) } else { Value::Real(value) }];
        }
        let Interval { similarity, low, high } = intervals.of(comparison);
        [similarity, low, high].map(Value::Real).to_vec()
    }
}
