//! The records that an index was made from, read again to check what was found.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use twinset::estimate::Synopsis;
use twinset::{Run, TokenOptions};
use twinset_index::kmv::{KmvIndex, Snapshot};
use twinset_io::read::Inputs;
use twinset_io::{Error, ReadOptions, for_each_record};

use super::Reading;

/// The token hashes of some records.
pub(super) struct Originals {
    sets: HashMap<String, Vec<u64>>,
}

/// Records that are read at a time.
const BATCH: usize = 1000;

impl Originals {
    /// Reads the records of these ids. Where an id occurs again, the last counts, or, if records of the index were merged, all
    /// together.
    pub(super) fn read(
        (paths, read): (&[PathBuf], &ReadOptions),
        (index, snapshot): (&KmvIndex, &Snapshot),
        wanted: &HashSet<String>,
        run: &Run,
    ) -> anyhow::Result<Self> {
        let inputs = Inputs::find(paths, read.format)?;
        let Reading { read, hasher, .. } =
            Reading::new(index.settings(), index.name(), Some(&inputs), read, &TokenOptions::default())?;
        let is_merged = index.is_merged()?;
        let mut sets: HashMap<String, Vec<u64>> = HashMap::new();
        let prepare = |text: &str| Ok(hasher.hashes(text)?);
        for_each_record(&inputs, &read, &[], run, prepare, BATCH, |records| {
            for record in records {
                let id = record.name();
                if wanted.contains(&id) {
                    let set = sets.entry(id).or_default();
                    if !is_merged {
                        set.clear();
                    }
                    set.extend(record.content);
                }
            }
            Ok::<_, anyhow::Error>(())
        })?;
        for (id, set) in &mut sets {
            set.sort_unstable();
            set.dedup();
            let mut synopsis = index.synopsis_of(set)?;
            let kept = snapshot.find(id)?;
            if kept.is_none_or(|kept| kept.values != synopsis.synopsis().values()) {
                let reason = format!(
                    "record `{id}` of --originals is not what was added; name all that was, in that order, and read it alike"
                );
                return Err(Error::Usage(reason).into());
            }
        }
        Ok(Self { sets })
    }

    /// The whole set of a record, as a synopsis that is complete.
    pub(super) fn get(&self, id: &str) -> anyhow::Result<Synopsis<'_>> {
        let set = self.sets.get(id).ok_or_else(|| {
            Error::Usage(format!("record `{id}` is not among --originals; name all the files that were added"))
        })?;
        Ok(whole(set))
    }
}

/// A whole set as a synopsis that is complete.
pub(super) fn whole(hashes: &[u64]) -> Synopsis<'_> {
    Synopsis::new(hashes, u32::MAX, true).expect("token hashes are in order, each once")
}
