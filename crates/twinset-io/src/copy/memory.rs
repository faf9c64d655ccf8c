//! Copies rows of a table in memory.

use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use twinset::Run;

use super::{Fate, Records, Sides};
use crate::host::MemoryTable;
use crate::{Error, Result};

pub(super) fn copy(
    table: &MemoryTable,
    records: &mut Records<'_>,
    sides: &mut Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    for output in [Some(&sides.kept), sides.removed.as_ref()].into_iter().flatten() {
        if !output.is_memory() {
            let reason = "rows of a table in memory stay there; write the table that is returned";
            return Err(Error::Usage(reason.to_owned()));
        }
        output.set_schema(&table.schema);
    }
    for batch in &table.batches {
        run.check()?;
        let fates: Vec<Option<Fate>> = (0..batch.num_rows()).map(|_| fate(records.next_ordinal())).collect();
        for wanted in [Fate::Kept, Fate::Removed] {
            let Some(output) = sides.of(wanted) else { continue };
            let mask: BooleanArray = fates.iter().map(|fate| Some(*fate == Some(wanted))).collect();
            let rows = filter_record_batch(batch, &mask);
            output.add_rows(rows.map_err(|error| Error::Usage(format!("the rows cannot be copied: {error}")))?);
        }
    }
    Ok(())
}
