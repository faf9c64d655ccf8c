//! The first pass: reads every table once and makes a feature of each column.

use rayon::prelude::*;
use twinset::Run;

use crate::Result;
use crate::features::encoder::ValueEncoder;
use crate::features::{Feature, FeatureBuilder};
use crate::sources::{Problem, Source};
use crate::table::Table;

/// Reads a table. Columns without a value are features, too, but paths without one are not.
pub(crate) fn scan_table(
    source: &mut dyn Source,
    table: &mut Table,
    encoder: &ValueEncoder,
    text_columns: &[String],
    run: &Run,
) -> Result<(Vec<Feature>, Vec<Problem>)> {
    let mut collectors: Vec<FeatureBuilder> = Vec::new();
    let mut names = table.names();
    let is_text = |name: &String| {
        let full = format!("{}.{name}", table.name);
        text_columns.iter().any(|column| column == name || *column == full)
    };
    let problems = source.read(table, None, run, &mut |batches, known| {
        while collectors.len() < known.len() {
            let name = &known[collectors.len()];
            collectors.push(FeatureBuilder::new(encoder, is_text(name))?);
            if names.len() < collectors.len() {
                names.push(name.clone());
            }
        }
        collectors.par_iter_mut().with_max_len(1).enumerate().for_each(|(column, collector)| {
            batches.iter().flat_map(|batch| batch.values(column)).for_each(|value| collector.add(value, encoder));
        });
        Ok(())
    })?;
    let is_xml = table.is_xml();
    // A table without rows has columns, too.
    for name in names.iter().skip(collectors.len()) {
        collectors.push(FeatureBuilder::new(encoder, is_text(name))?);
    }
    let mut features = Vec::new();
    for (position, (collector, name)) in collectors.into_iter().zip(&names).enumerate() {
        if is_xml && collector.present() == 0 {
            continue;
        }
        let feature = collector.finish(encoder, table.is_boolean(position));
        features.push(Feature { column: name.clone(), position, ..feature });
    }
    table.rows = features.iter().map(|feature| feature.rows).max().unwrap_or(0);
    Ok((features, problems))
}
