//! Finds single records of a collection, and reads no further than the last of them.

use twinset::Run;

use crate::read::{Inputs, ReadOptions};
use crate::records::{Prepared, for_each_record};
use crate::{Error, Result};

/// As many records are looked at together.
const BATCH: usize = 1024;

/// Why the reading ends.
enum End {
    Found,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Finds the texts of the first records of these names, in the order of the names; `None` for those that are not there. A
/// record is named by its id, or by its number if it has none. Bad records before the last one end the reading with an error.
pub fn find_records<const N: usize>(
    inputs: &Inputs,
    options: &ReadOptions,
    names: [&str; N],
    run: &Run,
) -> Result<[Option<String>; N]> {
    let mut found = [const { None }; N];
    let take = |records: Vec<Prepared<String>>| {
        for record in records {
            let number = record.number.to_string();
            let name = record.id.as_deref().unwrap_or(&number);
            for (place, _) in found.iter_mut().zip(names).filter(|(place, wanted)| place.is_none() && *wanted == name) {
                *place = Some(record.content.clone());
            }
        }
        if found.iter().all(Option::is_some) { Err(End::Found) } else { Ok(()) }
    };
    match for_each_record(inputs, options, &[], run, |text| Ok(text.to_owned()), BATCH, take) {
        Err(End::Failed(error)) => Err(error),
        Ok(_) | Err(End::Found) => Ok(found),
    }
}
