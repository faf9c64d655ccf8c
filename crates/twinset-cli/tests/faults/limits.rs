//! Less memory than a command needs: it ends with a message, and everything is as before.

use std::os::unix::process::CommandExt;
use std::process::Output;

use nix::sys::resource::{Resource, setrlimit};

use super::place::Place;
use super::trial::is_full;

#[test]
fn out_of_memory() {
    let line = |at: usize| format!("{{\"id\": \"r{at}\", \"text\": \"{}\"}}\n", words(at));
    let (docs, few): (String, String) = ((0..20_000).map(line).collect(), (0..2000).map(line).collect());
    let place = Place::with(&[
        ("docs.jsonl", &docs),
        ("few.jsonl", &few),
        ("disk/pairs.csv", "before\n"),
        ("disk/kept.jsonl", "before\n"),
    ]);
    place.stdout("index create disk/news --trees 8");
    place.stdout("index create disk/columns --kind synopses");
    let nothing: &[&str] = &[];
    try_one(&place, "join docs.jsonl --threshold 0.8 --output disk/pairs.csv", nothing);
    try_one(&place, "join docs.jsonl --threshold 0.8 --output disk/pairs.parquet", nothing);
    try_one(&place, "dedup docs.jsonl --threshold 0.8 --output disk/kept.jsonl --groups disk/groups.csv.zst", nothing);
    for index in ["disk/news", "disk/columns"] {
        try_one(&place, &format!("index add {index} few.jsonl"), &[index]);
    }
}

fn words(at: usize) -> String {
    (0..20).map(|word| format!("w{}", (at / 2 * 31 + word * 17) % 5000)).collect::<Vec<_>>().join(" ")
}

/// What there is: the content of files, and of indexes as they tell it.
fn state(place: &Place, indexes: &[&str]) -> Vec<(String, Vec<u8>)> {
    let is_output = |name: &String| name.matches('/').count() == 1;
    let files = place.files().into_iter().filter(is_output);
    let files = files.map(|name| (name.clone(), std::fs::read(place.path(&name)).unwrap()));
    let indexes = indexes.iter().map(|index| {
        place.stdout(&format!("index check {index}"));
        ((*index).to_owned(), place.stdout(&format!("index export {index}")).into_bytes())
    });
    files.chain(indexes).collect()
}

fn try_one(before: &Place, command: &str, indexes: &[&str]) {
    let old = state(before, indexes);
    let done = before.copy();
    done.stdout(command);
    let new = state(&done, indexes);
    let (mut limit, mut refused, mut succeeded) = (LEAST, 0, 0);
    // An index needs much room for what is written at once, and a join little more than the program itself.
    let step = if indexes.is_empty() { 1.1 } else { 1.35 };
    let (step, enough) = if is_full() { (1.02, 10) } else { (step, 1) };
    while limit < MOST && succeeded < enough {
        limit = (limit as f64 * step) as u64;
        // A program that cannot even be loaded has no say.
        if !limited(before, "--version", limit).status.success() {
            continue;
        }
        let place = before.copy();
        let output = limited(&place, command, limit);
        let told = String::from_utf8_lossy(&output.stderr);
        let about = format!("{command} in {} MB: {} {told}", limit >> 20, output.status);
        match output.status.code() {
            Some(0) => {
                assert!(state(&place, indexes) == new, "{about}");
                succeeded += 1;
            }
            Some(1) => {
                assert!(told.contains("error: ") && told.contains("memory"), "{about}");
                assert!(state(&place, indexes) == old, "{about}");
                refused += 1;
            }
            // Where there is no room for what a thread calls its own, the C library ends the program without asking anybody.
            None if told.contains("Fatal glibc error") => assert!(state(&place, indexes) == old, "{about}"),
            _ => panic!("{about}"),
        }
    }
    println!("out of memory: {command}: {refused} ended with a message, {succeeded} succeeded");
    assert!(refused > 0, "{command}");
}

/// Between these sizes of memory.
const LEAST: u64 = 48 << 20;
const MOST: u64 = 2 << 30;

/// Runs a command in so much memory.
fn limited(place: &Place, command: &str, bytes: u64) -> Output {
    let mut command = place.command(command);
    // SAFETY: one system call is made between fork and exec.
    unsafe { command.pre_exec(move || Ok(setrlimit(Resource::RLIMIT_AS, bytes, bytes)?)) };
    command.output().unwrap()
}
