//! Every algorithm returns what the definition says: no pair missing, none too many, for every measure.

use std::collections::BTreeSet;

use proptest::prelude::*;
use twinset::{Algorithm, Input, JoinOptions, Measure, Run, Strings, Threshold, TokenSets, join};

type Set = BTreeSet<u32>;

/// How many random collections each test sees; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

/// Whether two sets form a pair by the measure's definition, in integers: the threshold is p/q.
fn is_pair(measure: Measure, (p, q): (u64, u64), x: &Set, y: &Set) -> bool {
    let common = x.intersection(y).count() as u128;
    let (p, q) = (u128::from(p), u128::from(q));
    let (x, y) = (x.len() as u128, y.len() as u128);
    match measure {
        _ if x == 0 && y == 0 && !measure.is_count() => true,
        Measure::Jaccard => common * q >= p * (x + y - common),
        Measure::Cosine => x * y > 0 && common * common * q * q >= p * p * x * y,
        Measure::Dice => 2 * common * q >= p * (x + y),
        Measure::Overlap => common >= p,
        Measure::Containment => common * q >= p * x,
        Measure::Hamming => x + y - 2 * common <= p,
        Measure::Edit => unreachable!("edit distance is not a function of sets"),
    }
}

/// The pairs of one or two collections by definition, as ordinals.
fn expected(
    sets: &[Set],
    left: Option<usize>,
    empty: bool,
    is_pair: impl Fn(usize, usize) -> bool,
    ordered: bool,
) -> Vec<(u32, u32)> {
    let takes_part = |record: usize| empty || !sets[record].is_empty();
    let (lefts, rights) = match left {
        Some(left) => (0..left, left..sets.len()),
        None => (0..sets.len(), 0..sets.len()),
    };
    let mut pairs = Vec::new();
    for x in lefts {
        for y in rights.clone() {
            let listed = left.is_some() || if ordered { x != y } else { x < y };
            if listed && takes_part(x) && takes_part(y) && is_pair(x, y) {
                pairs.push((x as u32, (y - left.unwrap_or(0)) as u32));
            }
        }
    }
    pairs
}

fn found(input: Input<'_>, options: &JoinOptions) -> Vec<(u32, u32)> {
    let run = Run { threads: Some(2), ..Run::default() };
    let joined = join(input, options, &run).unwrap();
    let pairs: Vec<_> = joined.iter().map(|pair| (pair.left, pair.right)).collect();
    assert_eq!(pairs.len() as u64, joined.len(), "the count without expanding");
    pairs
}

/// Small universes, sets of one token, empty and identical ones, and runs of equal sizes.
fn collections() -> impl Strategy<Value = Vec<Set>> {
    let universe = prop_oneof![Just(3u32), Just(8), Just(30), Just(200)];
    (universe, 1..20usize).prop_flat_map(|(universe, largest)| {
        let set = prop::collection::btree_set(0..universe, 0..=largest.min(universe as usize));
        (prop::collection::vec(set, 0..40), prop::collection::vec(any::<prop::sample::Index>(), 0..6)).prop_map(
            |(mut sets, copies)| {
                if !sets.is_empty() {
                    sets.extend(copies.iter().map(|copy| copy.get(&sets).clone()).collect::<Vec<_>>());
                }
                sets
            },
        )
    })
}

/// Awkward thresholds first: some of their bounds come out one too high in floating point.
fn fractions() -> impl Strategy<Value = (u64, u64)> {
    let awkward = vec![(14, 25), (1, 3), (2, 3), (7, 100), (999, 1000), (1, 1), (9, 10), (4, 5), (1, 1_000_000_000)];
    prop_oneof![prop::sample::select(awkward), (1..=100u64).prop_map(|p| (p, 100)), (1..=17u64).prop_map(|p| (p, 17))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_algorithm_and_measure_matches_the_definition(
        sets in collections(),
        fraction in fractions(),
        count in 0..12u64,
        split in prop::option::of(0.0..=1.0f64),
        empty in any::<bool>(),
        max_depth in 1..5u32,
    ) {
        let left = split.map(|share: f64| (share * sets.len() as f64) as usize);
        let token_sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let token_sets = match left {
            Some(left) => token_sets.split_at(left as u32),
            None => token_sets,
        };
        for measure in Measure::of_sets() {
            let (p, q) = match measure {
                Measure::Overlap => (count.max(1), 1),
                Measure::Hamming => (count, 1),
                _ => fraction,
            };
            let by_definition = |x: usize, y: usize| is_pair(measure, (p, q), &sets[x], &sets[y]);
            let expected = expected(&sets, left, empty, by_definition, measure == Measure::Containment);
            let threshold = Some(Threshold::new(p, q).unwrap());
            for algorithm in Algorithm::ALL {
                let options = JoinOptions { threshold, measure, algorithm, max_depth, empty, ..JoinOptions::default() };
                prop_assert_eq!(&found(Input::Sets(&token_sets), &options), &expected, "{} {} {}/{}", algorithm, measure, p, q);
            }
        }
    }

    #[test]
    fn edit_distance_matches_the_definition(
        texts in prop::collection::vec("[abé\u{10348}]{0,9}|[a-c ]{5,30}", 0..30),
        distance in 0..6u32,
        split in prop::option::of(0.0..=1.0f64),
        empty in any::<bool>(),
    ) {
        let left = split.map(|share: f64| (share * texts.len() as f64) as usize);
        let near = |x: usize, y: usize| levenshtein(&texts[x], &texts[y]) <= distance as usize;
        let as_sets: Vec<Set> = texts.iter().map(|text| text.chars().map(u32::from).collect()).collect();
        let expected = expected(&as_sets, left, empty, near, false);
        let strings: Strings = texts.iter().collect();
        let threshold = Some(Threshold::whole(distance).unwrap());
        for algorithm in Algorithm::ALL {
            let options = JoinOptions { threshold, measure: Measure::Edit, algorithm, empty, ..JoinOptions::default() };
            let input = Input::Texts { texts: &strings, left };
            prop_assert_eq!(&found(input, &options), &expected, "{} {}", algorithm, distance);
        }
    }

    #[test]
    fn each_filter_leaves_no_more_candidates_than_the_one_before(
        sets in collections(),
        fraction in fractions(),
        max_depth in 1..5u32,
    ) {
        let token_sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let threshold = Some(Threshold::new(fraction.0, fraction.1).unwrap());
        for measure in Measure::of_sets().filter(|measure| !measure.is_count()) {
            let candidates = |algorithm| {
                let options = JoinOptions { threshold, measure, algorithm, max_depth, ..JoinOptions::default() };
                let joined = join(Input::Sets(&token_sets), &options, &Run::default()).unwrap();
                joined.stats.candidates
            };
            let (allpairs, ppjoin, plus) =
                (candidates(Algorithm::AllPairs), candidates(Algorithm::PpJoin), candidates(Algorithm::PpJoinPlus));
            prop_assert!(ppjoin.verified() <= allpairs.verified(), "{measure}: {ppjoin:?} {allpairs:?}");
            prop_assert!(plus.verified() <= ppjoin.verified(), "{measure}: {plus:?} {ppjoin:?}");
            prop_assert!(ppjoin.positional <= ppjoin.prefix && plus.suffix <= plus.positional);
        }
    }
}

/// The textbook recurrence, on characters.
fn levenshtein(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
