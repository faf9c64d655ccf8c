//! A snapshot: one state of an index, whatever is written meanwhile.

use rayon::prelude::*;
use serde_json::{Map, Value};
use tantivy::{DocId, DocSet, Searcher};
use twinset::Run;
use twinset::estimate::{Comparison, Condition, KmvPlan, Synopses, Synopsis};
use twinset::exact::{Input, JoinOptions};
use twinset::support::Strings;

use super::segment::Segment;
use super::{Fields, Query, State};
use crate::{Error, Result, Settings};

/// A snapshot of an index.
pub struct Snapshot {
    name: String,
    k: u32,
    segments: Vec<Segment>,
}

/// A record of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSynopsis {
    /// Its number; earlier records have smaller numbers.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// The values of its synopsis.
    pub values: Vec<u64>,
    /// Whether these are all values of its set.
    pub is_complete: bool,
    /// The size of its input in bytes.
    pub bytes: u64,
    /// Other data stored with it.
    pub extra: Map<String, Value>,
}

/// A record found by a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its number.
    pub number: u64,
    /// The comparison with the query, which is the left side.
    pub comparison: Comparison,
    /// The estimated value of the measure.
    pub similarity: f64,
    place: Place,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    segment: u32,
    document: DocId,
}

/// Records whose near duplicates are sought at a time, for each thread. What is found for them waits until all are done.
const PROBES: usize = 4;

impl Snapshot {
    pub(super) fn new(searcher: &Searcher, fields: Fields, settings: &Settings, name: &str) -> Result<Self> {
        let k = settings.size();
        let segments = searcher.segment_readers().iter().map(|reader| Segment::new(reader, fields, k, name));
        Ok(Self { name: name.to_owned(), k, segments: segments.collect::<Result<_>>()? })
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.segments.iter().map(Segment::len).sum()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn input_bytes(&self) -> u64 {
        let of_segment = |segment: &Segment| segment.documents().map(|document| segment.bytes(document)).sum::<u64>();
        self.segments.iter().map(of_segment).sum()
    }

    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the record with an id.
    pub fn find(&self, id: &str) -> Result<Option<StoredSynopsis>> {
        let mut buffer = Vec::new();
        for segment in &self.segments {
            if let Some(document) = segment.find(id)? {
                let is_complete = segment.synopsis(document, &mut buffer)?.is_complete();
                let (id, extra) = segment.stored(document)?;
                let (number, bytes) = (segment.number(document), segment.bytes(document));
                return Ok(Some(StoredSynopsis { number, id, values: buffer, is_complete, bytes, extra }));
            }
        }
        Ok(None)
    }

    /// Returns the number of the record with an id.
    pub(super) fn number_of(&self, id: &str) -> Result<Option<u64>> {
        for segment in &self.segments {
            if let Some(document) = segment.find(id)? {
                return Ok(Some(segment.number(document)));
            }
        }
        Ok(None)
    }

    /// Returns the id of a hit, and the other data stored with it.
    pub fn stored(&self, hit: &Hit) -> Result<(String, Map<String, Value>)> {
        self.segments[hit.place.segment as usize].stored(hit.place.document)
    }

    /// The records that the query wants for a set, most similar first, ties in the order in which they came. Records without
    /// values find nothing, and are not found.
    pub fn query(&self, synopsis: Synopsis<'_>, query: &Query) -> Result<Vec<Hit>> {
        query.size.map_or(Ok(()), Synopsis::check_size)?;
        let mut hits = self.near(synopsis, query)?;
        let measure = query.condition.measure();
        hits.sort_by(|a, b| measure.order(a.similarity, b.similarity).then(a.number.cmp(&b.number)));
        Ok(hits)
    }

    /// The same in no order.
    fn near(&self, synopsis: Synopsis<'_>, query: &Query) -> Result<Vec<Hit>> {
        let k = query.size.unwrap_or(self.k).min(self.k).min(synopsis.size());
        let synopsis = synopsis.truncated(k);
        let (mut hits, mut buffer) = (Vec::new(), Vec::new());
        if synopsis.values().is_empty() {
            return Ok(hits);
        }
        for (at, segment) in (0..).zip(&self.segments) {
            query.strategy.candidates(segment, synopsis.values(), k, &query.condition, &mut |document| {
                if !segment.is_there(document) {
                    return Ok(());
                }
                let other = segment.synopsis(document, &mut buffer)?.truncated(k);
                let comparison = synopsis.compare(other);
                if !other.values().is_empty() && query.condition.accepts(&comparison) {
                    let similarity = comparison.value(query.condition.measure());
                    let place = Place { segment: at, document };
                    hits.push(Hit { number: segment.number(document), comparison, similarity, place });
                }
                Ok(())
            })?;
        }
        Ok(hits)
    }

    /// Where all records stand, in the order in which they came.
    fn places(&self) -> Vec<(u64, Place)> {
        let of_segment = |(at, segment): (u32, &Segment)| {
            let documents = segment.documents();
            documents.map(|document| (segment.number(document), Place { segment: at, document })).collect::<Vec<_>>()
        };
        let mut places: Vec<(u64, Place)> = (0..).zip(&self.segments).flat_map(of_segment).collect();
        places.sort_unstable_by_key(|&(number, _)| number);
        places
    }

    /// Calls `visit` for all records in the order in which they came, with their ids and what else is kept of them.
    pub fn for_each_stored<E: From<Error>>(
        &self,
        mut visit: impl FnMut(&str, &Map<String, Value>, Synopsis<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = Vec::new();
        for (_, Place { segment, document }) in self.places() {
            let segment = &self.segments[segment as usize];
            let (id, extra) = segment.stored(document)?;
            visit(&id, &extra, segment.synopsis(document, &mut buffer)?)?;
        }
        Ok(())
    }

    /// Calls `visit` for all records in no order, with their numbers.
    pub fn for_each<E: From<Error>>(&self, mut visit: impl FnMut(u64, Synopsis<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut buffer = Vec::new();
        for segment in &self.segments {
            for document in segment.documents() {
                visit(segment.number(document), segment.synopsis(document, &mut buffer)?)?;
            }
        }
        Ok(())
    }

    /// All records in the order in which they came: their ids, and their synopses of this size.
    fn load(&self, size: Option<u32>) -> Result<(Strings, Synopses)> {
        let (mut ids, mut synopses) = (Strings::default(), Synopses::new(size.unwrap_or(self.k).min(self.k))?);
        self.for_each_stored(|id, _, synopsis| {
            ids.push(id);
            synopses.push(synopsis);
            Ok::<_, Error>(())
        })?;
        Ok((ids, synopses))
    }

    /// Calls `visit` for the ids of all pairs that the query wants within this index, or of this one and another, with their
    /// comparison; in the order in which the left records came, and then the right ones. The exact join of the values gives the
    /// candidates, whatever the query's strategy.
    pub fn join<E: From<Error>>(
        &self,
        other: Option<&Self>,
        condition: &Condition,
        size: Option<u32>,
        run: &Run,
        mut visit: impl FnMut(&str, &str, Comparison) -> Result<(), E>,
    ) -> Result<(), E> {
        let (ids, mut synopses) = self.load(size)?;
        let right = other.map(|other| other.load(Some(synopses.size()))).transpose()?;
        if let Some((_, right)) = &right {
            synopses = Synopses::beside(&synopses, right).map_err(Error::from)?;
        }
        let options = JoinOptions {
            measure: condition.measure(),
            kmv: KmvPlan { min_overlap: condition.min_overlap(), lowest: Some(condition.lowest()) },
            ..JoinOptions::at(condition.threshold())
        };
        let joined = twinset::exact::join(Input::Synopses(&synopses), &options, run).map_err(Error::from)?;
        let (right_ids, offset) = match &right {
            Some((right_ids, _)) => (right_ids, ids.len()),
            None => (&ids, 0),
        };
        for pair in joined.iter() {
            let pair = pair.map_err(Error::from)?;
            let (left, right) = (pair.left as usize, pair.right as usize);
            let comparison = synopses.get(left).compare(synopses.get(right + offset));
            visit(ids.get(left), right_ids.get(right), comparison)?;
        }
        Ok(())
    }

    /// How many pairs within this index, or of this one and another, each of the conditions accepts. They are counted in one pass,
    /// and none is kept.
    pub fn count(
        &self,
        other: Option<&Self>,
        conditions: &[Condition],
        size: Option<u32>,
        run: &Run,
    ) -> Result<Vec<u64>> {
        // Neither ids nor order matter here.
        let load = |snapshot: &Self, size: u32| -> Result<Synopses> {
            let mut synopses = Synopses::new(size.min(snapshot.k))?;
            snapshot.for_each(|_, synopsis| {
                synopses.push(synopsis);
                Ok::<_, Error>(())
            })?;
            Ok(synopses)
        };
        let mut synopses = load(self, size.unwrap_or(self.k))?;
        if let Some(other) = other {
            synopses = Synopses::beside(&synopses, &load(other, synopses.size())?)?;
        }
        Ok(twinset::estimate::count_estimates(&synopses, conditions, run)?)
    }

    /// The same as [`join`](Self::join), by a query for each record of this index, on all threads.
    pub fn join_by_probes<E: From<Error> + Send>(
        &self,
        other: Option<&Self>,
        query: &Query,
        run: &Run,
        visit: impl FnMut(&str, &str, Comparison) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        self.join_first_by_probes(self.len(), other, query, run, visit)
    }

    /// The same for the first so many records only.
    pub fn join_first_by_probes<E: From<Error> + Send>(
        &self,
        first: u64,
        other: Option<&Self>,
        query: &Query,
        run: &Run,
        visit: impl FnMut(&str, &str, Comparison) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let joined = run.install(|| self.probe(first, other, query, run, visit));
        joined.map_err(Error::from)?
    }

    fn probe<E: From<Error>>(
        &self,
        first: u64,
        other: Option<&Self>,
        query: &Query,
        run: &Run,
        mut visit: impl FnMut(&str, &str, Comparison) -> Result<(), E>,
    ) -> Result<(), E> {
        let searched = other.unwrap_or(self);
        let mut places = self.places();
        places.truncate(usize::try_from(first).unwrap_or(usize::MAX));
        let is_directed = query.condition.measure() == twinset::Measure::Containment;
        let right_ids = searched.ids()?;
        let left_ids = if other.is_some() { self.ids()? } else { right_ids.clone() };
        run.begin("join", Some(places.len() as u64));
        let size = query.size.unwrap_or(self.k).min(self.k).min(searched.k);
        let query = Query { size: Some(size), ..*query };
        for probes in places.chunks(PROBES * rayon::current_num_threads()) {
            run.check().map_err(Error::from)?;
            let hits = probes.par_iter().map(|&(number, Place { segment, document })| {
                let mut buffer = Vec::new();
                let synopsis = self.segments[segment as usize].synopsis(document, &mut buffer)?;
                let mut hits = searched.near(synopsis, &query)?;
                if other.is_none() {
                    hits.retain(|hit| hit.number > number || is_directed && hit.number != number);
                }
                hits.sort_unstable_by_key(|hit| hit.number);
                Ok(hits)
            });
            let found = hits.collect::<Result<Vec<_>>>()?;
            for (&(number, _), hits) in probes.iter().zip(found) {
                for hit in hits {
                    visit(left_ids.of(number), right_ids.of(hit.number), hit.comparison)?;
                }
            }
            run.advance(probes.len() as u64);
        }
        Ok(())
    }

    fn ids(&self) -> Result<Ids> {
        let mut ids = Ids { numbers: Vec::new(), names: Strings::default() };
        for (number, Place { segment, document }) in self.places() {
            ids.numbers.push(number);
            ids.names.push(&self.segments[segment as usize].stored(document)?.0);
        }
        Ok(ids)
    }

    /// What is wrong with its records, and with what the index tells of them, which has no checksum.
    pub(super) fn damages(&self, state: &State) -> Result<Vec<String>> {
        let mut damages = Vec::new();
        let (mut buffer, mut numbers) = (Vec::new(), Vec::new());
        for segment in &self.segments {
            for document in segment.documents() {
                numbers.push(segment.number(document));
                let synopsis = match segment.synopsis(document, &mut buffer) {
                    Ok(synopsis) => synopsis,
                    Err(error) => {
                        damages.push(error.to_string());
                        continue;
                    }
                };
                // The first and the last value stand for all: that each is in its place the checksums tell.
                for value in synopsis.values().first().into_iter().chain(synopsis.values().last()) {
                    let leads_here = segment.list(*value)?.is_some_and(|mut list| {
                        (if list.doc() < document { list.seek(document) } else { list.doc() }) == document
                    });
                    if !leads_here {
                        damages.push(format!("a value of record number {} leads nowhere", segment.number(document)));
                    }
                }
                let (id, _) = segment.stored(document)?;
                if self.number_of(&id)? != Some(segment.number(document)) || segment.find(&id)? != Some(document) {
                    damages.push(format!("there are several records `{id}`"));
                }
                if damages.len() >= MOST_DAMAGES {
                    return Ok(damages);
                }
            }
        }
        numbers.sort_unstable();
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            damages.push(format!("two records of {} have number {}", self.name, pair[0]));
        }
        if let Some(last) = numbers.last().filter(|last| **last >= state.next) {
            damages.push(format!("there is a record number {last}, and the next is said to be {}", state.next));
        }
        let counted = numbers.len() as u64;
        if counted != self.len() || state.records.is_some_and(|records| records != counted) {
            damages.push(format!("there are {counted} records, and another number is told"));
        }
        Ok(damages)
    }
}

/// The most problems to report.
const MOST_DAMAGES: usize = 20;

/// What records are called, by their numbers.
#[derive(Clone)]
struct Ids {
    numbers: Vec<u64>,
    names: Strings,
}

impl Ids {
    fn of(&self, number: u64) -> &str {
        self.names.get(self.numbers.partition_point(|&other| other < number))
    }
}
