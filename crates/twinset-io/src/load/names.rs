//! The names of records, of which no two are the same.

use hashbrown::HashTable;
use twinset::support::salted_hash;

use super::block::{LoadedBlock, without};
use crate::error::Place;
use crate::ids::{Ids, Names};
use crate::read::{Bad, Rejects};
use crate::{Error, Result};

/// The names of a collection's records, which must differ. A repeated one is an error, or its record is rejected.
pub(super) fn collection_ids(
    blocks: &mut [LoadedBlock],
    collection: usize,
    mut rejects: Option<&mut Rejects>,
    again: bool,
) -> Result<Ids> {
    let mut own: Vec<&mut LoadedBlock> = blocks.iter_mut().filter(|block| block.collection == collection).collect();
    let total = own.iter().map(|block| (block.records + block.bad.len()) as u64).sum();
    if own.iter().all(|block| block.names.is_none()) {
        if own.iter().all(|block| block.bad.is_empty()) {
            return Ok(Ids::Numbered(total));
        }
        let mut numbers = Vec::new();
        let mut before = 0;
        for block in own {
            numbers.extend(block.numbers().map(|number| before + number));
            before += (block.records + block.bad.len()) as u64;
        }
        return Ok(Ids::Numbers(numbers));
    }
    let mut all = Names::default();
    let mut table: HashTable<u32> = HashTable::with_capacity(total as usize);
    let (mut before, mut length) = (0, 0);
    for at in 0..own.len() {
        let names = own[at].complete_names(before);
        let (mut repeated, mut kept) = (Vec::new(), 0);
        for position in 0..names.len() {
            let name = names.get(position);
            let hash = salted_hash(name.as_bytes());
            // Names of this block are not among all names yet.
            let get = |entry: u32| match (entry as usize).checked_sub(length) {
                None => all.get(entry as usize),
                Some(own) => names.get(kept_position(own, &repeated)),
            };
            let Some(&first) = table.find(hash, |&entry| get(entry) == name) else {
                table.insert_unique(hash, (length + kept) as u32, |&entry| salted_hash(get(entry).as_bytes()));
                kept += 1;
                continue;
            };
            let line = own[at].line(position);
            if again {
                repeated.push(position);
                continue;
            }
            let Some(rejects) = &mut rejects else {
                return Err(used_twice(&own, name, first as usize, at, line));
            };
            let reason = format!("the id `{name}` was used before");
            rejects.write(&own[at].file, &Bad { line, column: None, reason, record: name.to_owned() })?;
            repeated.push(position);
        }
        before += (own[at].records + own[at].bad.len()) as u64;
        length += kept;
        all.push(without(names, &repeated));
        own[at].remove(&repeated);
    }
    Ok(Ids::Names(all))
}

/// The position in a block of the `kept`-th record that is not repeated.
fn kept_position(kept: usize, repeated: &[usize]) -> usize {
    repeated.iter().fold(kept, |position, &repeated| if repeated <= position { position + 1 } else { position })
}

/// The error for a record whose id is that of the collection's record at position `first`.
fn used_twice(blocks: &[&mut LoadedBlock], name: &str, mut first: usize, at: usize, line: u64) -> Error {
    let mut block = &blocks[0];
    for candidate in blocks {
        block = candidate;
        if first < block.records {
            break;
        }
        first -= block.records;
    }
    let reason = format!(
        "the id `{name}` was used before, at {}:{}; name a field whose values differ with --id \
         (--rejects FILE goes on without such records)",
        block.file,
        block.line(first),
    );
    Error::Record { place: Place { file: blocks[at].file.clone(), line, column: None }, reason }
}
