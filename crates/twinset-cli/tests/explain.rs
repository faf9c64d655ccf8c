//! Why two records are, or are not, a pair.

use crate::common::Folder;

fn json(folder: &Folder, args: &str) -> serde_json::Value {
    serde_json::from_str(&folder.stdout(&format!("{args} --json"))).unwrap()
}

#[test]
fn a_pair_is_explained_by_its_two_records_alone() {
    let titles = "id\ttext\nx\tthe old bridge\ny\tthe old bridge was closed\nz\ta library\n";
    let folder = Folder::with(&[("a.tsv", titles.as_bytes())]);
    let explained = json(&folder, "explain a.tsv y x --threshold 0.6");
    assert_eq!((&explained["left"]["id"], &explained["right"]["id"]), (&"y".into(), &"x".into()));
    assert_eq!(explained["measures"]["jaccard"], 0.6);
    assert_eq!((&explained["verdict"]["overlap_needed"], &explained["verdict"]["pair"]), (&3.into(), &true.into()));
    assert!(explained["verdict"].get("prefix_filter").is_none() && explained["verdict"].get("algorithm").is_none());
    let verbose = json(&folder, "explain a.tsv y x --threshold 0.6 --verbose");
    assert_eq!(verbose["verdict"]["prefix_filter"]["passed"], true);
    assert_eq!(verbose["measures"], explained["measures"]);
    let missing = folder.run("explain a.tsv x 2 --threshold 0.6");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("a.tsv: there is no record `2`"));
    assert_eq!(folder.run("explain a.tsv x").status.code(), Some(2));
}

/// What comes after both records is not read, unless bad records are to be listed.
#[test]
fn reading_ends_with_the_second_record() {
    let lines = format!("{}one word\n", "some words\n".repeat(200_000));
    let folder = Folder::with(&[("a.txt", &[lines.as_bytes(), b"caf\xe9\n"].concat())]);
    assert_eq!(json(&folder, "explain a.txt 1 2")["measures"]["jaccard"], 1.0);
    assert_eq!(folder.run("explain a.txt 1 300000").status.code(), Some(1));
    folder.stdout("explain a.txt 1 2 --rejects bad.csv");
    assert!(folder.read("bad.csv").contains("200002"), "{}", folder.read("bad.csv"));
}

#[test]
fn records_of_two_files_are_explained() {
    let folder = Folder::with(&[
        ("shop.csv", b"id,text\n1,old stone bridge\n2,library\n"),
        ("other.txt", b"bridge\nold stone bridge repair\n"),
    ]);
    for verbose in ["", "--verbose"] {
        let args = format!("explain shop.csv other.txt 1 2 --measure containment --threshold 0.9 {verbose}");
        let explained = json(&folder, &args);
        assert_eq!(explained["right"]["text"], "old stone bridge repair");
        assert_eq!(explained["measures"]["containment"], 1.0);
        assert_eq!(explained["verdict"]["pair"], true, "{explained}");
        // All of the left record must be in the right one, not the other way round.
        let back = json(&folder, &args.replace("shop.csv other.txt 1 2", "other.txt shop.csv 2 1"));
        assert_eq!(back["verdict"]["pair"], false, "{back}");
    }
    assert_eq!(folder.stdout("join shop.csv other.txt --measure containment --threshold 0.9 --count"), "1\n");
    assert_eq!(folder.run("explain - - 1 2").status.code(), Some(2));
    let missing = folder.run("explain shop.csv other.txt 1 3");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("other.txt: there is no record `3`"));
}

#[test]
fn bad_records_of_both_files_are_listed() {
    let folder = Folder::with(&[("a.txt", b"caf\xe9\none\n"), ("b.txt", b"one\ncaf\xe8\n")]);
    assert_eq!(json(&folder, "explain a.txt b.txt 2 1 --rejects bad.csv")["measures"]["jaccard"], 1.0);
    let bad = folder.read("bad.csv");
    assert!(bad.contains("a.txt,1") && bad.contains("b.txt,2"), "{bad}");
}

#[test]
fn long_texts_are_shortened_around_the_differences() {
    let words = |from: u32| (from..from + 400).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let text = format!("{} left {}\n{} right {}\n", words(0), words(400), words(0), words(400));
    let folder = Folder::with(&[("a.txt", text.as_bytes())]);
    let short = folder.stdout("explain a.txt 1 2");
    assert!(short.len() < 4000 && short.contains(" w399 [-left-]{+right+} w400 "), "{short}");
    assert!(short.contains("… and 740 more"), "{short}");
    let long = folder.stdout("explain a.txt 1 2 --verbose");
    assert!(long.contains(&words(100)) && !long.contains('…'), "{long}");
    assert_eq!(json(&folder, "explain a.txt 1 2")["left"]["text"], text.lines().next().unwrap());
}
