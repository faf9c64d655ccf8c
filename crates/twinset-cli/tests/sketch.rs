//! Sketches as the users of the command see them.

use crate::common::Folder;

fn generated() -> Folder {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 3000 --seed 8 --words 40 --vocabulary 4000 --duplicates 0.4 --output d.csv");
    folder
}

fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn estimates_carry_their_interval_and_verified_pairs_are_exact() {
    let folder = generated();
    let exact = folder.stdout("join d.csv --threshold 0.8");
    let estimated = folder.stdout("join d.csv --threshold 0.8 --method minhash");
    assert!(estimated.starts_with("left,right,similarity,low,high\n"));
    for row in rows(&estimated) {
        let number = |at: usize| row[at].parse::<f64>().unwrap();
        assert!(number(3) <= number(2) && number(2) <= number(4) && number(3) < number(4), "{row:?}");
    }
    let verified = folder.stdout("join d.csv --threshold 0.8 --method minhash --verify");
    let exact: std::collections::BTreeSet<&str> = exact.lines().collect();
    assert!(verified.lines().all(|row| exact.contains(row)), "a verified pair is an exact one");
    // The promise is 0.9 for pairs on the threshold.
    let (found, all) = (verified.lines().count() as f64, exact.len() as f64);
    assert!(found >= 0.9 * all - 3.0 * (all * 0.09).sqrt(), "{found} of {all}");
    let summary = String::from_utf8(folder.run("join d.csv --threshold 0.8 --method minhash").stderr).unwrap();
    assert!(summary.contains("estimates") && summary.contains("probability 0.9"), "{summary}");
    // Without a threshold the agreement is one.
    let by_agreement = folder.stdout("join d.csv --method minhash --permutations 50 --agree 40 --threads 1");
    assert_eq!(by_agreement, folder.stdout("join d.csv --method minhash --permutations 50 --agree 40 --threads 3"));
    assert_eq!(by_agreement, folder.stdout("join d.csv --method minhash --permutations 50 --agree 40 --memory 900K"));
    assert!(rows(&by_agreement).iter().all(|row| row[2].parse::<f64>().unwrap() >= 0.8));
}

#[test]
fn methods_are_also_known_by_the_names_of_the_papers() {
    let folder = generated();
    for (name, alias) in [("minhash", "sketch"), ("lsh", "labels"), ("kmv", "synopses")] {
        let pairs = |method: &str| folder.stdout(&format!("join d.csv --threshold 0.8 --method {method}"));
        assert_eq!(pairs(name), pairs(alias));
    }
}

#[test]
fn sketches_stand_for_texts_that_are_gone() {
    let folder = generated();
    let expected =
        folder.stdout("join d.csv --tokens shingles:2 --method minhash --permutations 64 --seed 5 --threshold 0.7");
    folder.stdout("sketch d.csv --tokens shingles:2 --permutations 64 --seed 5 --output d.sketch");
    std::fs::remove_file(folder.path("d.csv")).unwrap();
    assert_eq!(folder.stdout("join d.sketch --method minhash --threshold 0.7"), expected);
    folder.stdout("generate --records 300 --seed 9 --words 40 --vocabulary 4000 --output e.csv");
    folder.stdout("sketch e.csv --tokens shingles:2 --permutations 64 --seed 5 --output e.sketch");
    assert_eq!(folder.stdout("join d.sketch e.sketch --method minhash --threshold 0.7 --count"), "0\n");

    // A ranked list of ids: each that is near an earlier one goes.
    let first = &rows(&expected)[0];
    let list = format!("{}\nnobody\n{}\n{}\n", first[0], first[1], first[0]);
    std::fs::write(folder.path("ranked.txt"), list).unwrap();
    assert_eq!(
        folder.stdout("dedup ranked.txt --sketches d.sketch --threshold 0.7"),
        format!("{}\nnobody\n", first[0])
    );
    let message = |args: &str| {
        let output = folder.run(args);
        assert_eq!(
            output.status.code(),
            Some(if args.contains("join d.sketch --threshold") { 2 } else { 1 }),
            "{args}"
        );
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(message("join d.sketch --threshold 0.8").contains("--method minhash"));
    folder.stdout("sketch e.csv --tokens shingles:2 --permutations 64 --seed 6 --output f.sketch");
    let output = folder.run("join d.sketch f.sketch --method minhash --threshold 0.7");
    assert!(String::from_utf8(output.stderr).unwrap().contains("different ways"));
    let whole = std::fs::read(folder.path("d.sketch")).unwrap();
    std::fs::write(folder.path("half.sketch"), &whole[..whole.len() / 2]).unwrap();
    assert!(message("join half.sketch --method minhash --threshold 0.8").contains("not a whole file of sketches"));
}

/// Every damage is noticed, and none of it ends in a panic.
#[test]
fn a_damaged_file_is_noticed() {
    let folder = Folder::with(&[("t.txt", b"a b c\nx y z\n\n")]);
    folder.stdout("sketch t.txt --output t.sketch --permutations 3");
    let whole = std::fs::read(folder.path("t.sketch")).unwrap();
    for (byte, bit) in (0..whole.len()).step_by(7).flat_map(|byte| [(byte, 0), (byte, 3)]) {
        let mut damaged = whole.clone();
        damaged[byte] ^= 1 << bit;
        std::fs::write(folder.path("d.sketch"), damaged).unwrap();
        let output = folder.run("join d.sketch --method minhash --agree 1 --quiet");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("panicked"), "byte {byte}, bit {bit}: {message}");
        // What is left holds the same sketches, or it is refused.
        let is_harmless = output.status.success() && output.stdout == b"left,right,similarity,low,high\n";
        assert!(
            is_harmless || output.status.code().is_some_and(|code| code == 1 || code == 2),
            "byte {byte}, bit {bit}: {message}"
        );
    }
}

#[test]
fn what_sketches_cannot_do_is_refused() {
    let folder = Folder::with(&[("t.txt", b"a b\nb a\n\n")]);
    let message = |args: &str| {
        let output = folder.run(args);
        assert!(!output.status.success(), "{args}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(message("join t.txt --threshold 0.8 --method minhash --measure cosine").contains("jaccard"));
    assert!(message("join t.txt --threshold 0.8 --agree 9").contains("--method minhash"));
    assert!(message("join t.txt --threshold 0.8 --method minhash --empty").contains("--empty"));
    assert!(message("join t.txt --top 3 --method minhash").contains("--agree"));
    assert!(message("join t.txt --threshold 0 --method minhash").contains("above 0"));
    assert!(message("sketch t.txt --output t.sketch --permutations 20000").contains("1 to 10000"));
    folder.stdout("sketch t.txt --output t.sketch --permutations 20");
    assert!(message("join t.sketch --method minhash --agree 2 --permutations 30").contains("--permutations"));
    assert!(message("dedup t.sketch --threshold 0.5").contains("file of sketches"));
    assert!(message("dedup t.txt --sketches t.sketch --threshold 0.5 --stats t.sketch").contains("this is an input"));
    // The second of three letters is not another three letters.
    std::fs::write(folder.path("c.txt"), "v10 v10\nv17 v17\n").unwrap();
    assert_eq!(folder.stdout("join c.txt --method minhash --threshold 0.5 --count"), "0\n");
    assert!(message("join t.txt --threshold 0.8 --method minhash --agree 101").contains("from 1 to --permutations"));
    assert!(
        message("join t.txt --threshold 0.1 --method minhash --permutations 2 --probability 0.999").contains("more")
    );
    let groups = folder.stdout("dedup t.txt --threshold 0.8 --method minhash --permutations 10 --groups g.csv");
    assert_eq!(groups, "a b\n\n");
    assert!(folder.read("g.csv").contains("\n3,2,3,1,0.69150289"), "{}", folder.read("g.csv"));
}

#[test]
fn rejected_records_have_no_sketch_and_are_not_verified() {
    let folder = Folder::with(&[(
        "d.jsonl",
        b"{\"id\":\"a\",\"text\":\"one two three\"}\n{\"id\":\"a\",\"text\":\"four five\"}\n{\n{\"id\":\"b\",\"text\":\"three two one\"}\n\
          {\"id\":\"c\",\"text\":\"six\"}\n",
    )]);
    let expected = "left,right,similarity,low,high\na,b,1,";
    let by_text = folder.stdout("join d.jsonl --method minhash --threshold 0.9 --rejects r.csv");
    assert!(by_text.starts_with(expected) && by_text.lines().count() == 2, "{by_text}");
    folder.stdout("sketch d.jsonl --output d.sketch --rejects r.csv");
    assert_eq!(folder.stdout("join d.sketch --method minhash --threshold 0.9"), by_text);
    let verified = folder.stdout("join d.jsonl --method minhash --threshold 0.9 --verify --rejects r.csv");
    assert_eq!(verified, "left,right,similarity\na,b,1\n");
    let report = "--method minhash --verify --threshold 0.9 --rejects r.csv --count --report r.html";
    assert_eq!(folder.stdout(&format!("dedup d.jsonl {report}")), "2\n");
    assert!(folder.read("r.html").contains("\"pairs\":[1"), "{}", folder.read("r.html"));
}

#[test]
fn sketches_of_resources_know_how_these_were_described() {
    let triples = |subject: &str| format!("<http://a/{subject}> <http://a/says> \"one two three four\" .\n");
    let folder = Folder::with(&[("a.nt", triples("a").as_bytes()), ("b.nt", triples("b").as_bytes())]);
    folder.stdout("sketch a.nt --literals words --output a.sketch");
    folder.stdout("sketch b.nt --output b.sketch");
    let output = folder.run("join a.sketch b.sketch --method minhash --threshold 0.1");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("different ways"), "{message}");
    folder.stdout("sketch b.nt --literals words --output b.sketch");
    assert_eq!(folder.stdout("join a.sketch b.sketch --method minhash --threshold 0.1 --count"), "1\n");
}
