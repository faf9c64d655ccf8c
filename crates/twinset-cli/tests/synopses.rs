//! `twinset index --kind synopses` and `--method kmv`: what a user sees of them.

use std::collections::BTreeMap;

use crate::common::Folder;

const DOCS: &str = "id,text\na,the old bridge near the mill was closed last night\nb,the old bridge near the mill was closed today\n\
                    c,dry and warm weather in the south\nd,\ne,the old bridge near the mill was closed last night\n";

fn message(folder: &Folder, command: &str) -> (Option<i32>, String) {
    let output = folder.run(command);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn records_are_added_found_and_removed() {
    let folder = Folder::with(&[
        ("docs.csv", DOCS.as_bytes()),
        ("more.csv", b"id,text\nc,the old bridge near the mill was closed today\n"),
    ]);
    let run = |command: &str| folder.stdout(command);
    run("index create news --kind synopses");
    let (code, summary) = message(&folder, "index add news docs.csv");
    assert!(code == Some(0) && summary.contains("5 records added, 0 replaced"), "{summary}");
    // All have fewer tokens than a synopsis has values, so nothing is an estimate.
    let of_a =
        "query,id,similarity,low,high\na,e,1,1,1\na,b,0.7272727272727273,0.7272727272727273,0.7272727272727273\n";
    for way in ["", " --algorithm or", " --algorithm frontier", " --algorithm pivot", " --algorithm optimistic"] {
        assert_eq!(run(&format!("index query news --threshold 0.5 --id a{way}")), of_a);
        let joined = rows(&run(&format!("index join news --threshold 0.6{way}")));
        let pairs: Vec<String> = joined.iter().map(|row| row[..3].join(" ")).collect();
        assert_eq!(pairs, ["a b 0.7272727272727273", "a e 1", "b e 0.7272727272727273"]);
    }
    assert_eq!(
        run("index query news --threshold 1/2 --measure containment --like bridge"),
        "query,id,similarity,low,high\n-,a,1,1,1\n-,b,1,1,1\n-,e,1,1,1\n"
    );
    assert_eq!(
        run("index query news --threshold 2 --measure hamming --id a"),
        "query,id,distance,low,high\na,e,0,0,0\n"
    );
    assert_eq!(run("index count news --threshold 0.6,0.9"), "threshold,pairs\n0.6,3\n0.9,1\n");
    assert_eq!(run("index count news --threshold 0.6,0.9 --algorithm or"), "threshold,pairs\n0.6,3\n0.9,1\n");
    assert_eq!(run("index count news docs.csv --threshold 0.9"), "threshold,pairs\n0.9,6\n");
    assert_eq!(run("index count news --like weather --threshold 0.1"), "threshold,pairs\n0.1,1\n");
    // The whole curve: each pair counts up to its similarity.
    let curve = rows(&run("index count news"));
    assert_eq!(curve.len(), 20);
    assert_eq!((curve[13][1].as_str(), curve[14][1].as_str(), curve[19][0].as_str()), ("3", "1", "1"));
    // Conditions together: 8 common tokens of 11, and 10 of 10.
    assert_eq!(rows(&run("index join news --threshold 0.6 --min-overlap 9")).len(), 1);
    let (_, summary) = message(&folder, "index add news more.csv");
    assert!(summary.contains("0 records added, 1 replaced"), "{summary}");
    assert_eq!(run("index query news --threshold 0.9 --id b"), "query,id,similarity,low,high\nb,c,1,1,1\n");
    let (_, summary) = message(&folder, "index remove news b nobody b");
    assert!(summary.contains("1 record removed\n1 id not in the index"), "{summary}");
    assert_eq!(rows(&run("index query news --threshold 0.6 --id c")).len(), 2);
    let stats: serde_json::Value = serde_json::from_str(&run("index stats news")).unwrap();
    assert_eq!((&stats["records"], &stats["size"], &stats["complete"]), (&4.into(), &128.into(), &1.0.into()));
    // The texts of a, c and e.
    let texts = ["the old bridge near the mill was closed last night", "the old bridge near the mill was closed today"];
    assert_eq!(stats["input_bytes"], 2 * texts[0].len() + texts[1].len());
    assert!(stats["bytes"].as_u64().unwrap() > 1000);
    assert_eq!(folder.run("index check news").status.code(), Some(0));
    run("index create other --kind synopses --size 64");
    run("index add other docs.csv");
    assert_eq!(rows(&run("index join news other --threshold 0.99")).len(), 5);
    assert_eq!(run("index count news other --threshold 0.99"), "threshold,pairs\n0.99,5\n");
    let exported = run("index export news");
    let line: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!((&line["id"], &line["complete"], &line["size"]), (&"a".into(), &true.into(), &10.into()));
}

#[test]
fn values_are_merged_and_fields_are_kept() {
    let values = "column,value,table\norders.id,1,orders\norders.id,2,orders\nlines.order,2,lines\norders.id,3,orders\nlines.order,3,lines\n\
                  lines.order,2,lines\n";
    let folder =
        Folder::with(&[("values.csv", values.as_bytes()), ("more.csv", b"column,value,table\nlines.order,1,all\n")]);
    folder.stdout("index create columns --kind synopses --tokens items --repeats ignore");
    // One value at a time, so that a record is made of several additions.
    let add = "index add columns values.csv --id column --text value --merge --field table --batch 2";
    let (code, summary) = message(&folder, add);
    assert!(code == Some(0) && summary.contains("2 records added, 4 merged with others"), "{summary}");
    let query = "index query columns --threshold 0.5 --id orders.id --show table";
    assert_eq!(
        folder.stdout(query),
        "query,id,similarity,low,high,table\norders.id,lines.order,0.6666666666666666,0.6666666666666666,0.6666666666666666,lines\n"
    );
    folder.stdout("index add columns more.csv --id column --text value --merge --field table");
    assert_eq!(folder.stdout(query), "query,id,similarity,low,high,table\norders.id,lines.order,1,1,1,all\n");
    let check = "index join columns --threshold 1 --originals values.csv --id column --text value";
    assert!(
        message(&folder, check).1.contains("is not what was added"),
        "the originals do not have what was added later"
    );
    let check = "index query columns --threshold 1 --id orders.id --originals values.csv --originals more.csv --originals-id column --text value";
    assert_eq!(folder.stdout(check), "query,id,similarity\norders.id,lines.order,1\n");
}

#[test]
fn estimates_are_checked_against_the_originals() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 600 --words 120 --duplicates 0.5 --seed 3 --output docs.csv");
    folder.stdout("index create docs --kind synopses --size 48");
    folder.stdout("index add docs docs.csv --batch 100");
    let table = |text: &str| -> BTreeMap<(String, String), f64> {
        rows(text).into_iter().map(|row| ((row[0].clone(), row[1].clone()), row[2].parse().unwrap())).collect()
    };
    let exact = table(&folder.stdout("join docs.csv --threshold 0.85"));
    assert!(exact.len() > 200);
    let estimated = table(&folder.stdout("index join docs --threshold 0.85"));
    assert_ne!(estimated, exact);
    // Whatever is checked is exact, and with a recall asked for little is missed.
    for (options, least) in [("", 0.5), (" --recall 0.99", 0.985)] {
        let checked = table(&folder.stdout(&format!("index join docs --threshold 0.85 --originals docs.csv{options}")));
        assert!(checked.iter().all(|(pair, value)| exact.get(pair) == Some(value)));
        assert!(checked.len() as f64 >= least * exact.len() as f64, "{} of {}", checked.len(), exact.len());
    }
    // The number of threads changes no byte.
    for command in [
        "index join docs --threshold 0.7",
        "index join docs --threshold 0.7 --algorithm pivot",
        "index query docs docs.csv --threshold 0.7",
        "index count docs",
        "join docs.csv --threshold 0.7 --method kmv --size 48",
    ] {
        let of = |threads: u32| folder.stdout(&format!("{command} --threads {threads}"));
        assert_eq!(of(1), of(3), "{command}");
    }
    // Two indexes with the same ids for different records.
    let lines = folder.read("docs.csv");
    let (header, records) = lines.split_once('\n').unwrap();
    let reversed: Vec<String> = records
        .lines()
        .rev()
        .enumerate()
        .map(|(at, line)| format!("{},{}", at + 1, line.split_once(',').unwrap().1))
        .collect();
    std::fs::write(folder.path("reversed.csv"), format!("{header}\n{}\n", reversed.join("\n"))).unwrap();
    folder.stdout("index create reversed --kind synopses --size 32");
    folder.stdout("index add reversed reversed.csv");
    let exact_of_two = table(&folder.stdout("join docs.csv reversed.csv --threshold 0.9"));
    let command = "index join docs reversed --threshold 0.9 --recall 0.99 --originals docs.csv";
    assert!(message(&folder, command).1.contains("give --originals twice"));
    let checked = table(&folder.stdout(&format!("{command} --originals reversed.csv")));
    assert!(checked.iter().all(|(pair, value)| exact_of_two.get(pair) == Some(value)));
    assert!(checked.len() as f64 >= 0.985 * exact_of_two.len() as f64, "{} of {}", checked.len(), exact_of_two.len());
    // A record that was replaced is what came last.
    std::fs::write(folder.path("twice.csv"), "id,text\na,one two three\nb,one two four\na,one two four\n").unwrap();
    folder.stdout("index create twice --kind synopses");
    folder.stdout("index add twice twice.csv --batch 1");
    assert_eq!(
        folder.stdout("index join twice --threshold 0.9 --originals twice.csv"),
        "left,right,similarity\na,b,1\n"
    );
    // The same for one record, and for the pairs of a join by synopses.
    let of_one = |id: &str| exact.keys().filter(|(left, right)| left == id || right == id).count();
    let busiest = (1..=600).map(|id| id.to_string()).max_by_key(|id| of_one(id)).unwrap();
    let query = format!("index query docs --threshold 0.85 --id {busiest} --originals docs.csv --recall 0.999");
    assert_eq!(rows(&folder.stdout(&query)).len(), of_one(&busiest));
    let verified =
        table(&folder.stdout("join docs.csv --threshold 0.85 --method kmv --size 48 --probability 0.99 --verify"));
    assert!(verified.iter().all(|(pair, value)| exact.get(pair) == Some(value)));
    assert!(verified.len() as f64 >= 0.985 * exact.len() as f64);
    let (_, summary) = message(&folder, "join docs.csv --threshold 0.85 --method kmv --size 48 --count");
    assert!(summary.contains("found with probability 0.9"), "{summary}");
}

#[test]
fn joins_and_dedups_by_synopses_are_exact_where_they_hold_all_tokens() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 400 --words 12 --vocabulary 300 --duplicates 0.5 --seed 5 --output docs.csv");
    folder.stdout("generate --records 100 --words 12 --vocabulary 300 --duplicates 0.5 --seed 5 --output other.csv");
    for (measure, threshold) in [
        ("jaccard", "0.6"),
        ("cosine", "0.7"),
        ("dice", "0.7"),
        ("overlap", "6"),
        ("containment", "0.8"),
        ("hamming", "4"),
    ] {
        for sides in ["docs.csv", "docs.csv other.csv"] {
            let exact = rows(&folder.stdout(&format!("join {sides} --measure {measure} --threshold {threshold}")));
            let command = format!("join {sides} --measure {measure} --threshold {threshold} --method kmv");
            let estimated = rows(&folder.stdout(&command));
            assert!(!exact.is_empty());
            assert_eq!(exact.len(), estimated.len(), "{command}");
            for (exact, estimated) in exact.iter().zip(&estimated) {
                assert_eq!(exact[..3], estimated[..3], "{command}");
                assert_eq!((&estimated[2], &estimated[2]), (&estimated[3], &estimated[4]));
            }
        }
    }
    for options in ["", " --link representative --keep longest", " --against other.csv", " --top 5"] {
        let command = format!("dedup docs.csv --threshold 0.6{options} --output kept.csv --groups groups.csv");
        folder.stdout(&command);
        let (kept, groups) = (folder.read("kept.csv"), rows(&folder.read("groups.csv")));
        folder.stdout(&format!("{command} --method kmv --report report.html"));
        assert_eq!(folder.read("kept.csv"), kept, "{options}");
        let estimated = rows(&folder.read("groups.csv"));
        assert!(groups.iter().zip(&estimated).all(|(exact, estimated)| exact[..4] == estimated[..4]), "{options}");
    }
    // Fewer values than tokens: whatever is verified is exact, in the direction of its row.
    for (measure, threshold) in [("jaccard", "0.1"), ("containment", "0.7"), ("cosine", "0.6"), ("hamming", "3")] {
        let exact = rows(&folder.stdout(&format!("join docs.csv --measure {measure} --threshold {threshold}")));
        let command =
            format!("join docs.csv --measure {measure} --threshold {threshold} --method kmv --size 4 --verify");
        let verified = rows(&folder.stdout(&command));
        assert!(!verified.is_empty() && verified.iter().all(|row| exact.contains(row)), "{command}");
    }
    assert_eq!(
        folder.stdout("join docs.csv --top 7"),
        folder.stdout("join docs.csv --top 7 --threshold 0.3 --method kmv --verify"),
    );
    let top =
        |command: &str| rows(&folder.stdout(command)).into_iter().map(|row| row[..3].to_vec()).collect::<Vec<_>>();
    assert_eq!(top("join docs.csv --top 7"), top("join docs.csv --top 7 --method kmv"));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let folder = Folder::with(&[("docs.csv", DOCS.as_bytes()), ("foreign/readme.txt", b"no index")]);
    folder.stdout("index create news --kind synopses");
    folder.stdout("index add news docs.csv");
    folder.stdout("index create labels");
    for (command, code, reason) in [
        ("index create a --kind synopses --size 0", 2, "2 to 1000000"),
        ("index create a --kind synopses --size 1", 2, "2 to 1000000"),
        ("index create a --kind synopses --trees 3", 2, "--kind labels"),
        ("index create a --size 64", 2, "--kind synopses"),
        ("index create foreign --kind synopses", 1, "not empty"),
        ("index add foreign docs.csv", 1, "no index"),
        ("index query news --threshold 0.8 --probability 0.9 --id a", 2, "--recall"),
        ("index query news --threshold 0.8 --size 256 --id a", 2, "128 values"),
        ("index query news --threshold 0.8 --size 1 --id a", 2, "2 to 1000000"),
        ("index query news --threshold 2 --measure edit --id a", 2, "all but edit"),
        ("index query news --threshold 0.8 --recall 0.9 --id a", 2, "--originals"),
        (
            "index query news --threshold 0.8 --measure cosine --recall 0.9 --originals docs.csv --id a",
            2,
            "jaccard or dice",
        ),
        (
            "index query news --threshold 0.8 --measure containment --algorithm optimistic --id a",
            2,
            "leave out --algorithm",
        ),
        ("index query news --threshold 0.8 --id nobody", 2, "no record `nobody`"),
        ("index query labels --threshold 0.8 --measure dice --id a", 2, "indexes of synopses"),
        ("index add labels docs.csv --merge", 2, "--kind synopses"),
        ("index join news labels --threshold 0.8", 2, "make both alike"),
        ("index count news news --id a --threshold 0.8", 2, "and not both"),
        ("index query news --threshold 0.8 --id a --originals docs.csv --output docs.csv", 2, "name another file"),
        (
            "index query news --threshold 0.8 --id a --originals docs.csv --recall 0.9 --algorithm optimistic",
            2,
            "leave out --algorithm",
        ),
        ("join docs.csv --threshold 0.8 --method kmv --trees 3", 2, "--method lsh"),
        ("join docs.csv --threshold 0.8 --method minhash --size 3", 2, "--method kmv"),
        ("index query news --threshold 0.8 --id a --show low", 2, "already"),
        ("index join news news --threshold 0.8 --output news/x.csv", 2, "lies in the index"),
        ("index export news --output news/x.jsonl", 2, "lies in the index"),
        ("index count labels", 2, "Give a threshold"),
        ("index join news --threshold 0.8 --output news/meta.json", 2, "name another file"),
        ("join docs.csv --threshold 0.8 --method kmv --agree 3", 2, "--agree are for --method minhash"),
        ("join docs.csv --threshold 0.8 --method kmv --size 1", 2, "2 to 1000000"),
        ("join docs.csv --threshold 2 --method kmv --measure edit", 2, "all but edit"),
        ("join docs.csv --threshold 0.8 --size 64", 2, "--method"),
        ("join docs.csv --top 3 --method kmv --verify", 2, "give --threshold"),
        ("join docs.csv --threshold 0.8 --method kmv --memory 1G", 2, "leave out --memory"),
        ("dedup docs.csv --threshold 0.8 --method kmv --stream", 2, "--stream"),
    ] {
        let (found, text) = message(&folder, command);
        assert_eq!((found, text.contains(reason)), (Some(code), true), "{command}: {text}");
    }
    folder.stdout("index create seeded --kind synopses --seed 5");
    let (_, text) = message(&folder, "index join news seeded --threshold 0.8");
    assert!(text.contains("seed differ"), "{text}");
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_last_state() {
    let folder = Folder::with(&[("docs.csv", DOCS.as_bytes())]);
    folder.stdout("index create news --kind synopses");
    folder.stdout("index add news docs.csv");
    folder.stdout("generate --records 5000 --words 60 --output many.csv");
    let many = folder.read("many.csv").replace("\n", "\nmany-").replace("many-id", "id");
    std::fs::write(folder.path("many.csv"), many.trim_end_matches("many-")).unwrap();
    // No file may become larger than 100 blocks, and the signal that tells so is ignored, as that of a full disk is none.
    let program = assert_cmd::cargo::cargo_bin!("twinset");
    let script = format!("trap '' XFSZ; ulimit -f 100; exec {} index add news many.csv", program.display());
    let output = std::process::Command::new("sh").arg("-c").arg(script).current_dir(folder.path("")).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("cannot be written") && text.contains("the last state can still be read"), "{text}");
    assert_eq!(folder.run("index check news").status.code(), Some(0));
    assert_eq!(rows(&folder.stdout("index join news --threshold 0.6")).len(), 3);
    // And with room it goes on.
    let (_, summary) = message(&folder, "index add news many.csv");
    assert!(summary.contains("5,000 records added"), "{summary}");
}

#[test]
fn identical_records_are_streamed() {
    let text: String = (0..3000).map(|id| format!("{{\"id\": \"{id}\", \"text\": \"the same words\"}}\n")).collect();
    let folder = Folder::with(&[("same.jsonl", text.as_bytes())]);
    folder.stdout("index create same --kind synopses --size 2");
    folder.stdout("index add same same.jsonl");
    assert_eq!(folder.stdout("index count same --threshold 0.9"), "threshold,pairs\n0.9,4498500\n");
    // All pairs together would take more than this.
    let program = assert_cmd::cargo::cargo_bin("twinset");
    let join = "index join same --threshold 0.9 --output pairs.csv";
    let script = format!("ulimit -d 50000; exec {} {join}", program.display());
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.read("pairs.csv").lines().count(), 4_498_501);
}

#[test]
fn made_up_columns_have_the_overlaps_that_are_told() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --kind tables --records 300 --seed 2 --output columns.jsonl --truth truth.csv");
    folder.stdout("index create columns --kind synopses --size 1000000 --tokens items");
    folder.stdout("index add columns columns.jsonl --merge");
    let joined = rows(&folder.stdout("index join columns --threshold 0.3"));
    let found: BTreeMap<(&str, &str), &str> =
        joined.iter().map(|row| ((row[0].as_str(), row[1].as_str()), row[2].as_str())).collect();
    let truth = rows(&folder.read("truth.csv"));
    let alike: Vec<_> = truth.iter().filter(|row| row[2].parse::<f64>().unwrap() >= 0.3).collect();
    assert!(alike.len() > 30);
    for row in alike {
        assert_eq!(found.get(&(row[0].as_str(), row[1].as_str())), Some(&row[2].as_str()), "{row:?}");
    }
}

#[test]
fn damage_is_told_and_never_a_panic() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 300 --words 40 --output docs.csv");
    folder.stdout("index create docs --kind synopses --size 16");
    folder.stdout("index add docs docs.csv");
    let files: Vec<_> = std::fs::read_dir(folder.path("docs")).unwrap().map(|file| file.unwrap().path()).collect();
    let mut noticed = 0;
    for file in files.iter().filter(|file| file.metadata().unwrap().len() > 0) {
        let whole = std::fs::read(file).unwrap();
        for place in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x40;
            std::fs::write(file, bytes).unwrap();
            let (checked, text) = message(&folder, "index check docs");
            assert!(!text.contains("stack backtrace") && checked.is_some_and(|code| code <= 2), "{text}");
            noticed += u32::from(checked == Some(1));
            for command in ["index query docs docs.csv --threshold 0.8 -q", "index stats docs", "index export docs -q"]
            {
                let (code, text) = message(&folder, command);
                assert!(
                    code == Some(0) || code == Some(1) && text.starts_with("error: "),
                    "{command}: {code:?} {text}"
                );
            }
        }
        std::fs::write(file, &whole).unwrap();
    }
    assert_eq!(folder.run("index check docs").status.code(), Some(0));
    assert!(noticed > 25, "{noticed}");
}
