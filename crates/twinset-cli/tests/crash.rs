//! What was acknowledged survives `kill -9` at any moment; of what was not, a batch is there wholly or not at all.

mod common;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use testbed::Server;

/// How many times a process is killed; `cargo xtask test --full` asks for more.
fn kills() -> usize {
    std::env::var("TWINSET_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(12)
}

#[test]
fn sqlite() {
    torture("news", "--trees 8");
}

#[test]
fn synopses() {
    torture("columns", "--kind synopses --size 16");
}

#[test]
fn file() {
    torture("news.labels", "--trees 8");
}

#[test]
fn postgres() {
    let server = Server::postgres().unwrap();
    torture(&format!("{}?index=news", server.address()), "--trees 8");
}

#[test]
fn mariadb() {
    let server = Server::mariadb().unwrap();
    torture(&format!("{}?index=news", server.address()), "--trees 8");
}

const RECORDS: usize = 400;
const BATCH: usize = 50;

/// What an index is known to hold, and what a killed process may or may not have done.
#[derive(Default)]
struct Known {
    there: BTreeSet<String>,
    gone: BTreeSet<String>,
}

fn torture(path: &str, made_with: &str) {
    let folder = Folder::with(&[]);
    folder.stdout(&format!("index create {path} {made_with}"));
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let (mut known, mut killed, mut round) = (Known::default(), 0, 0);
    // As long as one addition takes, so that kills strike at every moment of it; the first one is left to its end.
    let mut longest = Duration::ZERO;
    while killed < kills() {
        round += 1;
        let ids: Vec<String> = (0..RECORDS).map(|at| format!("{round}-{at}")).collect();
        let texts: String = ids
            .iter()
            .map(|id| format!("{{\"id\": \"{id}\", \"text\": \"some words of {id} in round {round}\"}}\n"))
            .collect();
        std::fs::write(folder.path("batch.jsonl"), texts).unwrap();
        let delay = match round {
            1 => Duration::MAX,
            _ => longest.mul_f64(random.random_range(0.0..1.2)),
        };
        let begin = Instant::now();
        let was_killed = run_and_kill(&folder, &["index", "add", path, "batch.jsonl", "--batch", "50", "-q"], delay);
        match was_killed {
            false => {
                longest = longest.max(begin.elapsed());
                known.there.extend(ids.iter().cloned());
            }
            true => killed += 1,
        }
        let held = held(&folder, path);
        assert!(known.there.is_subset(&held), "round {round}: what was acknowledged is lost");
        assert!(known.gone.is_disjoint(&held), "round {round}: what was removed is back");
        for (at, batch) in ids.chunks(BATCH).enumerate() {
            let count = batch.iter().filter(|id| held.contains(*id)).count();
            assert!(count == 0 || count == BATCH, "round {round}: batch {at} is half there, {count} of {BATCH}");
            known.there.extend(batch.iter().filter(|_| count > 0).cloned());
        }
        // A removal is done or not done.
        let some: Vec<String> = held.iter().filter(|_| random.random_bool(0.05)).take(60).cloned().collect();
        if !some.is_empty() {
            let mut args = vec!["index", "remove", path, "-q"];
            args.extend(some.iter().map(String::as_str));
            killed += usize::from(run_and_kill(&folder, &args, longest.mul_f64(random.random_range(0.0..0.6))));
            let held = self::held(&folder, path);
            let left = some.iter().filter(|id| held.contains(*id)).count();
            assert!(
                left == 0 || left == some.len(),
                "round {round}: a removal is half done, {left} of {} are left",
                some.len()
            );
            if left == 0 {
                known.there.retain(|id| !some.contains(id));
                known.gone.extend(some);
            }
        }
        run_and_kill(&folder, &["index", "query", path, "batch.jsonl", "--threshold", "0.8", "-q"], delay);
        // It reads everything, which takes its time.
        if round % 16 == 1 {
            folder.stdout(&format!("index check {path}"));
        }
    }
    folder.stdout(&format!("index check {path}"));
    assert!(killed >= kills() && !known.there.is_empty());
    println!("{killed} kills in {round} rounds, {} records acknowledged and there", known.there.len());
}

/// Starts a command and kills it after a while, unless it has ended: then it must have succeeded.
fn run_and_kill(folder: &Folder, args: &[&str], delay: Duration) -> bool {
    let program = assert_cmd::cargo::cargo_bin!("twinset");
    let mut command = Command::new(program);
    let mut process = command.args(args).current_dir(folder.path("")).stdout(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while begin.elapsed() < delay {
        if let Some(status) = process.try_wait().unwrap() {
            assert!(status.success(), "{args:?}");
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    // It is killed without a chance to do anything.
    process.kill().unwrap();
    let status = process.wait().unwrap();
    // A server may be about to finish what it was told last.
    if args.iter().any(|arg| arg.contains("://")) {
        std::thread::sleep(Duration::from_millis(50));
    }
    !status.success()
}

/// The ids that the index holds.
fn held(folder: &Folder, path: &str) -> BTreeSet<String> {
    let lines = folder.stdout(&format!("index export {path}"));
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    lines.lines().map(id).collect()
}
