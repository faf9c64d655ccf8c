//! A panic on any thread ends the call that it belongs to; nobody waits for the thread for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use twinset::exact::{Algorithm, JoinOptions, join};
use twinset::{Progress, Run, TokenOptions};
use twinset_io::read::Inputs;
use twinset_io::{Content, Keeping, ReadOptions, load};

/// Panics when it is told of the n-th piece of work, on whichever thread that is.
struct Fragile {
    told: AtomicUsize,
    at: usize,
}

impl Progress for Fragile {
    fn begin(&self, _: &'static str, _: Option<u64>) {}

    fn advance(&self, _: u64) {
        if self.told.fetch_add(1, Ordering::Relaxed) == self.at {
            panic!("a panic that was asked for");
        }
    }
}

/// How often a call reported progress, and whether it panicked.
fn loaded_and_joined(path: &std::path::Path, algorithm: Algorithm, at: usize) -> (usize, bool) {
    let fragile = Arc::new(Fragile { told: AtomicUsize::new(0), at });
    let run = Run { threads: Some(3), progress: Some(fragile.clone()), ..Run::default() };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let inputs = [Inputs::find([path], None).unwrap()];
        let tokens = TokenOptions::default();
        let read = ReadOptions::default();
        let keeping = Keeping::all(Content::Sets(&tokens));
        let collection = run.install(|| load(&inputs, &read, keeping, &run)).unwrap().unwrap();
        let options = JoinOptions { algorithm, ..JoinOptions::at("0.5".parse().unwrap()) };
        join(collection.input(), &options, &run).unwrap().iter().count()
    }));
    (fragile.told.load(Ordering::Relaxed), result.is_err())
}

#[test]
fn a_panic_ends_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.txt");
    let lines: String = (0..40_000).map(|n: u32| format!("w{} w{} w{} common\n", n % 97, n % 89, n % 83)).collect();
    std::fs::write(&path, lines).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::PpJoin, Algorithm::Prefix, Algorithm::Scan] {
        let (pieces, panicked) = loaded_and_joined(&path, algorithm, usize::MAX);
        assert!(pieces > 4 && !panicked, "{algorithm}: {pieces}");
        for at in [0, 1, pieces / 2, pieces - 1] {
            let (done, ended) = channel();
            let path = path.clone();
            std::thread::spawn(move || done.send(loaded_and_joined(&path, algorithm, at).1));
            let panicked = ended.recv_timeout(Duration::from_secs(60));
            assert_eq!(panicked, Ok(true), "{algorithm}, at {at} of {pieces}: the call goes on without the thread");
        }
    }
}
