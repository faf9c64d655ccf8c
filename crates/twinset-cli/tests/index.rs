//! `twinset index`: what a user sees of it.

use crate::common::Folder;

const DOCS: &str = "id,text\na,the old bridge near the mill was closed last night\nb,the old bridge near the mill was closed today\n\
                    c,dry and warm weather in the south\nd,\ne,the old bridge near the mill was closed last night\n";

fn message(folder: &Folder, command: &str) -> (Option<i32>, String) {
    let output = folder.run(command);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn records_are_added_found_and_removed() {
    let path = "news";
    let folder = Folder::with(&[
        ("docs.csv", DOCS.as_bytes()),
        ("more.csv", b"id,text\nc,the old bridge near the mill was closed today\n"),
    ]);
    let run = |command: &str| folder.stdout(&command.replace("PATH", path));
    run("index create PATH --kind labels");
    let (code, summary) = message(&folder, &format!("index add {path} docs.csv"));
    assert!(code == Some(0) && summary.contains("5 records added, 0 replaced"), "{summary}");
    let found = run("index query PATH --threshold 0.5 --id a");
    assert_eq!(found, "query,id,similarity\na,e,1\na,b,0.7272727272727273\n");
    let found = run("index query PATH --threshold 1/10 --probability 0.99 --like bridge");
    assert_eq!(found, "query,id,similarity\n-,b,0.1111111111111111\n-,a,0.1\n-,e,0.1\n");
    assert_eq!(
        run("index query PATH --threshold 0.9 docs.csv"),
        "query,id,similarity\na,a,1\na,e,1\nb,b,1\nc,c,1\ne,a,1\ne,e,1\n"
    );
    assert_eq!(
        run("index join PATH --threshold 0.6"),
        "left,right,similarity\na,b,0.7272727272727273\na,e,1\nb,e,0.7272727272727273\n"
    );
    assert_eq!(run("index count PATH --threshold 0.6,0.9"), "threshold,pairs\n0.6,3\n0.9,1\n");
    assert_eq!(run("index count PATH docs.csv --threshold 0.9"), "threshold,pairs\n0.9,6\n");
    assert_eq!(run("index count PATH --like weather --threshold 0.1"), "threshold,pairs\n0.1,1\n");
    // One that exists is replaced, and keeps its place.
    let (_, summary) = message(&folder, &format!("index add {path} more.csv"));
    assert!(summary.contains("0 records added, 1 replaced"), "{summary}");
    assert_eq!(run("index query PATH --threshold 0.9 --id b"), "query,id,similarity\nb,c,1\n");
    let (_, summary) = message(&folder, &format!("index remove {path} b nobody b"));
    assert!(summary.contains("1 record removed\n1 id not in the index"), "{summary}");
    assert_eq!(
        run("index query PATH --threshold 0.6 --id c"),
        "query,id,similarity\nc,a,0.7272727272727273\nc,e,0.7272727272727273\n"
    );
    let stats: serde_json::Value = serde_json::from_str(&run("index stats PATH --quiet")).unwrap();
    assert_eq!(
        (&stats["records"], &stats["labels"], &stats["settings"]["labels"]["trees"]),
        (&4.into(), &60.into(), &20.into())
    );
    assert_eq!(folder.run(&format!("index check {path}")).status.code(), Some(0));
    // What is exported is joined exactly.
    run("index export PATH --output out.jsonl");
    assert_eq!(
        run("join out.jsonl --text tokens --tokens items --threshold 0.6"),
        run("index join PATH --threshold 0.6")
    );
    run("index create other");
    run("index add other docs.csv");
    assert_eq!(
        run("index join PATH other --threshold 0.99"),
        "left,right,similarity\na,a,1\na,e,1\nc,b,1\ne,a,1\ne,e,1\n"
    );
    assert_eq!(run("index count PATH other --threshold 0.99"), "threshold,pairs\n0.99,5\n");
}

#[test]
fn resources_of_rdf_are_compared_by_their_terms() {
    let triples = "<http://x/a> <http://c/p> \"1\" .\n<http://x/a> <http://c/q> \"two words\" .\n<http://x/b> <http://c/p> \"1\" .\n\
                   <http://x/b> <http://c/q> \"two words\" .\n<http://x/b> <http://c/r> \"3\" .\n";
    let folder = Folder::with(&[("a.nt", triples.as_bytes())]);
    folder.stdout("index create people");
    folder.stdout("index add people a.nt");
    let found = folder.stdout("index query people --threshold 0.6 --id http://x/a");
    assert_eq!(found, "query,id,similarity\nhttp://x/a,http://x/b,0.6666666666666666\n");
    assert_eq!(folder.stdout("index query people --threshold 0.9 a.nt").lines().count(), 3);
}

/// What is added and what is asked are described alike, by the options that the index keeps.
#[test]
fn an_index_keeps_its_rdf_options() {
    let of = |who: &str, note: &str| {
        format!(
            "<http://x/{who}> <http://c/p> \"1\" .\n<http://x/{who}> <http://d/q> \"2\" .\n<http://x/{who}> <http://c/note> \"{note}\" .\n"
        )
    };
    let folder = Folder::with(&[
        ("a.nt", of("a", "first").as_bytes()),
        ("b.nt", of("b", "second").replace("http://d/q", "http://c/q").as_bytes()),
        ("map.csv", b"http://d/*,http://c/*\n"),
        ("docs.csv", b"id,text\n1,one two\n"),
    ]);
    let options = "--ignore-predicate http://c/note --map map.csv --depth 3";
    let message = |command: &str| {
        let output = folder.run(command);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (name, kind) in [("labels", "labels"), ("synopses", "synopses")] {
        for given_to in ["create", "add"] {
            let index = format!("{given_to}-{name}");
            let given = |command: &str| if command == given_to { options } else { "" };
            std::fs::write(folder.path("map.csv"), "http://d/*,http://c/*\n").unwrap();
            folder.stdout(&format!("index create {index} --kind {kind} {}", given("create")));
            folder.stdout(&format!("index add {index} a.nt {}", given("add")));
            // The rules are those that the file had then.
            std::fs::write(folder.path("map.csv"), "http://e/*,http://c/*\n").unwrap();
            let found = folder.stdout(&format!("index query {index} b.nt --threshold 1"));
            assert!(found.contains("\nhttp://x/b,http://x/a,1"), "{index}: {found}");
            assert_eq!(folder.stdout(&format!("index count {index} b.nt --threshold 1")), "threshold,pairs\n1,1\n");
            let same = format!("index query {index} b.nt --threshold 1 --ignore-predicate http://c/note --depth 3");
            let query = format!("index query {index} --threshold 1");
            for (refused, reason) in [
                (
                    format!("{same} --map map.csv"),
                    "with --map http://d/* to http://c/*, not with --map http://e/* to http://c/*",
                ),
                (format!("{query} b.nt --literals words"), "with --literals whole, not with --literals words"),
                (
                    format!("index add {index} b.nt --ignore-predicate http://c/p"),
                    "with --ignore-predicate http://c/note, not with --ignore-predicate http://c/p",
                ),
                (format!("{query} --id http://x/a --literals words"), "not with --literals words"),
                (format!("{query} --like first"), "--like gives a text"),
                (format!("index count {index} --threshold 1 --like first"), "--like gives a text"),
            ] {
                let (code, text) = message(&refused);
                assert_eq!(code, Some(2), "{refused}: {text}");
                assert!(text.contains(reason), "{text}");
            }
            // What is given, and the same, is no other option; and nothing else must be given with it.
            assert_eq!(folder.stdout(&format!("{query} b.nt --literals whole --resources roots")), found);
            std::fs::write(folder.path("map.csv"), "http://d/*,http://c/*\n").unwrap();
            assert_eq!(folder.stdout(&format!("{same} --map map.csv")), found);
            let (code, text) = message(&format!("index query {index} docs.csv --threshold 1"));
            assert!(code == Some(2) && text.contains("RDF resources"), "{text}");
        }
        let texts = format!("texts-{name}");
        folder.stdout(&format!("index create {texts} --kind {kind}"));
        folder.stdout(&format!("index add {texts} docs.csv"));
        let (code, text) = message(&format!("index add {texts} a.nt"));
        assert!(code == Some(2) && text.contains("it holds texts") && text.contains("--text"), "{text}");
        folder.stdout(&format!("index add {texts} a.nt --text p --text note"));
        let found = folder.stdout(&format!("index query {texts} --threshold 1 --like FIRST-1"));
        assert!(found.contains("\n-,http://x/a,1"), "{found}");
    }
    assert_eq!(message("index create other --allow-entities").0, Some(2));
    // An option that is the default where nothing is said is another one here.
    folder.stdout("index create words --literals words --ignore-predicate http://c/note");
    folder.stdout("index add words a.nt");
    folder.stdout("index add words b.nt --literals words");
    for (option, reason) in [
        ("--literals whole", "it was made with --literals words, not with --literals whole; leave --literals out"),
        ("--depth 1", "it was made without --depth, not with --depth 1; leave --depth out"),
    ] {
        let (code, text) = message(&format!("index add words b.nt {option}"));
        assert!(code == Some(2) && text.contains(reason), "{text}");
    }
    // Also what is said when the index is made.
    folder.stdout("index create whole --literals whole");
    assert_eq!(message("index add whole a.nt --literals words").0, Some(2));
}

#[test]
fn wrong_usage_and_damage_are_told() {
    let folder = Folder::with(&[
        ("docs.csv", DOCS.as_bytes()),
        ("plain.txt", b"one two\nthree\n"),
        ("foreign/file.txt", b"mine"),
        ("mixed.jsonl", b"{\"id\": \"2\", \"text\": \"a\"}\n{\"id\": \"\", \"text\": \"b\"}\n"),
        ("fake/labels.sqlite", &[b'x'; 5000]),
        ("old.labels", b"twinsetLxxxxxxxxxxxxxxxxxxxxxxx"),
    ]);
    folder.stdout("index create news --tokens words --trees 5 --bits 20");
    folder.stdout("index add news docs.csv");
    folder.stdout("index create items --tokens items");
    folder.stdout("index create empty");
    folder.stdout("index add items plain.txt");
    for (command, code, reason) in [
        ("index create news", 1, "exists and is not empty"),
        ("index create foreign", 1, "exists and is not empty"),
        ("index create old.labels", 1, "this is a file"),
        ("index add items mixed.jsonl", 2, "has no id"),
        ("index add empty mixed.jsonl", 2, "some records have ids and others do not"),
        ("index create x --trees 0", 2, "a number of trees"),
        ("index create x --bits 65", 2, "a number of bits"),
        ("index create x --kind other", 2, "[possible values: lsh, kmv]"),
        ("index create x --tokens lines --stem english", 2, "is not"),
        ("index stats foreign", 1, "there is no index in this folder"),
        ("index stats absent", 1, "twinset index create"),
        ("index stats fake", 1, "damaged"),
        ("index stats old.labels", 1, "create one in a folder and add the records again"),
        ("index add news plain.txt", 2, "record 1 has no id of its own, and the index has records already"),
        ("index add news docs.csv --tokens qgrams:3", 1, "made with other token options"),
        ("index query news --threshold 0.5 --id nobody", 2, "there is no record `nobody`"),
        ("index query news --threshold 0.5", 2, "near duplicates of what?"),
        ("index query news --threshold 2 --id a", 2, "the threshold 2"),
        ("index query news --threshold 0.5 --id a --probability 1", 2, "a probability between 0 and 1"),
        (
            "index query news --threshold 0.01 --id a --probability 0.999",
            2,
            "5 trees cannot find pairs on that threshold with that probability: it takes 10",
        ),
        ("index query news --threshold 0.5 --like x --tokens lines", 1, "made with other token options"),
        (
            "index join news items --threshold 0.5",
            1,
            "its token options, RDF options or seed differ from those of items",
        ),
        ("index query news --threshold 0.5 docs.csv --output docs.csv", 2, "this is an input"),
        ("index export news --output news/labels.sqlite", 2, "lies in the index"),
        ("index stats redis://me:secret@host/db", 2, "begin with postgres:// or mysql://"),
        (
            "index stats postgres://me:secret@127.0.0.1:1/db",
            1,
            "postgres://me@127.0.0.1:1/db?index=twinset: the database does not answer",
        ),
        (
            "index stats mysql://me:secret@127.0.0.1:1/db?index=a",
            1,
            "mysql://me@127.0.0.1:1/db?index=a: the database does not answer",
        ),
        ("index stats mysql://me:secret@127.0.0.1:1/db?index=A;B", 2, "cannot be the name of an index"),
    ] {
        let (actual, text) = message(&folder, command);
        assert!(actual == Some(code) && text.contains(reason), "{command}: {actual:?} {text}");
        assert!(!text.contains("secret"), "{command}: {text}");
    }
    assert_eq!(folder.stdout("index query news --threshold 0.5 --like bridge --tokens words"), "query,id,similarity\n");
    // A bad record ends the addition; what was added before stays, and the message says so.
    let mut broken = "{\"id\": \"x\", \"text\": \"one\"}\n".to_owned();
    broken += &(0..30_000)
        .map(|n| {
            format!("{{\"id\": \"x{n}\", \"text\": \"some words {n} and many more of them to fill the block\"}}\n")
        })
        .collect::<String>();
    broken += "{\n";
    std::fs::write(folder.path("broken.jsonl"), broken).unwrap();
    let (code, text) = message(&folder, "index add news broken.jsonl --batch 1000");
    assert!(
        code == Some(1) && text.contains("broken.jsonl:30002") && text.contains("which stays; then it ended"),
        "{text}"
    );
    let stays: u64 = text.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    let stats: serde_json::Value = serde_json::from_str(&folder.stdout("index stats news")).unwrap();
    assert_eq!(stats["records"], stays + 5);
    assert!(stays.is_multiple_of(1000));
}

#[test]
fn changes_that_were_lost_are_told() {
    let folder = Folder::with(&[("docs.csv", DOCS.as_bytes())]);
    folder.stdout("index create news");
    folder.stdout("index add news docs.csv");
    let older = std::fs::read(folder.path("news/labels.sqlite")).unwrap();
    let find = "index query news --threshold 1 --id a";
    folder.stdout("index remove news e");
    assert_eq!(folder.stdout(find), "query,id,similarity\n");
    std::fs::write(folder.path("news/labels.sqlite"), older).unwrap();
    for command in [find, "index check news", "index add news docs.csv"] {
        let (code, text) = message(&folder, command);
        assert!(code == Some(1) && text.contains("change 3 was acknowledged, and it has only come to 2"), "{text}");
    }
    std::fs::remove_file(folder.path("news/labels.watermark")).unwrap();
    assert_eq!(folder.stdout(find), "query,id,similarity\na,e,1\n");
}

#[test]
fn newer_and_damaged_indexes_are_noticed() {
    let folder = Folder::with(&[("docs.csv", DOCS.as_bytes())]);
    folder.stdout("index create news");
    folder.stdout("index add news docs.csv");
    let database = rusqlite::Connection::open(folder.path("news/labels.sqlite")).unwrap();
    database.execute("DELETE FROM labels WHERE tree = 3 AND record = 2", []).unwrap();
    let output = folder.run("index check news");
    let told = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && told.contains("1 labels of record `b` are missing"), "{told}");
    assert!(told.contains("restore it from a copy"), "{told}");
    database.execute("UPDATE settings SET json = replace(json, '\"version\":1', '\"version\":9')", []).unwrap();
    let (code, text) = message(&folder, "index stats news");
    assert!(code == Some(1) && text.contains("written by a newer version of twinset (format 9"), "{text}");
    // One bit of a token hash.
    folder.stdout("index create bits");
    folder.stdout("index add bits docs.csv");
    let database = rusqlite::Connection::open(folder.path("bits/labels.sqlite")).unwrap();
    let tokens: Vec<u8> =
        database.query_row("SELECT tokens FROM records WHERE id = 'b'", [], |row| row.get(0)).unwrap();
    for at in 0..tokens.len() {
        let mut changed = tokens.clone();
        changed[at] ^= 1 << (at % 8);
        database.execute("UPDATE records SET tokens = ?1 WHERE id = 'b'", [changed]).unwrap();
        let (code, text) = message(&folder, "index check bits");
        assert!(code == Some(1) && text.contains("a record is damaged"), "{at}: {text}");
    }
    // A number that leads back, which would be followed for ever: it stands before the five bytes that tell what a record has.
    let more = "id,text\nunmistakable,the old bridge near the mill was closed\n";
    std::fs::write(folder.path("more.csv"), more).unwrap();
    folder.stdout("index create back");
    folder.stdout("index add back docs.csv");
    folder.stdout("index add back more.csv");
    let mut bytes = std::fs::read(folder.path("back/labels.sqlite")).unwrap();
    let names = bytes.windows(12).enumerate().filter(|(_, window)| *window == b"unmistakable").map(|(at, _)| at);
    let record = names.into_iter().find(|at| bytes[at - 5] == 5 && bytes[at - 6] > 1).unwrap();
    bytes[record - 6] = 1;
    std::fs::write(folder.path("back/labels.sqlite"), bytes).unwrap();
    for command in ["index check back", "index export back"] {
        let (code, text) = message(&folder, command);
        assert!(code == Some(1) && text.contains("damaged"), "{command}: {text}");
    }
}

#[test]
fn kinds_are_known_by_the_names_of_the_field_and_of_the_papers() {
    let folder = Folder::with(&[("a.txt", b"the old bridge is closed\n")]);
    for (kind, alias) in [("lsh", "labels"), ("kmv", "synopses")] {
        for name in [kind, alias] {
            folder.stdout(&format!("index create {name} --kind {name}"));
            folder.stdout(&format!("index add {name} a.txt"));
        }
        let hits = |name: &str| folder.stdout(&format!("index query {name} --like closed --threshold 0.1"));
        assert_eq!(hits(kind), hits(alias));
        assert_eq!(hits(kind).lines().count(), 2, "{kind}");
    }
}
