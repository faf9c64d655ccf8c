//! The library works inside the caller's rayon pool, gives the same result on any number of threads, and can be stopped.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use twinset::exact::{Algorithm, Input, JoinOptions, join};
use twinset::{Error, Measure, Progress, Run, TokenSets};

fn many_sets() -> TokenSets {
    let record = |seed: u32| {
        (0..20u32).map(move |at| (seed.wrapping_mul(2_654_435_761) >> 20).wrapping_add(at * at * (seed % 7)) % 900)
    };
    TokenSets::from_ids((0..4000).map(record)).unwrap()
}

/// Notes the names of the threads that report progress.
#[derive(Default)]
struct Threads(Mutex<BTreeSet<String>>);

impl Progress for Threads {
    fn begin(&self, _: &'static str, _: Option<u64>) {}
    fn advance(&self, _: u64) {
        let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
        self.0.lock().unwrap().insert(name);
    }
}

#[test]
fn work_stays_inside_the_callers_pool() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).thread_name(|n| format!("caller {n}")).build().unwrap();
    let threads = Arc::new(Threads::default());
    let run = Run { progress: Some(threads.clone()), ..Run::default() };
    let options = JoinOptions::at("0.5".parse().unwrap());
    let sets = many_sets();
    pool.install(|| join(Input::Sets(&sets), &options, &run)).unwrap();
    let names = threads.0.lock().unwrap();
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("caller ")), "{names:?}");
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let sets = many_sets();
    for &algorithm in Algorithm::ALL {
        let options = JoinOptions { algorithm, ..JoinOptions::at("0.5".parse().unwrap()) };
        let results: Vec<_> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let joined =
                    join(Input::Sets(&sets), &options, &Run { threads: Some(threads), ..Run::default() }).unwrap();
                (joined.iter().map(Result::unwrap).collect::<Vec<_>>(), joined.stats.candidates)
            })
            .collect();
        assert!(!results[0].0.is_empty());
        assert!(results.iter().all(|result| *result == results[0]), "{algorithm}");
    }
}

/// Windows of 10 to 40 tokens over few different ones: most pairs of suitable sizes are near each other.
fn crowded_sets() -> TokenSets {
    let record = |seed: u32| {
        let (start, length) = ((seed.wrapping_mul(2_654_435_761) >> 16) % 90, 10 + (seed * 7) % 31);
        (start..start + length).filter(move |token| !(token + seed).is_multiple_of(11))
    };
    TokenSets::from_ids((0..3000).map(record)).unwrap()
}

/// Enough sets, alike enough, that every block, piece and pause of the fast algorithms takes its turn.
#[test]
fn fast_and_faithful_algorithms_agree_on_crowded_sets() {
    let one = crowded_sets();
    let two = one.clone().split_at(700);
    for (sets, threshold) in [(&one, "0.3"), (&one, "0.75"), (&two, "0.5")] {
        let pairs = |algorithm, portable| {
            let options = JoinOptions { algorithm, ..JoinOptions::at(threshold.parse().unwrap()) };
            join(Input::Sets(sets), &options, &Run { portable, ..Run::default() })
                .unwrap()
                .iter()
                .map(Result::unwrap)
                .collect::<Vec<_>>()
        };
        let expected = pairs(Algorithm::PpJoin, false);
        assert!(expected.len() > 1000);
        for algorithm in [Algorithm::Prefix, Algorithm::Scan, Algorithm::Auto] {
            for portable in [false, true] {
                assert!(pairs(algorithm, portable) == expected, "{algorithm} {threshold} {portable}");
            }
        }
    }
}

/// The bound rises from chunk to chunk, and what it leaves out is never among the best.
#[test]
fn the_best_pairs_are_those_of_the_whole_join() {
    let sets = crowded_sets();
    let two = sets.clone().split_at(700);
    for measure in Measure::of_sets() {
        for (sets, wanted) in [(&sets, 1), (&sets, 50), (&two, 700), (&sets, 20_000)] {
            let top = |algorithm, threads| {
                let options = JoinOptions { measure, algorithm, top: Some(wanted), ..JoinOptions::default() };
                let run = Run { threads: Some(threads), ..Run::default() };
                join(Input::Sets(sets), &options, &run).unwrap().selected(&options).unwrap().unwrap()
            };
            let lax = if measure == Measure::Hamming {
                "60"
            } else if measure.is_count() {
                "1"
            } else {
                "1/100"
            };
            let all = JoinOptions { measure, ..JoinOptions::at(lax.parse().unwrap()) };
            let expected = join(Input::Sets(sets), &all, &Run::default()).unwrap().top(wanted).unwrap();
            assert_eq!(expected.len(), wanted);
            for (algorithm, threads) in [(Algorithm::Auto, 1), (Algorithm::Prefix, 4), (Algorithm::Scan, 2)] {
                assert!(top(algorithm, threads) == expected, "{measure} {wanted} {algorithm}");
            }
        }
    }
}

/// The sets of a small collection that has something in common with a large one are all that is looked at.
#[test]
fn records_with_nothing_in_the_other_collection_take_no_part() {
    let small = (0..10u32).map(|record| (0..20).map(|at| record + at).collect::<Vec<_>>());
    let large = (0..1000u32).map(|record| (0..20).map(|at| 1000 + record % 300 + at).collect::<Vec<_>>());
    let shared = [(5..25).collect::<Vec<u32>>()];
    let sets = TokenSets::from_ids(small.chain(large).chain(shared)).unwrap().split_at(10);
    let joined = join(Input::Sets(&sets), &JoinOptions::at("0.8".parse().unwrap()), &Run::default()).unwrap();
    // The first of the small ones has only 15 of its 20 tokens in the other collection.
    assert_eq!(joined.stats.without_partner, 1001);
    // Windows of twenty tokens that are up to two steps apart.
    let pairs: Vec<_> = joined.iter().map(Result::unwrap).map(|pair| (pair.left, pair.right)).collect();
    assert_eq!(pairs, [(3, 1000), (4, 1000), (5, 1000), (6, 1000), (7, 1000)]);
}

#[test]
fn a_join_that_needs_too_much_memory_is_refused() {
    let (sets, options) = (many_sets(), JoinOptions::at("0.5".parse().unwrap()));
    let tokens = 4 * sets.tokens().len() as u64;
    let allowed =
        |memory: u64| join(Input::Sets(&sets), &options, &Run { memory: Some(memory), ..Run::default() }).map(|_| ());
    let Err(Error::Memory { needed, limit }) = allowed(tokens) else { panic!("the index needs more than the tokens") };
    assert!(limit == tokens && needed < 4 * tokens, "{needed} of {tokens}");
    assert_eq!(allowed(needed), Ok(()));
}

#[test]
fn a_run_ends_early_when_it_is_stopped() {
    let run = Run::default();
    run.cancel.stop();
    let options = JoinOptions::at("0.5".parse().unwrap());
    assert_eq!(join(Input::Sets(&many_sets()), &options, &run).err(), Some(Error::Cancelled));
}
