//! Groups and representatives are those of a plain definition, whatever the order of records and the number of threads.

use std::collections::BTreeSet;

use proptest::prelude::*;
use twinset::exact::{Grouping, Input, JoinOptions, Order, Ranking, RecordContext, SpilledSets, dedup, join, nearest};
use twinset::{Link, Measure, Representative, Run, TokenSets};

/// The pairs of records, whatever the direction, with the better value of the two directions.
fn pairs(sets: &TokenSets, options: &JoinOptions, classes: Option<&[u32]>) -> Vec<(usize, usize, f64)> {
    let joined = join(Input::Sets(sets), options, &Run::default()).unwrap();
    let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
    for pair in joined.iter().map(Result::unwrap) {
        let (a, b) = (pair.left.min(pair.right) as usize, pair.left.max(pair.right) as usize);
        match pairs.iter_mut().find(|(x, y, _)| (*x, *y) == (a, b)) {
            Some((_, _, value)) => *value = value.max(pair.value),
            None => pairs.push((a, b, pair.value)),
        }
    }
    pairs.retain(|&(a, b, _)| classes.is_none_or(|classes| classes[a] == classes[b]));
    pairs
}

/// Each record's representative by definition.
fn representatives(pairs: &[(usize, usize, f64)], order: &[u32], link: Link, measure: Measure) -> Vec<u32> {
    let rank = |record: u32| order.iter().position(|&other| other == record).unwrap();
    match link {
        Link::Any => {
            // Everyone takes over the best of those linked to it, until nothing changes.
            let mut best: Vec<u32> = (0..order.len() as u32).collect();
            loop {
                let before = best.clone();
                for &(a, b, _) in pairs {
                    let first = if rank(best[a]) < rank(best[b]) { best[a] } else { best[b] };
                    (best[a], best[b]) = (first, first);
                }
                if best == before {
                    return best;
                }
            }
        }
        Link::Representative => {
            let mut chosen = vec![u32::MAX; order.len()];
            for &record in order {
                let sign = if measure.is_distance() { -1.0 } else { 1.0 };
                let partner = |&&(a, b, _): &&(usize, usize, f64)| a == record as usize || b == record as usize;
                let mut near: Vec<(f64, usize, u32)> = pairs
                    .iter()
                    .filter(partner)
                    .map(|&(a, b, value)| (sign * value, if a == record as usize { b } else { a }))
                    .filter(|&(_, other)| chosen[other] == other as u32)
                    .map(|(value, other)| (value, rank(other as u32), other as u32))
                    .collect();
                near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                chosen[record as usize] = near.first().map_or(record, |&(_, _, other)| other);
            }
            chosen
        }
    }
}

fn collections() -> impl Strategy<Value = Vec<BTreeSet<u32>>> {
    let record = prop::collection::btree_set(0u32..9, 0..7);
    prop::collection::vec(record, 1..14)
}

fn options() -> impl Strategy<Value = JoinOptions> {
    let measures = prop_oneof![
        (Just(Measure::Jaccard), Just("1/2")),
        (Just(Measure::Cosine), Just("3/5")),
        (Just(Measure::Dice), Just("2/3")),
        (Just(Measure::Overlap), Just("3")),
        (Just(Measure::Containment), Just("3/4")),
        (Just(Measure::Hamming), Just("2")),
    ];
    (measures, any::<bool>()).prop_map(|((measure, threshold), empty)| JoinOptions {
        measure,
        empty,
        ..JoinOptions::at(threshold.parse().unwrap())
    })
}

proptest! {
    #[test]
    fn groups_are_those_of_the_definition(
        collection in collections(),
        options in options(),
        link in prop_oneof![Just(Link::Any), Just(Link::Representative)],
        order in prop_oneof![Just(None), any::<prop::sample::Index>().prop_map(Some)],
        classes in prop_oneof![Just(None), prop::collection::vec(0u32..2, 14).prop_map(Some)],
        copies in prop_oneof![Just(None), prop::collection::vec(any::<prop::sample::Index>(), 1..20).prop_map(Some)],
    ) {
        // What is joined, and the records that are copies of it: at least one of each.
        let count = collection.len();
        let copies: Option<Vec<u32>> = copies.map(|copies| {
            let more = copies.iter().map(|copy| copy.index(count) as u32);
            let mut copies: Vec<u32> = more.chain(0..count as u32).collect();
            copies.rotate_left(count / 2);
            copies
        });
        let originals: Vec<u32> = copies.clone().unwrap_or((0..count as u32).collect());
        let classes = classes.map(|classes| classes[..count].to_vec());
        let held = TokenSets::from_ids(collection.clone()).unwrap();
        let all = TokenSets::from_ids(originals.iter().map(|&record| collection[record as usize].clone())).unwrap();
        let class_of_all: Option<Vec<u32>> =
            classes.as_ref().map(|classes| originals.iter().map(|&record| classes[record as usize]).collect());
        let expected_pairs = pairs(&all, &options, class_of_all.as_deref());

        let mut rotated: Vec<u32> = (0..originals.len() as u32).collect();
        if let Some(order) = &order {
            rotated.rotate_left(order.index(originals.len()));
        }
        let ranking = order.map(|_| Ranking::new(rotated.clone()).unwrap());
        let order = ranking.as_ref().map_or(Order::Degree, Order::Ranked);
        if matches!(order, Order::Degree) {
            let degree = |record: u32| {
                expected_pairs.iter().filter(|&&(a, b, _)| a == record as usize || b == record as usize).count()
            };
            rotated.sort_by_key(|&record| std::cmp::Reverse(degree(record)));
        }
        let expected = representatives(&expected_pairs, &rotated, link, options.measure);
        let records = RecordContext { copies: copies.as_deref(), classes: classes.as_deref() };
        let spilled = SpilledSets::new(held.clone(), &Run::default()).unwrap();
        for (threads, input) in [(1, Input::Sets(&held)), (2, Input::Sets(&held)), (1, Input::Spilled(&spilled))] {
            let memory = matches!(input, Input::Spilled(_)).then_some(1 << 20);
            let run = Run { threads: Some(threads), memory, ..Run::default() };
            let found = dedup(input, records, &options, Grouping { link, order }, &run).unwrap();
            let own = |representative: &Representative| match *representative {
                Representative::Own(record) => record,
                Representative::Other(_) => unreachable!("there is one collection"),
            };
            let chosen: Vec<u32> = found.representatives.iter().map(own).collect();
            prop_assert_eq!(&chosen, &expected);
            prop_assert_eq!(found.links.pairs(), expected_pairs.len() as u64);
            for (record, (&representative, &value)) in chosen.iter().zip(&found.values).enumerate() {
                let (a, b) = (record.min(representative as usize), record.max(representative as usize));
                if let Some(&(_, _, expected)) = expected_pairs.iter().find(|&&(x, y, _)| (x, y) == (a, b)) {
                    prop_assert_eq!(value, expected);
                } else {
                    prop_assert!(record == representative as usize || link == Link::Any);
                }
            }
            // Stricter thresholds, from the same pairs.
            if link == Link::Any && classes.is_none() {
                let stricter: &[&str] = match options.measure {
                    Measure::Overlap => &["5", "4", "3"],
                    Measure::Hamming => &["0", "1", "2"],
                    _ => &["1", "4/5", "3/4"],
                };
                for threshold in stricter {
                    let strict: twinset::Threshold = threshold.parse().unwrap();
                    if !options.measure.is_count() && strict.as_f64() < options.threshold.unwrap().as_f64() {
                        continue;
                    }
                    let strictest = stricter[0].parse::<f64>().unwrap();
                    let step = twinset::exact::steps(&found.links, &[strictest, strict.as_f64()])[1];
                    let again = JoinOptions { threshold: Some(strict), ..options.clone() };
                    let again = dedup(input, records, &again, Grouping { link, order: Order::Input }, &run).unwrap();
                    let kept = (0..originals.len()).filter(|&record| again.is_kept(record)).count();
                    prop_assert_eq!(step.pairs, again.links.pairs());
                    prop_assert_eq!(step.removed, (originals.len() - kept) as u64);
                    prop_assert_eq!(step.groups, again.stats.groups.unwrap());
                }
            }
            // What is kept has no near duplicates left.
            let kept: Vec<usize> = (0..originals.len()).filter(|&record| found.is_kept(record)).collect();
            let again = kept.iter().map(|&record| collection[originals[record] as usize].clone());
            let again = TokenSets::from_ids(again).unwrap();
            let classes: Option<Vec<u32>> =
                class_of_all.as_ref().map(|classes| kept.iter().map(|&record| classes[record]).collect());
            let records = RecordContext { classes: classes.as_deref(), ..RecordContext::default() };
            let again = dedup(Input::Sets(&again), records, &options, Grouping { link, order: Order::Input }, &run);
            let again = again.unwrap();
            prop_assert!((0..kept.len()).all(|record| again.is_kept(record)));
        }
    }

    #[test]
    fn the_nearest_is_the_best_pair(left in collections(), right in collections(), options in options()) {
        let count = left.len() as u32;
        let sets = TokenSets::from_ids(left.into_iter().chain(right)).unwrap().split_at(count);
        let joined = join(Input::Sets(&sets), &options, &Run::default()).unwrap();
        let mut all: Vec<_> = joined.iter().map(Result::unwrap).collect();
        if options.measure == Measure::Containment {
            // The other direction as well, and the larger value of the two.
            let right = sets.len() as u32 - count;
            let swapped = (0..right).map(|r| sets.get((count + r) as usize)).chain((0..count).map(|l| sets.get(l as usize)));
            let swapped = TokenSets::from_ids(swapped.map(|set| set.to_vec())).unwrap().split_at(right);
            let joined = join(Input::Sets(&swapped), &options, &Run::default()).unwrap();
            for pair in joined.iter().map(Result::unwrap) {
                match all.iter_mut().find(|own| (own.left, own.right) == (pair.right, pair.left)) {
                    Some(own) => own.value = own.value.max(pair.value),
                    None => all.push(twinset::exact::Pair { left: pair.right, right: pair.left, value: pair.value }),
                }
            }
        }
        let sign = if options.measure.is_distance() { 1.0 } else { -1.0 };
        for (record, found) in nearest(Input::Sets(&sets), None, None, &options, &Run::default()).unwrap().0.into_iter().enumerate() {
            let mut own: Vec<_> = all.iter().filter(|pair| pair.left as usize == record).copied().collect();
            own.sort_by(|a, b| (sign * a.value).total_cmp(&(sign * b.value)).then(a.right.cmp(&b.right)));
            prop_assert_eq!(found, own.first().copied());
        }
    }
}

#[test]
fn a_field_decides_who_stays() {
    let sets = TokenSets::from_ids([[1, 2, 3], [1, 2, 3], [1, 2, 3]]).unwrap();
    let ranking = Ranking::by_value(&["3", "20", "20"].into_iter().collect(), true);
    let grouping = Grouping { link: Link::Any, order: Order::Ranked(&ranking) };
    let join = JoinOptions::at("1".parse().unwrap());
    let found = dedup(Input::Sets(&sets), RecordContext::default(), &join, grouping, &Run::default()).unwrap();
    assert_eq!(found.representatives, [1, 1, 1].map(Representative::Own));

    // A ranking of fewer records is refused.
    let ranking = Ranking::new(vec![1, 0]).unwrap();
    let grouping = Grouping { order: Order::Ranked(&ranking), ..grouping };
    assert!(dedup(Input::Sets(&sets), RecordContext::default(), &join, grouping, &Run::default()).is_err());
}
