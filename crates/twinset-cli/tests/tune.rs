//! `twinset tune` as its users see it.

mod common;

use common::Folder;

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
        assert!(cells[1] == 0.0 || cells[2] >= 0.9, "{row}");
    }
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
