//! Damage: a bit that has changed, a file that was cut, a block of zeros, an older version of a file. It is told, or it makes no
//! difference to any answer.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Once, mpsc};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use twinset::estimate::EstimateOptions;
use twinset::exact::JoinOptions;
use twinset::{Run, TokenOptions};
use twinset_io::{Collection, SketchFile};

use super::opened::Opened;
use super::oracle::State;
use super::tally::report;
use crate::common::Folder;

/// Files by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// Something that is kept in files, and how it is asked.
struct Sample {
    name: &'static str,
    files: Files,
    /// The same files before the last change.
    older: Files,
    /// What the files answer, and what they answered after each change before.
    answer: String,
    earlier: Vec<String>,
    /// Everything that can be asked of a folder of such files, unless they are found to be damaged.
    ask: fn(&Path) -> anyhow::Result<String>,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip { byte: usize, bit: u8 },
    Cut { length: usize },
    Zeros { from: usize },
    Older,
}

/// What came of it.
#[derive(Debug, PartialEq)]
enum Outcome {
    Told,
    Unaffected,
    /// All answers are those before the last changes.
    Earlier,
    Wrong,
    /// Nobody can tell what a panic leaves behind.
    Panicked,
}

/// How much is set to zero at a time.
const BLOCK: usize = 4096;
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// In so many places of a file at most a bit is turned over, by the test command and if `TWINSET_FLIPS` says `all`.
const PLACES: usize = 40;
const ALL_PLACES: usize = 10_000;

pub(crate) fn torture() {
    hide_panics();
    for sample in [sqlite(), sqlite_after_a_kill(), synopses(), sketches()] {
        let sample = Arc::new(sample);
        let (name, files) = (sample.name, sample.files.len());
        let (sender, outcomes) = mpsc::channel();
        let damaging = Arc::clone(&sample);
        std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || damage_all(&damaging, &sender)).unwrap();
        let (mut damages, mut told, mut unaffected, mut earlier, mut wrong) = (0, 0, 0, 0, Vec::new());
        loop {
            let (file, damage, outcome) = match outcomes.recv_timeout(PATIENCE) {
                Ok(outcome) => outcome,
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name}: no answer, after {damages} damages"),
            };
            damages += 1;
            match outcome {
                Outcome::Told => told += 1,
                Outcome::Unaffected => unaffected += 1,
                // An older version of a file may be that of a whole older state.
                Outcome::Earlier if matches!(damage, Damage::Older) => earlier += 1,
                _ => wrong.push(format!("{name}, {file}, {damage:?}: {outcome:?}")),
            }
        }
        report(&json!({
            "damaged": name, "files": files, "damages": damages, "told": told, "unaffected": unaffected,
            "earlier": earlier, "wrong": wrong.len(),
        }));
        assert!(damages > PLACES && told > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// The name of the thread that reads what is damaged.
const THREAD: &str = "damage";

/// Panics of other people's parsers, which are caught, do not fill the screen.
fn hide_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD) {
                before(panic);
            }
        }));
    });
}

/// Does everything to every file, each time to a whole copy.
fn damage_all(sample: &Sample, outcomes: &mpsc::Sender<(String, Damage, Outcome)>) {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let is_all = std::env::var("TWINSET_FLIPS").is_ok_and(|which| which == "all");
    let places = if is_all { ALL_PLACES } else { PLACES };
    for (name, bytes) in &sample.files {
        let step = bytes.len().div_ceil(places).max(1);
        let flips = (0..bytes.len()).step_by(step);
        let flips: Vec<Damage> = flips.map(|byte| Damage::Flip { byte, bit: random.random_range(0..8) }).collect();
        let cuts = [0, 1, bytes.len() / 2, bytes.len().saturating_sub(1)].into_iter();
        let cuts = cuts.chain((BLOCK..bytes.len()).step_by(BLOCK)).filter(|length| *length < bytes.len());
        let zeros = (0..bytes.len()).step_by(BLOCK);
        let older = sample.older.get(name).filter(|older| *older != bytes).map(|_| Damage::Older);
        let others =
            cuts.map(|length| Damage::Cut { length }).chain(zeros.map(|from| Damage::Zeros { from })).chain(older);
        for damage in flips.into_iter().chain(others) {
            let outcome = sample.outcome(name, damage);
            if outcomes.send((name.clone(), damage, outcome)).is_err() {
                return;
            }
        }
    }
}

impl Sample {
    fn outcome(&self, name: &str, damage: Damage) -> Outcome {
        // Where there is main memory that looks like a disk, nothing waits for one.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::tempdir_in(place).unwrap();
        write(&self.files, folder.path());
        let mut bytes = self.files[name].clone();
        match damage {
            Damage::Flip { byte, bit } => bytes[byte] ^= 1 << bit,
            Damage::Cut { length } => bytes.truncate(length),
            Damage::Zeros { from } => {
                let to = bytes.len().min(from + BLOCK);
                bytes[from..to].fill(0);
            }
            Damage::Older => bytes.clone_from(&self.older[name]),
        }
        fs::write(folder.path().join(name), bytes).unwrap();
        match catch_unwind(AssertUnwindSafe(|| (self.ask)(folder.path()))) {
            Err(_) => Outcome::Panicked,
            Ok(Err(_)) => Outcome::Told,
            Ok(Ok(answer)) if answer == self.answer => Outcome::Unaffected,
            Ok(Ok(answer)) if self.earlier.contains(&answer) => Outcome::Earlier,
            Ok(Ok(_)) => Outcome::Wrong,
        }
    }
}

fn write(files: &Files, folder: &Path) {
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

fn read(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// All records, and what is found for each; damage is an error.
fn ask(address: &Path) -> anyhow::Result<String> {
    let mut index = Opened::open(address.to_str().unwrap())?;
    if let Some(damage) = index.damages()?.into_iter().next() {
        anyhow::bail!(damage);
    }
    let state: State = index.state()?;
    let hasher = twinset::tokenize::TokenHasher::new(index.tokens(), 0)?;
    let found = (0..RECORDS).map(|at| index.same(&hasher.hashes(&text(at))?.into_iter().collect()));
    let found = found.collect::<twinset_index::Result<Vec<Vec<String>>>>()?;
    Ok(format!("{state:?} {found:?}"))
}

/// A fifth of the records is removed in the end, so few that no part of an index is written anew.
const RECORDS: usize = 45;
/// How many are added at a time.
const BATCH: usize = 15;

fn text(at: usize) -> String {
    format!("some words of record {at} and of {} and {}", at % 7, at % 11)
}

/// What is done to every index, in four changes.
fn change(folder: &Folder, path: &str, number: usize) {
    if number < RECORDS / BATCH {
        let records =
            (number * BATCH..(number + 1) * BATCH).map(|at| json!({ "id": at.to_string(), "text": text(at) }));
        let lines: String = records.map(|record| format!("{record}\n")).collect();
        fs::write(folder.path("batch.jsonl"), lines).unwrap();
        folder.stdout(&format!("index add {path} batch.jsonl -q"));
    } else {
        let ids: Vec<String> = (0..RECORDS).step_by(5).map(|at| at.to_string()).collect();
        folder.stdout(&format!("index remove {path} -q {}", ids.join(" ")));
    }
}

const CHANGES: usize = RECORDS / BATCH + 1;

/// A sample of an index that was changed by commands.
fn sample(name: &'static str, made_with: &str) -> Sample {
    let folder = Folder::with(&[]);
    folder.stdout(&format!("index create kept {made_with}"));
    let (mut earlier, mut older) = (Vec::new(), Files::new());
    for number in 0..CHANGES {
        older = read(&folder.path("kept"));
        earlier.push(ask(&folder.path("kept")).unwrap());
        change(&folder, "kept", number);
    }
    let answer = ask(&folder.path("kept")).unwrap();
    Sample { name, files: read(&folder.path("kept")), older, answer, earlier, ask }
}

fn sqlite() -> Sample {
    sample("SQLite", "--trees 8")
}

fn synopses() -> Sample {
    sample("synopses", "--kind synopses --size 16")
}

/// The same with a log that a killed process has left: what was committed and not yet moved into the database.
fn sqlite_after_a_kill() -> Sample {
    let folder = Folder::with(&[]);
    folder.stdout("index create kept --trees 8");
    // Who reads keeps others from moving the log.
    let reader = rusqlite::Connection::open(folder.path("kept/labels.sqlite")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").unwrap();
    let mut earlier = Vec::new();
    for number in 0..CHANGES {
        earlier.push(ask(&folder.path("kept")).unwrap());
        change(&folder, "kept", number);
    }
    let (files, answer) = (read(&folder.path("kept")), ask(&folder.path("kept")).unwrap());
    assert!(files["labels.sqlite-wal"].len() > BLOCK);
    Sample { name: "SQLite after a kill", files, older: Files::new(), answer, earlier, ask }
}

fn sketches() -> Sample {
    fn ask(folder: &Path) -> anyhow::Result<String> {
        let run = Run::default();
        let file = SketchFile::read(&folder.join("news.sketch"), &run)?;
        let ids: Vec<String> = (0..file.ids.len()).map(|at| file.ids.get(at).into_owned()).collect();
        let settings = format!("{:?}", file.settings);
        // All pairs that agree in a single entry.
        let estimate = EstimateOptions { agree: Some(1), ..EstimateOptions::default() };
        let estimate = file.settings.estimate(&estimate, &TokenOptions::default())?;
        let join = estimate.for_minhash(&JoinOptions::at("1/16".parse().expect("it is a threshold")))?;
        let (collection, _) = Collection::of_sketches(vec![file], &run)?;
        let pairs = twinset::exact::join(collection.input(), &join, &run)?;
        let pairs = pairs.iter().collect::<twinset::Result<Vec<_>>>()?;
        Ok(format!("{settings} {ids:?} {pairs:?}"))
    }
    let texts: String = (0..RECORDS).map(|at| text(at) + "\n").collect();
    let folder = Folder::with(&[("texts.txt", texts.as_bytes()), ("kept/.keep", b"")]);
    fs::remove_file(folder.path("kept/.keep")).unwrap();
    folder.stdout("sketch texts.txt --output kept/news.sketch --permutations 16 -q");
    let answer = ask(&folder.path("kept")).unwrap();
    Sample {
        name: "sketches",
        files: read(&folder.path("kept")),
        older: Files::new(),
        answer,
        earlier: Vec::new(),
        ask,
    }
}
