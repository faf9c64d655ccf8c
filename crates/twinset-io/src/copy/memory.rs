//! Copies rows of a table in memory.

use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use twinset::Run;

use super::{Fate, Records, Sides};
use crate::memory::MemoryTable;
use crate::{Error, Output, Result};

pub(super) fn copy(
    table: &MemoryTable,
    records: &mut Records<'_>,
    sides: &Sides,
    fate: impl Fn(Option<u32>) -> Option<Fate>,
    run: &Run,
) -> Result<()> {
    let place = |output: &Output| {
        let needed = "rows of a table in memory are copied to memory; write the table that is returned";
        output.place().cloned().ok_or_else(|| Error::Usage(needed.to_owned()))
    };
    let (kept, removed) = (place(&sides.kept)?, sides.removed.as_ref().map(place).transpose()?);
    let places = [(Fate::Kept, Some(kept)), (Fate::Removed, removed)];
    places.iter().filter_map(|(_, place)| place.as_ref()).for_each(|place| place.set_schema(&table.schema));
    for batch in &table.batches {
        run.check()?;
        let fates: Vec<Option<Fate>> = (0..batch.num_rows()).map(|_| fate(records.next_ordinal())).collect();
        for (wanted, place) in &places {
            let Some(place) = place else { continue };
            let mask: BooleanArray = fates.iter().map(|fate| Some(*fate == Some(*wanted))).collect();
            let rows = filter_record_batch(batch, &mask);
            place.add_rows(rows.map_err(|error| Error::Usage(format!("the rows cannot be copied: {error}")))?);
        }
    }
    Ok(())
}
