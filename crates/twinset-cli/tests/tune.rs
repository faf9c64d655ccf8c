//! `twinset tune` as its users see it.

use crate::common::Folder;

#[test]
fn every_threshold_has_the_pairs_of_a_join() {
    let folder = Folder::with(&[]);
    folder.stdout(
        "generate --records 1500 --seed 2 --words 12 --vocabulary 300 --duplicates 0.5 --output d.csv --truth t.csv",
    );
    let table = folder.stdout("tune d.csv --threshold 0.4 --truth t.csv --report r.html");
    assert!(table.starts_with("threshold,pairs,groups,removed,precision,recall,f1,left,right,similarity\n"));
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 13);
    let truth = folder.read("t.csv").lines().skip(1).map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    for row in &rows {
        let joined = folder.stdout(&format!("join d.csv --threshold {}", row[0]));
        let pairs: Vec<String> =
            joined.lines().skip(1).map(|pair| pair.rsplit_once(',').unwrap().0.to_owned()).collect();
        assert_eq!(row[1], pairs.len().to_string(), "{row:?}");
        let kept = folder.stdout(&format!("dedup d.csv --threshold {} --count", row[0]));
        assert_eq!(row[3].parse::<u64>().unwrap(), 1500 - kept.trim().parse::<u64>().unwrap(), "{row:?}");
        let hits = pairs.iter().filter(|pair| truth.contains(*pair)).count() as f64;
        let near = |cell: &str, expected: f64| (cell.parse::<f64>().unwrap() - expected).abs() < 1e-12;
        assert!(near(row[4], hits / pairs.len() as f64) && near(row[5], hits / truth.len() as f64), "{row:?}");
    }
    let page = folder.read("r.html");
    assert!(page.contains("What pairs look like") && page.contains("<ins>") && page.contains("recall"));
}

#[test]
fn two_collections_are_tuned_with_their_truth() {
    let folder = Folder::with(&[
        ("a.csv", b"id,title\n1,the quick brown fox\n2,a lazy dog\n"),
        ("b.csv", b"id,title\n1,some other thing\nx,the quick brown fox jumps\n"),
        ("truth.csv", b"left,right\n1,x\n"),
        ("wrong.csv", b"1,x\n7,x\n"),
    ]);
    let table = folder.stdout("tune a.csv b.csv --text title --truth truth.csv");
    assert!(table.contains("\n0.85,0,1,0,0,,,\n0.8,1,1,1,1,1,x,0.8000\n"), "{table}");
    let output = folder.run("tune a.csv b.csv --text title --truth wrong.csv");
    assert!(String::from_utf8(output.stderr).unwrap().contains("row 2: there is no record `7`"));
}

/// One-to-one links are tuned as one-to-one links: the figures are those of `join --best` at each threshold.
#[test]
fn best_pairs_are_tuned_as_they_are_joined() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 600 --seed 4 --words 8 --vocabulary 60 --duplicates 0.5 --edits 0.2 --output d.csv --truth t.csv");
    let docs = folder.read("d.csv");
    let lines: Vec<&str> = docs.lines().collect();
    std::fs::write(folder.path("a.csv"), format!("{}\n{}\n", lines[0], lines[1..301].join("\n"))).unwrap();
    std::fs::write(folder.path("b.csv"), format!("{}\n{}\n", lines[0], lines[301..].join("\n"))).unwrap();
    let is_left = |id: &str| id.parse::<u32>().unwrap() <= 300;
    let truth: std::collections::BTreeSet<String> = folder
        .read("t.csv")
        .lines()
        .skip(1)
        .filter_map(|row| {
            let (a, b) = row.split_once(',').unwrap();
            match (is_left(a), is_left(b)) {
                (true, false) => Some(row.to_owned()),
                (false, true) => Some(format!("{b},{a}")),
                _ => None,
            }
        })
        .collect();
    assert!(truth.len() > 20, "{}", truth.len());
    let known = format!("left,right\n{}\n", truth.iter().cloned().collect::<Vec<_>>().join("\n"));
    std::fs::write(folder.path("known.csv"), known).unwrap();
    let mut differs = false;
    for (files, truth_file) in [("a.csv b.csv", "known.csv"), ("d.csv", "t.csv")] {
        let output = folder.run(&format!("tune {files} --threshold 0.3 --truth {truth_file} --best"));
        let table = String::from_utf8(output.stdout).unwrap();
        let all = folder.stdout(&format!("tune {files} --threshold 0.3 --truth {truth_file}"));
        let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let column = |name: &str| header.iter().position(|own| *own == name).unwrap();
        let truth: std::collections::BTreeSet<String> =
            folder.read(truth_file).lines().skip(1).map(str::to_owned).collect();
        let mut best = (0.0, String::new());
        for (row, of_all) in table.lines().zip(all.lines()).skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let joined = folder.stdout(&format!("join {files} --threshold {} --best", cells[0]));
            let pairs: Vec<String> =
                joined.lines().skip(1).map(|pair| pair.rsplit_once(',').unwrap().0.to_owned()).collect();
            assert_eq!(cells[1], pairs.len().to_string(), "{files}: {row}");
            let hits = pairs.iter().filter(|pair| truth.contains(*pair)).count() as f64;
            let precision: f64 = cells[column("precision")].parse().unwrap();
            assert!(pairs.is_empty() || (precision - hits / pairs.len() as f64).abs() < 1e-12, "{files}: {row}");
            let f1: f64 = cells[column("f1")].parse().unwrap();
            if f1 > best.0 {
                best = (f1, cells[0].to_owned());
            }
            differs |= row != of_all;
        }
        let summary = String::from_utf8(output.stderr).unwrap();
        assert!(summary.contains(&format!("F1 is highest at --threshold {}: {:.3}", best.1, best.0)), "{summary}");
    }
    assert!(differs, "some record has two partners");
}

#[test]
fn settings_say_what_they_promise() {
    let folder = Folder::with(&[]);
    let curve = folder.stdout("tune curve --permutations 100 --agree 90 --report c.html");
    let at = |similarity: &str| -> f64 {
        let row = curve.lines().find(|row| row.starts_with(&format!("{similarity},"))).unwrap();
        row.split_once(',').unwrap().1.parse().unwrap()
    };
    assert!((at("0.9") - 0.583).abs() < 5e-4 && (at("0.8") - 0.0057).abs() < 5e-5);
    assert!(folder.read("c.html").contains("Sketches that agree in 90 of 100 entries"));
    let labels = folder.stdout("tune curve --trees 20 --bits 50 --probability 0.9");
    for row in labels.lines().skip(1) {
        let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[1] >= 1.0 && cells[2] >= 0.9 && cells[3] <= 20.0, "{row}");
    }
    // What an index refuses is not said to be found.
    folder.stdout("index create few --trees 2 --bits 50");
    let few = folder.stdout("tune curve --trees 2 --bits 50 --probability 0.99");
    assert!(few.starts_with("threshold,compared_bits,found,trees_needed\n"), "{few}");
    let mut refused = 0;
    for row in few.lines().skip(2) {
        let cells: Vec<&str> = row.split(',').collect();
        let query = folder.run(&format!("index query few --probability 0.99 --like x --threshold {}", cells[0]));
        assert_eq!(query.status.success(), !cells[2].is_empty(), "{row}");
        assert_eq!(cells[3].parse::<u32>().unwrap() <= 2, query.status.success(), "{row}");
        assert_eq!(cells[1] == "0", !query.status.success(), "{row}");
        refused += u32::from(!query.status.success());
    }
    assert!((20..90).contains(&refused), "{refused}");
    // Labels have 50 bits unless something else is said, as those of an index have.
    assert_eq!(folder.stdout("tune curve --trees 2 --probability 0.99"), few);
    assert_eq!(folder.stdout("tune curve --bits 50"), labels);
    assert!(!folder.run("tune curve --trees 2 --bits 65").status.success());
    assert_eq!(
        folder.stdout("tune size --error 0.05 --confidence 0.9 --threshold 0.8"),
        "error,confidence,threshold,size\n0.05,0.9,0.8,1000\n"
    );
    assert!(!folder.run("tune curve").status.success());
    assert!(!folder.run("tune size --threshold 0.8 --error 2").status.success());
}

#[test]
fn pairs_on_the_threshold_are_counted_and_directions_once() {
    // 17 common tokens of 25 each: a cosine of 0.68, whose float lies below that of 0.68.
    let words = |from: usize| (from..from + 25).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let cosine = format!("{}\n{}\n", words(0), words(8));
    let folder =
        Folder::with(&[("c.txt", cosine.as_bytes()), ("d.csv", b"id,text\na,x y z\nb,z y x\n"), ("t.csv", b"a,b\n")]);
    let table = folder.stdout("tune c.txt --measure cosine --threshold 0.68");
    assert!(table.ends_with("\n0.7,0,0,0,,,\n0.68,1,1,1,1,2,0.6800\n"), "{table}");
    let table = folder.stdout("tune d.csv --measure containment --truth t.csv --threshold 0.9");
    assert!(table.contains("\n1,1,1,1,1,1,1,a,b,1.0000\n"), "{table}");
}
