//! Labels in main memory: sorted arrays, which are gone with the process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use super::backend::{Backend, LabeledRecord, StoredRecord, Visit};
use crate::{Result, Settings};

pub(super) struct Memory {
    settings: Settings,
    numbers: HashMap<String, i64>,
    records: BTreeMap<i64, (String, Vec<u64>)>,
    trees: Vec<Tree>,
}

/// The labels of one tree with their records: a sorted array, and what came lately.
#[derive(Default)]
struct Tree {
    sorted: Vec<(i64, i64)>,
    recent: BTreeSet<(i64, i64)>,
}

impl Tree {
    fn insert(&mut self, label: i64, record: i64) {
        self.recent.insert((label, record));
        // So many moves, spread over so many insertions, that each costs a few.
        if self.recent.len() > 1024 + self.sorted.len() / 8 {
            self.sorted.extend(std::mem::take(&mut self.recent));
            self.sorted.sort_unstable();
        }
    }

    fn remove(&mut self, label: i64, record: i64) {
        if !self.recent.remove(&(label, record))
            && let Ok(place) = self.sorted.binary_search(&(label, record))
        {
            self.sorted.remove(place);
        }
    }

    fn records(&self, range: &RangeInclusive<i64>) -> impl Iterator<Item = i64> + '_ {
        let (first, last) = ((*range.start(), i64::MIN), (*range.end(), i64::MAX));
        let start = self.sorted.partition_point(|entry| *entry < first);
        let sorted = self.sorted[start..].iter().take_while(move |entry| **entry <= last);
        sorted.chain(self.recent.range(first..=last)).map(|&(_, record)| record)
    }

    fn contains(&self, label: i64, record: i64) -> bool {
        self.recent.contains(&(label, record)) || self.sorted.binary_search(&(label, record)).is_ok()
    }

    fn len(&self) -> usize {
        self.sorted.len() + self.recent.len()
    }
}

impl Memory {
    /// Creates an empty index.
    pub(super) fn new(settings: &Settings) -> Self {
        let trees = (0..settings.labels().trees).map(|_| Tree::default()).collect();
        Self { settings: settings.clone(), numbers: HashMap::new(), records: BTreeMap::new(), trees }
    }

    fn put(&mut self, number: i64, record: &LabeledRecord) {
        for (tree, &label) in self.trees.iter_mut().zip(&record.labels) {
            tree.insert(label, number);
        }
        self.numbers.insert(record.id.clone(), number);
        self.records.insert(number, (record.id.clone(), record.hashes.clone()));
    }

    /// Removes a record. Returns its number.
    fn take(&mut self, id: &str, relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Option<i64> {
        let number = self.numbers.remove(id)?;
        let (_, hashes) = self.records.remove(&number)?;
        for (tree, &label) in self.trees.iter_mut().zip(&relabel(&hashes)) {
            tree.remove(label, number);
        }
        Some(number)
    }

    fn stored(&self, number: i64) -> Option<StoredRecord> {
        let (id, hashes) = self.records.get(&number)?;
        Some(StoredRecord { number, id: id.clone(), hashes: hashes.clone() })
    }
}

impl Backend for Memory {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        self.settings = settings.clone();
        Ok(())
    }

    fn name(&self) -> &str {
        "the index in memory"
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.records.len() as u64)
    }

    fn add(&mut self, records: &[LabeledRecord], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        let mut next = self.records.last_key_value().map_or(1, |(number, _)| number + 1);
        let mut replaced = 0;
        for record in records {
            let number = match self.take(&record.id, relabel) {
                Some(number) => {
                    replaced += 1;
                    number
                }
                None => {
                    next += 1;
                    next - 1
                }
            };
            self.put(number, record);
        }
        Ok(replaced)
    }

    fn remove(&mut self, ids: &[String], relabel: &dyn Fn(&[u64]) -> Vec<i64>) -> Result<u64> {
        Ok(ids.iter().filter_map(|id| self.take(id, relabel)).count() as u64)
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredRecord>> {
        Ok(self.numbers.get(id).and_then(|&number| self.stored(number)))
    }

    fn candidates(&mut self, ranges: &[RangeInclusive<i64>], visit: &mut Visit<'_>) -> Result<()> {
        let mut numbers: Vec<i64> =
            self.trees.iter().zip(ranges).flat_map(|(tree, range)| tree.records(range)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if let Some((id, hashes)) = self.records.get(&number) {
                visit(number, id, hashes);
            }
        }
        Ok(())
    }

    fn after(&mut self, number: i64, count: usize) -> Result<Vec<StoredRecord>> {
        let numbers = self.records.range(number.saturating_add(1)..).map(|(&number, _)| number).take(count);
        Ok(numbers.filter_map(|number| self.stored(number)).collect())
    }

    fn labels_of(&mut self, record: &StoredRecord, labels: &[i64]) -> Result<usize> {
        let trees = self.trees.iter().zip(labels);
        Ok(trees.filter(|(tree, label)| tree.contains(**label, record.number)).count())
    }

    fn label_count(&mut self) -> Result<u64> {
        Ok(self.trees.iter().map(|tree| tree.len() as u64).sum())
    }

    fn begin_snapshot(&mut self) -> Result<()> {
        // This process is the only writer.
        Ok(())
    }

    fn end_snapshot(&mut self) -> Result<()> {
        Ok(())
    }

    fn bytes(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }
}
