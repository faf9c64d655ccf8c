//! What all articles of a result tell together: who and what they mention, who published them, and when. In the full-text index
//! each article has the hashes of these names, so that counting reads no article; the few names that are told are looked up.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use tantivy::columnar::Column;
use tantivy::{DocAddress, Searcher};
use twinset::tokenize::seeded_hash;

use crate::Result;
use crate::article::Moment;

/// How often something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameCount {
    /// The hash of its name.
    pub(crate) hash: u64,
    /// In how many articles it is.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) article: i64,
}

/// What articles tell together.
#[derive(Default)]
pub(crate) struct Overview {
    /// The most frequent first.
    pub(crate) entities: Vec<NameCount>,
    /// Those that have most first.
    pub(crate) sources: Vec<NameCount>,
    /// How many articles each day has, the first day first.
    pub(crate) days: Vec<(Moment, u64)>,
}

/// The columns of the full-text index that hold hashes of names.
pub(crate) const ENTITIES: &str = "entity_hashes";
pub(crate) const SOURCES: &str = "source_hash";

/// The hash of the name of an entity or a source, by which it is counted. As for filters, small and capital letters are the same.
pub(crate) fn name_hash(name: &str) -> u64 {
    seeded_hash(name.to_lowercase().as_bytes(), 1, 0)
}

/// What is read of a part of the full-text index.
struct Columns {
    entities: Option<Column<u64>>,
    sources: Option<Column<u64>>,
    published: Option<Column<i64>>,
}

impl Overview {
    /// Of articles that lie at these places, and have these numbers.
    pub(crate) fn of(searcher: &Searcher, articles: &[(DocAddress, i64)]) -> Result<Self> {
        let mut parts: HashMap<u32, Columns> = HashMap::new();
        let (mut entities, mut sources, mut days) = (Vec::new(), Vec::new(), Vec::new());
        for &(place, id) in articles {
            let columns = match parts.entry(place.segment_ord) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let fast = searcher.segment_reader(place.segment_ord).fast_fields();
                    new.insert(Columns {
                        entities: fast.column_opt(ENTITIES)?,
                        sources: fast.column_opt(SOURCES)?,
                        published: fast.column_opt("published")?,
                    })
                }
            };
            let hashes = |column: &Option<Column<u64>>, into: &mut Vec<(u64, i64)>| {
                into.extend(
                    column.iter().flat_map(|column| column.values_for_doc(place.doc_id)).map(|hash| (hash, id)),
                );
            };
            hashes(&columns.entities, &mut entities);
            hashes(&columns.sources, &mut sources);
            days.extend(columns.published.as_ref().and_then(|column| column.first(place.doc_id)));
        }
        days.iter_mut().for_each(|time| *time = time.div_euclid(Moment::DAY));
        days.sort_unstable();
        let days = days.chunk_by(|a, b| a == b).map(|day| (Moment(day[0] * Moment::DAY), day.len() as u64)).collect();
        Ok(Self { entities: counted(&entities), sources: counted(&sources), days })
    }
}

fn counted(hashes: &[(u64, i64)]) -> Vec<NameCount> {
    let mut counts: HashMap<u64, NameCount> = HashMap::new();
    for &(hash, article) in hashes {
        let own = counts.entry(hash).or_insert(NameCount { hash, count: 0, article });
        own.count += 1;
        own.article = own.article.min(article);
    }
    let mut counted: Vec<NameCount> = counts.into_values().collect();
    counted.sort_unstable_by_key(|counted| (std::cmp::Reverse(counted.count), counted.hash));
    counted
}

/// Names by their hashes, as far as they were looked up before.
pub(crate) struct NameCache<T>(Mutex<HashMap<u64, T>>);

/// So many are known at a time.
const KNOWN: usize = 10_000;

impl<T> Default for NameCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> NameCache<T> {
    /// The name of a hash, read where it is not known.
    pub(crate) fn of(&self, hash: u64, read: impl FnOnce() -> Result<Option<T>>) -> Result<Option<T>> {
        if let Some(name) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&hash) {
            return Ok(Some(name.clone()));
        }
        let name = read()?;
        if let Some(name) = &name {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= KNOWN {
                known.clear();
            }
            known.insert(hash, name.clone());
        }
        Ok(name)
    }
}
