//! Every algorithm returns what the definition says: no pair missing, none too many, for every measure.

use std::collections::BTreeSet;

use proptest::prelude::*;
use twinset::exact::SpilledSets;
use twinset::exact::{Algorithm, Bounds, Collections, Input, JoinOptions, Pair, Side, join, join_within};
use twinset::support::Strings;
use twinset::{Measure, Run, Threshold, TokenSets};

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

/// The pairs that a join finds; their values are held to `value`.
fn found(input: Input<'_>, options: &JoinOptions, run: &Run, value: impl Fn(&Pair) -> f64) -> Vec<(u32, u32)> {
    let joined = join(input, options, run).unwrap();
    for pair in joined.iter().map(Result::unwrap) {
        assert!((pair.value - value(&pair)).abs() < 1e-12, "{}: {pair:?} is {}", options.measure, value(&pair));
    }
    let pairs: Vec<_> = joined.iter().map(Result::unwrap).map(|pair| (pair.left, pair.right)).collect();
    assert_eq!(pairs.len() as u64, joined.len(), "the count without expanding");
    assert_eq!(twinset::exact::count(input, options, run).unwrap().pairs, joined.len(), "the count without keeping");
    pairs
}

/// A measure's value by definition.
fn value(measure: Measure, x: &Set, y: &Set) -> f64 {
    let common = x.intersection(y).count() as f64;
    let (a, b) = (x.len() as f64, y.len() as f64);
    match measure {
        Measure::Overlap => common,
        Measure::Hamming => x.symmetric_difference(y).count() as f64,
        Measure::Containment if x.is_empty() => 1.0,
        _ if x.is_empty() && y.is_empty() => 1.0,
        Measure::Jaccard => common / x.union(y).count() as f64,
        Measure::Cosine => common / (a.sqrt() * b.sqrt()),
        Measure::Dice => 2.0 * common / (a + b),
        Measure::Containment => common / a,
        Measure::Edit => unreachable!("edit distance is not a function of sets"),
    }
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

/// Short texts and empty ones, texts of several scripts, and long ones that differ in a few places.
fn edit_texts() -> impl Strategy<Value = Vec<String>> {
    let short = prop::collection::vec("[abé\u{10348}]{0,9}|[a-c ]{5,30}", 0..25);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), "[a-cé]{0,2}"), 0..6);
    let long = ("[a-d ]{60,150}", prop::collection::vec(edits, 0..6)).prop_map(|(text, copies)| {
        let edited = |edits: &Vec<(prop::sample::Index, String)>| {
            let mut letters: Vec<String> = text.chars().map(String::from).collect();
            for (place, letter) in edits {
                let place = place.index(letters.len());
                letters[place] = letter.clone();
            }
            letters.concat()
        };
        copies.iter().map(edited).collect::<Vec<_>>()
    });
    (short, long).prop_map(|(short, long)| [short, long].concat())
}

/// How many candidates the paper's filters leave among the different sets: size and prefix filtering with the probing
/// prefix of both sets, and positional filtering with Lemma 3's prefix of the shorter one.
fn filtered(token_sets: &TokenSets, bounds: &Bounds) -> (u64, u64) {
    let mut sets: Vec<&[u32]> = Vec::new();
    for record in 0..token_sets.len() {
        let set = token_sets.get(record);
        if !set.is_empty() && !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets.sort_by_key(|set| set.len());
    let (mut prefix, mut positional) = (0, 0);
    for (at, x) in sets.iter().enumerate() {
        for y in &sets[..at] {
            let (a, b) = (x.len() as u32, y.len() as u32);
            let probing = &x[..bounds.probe_prefix(a, Side::Left) as usize];
            if !bounds.partner_sizes(a, Side::Left).contains(&b) {
                continue;
            }
            let whole = &y[..bounds.probe_prefix(b, Side::Left) as usize];
            prefix += u64::from(probing.iter().any(|token| whole.contains(token)));
            let indexed = &y[..bounds.index_prefix(b, Side::Left) as usize];
            let common =
                probing.iter().enumerate().filter_map(|(i, token)| Some((i, indexed.iter().position(|t| t == token)?)));
            let mut passes = common
                .enumerate()
                .map(|(before, (i, j))| before + (x.len() - i).min(y.len() - j) >= bounds.min_overlap(a, b) as usize);
            positional += u64::from(passes.next() == Some(true) && passes.all(|passes| passes));
        }
    }
    (prefix, positional)
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
        threads in 1..3usize,
        part_tokens in 1..300u64,
        portable in any::<bool>(),
    ) {
        let run = Run { threads: Some(threads), portable, ..Run::default() };
        let left = split.map(|share: f64| (share * sets.len() as f64) as usize);
        let token_sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let token_sets = match left {
            Some(left) => token_sets.split_at(left as u32),
            None => token_sets,
        };
        // Parts of a few tokens.
        let little = Run { memory: Some(80 * part_tokens), ..run.clone() };
        let spilled = SpilledSets::new(token_sets.clone(), &little).unwrap();
        for measure in Measure::of_sets() {
            let (p, q) = match measure {
                Measure::Overlap => (count.max(1), 1),
                Measure::Hamming => (count, 1),
                _ => fraction,
            };
            let by_definition = |x: usize, y: usize| is_pair(measure, (p, q), &sets[x], &sets[y]);
            let expected = expected(&sets, left, empty, by_definition, measure == Measure::Containment);
            let threshold = Some(Threshold::new(p, q).unwrap());
            for &algorithm in Algorithm::ALL {
                let options = JoinOptions { threshold, measure, algorithm, max_depth, empty, ..JoinOptions::default() };
                let value = |pair: &Pair| value(measure, &sets[pair.left as usize], &sets[pair.right as usize + left.unwrap_or(0)]);
                prop_assert_eq!(&found(Input::Sets(&token_sets), &options, &run, value), &expected, "{} {} {}/{}", algorithm, measure, p, q);
            }
            let options = JoinOptions { threshold, measure, empty, ..JoinOptions::default() };
            let value = |pair: &Pair| value(measure, &sets[pair.left as usize], &sets[pair.right as usize + left.unwrap_or(0)]);
            prop_assert_eq!(&found(Input::Spilled(&spilled), &options, &little, value), &expected, "in parts: {} {}/{}", measure, p, q);
        }
    }

    #[test]
    fn edit_distance_matches_the_definition(
        texts in edit_texts(),
        distance in 0..6u32,
        split in prop::option::of(0.0..=1.0f64),
        empty in any::<bool>(),
        portable in any::<bool>(),
    ) {
        let run = Run { threads: Some(2), portable, ..Run::default() };
        let left = split.map(|share: f64| (share * texts.len() as f64) as usize);
        let near = |x: usize, y: usize| levenshtein(&texts[x], &texts[y]) <= distance as usize;
        // White space alone is nothing to compare.
        let is_blank = |text: &str| text.chars().all(char::is_whitespace);
        let as_set = |text: &String| if is_blank(text) { Set::new() } else { text.chars().map(u32::from).collect() };
        let as_sets: Vec<Set> = texts.iter().map(as_set).collect();
        let expected = expected(&as_sets, left, empty, near, false);
        let strings: Strings = texts.iter().collect();
        let threshold = Some(Threshold::whole(distance).unwrap());
        for &algorithm in Algorithm::ALL {
            let options = JoinOptions { threshold, measure: Measure::Edit, algorithm, empty, ..JoinOptions::default() };
            let input = Input::Texts { texts: &strings, left };
            let value = |pair: &Pair| levenshtein(&texts[pair.left as usize], &texts[pair.right as usize + left.unwrap_or(0)]) as f64;
            prop_assert_eq!(&found(input, &options, &run, value), &expected, "{} {}", algorithm, distance);
        }
    }

    #[test]
    fn each_filter_leaves_no_more_candidates_than_the_one_before(
        sets in collections(),
        fraction in fractions(),
        max_depth in 1..5u32,
    ) {
        let token_sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let threshold = Threshold::new(fraction.0, fraction.1).unwrap();
        for measure in Measure::of_sets().filter(|measure| !measure.is_count()) {
            let candidates = |algorithm| {
                let options = JoinOptions { measure, algorithm, max_depth, ..JoinOptions::at(threshold) };
                let joined = join(Input::Sets(&token_sets), &options, &Run::default()).unwrap();
                joined.stats.candidates
            };
            let (allpairs, ppjoin, plus) =
                (candidates(Algorithm::AllPairs), candidates(Algorithm::PpJoin), candidates(Algorithm::PpJoinPlus));
            prop_assert!(ppjoin.verified() <= allpairs.verified(), "{measure}: {ppjoin:?} {allpairs:?}");
            prop_assert!(plus.verified() <= ppjoin.verified(), "{measure}: {plus:?} {ppjoin:?}");
            prop_assert!(ppjoin.positional <= ppjoin.prefix && plus.suffix <= plus.positional);
            let bounds = Bounds::new(measure, threshold, Collections::One).unwrap();
            prop_assert_eq!((allpairs.verified(), ppjoin.verified()), filtered(&token_sets, &bounds), "{}", measure);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn selections_match_their_definitions(
        sets in collections(),
        split in prop::option::of(0.0..=1.0f64),
        classes in prop::option::of(1..4u32),
        top in prop::option::of(0..12usize),
        best in any::<bool>(),
    ) {
        let left = split.map(|share: f64| (share * sets.len() as f64) as usize);
        let token_sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().copied())).unwrap();
        let token_sets = match left {
            Some(left) => token_sets.split_at(left as u32),
            None => token_sets,
        };
        let classes: Option<Vec<u32>> = classes.map(|count| (0..sets.len() as u32).map(|record| record % count).collect());
        let right = |pair: &Pair| pair.right as usize + left.unwrap_or(0);
        for measure in Measure::of_sets() {
            let lowest = Threshold::new(1, if measure.is_count() { 1 } else { 1_000_000 }).unwrap();
            let options = JoinOptions { measure, top, best, ..JoinOptions::default() };
            let all = join(Input::Sets(&token_sets), &JoinOptions { measure, ..JoinOptions::at(lowest) }, &Run::default()).unwrap();
            // Without a threshold every distance is welcome, not only those of 1.
            if measure == Measure::Hamming || top.is_none() {
                continue;
            }
            let mut expected: Vec<Pair> = all.iter().map(Result::unwrap).collect();
            expected.retain(|pair| classes.as_ref().is_none_or(|classes| classes[pair.left as usize] == classes[right(pair)]));
            expected.sort_by(|a, b| b.value.total_cmp(&a.value).then((a.left, a.right).cmp(&(b.left, b.right))));
            if best {
                let mut taken = BTreeSet::new();
                expected.retain(|pair| {
                    let records = [pair.left as usize, right(pair)];
                    let free = records.iter().all(|record| !taken.contains(record));
                    if free {
                        taken.extend(records);
                    }
                    free
                });
            }
            expected.truncate(top.unwrap());
            let joined = join_within(Input::Sets(&token_sets), classes.as_deref(), &options, &Run::default()).unwrap();
            prop_assert_eq!(&joined.selected(&options).unwrap().unwrap(), &expected, "{}", measure);
            let little = Run { memory: Some(80 * 10), ..Run::default() };
            let spilled = SpilledSets::new(token_sets.clone(), &little).unwrap();
            let joined = join_within(Input::Spilled(&spilled), classes.as_deref(), &options, &little).unwrap();
            prop_assert_eq!(&joined.selected(&options).unwrap().unwrap(), &expected, "in parts: {}", measure);
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
