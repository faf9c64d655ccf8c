//! Files that commands write: each is the new one, wholly, or what was there before.

use std::collections::BTreeMap;

use serde_json::Value;
use testbed::disk::Fault;

use super::place::Place;
use super::trial::{Case, Ending, Outcome, Trial};

#[test]
fn joins_and_sketches() {
    for file in ["pairs.csv", "pairs.jsonl", "pairs.parquet", "pairs.csv.gz", "pairs.jsonl.zst"] {
        let command = format!("join docs.jsonl --threshold 0.6 --output disk/{file} --stats disk/stats.json");
        try_one(&format!("join to {file}"), &command, &[file, "stats.json"]);
    }
    try_one("sketch", "sketch docs.jsonl --output disk/docs.sketch", &["docs.sketch"]);
    try_one("tune", "tune docs.jsonl --report disk/tune.html", &["tune.html"]);
}

#[test]
fn dedup_and_the_rest() {
    let outputs =
        "--groups disk/groups.csv --removed disk/removed.jsonl --report disk/report.html --stats disk/stats.json";
    let files = ["kept.jsonl", "groups.csv", "removed.jsonl", "report.html", "stats.json"];
    try_one("dedup", &format!("dedup docs.jsonl --threshold 0.6 --output disk/kept.jsonl {outputs}"), &files);
    let command = "dedup folder --threshold 0.6 --output disk/kept --removed disk/removed";
    try_one("dedup of a folder", command, &["kept/one.jsonl", "kept/two.jsonl", "removed/one.jsonl"]);
    let command = "profile tables --output disk/relations.csv --features disk/features.csv --report disk/profile.html";
    try_one("profile", command, &["relations.csv", "features.csv", "profile.html"]);
    try_one("profile as SQL", "profile tables --export sql --output disk/keys.sql", &["keys.sql"]);
    try_one("export", "index export news --output disk/news.jsonl.gz", &["news.jsonl.gz"]);
    let command = "generate --records 40 --words 12 --output disk/made.jsonl --truth disk/truth.csv";
    try_one("generate", command, &["made.jsonl", "truth.csv"]);
    let command = "join bad.jsonl --threshold 0.6 --rejects disk/rejects.csv --output disk/pairs.csv";
    try_one("join with rejects", command, &["rejects.csv", "pairs.csv"]);
    let command = "sketch bad.jsonl --rejects disk/rejects.csv --output disk/docs.sketch";
    try_one("sketch with rejects", command, &["rejects.csv", "docs.sketch"]);
}

#[test]
fn copies_of_every_format() {
    let place = inputs();
    place.stdout("join docs.jsonl --threshold 0.6 --show text --output docs.parquet");
    let command =
        "dedup docs.parquet --text left_text --threshold 0.3 --output disk/kept.parquet --removed disk/gone.parquet";
    try_new(&place, "dedup of parquet", command, &["kept.parquet", "gone.parquet"]);
    let texts = ["the old bridge was closed", "the old bridge was closed", "a new library opens"];
    let page = |text: &str| format!("<html><body><p>{text}</p></body></html>");
    let archived = |text: &str| {
        let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", page(text));
        let header = format!("WARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {}", page.len());
        format!("WARC/1.0\r\n{header}\r\n\r\n{page}\r\n\r\n")
    };
    let triple = |(at, text): (usize, &&str)| format!("<http://s.example/{at}> <http://p.example/> \"{text}\" .\n");
    let place = Place::with(&[
        ("docs.csv", &format!("text\n{}\n", texts.join("\n"))),
        ("docs.tsv", &format!("text\n{}\n", texts.join("\n"))),
        ("docs.txt", &texts.join("\n")),
        ("docs.warc", &texts.map(archived).concat()),
        ("docs.nt", &texts.iter().enumerate().map(triple).collect::<String>()),
        ("pages/a.html", &page(texts[0])),
        ("pages/b.html", &page(texts[1])),
        ("pages/c.html", &page(texts[2])),
    ]);
    let formats = [
        ("docs.csv", "csv.zst"),
        ("docs.tsv", "tsv"),
        ("docs.txt", "txt.gz"),
        ("docs.warc", "warc.gz"),
        ("docs.nt", "nq"),
    ];
    for (input, ending) in formats {
        let (kept, gone) = (format!("kept.{ending}"), format!("gone.{ending}"));
        let command = format!("dedup {input} --threshold 0.9 --output disk/{kept} --removed disk/{gone}");
        try_new(&place, &format!("dedup of {input}"), &command, &[&kept, &gone]);
    }
    let command = "dedup pages --threshold 0.9 --output disk/kept --removed disk/gone";
    try_new(&place, "dedup of pages", command, &["kept/a.html", "kept/c.html", "gone/b.html"]);
}

#[test]
fn answers_of_an_index() {
    let place = inputs();
    let query = "index query news docs.jsonl --threshold 0.6 --output disk/found.csv";
    try_new(&place, "index query", query, &["found.csv"]);
    let query = "index query news bad.jsonl --threshold 0.6 --rejects disk/rejects.csv --output disk/found.csv";
    try_new(&place, "index query with rejects", query, &["rejects.csv", "found.csv"]);
    try_new(&place, "index join", "index join news --threshold 0.6 --output disk/pairs.parquet", &["pairs.parquet"]);
    try_new(&place, "index count", "index count news --threshold 0.6,0.9 --output disk/count.jsonl", &["count.jsonl"]);
}

#[test]
fn backups() {
    let article =
        |at: usize| format!("{{\"url\": \"https://a.example/{at}\", \"title\": \"t{at}\", \"text\": \"word{at}\"}}\n");
    let place = Place::with(&[("articles.jsonl", &(0..20).map(article).collect::<String>())]);
    place.stdout("serve --quiet --data articles --import-only --import articles.jsonl");
    try_new(&place, "backup", "serve --data articles --backup disk/copy.sqlite", &["copy.sqlite"]);
}

#[test]
fn temporary_files() {
    let place = Place::new();
    place.stdout("generate --records 3000 --seed 3 --words 30 --vocabulary 2000 --duplicates 0.6 --output many.csv");
    let command = "join many.csv --threshold 0.6 --memory 1200K --output disk/pairs.csv";
    try_new(&place, "join in little memory", command, &["pairs.csv"]);
}

/// A stream gives its files their names at the beginning, so that what is there of them is as far as it came.
#[test]
fn a_stream() {
    let before = inputs();
    let command = "dedup bad.jsonl --stream --threshold 0.6 --output disk/kept.jsonl --removed disk/removed.jsonl --rejects disk/rejects.csv";
    let done = before.copy();
    done.stdout(command);
    let new = contents(&done);
    assert_eq!(new.len(), 3);
    Trial { name: "dedup of a stream", before: &before, command, reopen: None }.run(|case| {
        let about = &case.about;
        let mut found = contents(case.place);
        found.retain(|name, _| !name.contains(".partial"));
        match &case.ending {
            Ending::Done => assert!(found == new, "{about}: it succeeded, and not all is there"),
            Ending::Refused(message) => {
                assert!(
                    message.contains("error: disk/") && message.contains("choose another place"),
                    "{about}: {message}"
                );
            }
            Ending::Killed => {}
        }
        // Pages that were not synced may be there without those before them.
        if !matches!(case.strike.1, Fault::Reorder(_)) {
            found.iter().for_each(|(name, content)| assert!(new[name].starts_with(content), "{about}: {name}"));
        }
        match () {
            () if found == new => Outcome::New,
            () if found.values().all(Vec::is_empty) => Outcome::Old,
            () => Outcome::Between,
        }
    });
}

#[test]
fn a_profile_that_is_saved_again() {
    let before = inputs();
    before.stdout("profile tables --save disk/saved --output old.csv");
    // A column goes, and another comes.
    let rows: String = (0..30).map(|row| format!("{row},{}\n", row * 3)).collect();
    std::fs::write(before.path("tables/left.csv"), format!("id,fresh\n{rows}")).unwrap();
    let command = "profile tables --save disk/saved --output new.csv";
    let done = before.copy();
    done.stdout(command);
    let (old, new) = (saved(&before), saved(&done));
    assert!(old.contains("other") && !new.contains("other") && new.contains("fresh"), "{old} {new}");
    Trial { name: "profile: save", before: &before, command, reopen: Some("index remove disk/saved nothing") }.run(
        |case| {
            let (found, about) = (saved(case.place), &case.about);
            match &case.ending {
                Ending::Done => assert_eq!(found, new, "{about}"),
                Ending::Refused(message) if message.contains("would be lost if the power failed") && case.is_dark => {}
                Ending::Refused(message)
                    if message.contains("change is there") || message.contains("changes are there") =>
                {
                    assert_eq!(found, new, "{about}: {message}");
                }
                Ending::Refused(message) => {
                    assert_eq!(found, old, "{about}: {message}");
                    assert!(message.contains("disk/saved"), "{about}: {message}");
                }
                Ending::Killed => assert!(found == old || found == new, "{about}: {found}"),
            }
            case.place.stdout(command);
            assert_eq!(saved(case.place), new, "{about}: it cannot be saved again");
            if found == new { Outcome::New } else { Outcome::Old }
        },
    );
}

/// The names and values of features. What else is saved tells when a file was changed, and so is another in every copy.
fn saved(place: &Place) -> String {
    place.stdout("index check disk/saved");
    let lines = place.stdout("index export disk/saved");
    let plain = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        format!("{} {} {}\n", record["id"], record["tokens"], record["size"])
    };
    let mut plain: Vec<String> = lines.lines().map(plain).collect();
    plain.sort();
    plain.concat()
}

const BEFORE: &str = "what was there before\n";

fn inputs() -> Place {
    let text = |at: usize| (0..12).map(|word| format!("word{}", at / 2 * 5 + word)).collect::<Vec<_>>().join(" ");
    let line = |at: usize| format!("{{\"id\": \"r{at}\", \"text\": \"{} own{at}\"}}\n", text(at));
    let docs = |ids: std::ops::Range<usize>| ids.map(line).collect::<String>();
    let table =
        |from: usize| (0..30).map(|row| format!("{},{}\n", from + row, (from + row) * 7 % 31)).collect::<String>();
    let place = Place::with(&[
        ("docs.jsonl", &docs(0..40)),
        ("bad.jsonl", &format!("{}no JSON at all\n{}", docs(0..10), docs(10..20))),
        ("folder/one.jsonl", &docs(0..20)),
        ("folder/two.jsonl", &docs(20..40)),
        ("tables/left.csv", &format!("id,other\n{}", table(1))),
        ("tables/right.csv", &format!("key,value\n{}", table(1))),
    ]);
    place.stdout("index create news");
    place.stdout("index add news docs.jsonl");
    place
}

/// Tries a command that writes these files, where they are not there yet and where they are.
fn try_one(name: &str, command: &str, files: &[&str]) {
    let nothing = inputs();
    let something = nothing.copy();
    for file in files {
        let path = something.path("disk").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, BEFORE).unwrap();
    }
    try_new(&nothing, name, command, files);
    try_new(&something, &format!("{name}, over what is there"), command, files);
}

/// Tries a command that makes all of these files new.
fn try_new(before: &Place, name: &str, command: &str, files: &[&str]) {
    let done = before.copy();
    done.stdout(command);
    let new = contents(&done);
    for file in files {
        assert!(new.get(&format!("disk/{file}")).is_some_and(|content| content != BEFORE.as_bytes()), "{file}");
    }
    let old = contents(before);
    Trial { name, before, command, reopen: None }.run(|case| judge(case, &old, &new));
}

/// All files with what they hold, as far as it is the same in every run.
fn contents(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = std::fs::read(place.path(&name)).unwrap();
        let steady = if name.ends_with("stats.json") { without_times(&bytes) } else { None };
        (name, steady.unwrap_or(bytes))
    };
    place.files().into_iter().map(read).collect()
}

fn without_times(stats: &[u8]) -> Option<Vec<u8>> {
    let mut stats: Value = serde_json::from_slice(stats).ok()?;
    stats.as_object_mut()?.retain(|name, _| name != "seconds" && name != "peak_memory_bytes");
    Some(stats.to_string().into_bytes())
}

fn judge(case: &Case<'_>, old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Outcome {
    let about = &case.about;
    let mut found = contents(case.place);
    let partial: Vec<String> = found.keys().filter(|name| name.contains(".partial")).cloned().collect();
    partial.iter().for_each(|name| _ = found.remove(name));
    match &case.ending {
        Ending::Done => assert!(found == *new && partial.is_empty(), "{about}: it succeeded, and not all is there"),
        Ending::Refused(message) => {
            // What cannot be removed stays, and what was removed may be back after a power failure.
            let stays = case.is_dark || case.strike.1 == Fault::Gone || case.struck.starts_with("Remove");
            assert!(stays || partial.is_empty(), "{about}: {partial:?} was left");
            let failure = message.lines().find_map(|line| line.strip_prefix("error: "));
            let failure = failure.unwrap_or_else(|| panic!("{about}: no message, but {message}"));
            if failure.starts_with("a temporary file failed") {
                assert!(failure.contains("name another (TMPDIR)"), "{about}: what is to be done? {failure}");
            } else {
                assert!(failure.starts_with("disk/"), "{about}: it does not say where: {failure}");
                assert!(failure.contains("choose another place"), "{about}: what is to be done? {failure}");
            }
        }
        Ending::Killed => {}
    }
    for name in old.keys().chain(new.keys()).chain(found.keys()) {
        let is_old = found.get(name) == old.get(name);
        assert!(is_old || found.get(name) == new.get(name), "{about}: {name} is neither old nor new");
    }
    match () {
        () if found == *new => Outcome::New,
        () if found == *old => Outcome::Old,
        () => Outcome::Between,
    }
}
