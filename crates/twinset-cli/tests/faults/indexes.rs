//! Changes and queries of the two kinds of indexes on a disk.

use serde_json::Value;

use super::place::Place;
use super::trial::{Case, Ending, Outcome, Trial};

#[test]
fn folder() {
    try_all(&Home { name: "folder", made_with: "--trees 8" });
}

#[test]
fn synopses() {
    try_all(&Home { name: "synopses", made_with: "--kind synopses --size 16" });
}

struct Home {
    name: &'static str,
    made_with: &'static str,
}

/// How many records are there before, and are added at a time: so many that the parts of an index of synopses are merged by the next
/// batch.
const RECORDS: usize = 14;
const AT_ONCE: usize = 2;
/// A batch of an addition of several.
const BATCH: usize = 3;

fn records(ids: impl Iterator<Item = usize>, word: &str) -> String {
    let line = |id: usize| {
        let text: Vec<String> = (0..20).map(|at| format!("{word}{}", id / 2 * 7 + at)).collect();
        format!("{{\"id\": \"a{id}\", \"text\": \"{} own{id}\"}}\n", text.join(" "))
    };
    ids.map(line).collect()
}

fn try_all(home: &Home) {
    let path = "disk/news";
    let files = [
        ("first.jsonl", records(0..RECORDS, "word")),
        ("more.jsonl", records(RECORDS..RECORDS + 4, "word")),
        ("changed.jsonl", records(2..7, "other")),
        ("many.jsonl", records(10..10 + 4 * BATCH, "many")),
        ("later.jsonl", records(90..91, "later")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let create = format!("index create {path} {}", home.made_with);
    let empty = Place::with(&files);
    let filled = empty.copy();
    filled.stdout(&create);
    filled.stdout(&format!("index add {path} first.jsonl --batch {AT_ONCE}"));

    let operation = |name: &str, before: &Place, command: &str, between: &[String]| {
        let mut states = vec![state(before, path)];
        let done = before.copy();
        for command in between.iter().map(String::as_str).chain([command]) {
            done.stdout(command);
            states.push(state(&done, path));
        }
        let name = format!("{}: {name}", home.name);
        // It removes nothing, but opens everything, and writes what it writes after a change.
        let reopen = format!("index remove {path} nothing");
        Trial { name: &name, before, command, reopen: Some(&reopen) }.run(|case| judge(case, path, &create, &states));
    };
    operation("create", &empty, &create, &[]);
    operation("add", &filled, &format!("index add {path} more.jsonl"), &[]);
    operation("replace", &filled, &format!("index add {path} changed.jsonl"), &[]);
    operation("remove", &filled, &format!("index remove {path} a1 a3 a5"), &[]);
    operation("query", &filled, &format!("index query {path} changed.jsonl --threshold 0.8"), &[]);
    operation("check", &filled, &format!("index check {path}"), &[]);
    operation("export", &filled, &format!("index export {path} --output disk/exported.jsonl"), &[]);
    if home.name == "synopses" {
        operation("merge", &filled, &format!("index add {path} changed.jsonl --merge"), &[]);
    }
    // The first batches alone lead to what may be there when a run ends early.
    let texts: Vec<&str> = files[3].1.lines().collect();
    let batches = (1..4).map(|count| {
        let name = format!("many{count}.jsonl");
        std::fs::write(filled.path(&name), texts[(count - 1) * BATCH..count * BATCH].join("\n") + "\n").unwrap();
        format!("index add {path} {name}")
    });
    let batches: Vec<String> = batches.collect();
    operation("add in batches", &filled, &format!("index add {path} many.jsonl --batch {BATCH}"), &batches);
}

/// Everything that an index answers; what it takes on the disk is not among it.
#[derive(Debug, PartialEq)]
enum State {
    Absent,
    Whole { records: String, hits: String, stats: Value },
}

/// What there is, which must not be damaged.
#[track_caller]
fn state(place: &Place, path: &str) -> State {
    let told = place.run(&format!("index stats {path}"));
    if !told.status.success() {
        let message = String::from_utf8(told.stderr).unwrap();
        assert!(message.contains("twinset index create"), "{message}");
        return State::Absent;
    }
    let mut stats: Value = serde_json::from_slice(&told.stdout).unwrap();
    for name in ["bytes", "bytes_per_record", "bytes_per_input_byte", "segments"] {
        stats.as_object_mut().unwrap().remove(name);
    }
    // A sum, which ends with other digits where parts lie in another order.
    if let Some(distinct) = stats["distinct"].as_f64() {
        stats["distinct"] = format!("{distinct:.6}").into();
    }
    place.stdout(&format!("index check {path}"));
    let records = place.stdout(&format!("index export {path}"));
    let hits = place.stdout(&format!("index query {path} first.jsonl --threshold 0.8"));
    State::Whole { records, hits, stats }
}

/// Compares what is there with what must be. The states are those before, after the first batches, and at the end.
fn judge(case: &Case<'_>, path: &str, create: &str, states: &[State]) -> Outcome {
    let about = &case.about;
    let found = state(case.place, path);
    let at = states.iter().position(|state| *state == found);
    let at = at
        .unwrap_or_else(|| panic!("{about}: neither old nor new, but {found:?}, and it was to be one of {states:#?}"));
    let last = states.len() - 1;
    match &case.ending {
        // What does not change anything is old and new at once.
        Ending::Done => assert_eq!(found, states[last], "{about}: it succeeded, and is not there"),
        Ending::Killed => {}
        Ending::Refused(message) => {
            let failure = message.lines().find_map(|line| line.strip_prefix("error: "));
            let failure = failure.unwrap_or_else(|| panic!("{about}: no message, but {message}"));
            let place = if failure.contains("exported.jsonl") { "disk/exported.jsonl" } else { path };
            assert!(failure.contains(place), "{about}: it does not say where: {failure}");
            let remedies = ["make room", "choose another place", "try again", "can still be read", "look at the disk"];
            assert!(remedies.iter().any(|remedy| failure.contains(remedy)), "{about}: what is to be done? {failure}");
            let added = message.lines().find_map(|line| line.strip_suffix(", which stays; then it ended"));
            let batches = added.map_or(0, whole_batches);
            let next = last.min(batches + 1);
            let tells = |words: &str| failure.contains(words);
            let expected = match () {
                // And so it did.
                () if tells("would be lost if the power failed") && case.is_dark => batches..=next,
                () if tells("this change is there") || tells("it was made") => next..=next,
                () if tells("may or may not be there") => batches..=next,
                () if tells("all changes are there") => last..=last,
                () => batches..=batches,
            };
            assert!(states[expected].contains(&found), "{about}: {message}");
        }
    }
    // The next operation works.
    if found == State::Absent {
        case.place.stdout(create);
    }
    case.place.stdout(&format!("index add {path} later.jsonl"));
    let records = case.place.stdout(&format!("index export {path}"));
    assert!(records.contains("\"a90\""), "{about}: nothing can be added: {records}");
    match at {
        0 => Outcome::Old,
        at if at == last => Outcome::New,
        _ => Outcome::Between,
    }
}

/// `3 records added, 3 replaced` are two batches.
fn whole_batches(added: &str) -> usize {
    let numbers = added.split_whitespace().filter_map(|word| word.parse::<usize>().ok());
    numbers.sum::<usize>() / BATCH
}
