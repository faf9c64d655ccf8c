//! Which features of a saved profile resemble a column of a file.

use std::path::Path;

use twinset::estimate::{Interval, Intervals};
use twinset::{Measure, Run};
use twinset_index::kmv::Query;

use crate::features::Feature;
use crate::features::encoder::ValueEncoder;
use crate::features::scan::scan_table;
use crate::inclusion::{self, Shares};
use crate::sources;
use crate::{Error, ProfileOptions, Result, SavedProfile};

/// A feature that resembles a column.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarFeature {
    /// What it is called.
    pub name: String,
    /// How much it resembles the column, by the measure asked for.
    pub interval: Interval,
}

impl SavedProfile {
    /// The features that resemble a column of a file, or a path of a document, most similar first.
    ///
    /// What contains the column is found by the test that never misses full inclusion, however small the column is beside it.
    pub fn like(&self, file: &Path, column: &str, query: &Query, run: &Run) -> Result<Vec<SimilarFeature>> {
        let options = self.options()?;
        let asked = column_of(file, column, &options, run)?;
        let measure = query.condition.measure();
        let mut found = Vec::new();
        if measure == Measure::Containment {
            let shares = Shares::new(query.condition.threshold().as_f64(), asked.values.len());
            for feature in self.features() {
                if let Some((present, of)) = inclusion::within(&asked, feature, &shares) {
                    let interval = match of {
                        0 => Interval { similarity: 1.0, low: 0.0, high: 1.0 },
                        _ if asked.is_complete && of as usize == asked.values.len() => {
                            let exact = f64::from(present) / f64::from(of);
                            Interval { similarity: exact, low: exact, high: exact }
                        }
                        _ => Interval::of_agreement(present, of),
                    };
                    found.push(SimilarFeature { name: feature.name.clone(), interval });
                }
            }
        } else {
            let snapshot = self.index().snapshot()?;
            let mut intervals = Intervals::new(measure);
            for hit in snapshot.query(asked.synopsis(), query)? {
                let (name, _) = snapshot.stored(&hit)?;
                found.push(SimilarFeature { name, interval: intervals.of(&hit.comparison) });
            }
        }
        found.sort_by(|a, b| {
            measure.order(a.interval.similarity, b.interval.similarity).then_with(|| a.name.cmp(&b.name))
        });
        Ok(found)
    }
}

/// Reads one column.
fn column_of(file: &Path, column: &str, options: &ProfileOptions, run: &Run) -> Result<Feature> {
    let name = file.display().to_string();
    let mut source = sources::open(&name, &options.source_options())?;
    let encoder = ValueEncoder::new(options)?;
    let (tables, problems) = source.tables(run)?;
    if let (true, Some(problem)) = (tables.is_empty(), problems.first()) {
        return Err(Error::source(&problem.place, &problem.reason));
    }
    let mut names = Vec::new();
    for mut table in tables {
        let (features, _) = scan_table(source.as_mut(), &mut table, &encoder, &options.text_columns, run)?;
        let is_it =
            |feature: &&Feature| feature.column == column || format!("{}.{}", table.name, feature.column) == column;
        if let Some(feature) = features.iter().find(is_it) {
            return Ok(feature.clone());
        }
        names.extend(features.into_iter().map(|feature| feature.column));
    }
    names.truncate(20);
    Err(Error::source(&name, format!("there is no column `{column}`; it has {}", names.join(", "))))
}
