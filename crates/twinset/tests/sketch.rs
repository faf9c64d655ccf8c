//! Sketches estimate without bias, err as little as their number of entries allows, and their intervals hold.

use rayon::prelude::*;
use twinset::estimate::{EstimateOptions, Interval, MinHashSettings, minhash_recall};
use twinset::exact::{Input, JoinOptions, join};
use twinset::tokenize::{Sets, Tokenizer};
use twinset::{Run, TokenOptions, TokenSets};

fn sketches(texts: &[String], permutations: u32, seed: u64, run: &Run) -> TokenSets {
    let options = TokenOptions { tokens: Some("items".parse().unwrap()), ..TokenOptions::default() };
    let tokenizer = Tokenizer::minhash(&options, MinHashSettings { permutations, seed }, run).unwrap();
    let block = tokenizer.block(texts.iter().map(String::as_str)).unwrap();
    match tokenizer.finish_within([block], 0).unwrap() {
        Sets::InMemory(sets) => sets,
        Sets::Spilled(_) => panic!("there is no limit of memory"),
    }
}

/// In how many entries two sketches agree.
fn agreeing(sets: &TokenSets, a: usize, b: usize) -> u32 {
    let other = sets.get(b);
    sets.get(a).iter().filter(|token| other.binary_search(token).is_ok()).count() as u32
}

/// Two sets of so many tokens in all, so many of which are common.
fn pair(union: u32, common: u32, trial: u32) -> [String; 2] {
    let token = |number: u32| format!("{trial}:{number}");
    let side = |own: &dyn Fn(u32) -> bool| {
        (0..union).filter(|&n| n < common || own(n)).map(token).collect::<Vec<_>>().join(" ")
    };
    [side(&|n| n % 2 == 0), side(&|n| n % 2 == 1)]
}

#[test]
fn estimates_have_no_bias_a_small_error_and_intervals_that_hold() {
    const PERMUTATIONS: u32 = 64;
    // (tokens of both, common ones, trials): from sets of 5 tokens to sets of 10,000.
    let grid = [
        (8, 2, 4000),
        (6, 4, 4000),
        (5, 4, 4000),
        (40, 4, 4000),
        (40, 20, 4000),
        (40, 36, 4000),
        (400, 40, 2000),
        (400, 320, 2000),
        (400, 396, 2000),
        (12_000, 6_000, 300),
        (11_000, 9_900, 300),
    ];
    for (union, common, trials) in grid {
        let similarity = f64::from(common) / f64::from(union);
        let counts: Vec<u32> = (0..trials)
            .into_par_iter()
            .map(|trial| {
                // Every other trial changes the permutations instead of the tokens.
                let texts = pair(union, common, if trial % 2 == 0 { trial } else { 0 });
                agreeing(&sketches(&texts, PERMUTATIONS, u64::from(trial), &Run::default()), 0, 1)
            })
            .collect();
        let n = f64::from(trials);
        let errors: Vec<f64> =
            counts.iter().map(|&count| f64::from(count) / f64::from(PERMUTATIONS) - similarity).collect();
        let expected = similarity * (1.0 - similarity) / f64::from(PERMUTATIONS);
        let mean = errors.iter().sum::<f64>() / n;
        assert!(mean.abs() <= 4.0 * (expected / n).sqrt(), "{common} of {union}: bias {mean}");
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / n;
        assert!(variance <= (1.0 + 4.0 * (2.0 / n).sqrt()) * expected, "{common} of {union}: {variance} > {expected}");
        let covered = counts.iter().filter(|&&count| {
            let interval = Interval::of_agreement(count, PERMUTATIONS);
            interval.low <= similarity && similarity <= interval.high
        });
        // A coverage of 95% would lie below this once in 10,000 times.
        let least = 0.95 * n - 3.72 * (n * 0.95 * 0.05).sqrt();
        let covered = covered.count() as f64;
        assert!(covered >= least, "{common} of {union}: {covered} of {n} intervals hold");
    }
}

#[test]
fn all_pairs_that_agree_in_enough_entries_are_found() {
    // A chain of texts, each a little different from the one before.
    let texts: Vec<String> = (0..300)
        .map(|text| {
            (0..30)
                .map(|word| if (text + word) % 30 < text % 7 { text * 100 + word } else { word }.to_string())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    let options =
        EstimateOptions { agree: Some(20), permutations: 32.try_into().unwrap(), ..EstimateOptions::default() };
    let wanted = options.for_minhash(&JoinOptions::default()).unwrap();
    for memory in [None, Some(1 << 15)] {
        let sets = sketches(&texts, 32, 9, &Run::default());
        let joined = match memory {
            None => join(Input::Sets(&sets), &wanted, &Run::default()).unwrap(),
            Some(_) => {
                let run = Run { memory, ..Run::default() };
                let tokens = TokenOptions { tokens: Some("items".parse().unwrap()), ..TokenOptions::default() };
                let tokenizer =
                    Tokenizer::minhash(&tokens, MinHashSettings { permutations: 32, seed: 9 }, &run).unwrap();
                let block = tokenizer.block(texts.iter().map(String::as_str)).unwrap();
                let Sets::Spilled(spilled) = tokenizer.finish_within([block], 0).unwrap() else { panic!("it fits") };
                join(Input::Spilled(&spilled), &wanted, &run).unwrap()
            }
        };
        let found: Vec<(u32, u32, u32)> =
            joined.iter().map(Result::unwrap).map(|p| (p.left, p.right, p.value as u32)).collect();
        let mut expected = Vec::new();
        for left in 0..300 {
            for right in left + 1..300 {
                let count = agreeing(&sets, left, right);
                if count >= 20 {
                    expected.push((left as u32, right as u32, count));
                }
            }
        }
        assert!(expected.len() > 100 && expected.len() < 40_000, "{}", expected.len());
        assert!(found == expected);
    }
}

#[test]
fn the_curve_is_what_the_formula_says() {
    const TRIALS: u32 = 3000;
    for (union, common) in [(20, 17), (20, 18), (40, 37), (60, 57)] {
        let similarity = f64::from(common) / f64::from(union);
        let found = (0..TRIALS).into_par_iter().filter(|&trial| {
            let texts = pair(union, common, trial);
            agreeing(&sketches(&texts, 100, u64::from(trial), &Run::default()), 0, 1) >= 90
        });
        let (found, p) = (found.count() as f64 / f64::from(TRIALS), minhash_recall(similarity, 90, 100));
        let error = (p * (1.0 - p) / f64::from(TRIALS)).sqrt();
        assert!((found - p).abs() <= 4.0 * error, "p({similarity}) = {p}, measured {found}");
    }
}

/// Sketches made today must compare with sketches made next year.
#[test]
fn sketches_are_the_same_for_ever() {
    let tokenizer =
        Tokenizer::minhash(&TokenOptions::default(), MinHashSettings { permutations: 6, seed: 0 }, &Run::default())
            .unwrap();
    let block = tokenizer.block(["yes as soon as possible", ""]).unwrap();
    let sketches: Vec<&[u32]> = block.sketches().collect();
    assert_eq!(
        sketches,
        [&[1_549_269_585u32, 721_776_277, 1_084_550_783, 278_689_560, 723_377_477, 1_265_472_526][..], &[]]
    );
}
