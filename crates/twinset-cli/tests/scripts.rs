//! Words in every script: Unicode forms, and scripts that are written without spaces.

use rusqlite::Connection;

use crate::common::Folder;

/// Pairs of near duplicates, one in each script, in lines 1 and 2, 3 and 4, …
const UNSPACED: &str = "\
近似重复检测帮助我们清理训练数据，并且减少存储空间。
近似重复检测帮助他们清理训练数据，并且减少存储空间。
東京都の新しい図書館は来年の春に開館する予定です。
東京都の新しい図書館は来年の秋に開館する予定です。
สะพานเก่าในเมืองนี้ถูกปิดเพื่อซ่อมแซมเป็นเวลาสองเดือน
สะพานเก่าในเมืองนี้ถูกปิดเพื่อซ่อมแซมเป็นเวลาสามเดือน
";

#[test]
fn near_duplicates_are_found_in_scripts_without_spaces() {
    let folder = Folder::with(&[("a.txt", UNSPACED.as_bytes())]);
    let pairs = |options: &str| {
        let rows = folder.stdout(&format!("join a.txt {options}"));
        let ids = rows.lines().skip(1).map(|row| row.splitn(3, ',').take(2).collect::<Vec<_>>().join(","));
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pairs("--threshold 0.7"), "1,2 3,4 5,6");
    assert_eq!(pairs("--threshold 0.4 --tokens shingles:2"), "1,2 3,4 5,6");
    assert_eq!(pairs("--threshold 0.4 --tokens shingles:2 --method kmv"), "1,2 3,4 5,6");
}

#[test]
fn letters_are_equal_however_they_are_encoded() {
    let folder = Folder::with(&[("a.txt", "Cafe\u{301} ＡＢＣ noir\nCafé abc noir\n".as_bytes())]);
    let count = |options: &str| folder.stdout(&format!("join a.txt --count {options}"));
    for tokens in ["words", "shingles:2", "qgrams:3"] {
        assert_eq!(count(&format!("--threshold 1 --tokens {tokens}")), "1\n", "{tokens}");
        assert_eq!(count(&format!("--threshold 1 --tokens {tokens} --normalize nfc")), "0\n", "{tokens}");
    }
    assert_eq!(count("--threshold 0.5 --normalize nfc"), "1\n");
    assert_eq!(count("--threshold 0.5 --normalize none"), "0\n");
    assert_eq!(count("--threshold 0.4 --tokens items"), "0\n");
    for options in ["--threshold 1 --tokens items", "--threshold 1 --tokens lines", "--threshold 1 --measure edit"] {
        let refused = folder.run(&format!("join a.txt {options} --normalize nfkc"));
        assert_eq!(refused.status.code(), Some(2), "{options}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--normalize"), "{options}");
    }
}

#[test]
fn an_index_keeps_the_form_of_its_tokens() {
    let folder = Folder::with(&[("a.txt", UNSPACED.as_bytes()), ("cafe.txt", "Café noir\n".as_bytes())]);
    for kind in ["lsh", "kmv"] {
        folder.stdout(&format!("index create {kind} --kind {kind}"));
        folder.stdout(&format!("index add {kind} a.txt"));
        let same = format!("index query {kind} a.txt --threshold 0.7 --quiet");
        assert_eq!(folder.stdout(&same).lines().count(), 1 + 12, "{kind}");
        assert_eq!(folder.stdout(&format!("{same} --normalize nfkc")).lines().count(), 1 + 12, "{kind}");
        let refused = folder.run(&format!("{same} --normalize none"));
        assert!(!refused.status.success(), "{kind}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("other token options"), "{kind}");
    }
}

/// What was made before normalization was recorded means the tokens of that time.
#[test]
fn an_index_without_a_record_of_the_form_keeps_its_tokens() {
    let folder = Folder::with(&[("a.txt", "Cafe\u{301} noir\n".as_bytes()), ("b.txt", "Café noir\n".as_bytes())]);
    folder.stdout("index create old");
    let database = Connection::open(folder.path("old/labels.sqlite")).unwrap();
    let json: String = database.query_row("SELECT json FROM settings", [], |row| row.get(0)).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&json).unwrap();
    settings.as_object_mut().unwrap().remove("checksum");
    for name in ["normalize", "segmentation"] {
        assert!(settings["tokens"].as_object_mut().unwrap().remove(name).is_some(), "{name} is recorded");
    }
    database.execute("UPDATE settings SET json = ?1", [settings.to_string()]).unwrap();
    drop(database);
    folder.stdout("index add old a.txt");
    let found = |query: &str| folder.stdout(&format!("index query old {query} --threshold 0.9")).lines().count() - 1;
    assert_eq!((found("a.txt"), found("b.txt")), (1, 0));
    assert!(!folder.run("index query old a.txt --threshold 0.9 --normalize nfkc").status.success());
    assert_eq!(found("a.txt --normalize none"), 1);
}

#[test]
fn differences_are_letters_where_there_are_no_spaces() {
    let folder = Folder::with(&[("a.txt", UNSPACED.as_bytes())]);
    let explained = folder.stdout("explain a.txt 1 2 --tokens shingles:2");
    assert!(explained.contains("检测帮助[-我-]{+他+}们清理"), "{explained}");
    // Each shingle has a line of its own.
    assert!(explained.lines().any(|line| line.trim() == "训练 数据"), "{explained}");
}
