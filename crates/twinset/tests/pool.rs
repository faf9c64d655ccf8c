//! The library works inside the caller's rayon pool, gives the same result on any number of threads, and can be stopped.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use twinset::{Algorithm, Error, Input, JoinOptions, Progress, Run, TokenSets, join};

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
    for algorithm in Algorithm::ALL {
        let options = JoinOptions { algorithm, ..JoinOptions::at("0.5".parse().unwrap()) };
        let results: Vec<_> = [1, 2, 5]
            .into_iter()
            .map(|threads| {
                let joined =
                    join(Input::Sets(&sets), &options, &Run { threads: Some(threads), ..Run::default() }).unwrap();
                (joined.iter().collect::<Vec<_>>(), joined.stats.candidates)
            })
            .collect();
        assert!(!results[0].0.is_empty());
        assert!(results.iter().all(|result| *result == results[0]), "{algorithm}");
    }
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
