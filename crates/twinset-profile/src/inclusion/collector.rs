//! The values of a key as they are collected by the second pass.

use std::hash::BuildHasherDefault;

use hashbrown::{HashMap, HashSet};
use twinset::tokenize::synopsis_value;
use twinset_io::read::features::Batch;

use crate::features::Feature;
use crate::features::encoder::ValueEncoder;
use crate::features::recent::RecentValues;
use crate::features::sorted::SortedValues;
use crate::features::synopsis::{SaltedHasher, ValueCount, beginning};

/// One feature, or several of one table together.
pub(crate) type Key = Vec<usize>;

/// How the values of a key are collected.
pub(crate) enum ValueCollector {
    /// All, with their texts and how often they occur.
    All { values: HashMap<u64, ValueCount, BuildHasherDefault<SaltedHasher>>, recent: RecentValues },
    /// Those of one part of all hashes.
    Part { values: SortedValues, recent: RecentValues },
    /// Only those that someone asks for.
    Lookup { asked: HashSet<u64, BuildHasherDefault<SaltedHasher>>, found: SortedValues },
}

/// The values of a key, in order.
pub(crate) struct CollectedValues {
    pub(crate) values: Vec<u64>,
    /// Whether they are those of one part of all hashes.
    pub(crate) is_part: bool,
    pub(crate) counted: Option<HashMap<u64, ValueCount, BuildHasherDefault<SaltedHasher>>>,
}

impl ValueCollector {
    /// Looks at the values of a key in a batch.
    pub(crate) fn add(
        &mut self,
        batch: &Batch,
        key: &Key,
        features: &[Feature],
        encoder: &ValueEncoder,
        part: HashPart,
    ) {
        match self {
            Self::All { values, recent } => {
                let mut repeat =
                    |value: u64, times: u64, text: Option<&dyn Fn() -> String>| match values.get_mut(&value) {
                        Some(counted) => counted.count += times,
                        None => {
                            let text = text.map_or_else(String::new, |text| text()).into();
                            values.insert(value, ValueCount { count: times, text });
                        }
                    };
                for_each_value(batch, key, features, encoder, |raw, value, text| {
                    if raw.is_some_and(|raw| recent.repeated(raw).is_some()) {
                        return;
                    }
                    let value = value();
                    repeat(value, 1, Some(text));
                    let forgotten = raw.and_then(|raw| recent.remember(raw, value));
                    for place in recent.settle().into_iter().chain(forgotten) {
                        repeat(place.value, place.count, None);
                    }
                });
            }
            Self::Part { values, recent } => for_each_value(batch, key, features, encoder, |raw, value, _| {
                if raw.is_some_and(|raw| recent.is_seen(raw)) {
                    return;
                }
                let value = value();
                if part.has(value) {
                    values.push(value);
                }
            }),
            Self::Lookup { asked, found } => for_each_value(batch, key, features, encoder, |_, value, _| {
                let value = value();
                if asked.contains(&value) {
                    found.push(value);
                }
            }),
        }
    }

    pub(crate) fn finish(self) -> CollectedValues {
        match self {
            Self::All { mut values, mut recent } => {
                for place in recent.forget() {
                    if let Some(counted) = values.get_mut(&place.value) {
                        counted.count += place.count;
                    }
                }
                let mut sorted: Vec<u64> = values.keys().copied().collect();
                sorted.sort_unstable();
                CollectedValues { values: sorted, is_part: false, counted: Some(values) }
            }
            Self::Part { values, .. } => CollectedValues { values: values.finish(), is_part: true, counted: None },
            Self::Lookup { found, .. } => CollectedValues { values: found.finish(), is_part: false, counted: None },
        }
    }
}

/// One of several parts of all hashes, which are collected one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashPart {
    number: u64,
    count: u64,
}

impl HashPart {
    /// So many parts.
    pub(crate) fn all(count: u64) -> impl Iterator<Item = Self> {
        (0..count).map(move |number| Self { number, count })
    }

    pub(crate) fn is_first(self) -> bool {
        self.number == 0
    }

    /// Whether a value belongs to it.
    #[inline]
    pub(crate) fn has(self, value: u64) -> bool {
        // Neither the upper nor the lower bits, by which sets are made.
        self.count == 1 || (value >> 24 & 0xffff_ffff) % self.count == self.number
    }
}

/// Calls `visit` for each row of a batch that has a value of the key, with the hash of its raw text, if it has one, and with what
/// gives its value, and what writes it out.
pub(crate) fn for_each_value(
    batch: &Batch,
    key: &Key,
    features: &[Feature],
    encoder: &ValueEncoder,
    mut visit: impl FnMut(Option<u64>, &mut dyn FnMut() -> u64, &dyn Fn() -> String),
) {
    let mut buffer = Vec::new();
    match key.as_slice() {
        [only] if features[*only].is_tokens => {
            for raw in batch.values(features[*only].position).filter_map(|raw| encoder.present(raw)) {
                for hash in encoder.hasher.hashes(&String::from_utf8_lossy(raw)).unwrap_or_default() {
                    visit(None, &mut || synopsis_value(hash, encoder.seed), &|| beginning(raw));
                }
            }
        }
        [only] => {
            let feature = &features[*only];
            for raw in batch.values(feature.position).filter_map(|raw| encoder.present(raw)) {
                let hash = encoder.hash(raw);
                let text = || beginning(encoder.value_of(feature.is_boolean, raw, &mut Vec::new()).1);
                visit(Some(hash), &mut || encoder.value_of(feature.is_boolean, raw, &mut buffer).0, &text);
            }
        }
        several => {
            let values = |&feature: &usize| (features[feature].is_boolean, batch.values(features[feature].position));
            let mut columns: Vec<_> = several.iter().map(values).collect();
            let mut row: Vec<(u64, &[u8])> = Vec::new();
            loop {
                row.clear();
                for (is_boolean, values) in &mut columns {
                    let Some(raw) = values.next() else { return };
                    row.extend(
                        encoder.present(raw).map(|raw| (encoder.value_of(*is_boolean, raw, &mut buffer).0, raw)),
                    );
                }
                if row.len() < several.len() {
                    continue;
                }
                let together = |after: u64, own: u64| synopsis_value(own.rotate_left(1) ^ after, encoder.seed);
                let values = row.iter().rev().map(|(value, _)| *value);
                let all = values.reduce(|after, own| together(synopsis_value(after, encoder.seed), own)).unwrap_or(0);
                visit(None, &mut || all, &|| row.iter().map(|(_, raw)| beginning(raw)).collect::<Vec<_>>().join(", "));
            }
        }
    }
}
