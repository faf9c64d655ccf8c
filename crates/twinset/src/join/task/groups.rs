//! Identical records as groups.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::model::{Bounds, Collections, TokenSets};
use crate::sketch::Synopses;
use crate::support::{Strings, salted_hash};
use crate::tokenize::{id_hash, is_blank};

/// Records with the same content, and of the same collection, form a group. Groups are numbered in order of the size
/// of their content, then of their first record.
pub(crate) struct Groups {
    /// How many records the left collection has, where there are two.
    left: Option<usize>,
    /// How many records take no part as they are empty.
    empty: usize,
    /// The group of each record; `NONE` for a record that does not take part.
    of_record: Vec<u32>,
    /// Where each group's members start; one more entry than there are groups.
    starts: Vec<u32>,
    /// The records of all groups, in their order within each.
    members: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Groups {
    /// Groups by token set. Records without tokens are left out unless `empty`; of two collections, also those that
    /// share too few tokens with the other to have a partner.
    pub(crate) fn of_sets(sets: &TokenSets, bounds: &Bounds, empty: bool) -> Self {
        let can_pair = |record: usize| {
            if sets.collections() == Collections::One {
                return true;
            }
            let (size, side) = (sets.size(record), sets.side(record));
            let smallest = (*bounds.partner_sizes(size, side).start()).max(u32::from(!empty));
            let least = bounds.min_overlap_of(size, side, smallest) as usize;
            // Tokens that can be shared stand at the end.
            let shared = |token: &u32| *token >= sets.unshared();
            least == 0 || sets.get(record).iter().rev().take_while(|token| shared(token)).take(least).count() == least
        };
        Self::new(
            sets.len(),
            (sets.collections() == Collections::Two).then(|| sets.left_len()),
            |record| sets.size(record) == 0 && !empty,
            |record| can_pair(record).then(|| id_hash(sets.get(record), 0)),
            |a, b| sets.get(a) == sets.get(b),
            |record| sets.size(record),
        )
    }

    /// Groups by synopsis. Empty ones are left out.
    pub(crate) fn of_synopses(synopses: &Synopses) -> Self {
        let values = |record: usize| synopses.get(record).values();
        Self::new(
            synopses.len(),
            (synopses.collections() == Collections::Two).then(|| synopses.left_len()),
            |record| values(record).is_empty(),
            |record| Some(salted_hash(bytemuck::cast_slice(values(record)))),
            |a, b| synopses.get(a) == synopses.get(b),
            |record| values(record).len() as u32,
        )
    }

    /// Groups by text. Empty texts are left out unless `empty`.
    pub(crate) fn of_texts(texts: &Strings, grams: &TokenSets, empty: bool) -> Self {
        Self::new(
            texts.len(),
            (grams.collections() == Collections::Two).then(|| grams.left_len()),
            |record| is_blank(texts.get(record)) && !empty,
            |record| Some(salted_hash(texts.get(record).as_bytes())),
            |a, b| texts.get(a) == texts.get(b),
            |record| grams.size(record),
        )
    }

    /// `hash` is that of a record's content, or `None` if the record cannot have a partner.
    fn new(
        records: usize,
        left: Option<usize>,
        is_empty: impl Fn(usize) -> bool + Sync,
        hash: impl Fn(usize) -> Option<u64> + Sync,
        same: impl Fn(usize, usize) -> bool,
        size: impl Fn(usize) -> u32,
    ) -> Self {
        const NO_HASH: u64 = 0;
        let hash = |record: usize| match hash(record) {
            Some(hash) if !is_empty(record) => hash.max(NO_HASH + 1),
            _ => NO_HASH,
        };
        let hashes: Vec<u64> = (0..records).into_par_iter().map(hash).collect();
        let mut table: HashTable<u32> = HashTable::new();
        // For now a record's group is named by its first record.
        let mut of_record: Vec<u32> = Vec::with_capacity(records);
        let mut firsts: Vec<u32> = Vec::new();
        for record in 0..records {
            if Some(record) == left {
                table.clear();
            }
            let hash = hashes[record];
            if hash == NO_HASH {
                of_record.push(NONE);
                continue;
            }
            let first = table.find(hash, |&first| hashes[first as usize] == hash && same(first as usize, record));
            let first = first.copied().unwrap_or_else(|| {
                table.insert_unique(hash, record as u32, |&first| hashes[first as usize]);
                firsts.push(record as u32);
                record as u32
            });
            of_record.push(first);
        }
        drop((table, hashes));

        firsts.sort_by_key(|&first| size(first as usize));
        let mut rank = vec![NONE; records];
        for (position, &first) in firsts.iter().enumerate() {
            rank[first as usize] = position as u32;
        }
        let mut starts = vec![0u32; firsts.len() + 1];
        for group in &mut of_record {
            if *group != NONE {
                *group = rank[*group as usize];
                starts[*group as usize + 1] += 1;
            }
        }
        for group in 0..firsts.len() {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut members = vec![0; starts[firsts.len()] as usize];
        for (record, &group) in of_record.iter().enumerate().filter(|&(_, &group)| group != NONE) {
            members[next[group as usize] as usize] = record as u32;
            next[group as usize] += 1;
        }
        let empty = (0..records).filter(|&record| is_empty(record)).count();
        Self { left, empty, of_record, starts, members }
    }

    pub(crate) fn collections(&self) -> Collections {
        if self.left.is_some() { Collections::Two } else { Collections::One }
    }

    pub(crate) fn left_len(&self) -> usize {
        self.left.unwrap_or(self.records())
    }

    pub(crate) fn records(&self) -> usize {
        self.of_record.len()
    }

    /// How many records take no part as they are empty.
    pub(crate) fn empty(&self) -> usize {
        self.empty
    }

    /// How many others take no part as they share too few tokens with the other collection.
    pub(crate) fn without_partner(&self) -> usize {
        self.records() - self.members.len() - self.empty
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of(&self, record: usize) -> Option<u32> {
        Some(self.of_record[record]).filter(|&group| group != NONE)
    }

    /// The records of a group, in input order.
    pub(crate) fn members(&self, group: u32) -> &[u32] {
        &self.members[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }
}
