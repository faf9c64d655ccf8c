//! A join in pieces finds what a join on one machine finds, wherever the pieces lie.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use twinset::estimate::EstimateOptions;
use twinset::exact::{Collections, Input, JoinOptions, Side, join};
use twinset::shuffle::{Card, Meeting, SetName, Shuffle, Tally, TokenOrder};
use twinset::{Measure, Method, Run, Threshold, TokenOptions, TokenSets};

type Row = (usize, usize, u64);

/// The pairs of texts by way of cards, as an engine would move them: each with the bits of its value.
fn shuffled(texts: &[String], left: Option<usize>, shuffle: &Shuffle, order: &TokenOrder) -> BTreeSet<Row> {
    let side = |record: usize| if left.is_some_and(|left| record >= left) { Side::Right } else { Side::Left };
    let mut meetings: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let (mut sets, mut members) = (HashMap::new(), HashMap::<SetName, Vec<usize>>::new());
    for (record, text) in texts.iter().enumerate() {
        let mut set = shuffle.set(text).unwrap();
        if set.is_empty() {
            continue;
        }
        let name = Shuffle::name(&set);
        sets.insert(name, set.clone());
        members.entry(name).or_default().push(record);
        shuffle.cards(&mut set, side(record), order, |meeting, card| {
            let mut bytes = Vec::new();
            card.write(&mut bytes);
            meetings.entry(meeting).or_default().push(bytes);
        });
    }
    let (mut meeting, mut met) = (Meeting::new(shuffle), BTreeSet::new());
    for (number, cards) in meetings {
        for card in cards {
            met.extend(meeting.take(number, Card::read(&card).unwrap()).into_iter().flatten());
        }
    }
    met.extend(meeting.finish());
    let is_ordered = shuffle.measure() == Measure::Containment;
    let mut rows = BTreeSet::new();
    let mut expand = |x: SetName, y: SetName, value: f64| {
        for &a in &members[&x] {
            for &b in &members[&y] {
                let row = match left {
                    Some(left) if a < left && b >= left => Some((a, b - left)),
                    Some(_) => None,
                    None if is_ordered => (a != b).then_some((a, b)),
                    None => (a != b).then_some((a.min(b), a.max(b))),
                };
                rows.extend(row.map(|(a, b)| (a, b, value.to_bits())));
            }
        }
    };
    for (x, y) in met {
        shuffle.compare(
            &sets[&x],
            &sets[&y],
            |is_turned, value| {
                if is_turned { expand(y, x, value) } else { expand(x, y, value) }
            },
        );
    }
    for (&name, set) in &sets {
        let (are_pair, value) = shuffle.twins(set.len() as u32);
        if are_pair {
            expand(name, name, value);
        }
    }
    rows
}

/// Collections with small universes, and some with long sets, whose signatures have several lengths.
fn collections() -> impl Strategy<Value = Vec<BTreeSet<u32>>> {
    let universe = prop_oneof![Just((3u32, 3usize)), Just((8, 8)), Just((30, 12)), Just((400, 300))];
    universe.prop_flat_map(|(universe, largest)| {
        let set = prop::collection::btree_set(0..universe, 0..=largest);
        let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..universe), 0..12);
        (prop::collection::vec(set, 0..25), edits).prop_map(|(mut sets, edits)| {
            if !sets.is_empty() {
                let near = |(copy, token): &(prop::sample::Index, u32)| {
                    let mut set = copy.get(&sets).clone();
                    if !set.remove(token) {
                        set.insert(*token);
                    }
                    set
                };
                sets.extend(edits.iter().map(near).collect::<Vec<_>>());
            }
            sets
        })
    })
}

fn fractions() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        prop::sample::select(vec![(14, 25), (1, 3), (2, 3), (1, 1), (9, 10)]),
        (1..=20u64).prop_map(|p| (p, 20))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn cards_find_every_pair_of_every_measure(
        sets in collections(),
        (p, q) in fractions(),
        is_split in any::<bool>(),
        salt in 0..3u64,
        frequent in 0..40usize,
        parts in 1..4u32,
    ) {
        let texts: Vec<String> =
            sets.iter().map(|set| set.iter().map(|token| format!("t{token}")).collect::<Vec<_>>().join(" ")).collect();
        let left = is_split.then_some(sets.len() / 2);
        let collections = if is_split { Collections::Two } else { Collections::One };
        let whole = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let whole = left.map_or(whole.clone(), |left| whole.split_at(left as u32));
        for measure in Measure::of_sets() {
            let threshold =
                if measure.is_count() { Threshold::whole(p as u32) } else { Threshold::new(p, q) }.unwrap();
            let options = JoinOptions { measure, ..JoinOptions::at(threshold) };
            let (tokens, estimate) = (TokenOptions::default(), EstimateOptions::default());
            let shuffle = Shuffle::new(&options, &tokens, &estimate, collections, salt).unwrap();
            let mut tally = Tally::default();
            texts.iter().for_each(|text| shuffle.count(text, &mut tally).unwrap());
            let mut counts: Vec<(u64, u64)> = tally
                .drain()
                .map(|(token, (records, low, high))| {
                    assert_eq!(low, high, "there is no collision");
                    (records, token)
                })
                .collect();
            counts.sort_unstable();
            // Whatever is known of frequencies, and however tokens are split, the pairs are the same.
            let known: Vec<u64> = counts.iter().rev().take(frequent).rev().map(|&(_, token)| token).collect();
            let order = TokenOrder::new(&known, known.iter().map(|&token| (token, parts)).chain([(u64::MAX, parts)]));
            let joined = join(Input::Sets(&whole), &options, &Run::default()).unwrap();
            let expected: BTreeSet<Row> = joined
                .iter()
                .map(Result::unwrap)
                .map(|pair| (pair.left as usize, pair.right as usize, pair.value.to_bits()))
                .collect();
            prop_assert_eq!(shuffled(&texts, left, &shuffle, &order), expected, "{} {}", measure, threshold);
        }
    }
}

#[test]
fn sketches_meet_by_their_entries() {
    let text = |first: usize| (first..first + 40).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let texts: Vec<String> = (0..60).map(|at| text(at * at % 97)).collect();
    let estimate = EstimateOptions { method: Method::MinHash, agree: Some(40), seed: 3, ..EstimateOptions::default() };
    let options = JoinOptions::default();
    let shuffle = Shuffle::new(&options, &TokenOptions::default(), &estimate, Collections::One, 0).unwrap();
    let sketches: Vec<Vec<u64>> = texts.iter().map(|text| shuffle.set(text).unwrap()).collect();
    let mut expected = BTreeSet::new();
    for y in 0..texts.len() {
        for x in 0..y {
            let agreeing = sketches[x].iter().filter(|entry| sketches[y].contains(entry)).count();
            if agreeing >= 40 {
                expected.insert((x, y, (agreeing as f64).to_bits()));
            }
        }
    }
    assert!(expected.len() > 20);
    assert_eq!(shuffled(&texts, None, &shuffle, &TokenOrder::default()), expected);
    assert_eq!(shuffle.estimate(90.0).unwrap().similarity, 0.9);
}

/// If two tokens had the same hash, their checks would tell.
#[test]
fn every_token_has_a_check_of_its_own() {
    let (join, tokens, estimate) =
        (JoinOptions::at("0.8".parse().unwrap()), TokenOptions::default(), EstimateOptions::default());
    let counted = |salt: u64| {
        let shuffle = Shuffle::new(&join, &tokens, &estimate, Collections::One, salt).unwrap();
        let mut tally = Tally::default();
        (0..1000).for_each(|number| shuffle.count(&format!("word{number} as good as"), &mut tally).unwrap());
        tally.drain().collect::<HashMap<u64, (u64, u64, u64)>>()
    };
    let (plain, salted) = (counted(0), counted(1));
    for counts in [&plain, &salted] {
        let checks: BTreeSet<u64> = counts.values().map(|&(_, low, _)| low).collect();
        assert_eq!((counts.len(), checks.len()), (1003, 1003));
    }
    assert!(plain.keys().all(|token| !salted.contains_key(token)));
}

#[test]
fn what_was_not_written_is_no_card() {
    let shuffle = Shuffle::new(
        &JoinOptions::at("0.8".parse().unwrap()),
        &TokenOptions::default(),
        &EstimateOptions::default(),
        Collections::One,
        0,
    )
    .unwrap();
    let mut bytes = Vec::new();
    let mut set = shuffle.set("one two three").unwrap();
    shuffle.cards(&mut set, Side::Left, &TokenOrder::default(), |_, card| {
        bytes.clear();
        card.write(&mut bytes);
    });
    assert!(Card::read(&bytes).is_some());
    (0..bytes.len()).for_each(|length| assert!(Card::read(&bytes[..length]).is_none(), "{length} bytes"));
}
