//! The texts of a few records, read again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use twinset::Run;

use crate::Result;
use crate::collection::Collection;
use crate::read::{BadRecords, Inputs, ReadOptions, for_each_block};

/// The texts of those records of a collection that are wanted: of the left, or only, one (0) or of the right one (1).
pub fn read_texts(
    inputs: &Inputs,
    (collection, side): (&Collection, usize),
    options: &ReadOptions,
    wanted: &BTreeSet<u32>,
    run: &Run,
) -> Result<BTreeMap<u32, String>> {
    if wanted.is_empty() {
        return Ok(BTreeMap::new());
    }
    // On one thread blocks come in the order of the input.
    let run = Run { threads: Some(1), ..run.clone() };
    let found = Mutex::new(BTreeMap::new());
    // For each file, how many records were seen; and how many of the collection in all.
    let seen = Mutex::new((vec![0u64; inputs.files.len()], 0u32));
    let inputs = std::slice::from_ref(inputs);
    // Bad records are known: they are skipped as they were before.
    run.install(|| {
        for_each_block(inputs, options, &[], BadRecords::Skipped, &run, |info, records| {
            let (mut positions, mut next) = {
                let seen = seen.lock().expect("there is one thread");
                (seen.0[info.file_at], seen.1)
            };
            let layout = &collection.layout[side][info.file_at];
            let mut good = records.iter();
            for position in 0..records.len() + info.bad.len() {
                let is_bad = info.bad.binary_search(&position).is_ok();
                let is_left_out = layout.left_out.binary_search(&(positions + position as u64)).is_ok();
                let record = if is_bad { None } else { good.next() };
                if is_left_out {
                    continue;
                }
                if let Some(record) = record.filter(|_| wanted.contains(&next)) {
                    found.lock().expect("there is one thread").insert(next, record.text.to_string());
                }
                next += 1;
            }
            positions += (records.len() + info.bad.len()) as u64;
            let mut seen = seen.lock().expect("there is one thread");
            (seen.0[info.file_at], seen.1) = (positions, next);
            Ok(())
        })
    })??;
    Ok(found.into_inner().expect("no thread panicked"))
}
