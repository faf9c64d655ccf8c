//! The first look: every table is read once, and each of its columns becomes a feature.

use rayon::prelude::*;
use twinset::Run;

use crate::Result;
use crate::feature::{Collector, Feature};
use crate::making::Making;
use crate::source::{Problem, Source};
use crate::table::Table;

/// Reads a table. Columns without a value are features, too, but paths without one are not.
pub(crate) fn first_look(
    source: &mut dyn Source,
    table: &mut Table,
    making: &Making,
    text_columns: &[String],
    run: &Run,
) -> Result<(Vec<Feature>, Vec<Problem>)> {
    let mut collectors: Vec<Collector> = Vec::new();
    let mut names = table.names();
    let is_text = |name: &String| {
        let full = format!("{}.{name}", table.name);
        text_columns.iter().any(|column| column == name || *column == full)
    };
    let problems = source.read(table, None, run, &mut |batches, known| {
        while collectors.len() < known.len() {
            let name = &known[collectors.len()];
            collectors.push(Collector::new(making, is_text(name))?);
            if names.len() < collectors.len() {
                names.push(name.clone());
            }
        }
        collectors.par_iter_mut().with_max_len(1).enumerate().for_each(|(column, collector)| {
            batches.iter().flat_map(|batch| batch.values(column)).for_each(|value| collector.add(value, making));
        });
        Ok(())
    })?;
    let is_xml = table.is_xml();
    // A table without rows has columns, too.
    for name in names.iter().skip(collectors.len()) {
        collectors.push(Collector::new(making, is_text(name))?);
    }
    let mut features = Vec::new();
    for (position, (collector, name)) in collectors.into_iter().zip(&names).enumerate() {
        if is_xml && collector.present() == 0 {
            continue;
        }
        let feature = collector.finish(making, table.is_boolean(position));
        features.push(Feature { column: name.clone(), position, ..feature });
    }
    table.rows = features.iter().map(|feature| feature.rows).max().unwrap_or(0);
    Ok((features, problems))
}
