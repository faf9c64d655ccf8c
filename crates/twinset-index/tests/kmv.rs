//! The synopsis index: all ways answer alike, a changed index like one made anew, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use serde_json::Map;
use twinset::estimate::{Comparison, Condition, Synopsis, SynopsisBuilder};
use twinset::tokenize::synopsis_value;
use twinset::{Measure, Run, Threshold, TokenOptions};
use twinset_index::Settings;
use twinset_index::kmv::{CandidateStrategy, Entry, KmvIndex, MissRate, Query, miss_rate};

const K: u32 = 16;

fn make(path: &Path, k: u32) -> KmvIndex {
    KmvIndex::create(path, &Settings::kmv(k, TokenOptions::default(), 0)).unwrap()
}

fn builder(set: &BTreeSet<u16>, k: u32) -> SynopsisBuilder {
    let mut builder = SynopsisBuilder::new(k).unwrap();
    set.iter().for_each(|&number| builder.insert(synopsis_value(u64::from(number), 0)));
    builder
}

fn entry(id: u8, set: &BTreeSet<u16>, k: u32) -> Entry {
    Entry { id: format!("r{id}"), synopsis: builder(set, k), bytes: 10, extra: Map::new() }
}

#[derive(Debug, Clone)]
enum Change {
    Add(Vec<(u8, BTreeSet<u16>)>),
    Merge(Vec<(u8, BTreeSet<u16>)>),
    Remove(Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    // Sets that are much alike: most have the numbers of one of three ranges.
    let set = (0u16..3, prop::collection::btree_set(0u16..30, 8..30), prop::collection::btree_set(0u16..60, 0..4));
    let set = set.prop_map(|(range, common, own)| {
        common.into_iter().map(|number| number + 20 * range).chain(own).collect::<BTreeSet<u16>>()
    });
    let records = prop::collection::vec((0u8..30, prop_oneof![9 => set, 1 => Just(BTreeSet::new())]), 1..25);
    let change = prop_oneof![
        4 => records.clone().prop_map(Change::Add),
        2 => records.prop_map(Change::Merge),
        1 => prop::collection::vec(0u8..30, 1..8).prop_map(Change::Remove),
    ];
    prop::collection::vec(change, 1..6)
}

/// What an index holds by definition: for each id its place among all that came, and its set.
#[derive(Default)]
struct Model {
    next: u64,
    records: BTreeMap<u8, (u64, BTreeSet<u16>)>,
}

impl Model {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Add(records) => {
                for (id, set) in records {
                    self.put(*id, set.clone());
                }
            }
            Change::Merge(records) => {
                for (id, set) in records {
                    let old = self.records.get(id).map(|(_, set)| set.clone()).unwrap_or_default();
                    self.put(*id, old.union(set).copied().collect());
                }
            }
            Change::Remove(ids) => ids.iter().for_each(|id| drop(self.records.remove(id))),
        }
    }

    fn put(&mut self, id: u8, set: BTreeSet<u16>) {
        self.next += 1;
        let number = self.records.get(&id).map_or(self.next, |(number, _)| *number);
        self.records.insert(id, (number, set));
    }

    /// Ids and sets in the order in which they came.
    fn in_order(&self) -> Vec<(String, &BTreeSet<u16>)> {
        let mut records: Vec<_> =
            self.records.iter().map(|(id, (number, set))| (number, format!("r{id}"), set)).collect();
        records.sort_by_key(|(number, ..)| **number);
        records.into_iter().map(|(_, id, set)| (id, set)).collect()
    }
}

/// Ids, comparisons and values that a query finds by definition, in order.
fn expected(model: &Model, asked: &BTreeSet<u16>, query: &Query) -> Vec<(String, Comparison)> {
    let size = query.size.unwrap_or(K);
    let mut asked = builder(asked, size);
    let asked = asked.synopsis();
    let mut found = Vec::new();
    for (id, set) in model.in_order() {
        let comparison = asked.compare(builder(set, size).synopsis());
        if !set.is_empty() && !asked.values().is_empty() && query.condition.accepts(&comparison) {
            found.push((id, comparison));
        }
    }
    let measure = query.condition.measure();
    let sign = if measure.is_distance() { 1.0 } else { -1.0 };
    found.sort_by(|(_, a), (_, b)| (sign * a.value(measure)).total_cmp(&(sign * b.value(measure))));
    found
}

fn found(index: &KmvIndex, asked: &BTreeSet<u16>, query: &Query) -> Vec<(String, Comparison)> {
    let snapshot = index.snapshot().unwrap();
    let hits = snapshot.query(builder(asked, K).synopsis(), query).unwrap();
    hits.iter().map(|hit| (snapshot.stored(hit).unwrap().0, hit.comparison)).collect()
}

fn condition(measure: Measure, twentieths: u64, number: u32, min_overlap: u32) -> Condition {
    let threshold = match measure.is_count() {
        true => Threshold::whole(number).unwrap(),
        false => Threshold::new(twentieths, 20).unwrap(),
    };
    Condition::new(measure, threshold, min_overlap).unwrap()
}

fn apply(index: &mut KmvIndex, change: &Change) {
    let entries = |records: &[(u8, BTreeSet<u16>)]| records.iter().map(|(id, set)| entry(*id, set, K)).collect();
    match change {
        Change::Add(records) => drop(index.add(entries(records), false).unwrap()),
        Change::Merge(records) => drop(index.add(entries(records), true).unwrap()),
        Change::Remove(ids) => {
            index.remove(&ids.iter().map(|id| format!("r{id}")).collect::<Vec<_>>()).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_changed_index_answers_in_all_ways_like_a_plain_computation(
        changes in changes(), asked in prop::collection::vec((0u16..3, prop::collection::btree_set(0u16..30, 0..30)), 3),
        twentieths in 1u64..=20, number in 1u32..40, min_overlap in 0u32..10, size in prop::option::of(2..=K),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut index = make(folder.path(), K);
        let mut model = Model::default();
        for change in &changes {
            apply(&mut index, change);
            model.apply(change);
        }
        let asked: Vec<BTreeSet<u16>> = asked.into_iter().map(|(range, set)| set.into_iter().map(|number| number + 20 * range).collect()).collect();
        for measure in Measure::of_sets() {
            let condition = condition(measure, twentieths, number, min_overlap);
            for strategy in [CandidateStrategy::Or, CandidateStrategy::Frontier, CandidateStrategy::Pivot] {
                let query = Query { condition, strategy, size };
                for asked in &asked {
                    prop_assert_eq!(found(&index, asked, &query), expected(&model, asked, &query), "{} {}", measure, strategy);
                }
            }
            // Joins, by the exact join of the values and by a query for each record.
            let records = model.in_order();
            let mut rows = Vec::new();
            for (at, (id, set)) in records.iter().enumerate() {
                for (other_at, (other, other_set)) in records.iter().enumerate() {
                    let comparison = builder(set, size.unwrap_or(K)).synopsis().compare(builder(other_set, size.unwrap_or(K)).synopsis());
                    let is_row = other_at > at || measure == Measure::Containment && other_at != at;
                    if is_row && !set.is_empty() && !other_set.is_empty() && condition.accepts(&comparison) {
                        rows.push((id.clone(), other.clone(), comparison));
                    }
                }
            }
            let snapshot = index.snapshot().unwrap();
            let mut joined = Vec::new();
            let mut keep = |left: &str, right: &str, comparison| {
                joined.push((left.to_owned(), right.to_owned(), comparison));
                Ok::<_, twinset_index::Error>(())
            };
            snapshot.join(None, &condition, size, &Run::default(), &mut keep).unwrap();
            prop_assert_eq!(&joined, &rows, "{}", measure);
            joined.clear();
            let query = Query { condition, strategy: CandidateStrategy::Pivot, size };
            let mut keep = |left: &str, right: &str, comparison| {
                joined.push((left.to_owned(), right.to_owned(), comparison));
                Ok::<_, twinset_index::Error>(())
            };
            snapshot.join_by_probes(None, &query, &Run::default(), &mut keep).unwrap();
            prop_assert_eq!(&joined, &rows, "{} by probes", measure);
        }
        // An index made anew from what is left, and the same index opened again.
        let other = tempfile::tempdir().unwrap();
        let mut anew = make(other.path(), K);
        let left = model.in_order().into_iter().map(|(id, set)| Entry { id, synopsis: builder(set, K), bytes: 10, extra: Map::new() });
        anew.add(left.collect(), false).unwrap();
        index.finish().unwrap();
        drop(index);
        let index = KmvIndex::open(folder.path()).unwrap();
        prop_assert_eq!(index.damages().unwrap(), Vec::<String>::new());
        prop_assert_eq!(index.snapshot().unwrap().len(), model.records.len() as u64);
        let query = Query { condition: condition(Measure::Jaccard, twentieths, number, 0), strategy: CandidateStrategy::Pivot, size };
        for asked in &asked {
            prop_assert_eq!(found(&index, asked, &query), found(&anew, asked, &query));
        }
    }
}

#[test]
fn joins_of_two_indexes_are_those_of_all_pairs() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let set =
        |record: u16, shift: u16| (0..40).map(|number| (number * (record % 3 + 1) + record % 7 + shift) % 60).collect();
    let (mut left, mut right) = (make(folders[0].path(), 16), make(folders[1].path(), 12));
    let sets: Vec<Vec<BTreeSet<u16>>> = [0, 1].map(|shift| (0..40).map(|record| set(record, shift)).collect()).to_vec();
    for (index, sets, k) in [(&mut left, &sets[0], 16), (&mut right, &sets[1], 12)] {
        index.add((0u8..).zip(sets).map(|(id, set)| entry(id, set, k)).collect(), false).unwrap();
    }
    for measure in Measure::of_sets() {
        let condition = condition(measure, 12, 20, 0);
        let mut rows = Vec::new();
        for (at, set) in sets[0].iter().enumerate() {
            for (other_at, other) in sets[1].iter().enumerate() {
                let comparison = builder(set, 12).synopsis().compare(builder(other, 12).synopsis());
                if condition.accepts(&comparison) {
                    rows.push((format!("r{at}"), format!("r{other_at}"), comparison));
                }
            }
        }
        assert!(!rows.is_empty());
        let (left, right) = (left.snapshot().unwrap(), right.snapshot().unwrap());
        let mut joined = Vec::new();
        let mut keep = |left: &str, right: &str, comparison| {
            joined.push((left.to_owned(), right.to_owned(), comparison));
            Ok::<_, twinset_index::Error>(())
        };
        left.join(Some(&right), &condition, None, &Run::default(), &mut keep).unwrap();
        left.join_by_probes(
            Some(&right),
            &Query { condition, strategy: CandidateStrategy::Pivot, size: None },
            &Run::default(),
            &mut keep,
        )
        .unwrap();
        assert_eq!(joined[..rows.len()], rows[..], "{measure}");
        assert_eq!(joined[rows.len()..], rows[..], "{measure} by probes");
    }
}

#[test]
fn optimistic_misses_no_more_than_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), 128);
    // Pairs whose sets have 1,000 numbers, and share nine of ten or eight of ten of all.
    let of = |pair: u64, from: u64, to: u64| {
        let mut builder = SynopsisBuilder::new(128).unwrap();
        (from..to).for_each(|number| builder.insert(synopsis_value(pair << 32 | number, 0)));
        builder
    };
    let pairs = 4000;
    for (threshold, shift) in [("0.9", 53), ("0.8", 111)] {
        let entries = (0..pairs).map(|pair| Entry {
            id: format!("{threshold} {pair}"),
            synopsis: of(pair, 0, 1000),
            bytes: 1000,
            extra: Map::new(),
        });
        index.add(entries.collect(), false).unwrap();
        let condition = Condition::new(Measure::Jaccard, threshold.parse().unwrap(), 0).unwrap();
        let MissRate { by_chebyshev, exactly } = miss_rate(&condition, 128).unwrap();
        assert!(exactly <= by_chebyshev);
        let snapshot = index.snapshot().unwrap();
        let count = |strategy| -> usize {
            let query = Query { condition, strategy, size: None };
            (0..pairs).map(|pair| snapshot.query(of(pair, shift, 1000 + shift).synopsis(), &query).unwrap().len()).sum()
        };
        let (all, found) = (count(CandidateStrategy::Pivot) as f64, count(CandidateStrategy::Optimistic) as f64);
        assert!(all > 1000.0);
        let error = (exactly / all).sqrt();
        assert!(
            (all - found) / all <= exactly + 3.0 * error,
            "{threshold}: {found} of {all}, and {exactly} may be missed"
        );
    }
    let MissRate { by_chebyshev, .. } =
        miss_rate(&Condition::new(Measure::Jaccard, "0.9".parse().unwrap(), 0).unwrap(), 128).unwrap();
    assert!((by_chebyshev - 0.03125).abs() < 1e-9);
    assert!(miss_rate(&Condition::new(Measure::Containment, "0.9".parse().unwrap(), 0).unwrap(), 128).is_err());
}

#[test]
fn readers_see_one_state_while_a_writer_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), K);
    let sets: Vec<BTreeSet<u16>> = (0..20).map(|record| (record..record + 20).collect()).collect();
    index.add((0u8..).zip(&sets).map(|(id, set)| entry(id, set, K)).collect(), false).unwrap();
    let reader = KmvIndex::open(folder.path()).unwrap();
    let before = reader.snapshot().unwrap();
    index.remove(&["r3".to_owned()]).unwrap();
    index.add(vec![entry(4, &sets[15], K), entry(100, &sets[0], K)], false).unwrap();
    index.finish().unwrap();
    assert_eq!(before.len(), 20);
    assert!(before.find("r3").unwrap().is_some() && before.find("r100").unwrap().is_none());
    assert_eq!(before.find("r4").unwrap().unwrap().values, builder(&sets[4], K).synopsis().values());
    let after = reader.snapshot().unwrap();
    assert_eq!(after.len(), 20);
    assert!(after.find("r3").unwrap().is_none() && after.find("r100").unwrap().is_some());
    assert_eq!(after.find("r4").unwrap().unwrap().values, builder(&sets[15], K).synopsis().values());
}

#[test]
fn what_else_is_kept_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), K);
    let set = BTreeSet::from([1, 2, 3]);
    let extra = |json: serde_json::Value| json.as_object().unwrap().clone();
    let kept = extra(serde_json::json!({"table": "orders", "rows": 12, "null": false}));
    index.add(vec![Entry { extra: kept.clone(), ..entry(1, &set, K) }], false).unwrap();
    assert_eq!(index.snapshot().unwrap().find("r1").unwrap().unwrap().extra, kept);
    let more = extra(serde_json::json!({"rows": 14, "type": "text"}));
    index.add(vec![Entry { extra: more, ..entry(1, &BTreeSet::from([9]), K) }], true).unwrap();
    let found = index.snapshot().unwrap().find("r1").unwrap().unwrap();
    assert_eq!(found.extra, extra(serde_json::json!({"table": "orders", "rows": 14, "null": false, "type": "text"})));
    assert_eq!(
        Synopsis::new(&found.values, K, found.is_complete),
        Some(builder(&BTreeSet::from([1, 2, 3, 9]), K).synopsis())
    );
}

#[test]
fn what_is_no_index_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| KmvIndex::open(path).err().unwrap().to_string();
    assert!(said(&folder.path().join("absent")).contains("there is no such folder"));
    assert!(said(folder.path()).contains("holds no index"));
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("meta.json"), "{}").unwrap();
    assert!(said(&foreign).contains("restore it from a copy"), "{}", said(&foreign));
    assert!(KmvIndex::create(&foreign, &Settings::kmv(K, TokenOptions::default(), 0)).is_err());
    for size in [0, 1, 1_000_001] {
        let settings = Settings::kmv(size, TokenOptions::default(), 0);
        assert!(KmvIndex::create(&folder.path().join("k"), &settings).is_err());
    }
    // Another writer, and a newer version.
    let path = folder.path().join("index");
    let mut index = make(&path, K);
    index.add(vec![entry(1, &BTreeSet::from([1]), K)], false).unwrap();
    let mut other = KmvIndex::open(&path).unwrap();
    let busy = other.add(vec![entry(2, &BTreeSet::from([1]), K)], false).err().unwrap().to_string();
    assert!(busy.contains("another process writes to it"), "{busy}");
    index.finish().unwrap();
    other.add(vec![entry(2, &BTreeSet::from([1]), K)], false).unwrap();
    drop((index, other));
    let meta = std::fs::read_to_string(path.join("meta.json")).unwrap();
    assert!(meta.contains("\\\"version\\\":1"));
    std::fs::write(path.join("meta.json"), meta.replace("\\\"version\\\":1", "\\\"version\\\":99")).unwrap();
    assert!(said(&path).contains("newer version of twinset"), "{}", said(&path));
    // A bit that has changed.
    std::fs::write(path.join("meta.json"), meta).unwrap();
    let columns = std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().path());
    let column = columns.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "fast")).unwrap();
    let mut bytes = std::fs::read(&column).unwrap();
    bytes[3] ^= 1;
    std::fs::write(&column, bytes).unwrap();
    let damages = KmvIndex::open(&path).unwrap().damages().unwrap();
    assert!(damages[0].contains("checksum"), "{damages:?}");
}

#[test]
fn synopses_of_a_million_values_are_asked_in_all_ways() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), 1_000_000);
    let of = |from: u64, to: u64| {
        let mut builder = SynopsisBuilder::new(1_000_000).unwrap();
        (from..to).for_each(|number| builder.insert(synopsis_value(number, 0)));
        builder
    };
    let entry = |id: &str, from, to| Entry { id: id.to_owned(), synopsis: of(from, to), bytes: 1, extra: Map::new() };
    let entries = vec![entry("all", 0, 150_000), entry("most", 0, 140_000), entry("few", 0, 1000), entry("none", 1, 1)];
    index.add(entries, false).unwrap();
    let snapshot = index.snapshot().unwrap();
    let condition = Condition::new(Measure::Jaccard, "0.9".parse().unwrap(), 0).unwrap();
    for &strategy in CandidateStrategy::ALL {
        let hits = snapshot.query(of(0, 150_000).synopsis(), &Query { condition, strategy, size: None }).unwrap();
        let similarities: Vec<f64> = hits.iter().map(|hit| hit.similarity).collect();
        assert_eq!(similarities, [1.0, 140.0 / 150.0], "{strategy}");
    }
}

#[test]
fn a_change_that_was_killed_can_be_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), K);
    index.add((0u8..50).map(|id| entry(id, &BTreeSet::from([u16::from(id)]), K)).collect(), false).unwrap();
    index.finish().unwrap();
    // All files of the next state are there, and it is not yet said that they are the state.
    let last = std::fs::read(folder.path().join("meta.json")).unwrap();
    index.remove(&["r3".to_owned()]).unwrap();
    drop(index);
    std::fs::write(folder.path().join("meta.json"), last).unwrap();
    let mut index = KmvIndex::open(folder.path()).unwrap();
    assert_eq!(index.snapshot().unwrap().len(), 50);
    assert_eq!(index.remove(&["r3".to_owned()]).unwrap(), 1);
    assert_eq!((index.snapshot().unwrap().len(), index.damages().unwrap()), (49, Vec::new()));
}

#[test]
fn a_part_has_as_many_records_as_the_list_of_parts_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), 8);
    index.add((0..30).map(|id| entry(id, &BTreeSet::from([u16::from(id)]), 8)).collect(), false).unwrap();
    index.remove(&["r3".to_owned()]).unwrap();
    drop(index);
    let list = folder.path().join("meta.json");
    let told = std::fs::read_to_string(&list).unwrap();
    let (before, rest) = told.split_once("\"max_doc\": ").unwrap();
    let (count, after) = rest.split_once(',').unwrap();
    let count: u32 = count.parse().unwrap();
    for other in [count, count - 1, count + 1, count + 64, count + 1000] {
        std::fs::write(&list, format!("{before}\"max_doc\": {other},{after}")).unwrap();
        let damages = KmvIndex::open(folder.path()).and_then(|index| index.damages());
        match damages {
            Ok(damages) => assert_eq!(damages.is_empty(), other == count, "{other} in place of {count}: {damages:?}"),
            Err(error) => assert!(other != count && error.to_string().contains("restore it from a copy"), "{error}"),
        }
    }
}

#[test]
fn damage_is_not_merged_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = make(folder.path(), K);
    let set = |number: u16| (number..number + 40).collect::<BTreeSet<u16>>();
    index.add((0u8..100).map(|id| entry(id, &set(u16::from(id)), K)).collect(), false).unwrap();
    index.finish().unwrap();
    let largest = |ending: &str| {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|own| own == ending));
        files.max_by_key(|path| path.metadata().unwrap().len()).unwrap()
    };
    let column = largest("fast");
    let mut bytes = std::fs::read(&column).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&column, bytes).unwrap();
    assert!(!index.damages().unwrap().is_empty());
    // Many small parts, which would be merged with the damaged one.
    for id in 100u8..130 {
        index.add(vec![entry(id, &set(u16::from(id)), K)], false).unwrap();
    }
    index.finish().unwrap();
    assert!(!index.damages().unwrap().is_empty(), "a merge has hidden the damage");
    assert!(index.stats().is_err() || index.stats().unwrap().segments < 31, "what is whole is merged");
}
