//! `twinset dedup` as its users see it.

use crate::common::Folder;

const DOCS: &[u8] = b"id,stars,text\n\
    a,3,the quick brown fox jumps over the lazy dog\n\
    b,9,\"The quick brown fox, jumps over the lazy dog\"\n\
    c,5,something else entirely\n\
    d,1,the quick brown fox jumps over the lazy dog today\n\
    e,2,the quick brown fox jumps over the lazy dog\n";

#[test]
fn keeps_one_of_each_group_as_it_stood() {
    let folder = Folder::with(&[("d.csv", DOCS)]);
    let kept = |options: &str| {
        let threshold = if options.contains("edit") { "1" } else { "0.8" };
        let kept = folder.stdout(&format!("dedup d.csv --text text --threshold {threshold} --quiet {options}"));
        kept.lines().skip(1).map(|line| line[..1].to_owned()).collect::<String>()
    };
    assert_eq!(kept(""), "ac");
    assert_eq!(kept("--keep longest"), "cd");
    assert_eq!(kept("--keep max:stars"), "bc");
    assert_eq!(kept("--keep min:stars"), "cd");
    assert_eq!(kept("--link representative"), "ac");
    assert_eq!(kept("--same stars"), "abcde");
    assert_eq!(kept("--measure edit"), "abcd");
    assert_eq!(folder.stdout("dedup d.csv --text text --threshold 0.8 --count"), "2\n");

    folder.stdout("dedup d.csv --text text --threshold 0.8 --output k.csv --removed r.csv --groups g.csv --show stars");
    assert_eq!(
        folder.read("k.csv"),
        "id,stars,text\na,3,the quick brown fox jumps over the lazy dog\nc,5,something else entirely\n"
    );
    assert!(folder.read("r.csv").contains("b,9,\"The quick brown fox, jumps over the lazy dog\"\n"));
    assert_eq!(
        folder.read("g.csv"),
        "record,group,representative,similarity,stars\na,1,a,1,3\nb,1,a,1,9\nc,2,c,1,5\nd,1,a,0.9,1\ne,1,a,1,2\n"
    );
    let again = folder.stdout("dedup k.csv --text text --threshold 0.8");
    assert_eq!(again, folder.read("k.csv"));
}

#[test]
fn standard_input_goes_through_as_it_came() {
    let folder = Folder::with(&[]);
    let run = |args: &str, input: &[u8]| folder.command(args).write_stdin(input).output().unwrap().stdout;
    assert_eq!(run("dedup - --threshold 0.5 --quiet", b"a b c\r\na b d\r\nx y\r\n"), b"a b c\r\nx y\r\n");
    let input = b"{\"text\": \"a b\"}\n\n{\"text\":\"b a\", \"n\": 1e3}\n{\"text\":\"z\"}";
    assert_eq!(run("dedup - --format jsonl --threshold 1 --quiet", input), b"{\"text\": \"a b\"}\n\n{\"text\":\"z\"}");
    let csv = String::from_utf8(run("dedup - --format csv --threshold 1 --quiet", DOCS)).unwrap();
    assert_eq!(csv.lines().map(|line| &line[..2]).collect::<Vec<_>>(), ["id", "a,", "c,", "d,"]);
}

#[test]
fn a_folder_becomes_a_folder_of_the_same_names() {
    let zst = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let folder = Folder::with(&[
        ("in/b.jsonl", b"{\"text\":\"a b c\"}\n"),
        ("in/a/x.jsonl.zst", &zst("{\"text\":\"a b c\"}\n{\"text\":\"q\"}\n")),
        ("in/notes.md", b"not read"),
    ]);
    folder.stdout("dedup in --threshold 1 --output out --removed gone");
    let opened = |name: &str| {
        String::from_utf8(zstd::decode_all(&std::fs::read(folder.path(name)).unwrap()[..]).unwrap()).unwrap()
    };
    assert_eq!(opened("out/a/x.jsonl.zst"), "{\"text\":\"a b c\"}\n{\"text\":\"q\"}\n");
    assert_eq!(folder.read("out/b.jsonl"), "");
    assert_eq!(folder.read("gone/b.jsonl"), "{\"text\":\"a b c\"}\n");
    let message = |args: &str| String::from_utf8(folder.run(args).stderr).unwrap();
    assert!(message("dedup in --threshold 1").contains("name a folder"));
    assert!(message("dedup in --threshold 1 --output in").contains("this is an input"));
    assert!(message("dedup in/b.jsonl --threshold 1 --output k.csv").contains("jsonl and not csv"));
}

#[test]
fn what_another_collection_has_is_dropped_first() {
    let folder =
        Folder::with(&[("new.txt", b"a b c d\na b c e\nx y z\nx y z\nq r\n"), ("old.txt", b"k l\na b c d\na b c d\n")]);
    for measure in ["jaccard --threshold 0.6", "edit --threshold 1"] {
        let args = format!("dedup new.txt --against old.txt --measure {measure} --output k.txt --groups g.csv");
        folder.stdout(&args);
        assert_eq!(folder.read("k.txt"), "x y z\nq r\n", "{measure}");
        let rows: Vec<String> = folder.read("g.csv").lines().skip(1).map(|row| row[..5].to_owned()).collect();
        assert_eq!(rows, ["1,1,2", "2,1,2", "3,2,3", "4,2,3", "5,3,5"], "{measure}");
    }
    // What hangs on a dropped record alone stays.
    let folder = Folder::with(&[("new.txt", b"a b c d\nb c d e\n"), ("old.txt", b"z a b c\n")]);
    assert_eq!(folder.stdout("dedup new.txt --against old.txt --threshold 0.6"), "b c d e\n");
}

/// The input is not compared with itself: equal records stay, in all formats of what is told about them.
#[test]
fn against_only_drops_what_another_collection_has_and_nothing_else() {
    let folder = Folder::with(&[
        ("new.txt", b"a b c d\na b c e\nx y z\nx y z\n\n\nq r\n"),
        ("old.txt", b"k l\na b c d\n\na b c d\n"),
    ]);
    for settings in [
        "--threshold 0.6",
        "--measure edit --threshold 1",
        "--measure overlap --threshold 3",
        "--threshold 0.6 --method minhash --agree 50",
        "--threshold 0.6 --memory 1G",
    ] {
        let dedup = format!("dedup new.txt --against old.txt --against-only {settings}");
        let output = folder.run(&format!("{dedup} --output k.txt --groups g.csv --report r.html --stats s.json"));
        let summary = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{settings}: {summary}");
        // An overlap of three tokens is one with itself, too, so that more could go; but nothing does.
        assert_eq!(folder.read("k.txt"), "x y z\nx y z\n\n\nq r\n", "{settings}");
        assert!(summary.contains("2 records near one of the 4 records of old.txt"), "{settings}: {summary}");
        assert!(summary.contains("5 records kept, 2 removed"), "{settings}: {summary}");
        let groups = folder.read("g.csv");
        let groups: Vec<[&str; 3]> =
            groups.lines().skip(1).map(|row| row.split(',').take(3).collect::<Vec<_>>().try_into().unwrap()).collect();
        let expected = [["1", "1", "2"], ["2", "1", "2"], ["3", "2", "3"], ["4", "3", "4"], ["5", "4", "5"]];
        assert_eq!(groups[..5], expected, "{settings}");
        let stats: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
        assert_eq!((&stats["records"], &stats["kept"]), (&7.into(), &5.into()), "{settings}");
    }
    for refused in [
        "dedup new.txt --against-only --threshold 0.6",
        "dedup new.txt --against old.txt --against-only --threshold 0.6 --keep longest",
    ] {
        assert_eq!(folder.run(refused).status.code(), Some(2), "{refused}");
    }
}

#[test]
fn memory_and_threads_change_no_byte() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 6000 --seed 3 --words 30 --vocabulary 500 --duplicates 0.5 --output d.jsonl");
    folder.stdout("generate --records 500 --seed 4 --words 20 --vocabulary 500 --output e.jsonl");
    for options in [
        "--link any --keep central",
        "--link representative --keep longest",
        "--measure containment --against e.jsonl",
        "--measure overlap --threshold 26",
        "--top 100",
    ] {
        let mut results = Vec::new();
        let threshold = if options.contains("threshold") { "" } else { "--threshold 0.7" };
        for run in ["--threads 1", "--threads 3", "--memory 2200K"] {
            let args =
                format!("dedup d.jsonl {threshold} {options} {run} --output k.jsonl --groups g.csv --stats s.json");
            folder.stdout(&args);
            let stats: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
            let kept = folder.read("k.jsonl");
            assert_eq!(stats["kept"], kept.lines().count(), "{args}");
            assert_eq!(run.contains("memory"), stats["parts"].is_u64(), "{args}");
            results.push((kept, folder.read("g.csv"), stats["pairs"].clone()));
        }
        assert!(results[0].0.lines().count() < 6000, "{options}");
        assert!(results.iter().all(|result| result == &results[0]), "{options}");
        if !options.contains("top") {
            let again = folder.stdout(&format!("dedup k.jsonl {threshold} {options} --count"));
            assert_eq!(again.trim(), results[0].0.lines().count().to_string(), "{options}: a second time removes more");
        }
    }
}

#[test]
fn rejected_records_are_neither_kept_nor_removed() {
    let folder = Folder::with(&[("d.jsonl", b"{\"id\":1,\"text\":\"a b\"}\n{\n{\"id\":1,\"text\":\"c d\"}\n{\"id\":2,\"text\":\"c d\"}\n{\"id\":3,\"text\":\"b a\"}\n")]);
    folder.stdout("dedup d.jsonl --threshold 1 --rejects bad.csv --output k.jsonl --removed r.jsonl");
    assert_eq!(folder.read("k.jsonl"), "{\"id\":1,\"text\":\"a b\"}\n{\"id\":2,\"text\":\"c d\"}\n");
    assert_eq!(folder.read("r.jsonl"), "{\"id\":3,\"text\":\"b a\"}\n");
}

#[test]
fn a_stream_is_decided_record_by_record() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    // Each answer must be there before the next record is sent.
    let twinset = assert_cmd::cargo::cargo_bin("twinset");
    let exchange = |args: &str, header: &str, records: &[(&str, bool)]| {
        let mut child = Command::new(&twinset)
            .args(args.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut line = String::new();
        if !header.is_empty() {
            input.write_all(header.as_bytes()).unwrap();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, header);
        }
        for (record, is_kept) in records {
            input.write_all(record.as_bytes()).unwrap();
            input.flush().unwrap();
            if *is_kept {
                line.clear();
                output.read_line(&mut line).unwrap();
                assert_eq!(&line, record, "{args}");
            }
        }
        drop(input);
        line.clear();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "", "{args}");
        assert!(child.wait().unwrap().success());
    };
    exchange(
        "dedup - --stream --threshold 0.6",
        "",
        &[("a b c\n", true), ("x\r\n", true), ("a b c d\n", false), ("a c\n", false)],
    );
    exchange(
        "dedup - --stream --threshold 0.6 --window 1",
        "",
        &[("a b c\n", true), ("x\n", true), ("a b c d\n", true)],
    );
    exchange(
        "dedup - --stream --format csv --text text --threshold 1",
        "id,text\r\n",
        &[("1,\"a, b\"\r\n", true), ("2,b a\r\n", false), ("3,c\r\n", true)],
    );
    exchange("dedup - --stream --format tsv --threshold 1", "id\ttext\n", &[("1\ta b\n", true), ("2\tb a\n", false)]);
    exchange(
        "dedup - --stream --format jsonl --threshold 1",
        "",
        &[("{\"text\":\"a b\"}\n", true), ("{\"text\":\"b  a\"}\n", false), ("{\"text\":\"\"}\n", true)],
    );
}

/// Whether records come one by one or are read at once: the same are kept, removed and rejected, with the same lines, byte for byte.
#[test]
fn a_stream_leaves_what_a_file_leaves() {
    let cases: [(&str, &[u8], &str); 12] = [
        ("a.csv", b"ab\r\nx\r\nx\r\n", ""),
        ("b.csv", b"ab\n\nx\nx\n", ""),
        ("c.csv", b"\xef\xbb\xbfid,text\n1,a,b\n", ""),
        ("d.csv", b"\r\nid,text\r\n1,a,b\r\n", ""),
        ("e.csv", b"ab\r\n1,2\r\n", "--no-header"),
        ("f.csv", b"id,text\r\n1,a\r\n2,b,c\r\n3,a\r\n\r\n4,\"d\r\ne\"\r\n5,x,y\r\n", ""),
        ("g.csv", b"a,b\n\n\n1\n2,3\n3,2\n", ""),
        ("h.csv", b"id,text\n1,a\n2,a\n3,\"open\n4,x\n", ""),
        ("i.jsonl", b"[]\n\n{\"text\":\"a\"}\n{\"text\":\"a\"}\n", ""),
        ("j.jsonl", b"{\"text\":\"a\"}\n[]\n\n", ""),
        ("k.jsonl", b"                         \n{\"text\":\"a\"}\n", "--max-record 24"),
        ("l.txt", b"\x81\x30\x8a\x39\x81\x30\x8a\x39\n\xc4\xe3\n", "--encoding gb18030 --max-record 4"),
    ];
    for (name, content, options) in cases {
        let folder = Folder::with(&[(name, content)]);
        let left = |how: &str| {
            let outputs = "--output k --removed r --rejects bad.csv --threshold 1 --quiet";
            folder.stdout(&format!("dedup {name} {options} {outputs} {how}"));
            let rejects = folder.read("bad.csv");
            let places = rejects.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(","));
            let bytes = ["k", "r"].map(|file| std::fs::read(folder.path(file)).unwrap());
            (bytes.map(|bytes| bytes.escape_ascii().to_string()), places.collect::<Vec<_>>())
        };
        assert_eq!(left("--stream"), left(""), "{name}");
    }
}

#[test]
fn a_stream_says_what_it_cannot_do() {
    let folder = Folder::with(&[("d.txt", b"a b\nb a\nc\n")]);
    assert_eq!(folder.stdout("dedup d.txt --stream --threshold 1 --removed r.txt"), "a b\nc\n");
    assert_eq!(folder.read("r.txt"), "b a\n");
    let message = |args: &str, input: &[u8]| {
        let output = folder.command(args).write_stdin(input).output().unwrap();
        assert!(!output.status.success(), "{args}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(message("dedup d.txt --stream --threshold 1 --groups g.csv", b"").contains("--groups needs to know all"));
    assert!(
        message("dedup - --stream --threshold 1 --format jsonl", b"{\"text\":1}\n{\n").contains("standard input:2")
    );
    assert!(message("dedup - --stream --threshold 1", b"a\nb\xff\n").contains("standard input:2:2"));
    assert!(message("dedup - --stream --threshold 1 --format csv", b"id,text\n1,\"a\n2,b\n").contains("never closed"));
    assert!(message("dedup - --stream --threshold 1", b"\xff\xfea\0\n\0\x00\xd8\n\0").contains("standard input:2"));
    assert!(message("dedup - --stream --threshold 1 --method minhash", b"").contains("exact"));
    assert!(message("dedup d.txt --threshold 1 --removed -", b"").contains("standard output"));
    // The separator is a part of a character here.
    let within = message("dedup - --stream --threshold 1 --format csv --encoding shift_jis --delimiter |", b"a|b\n");
    assert!(within.contains("convert the file to UTF-8"), "{within}");
    assert!(message("dedup d.txt --threshold 1 --stop-words d.txt --output d.txt", b"").contains("this is an input"));
    let open = [b"id,text\n1,\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    assert!(
        message("dedup - --stream --threshold 1 --format csv --max-record 64K", &open)
            .contains("a quote may be left open")
    );
}

#[test]
fn either_direction_of_containment_links_with_another_collection() {
    let folder =
        Folder::with(&[("short.txt", b"a b\n"), ("long.txt", b"a b c d e f\n"), ("w.txt", b"\xef\xbb\xbfa\n")]);
    for args in ["short.txt --against long.txt", "long.txt --against short.txt"] {
        assert_eq!(folder.stdout(&format!("dedup {args} --measure containment --threshold 0.9")), "", "{args}");
    }
    assert_eq!(
        folder.stdout("join short.txt long.txt --measure overlap --threshold 1 --stop-words w.txt"),
        "left,right,similarity\n1,1,1\n"
    );
}

#[test]
fn a_stream_into_a_file_is_there_at_once() {
    use std::io::Write;
    let folder = Folder::with(&[]);
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("twinset"))
        .args(["dedup", "-", "--stream", "--threshold", "1", "--quiet", "--output"])
        .arg(folder.path("kept.txt"))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\none\ntwo\n").unwrap();
    input.flush().unwrap();
    let begin = std::time::Instant::now();
    while std::fs::read_to_string(folder.path("kept.txt")).unwrap_or_default() != "one\ntwo\n" {
        assert!(begin.elapsed().as_secs() < 60, "the records are not in the file");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.read("kept.txt"), "one\ntwo\n");
}

#[test]
fn labels_remove_what_is_near_whatever_the_threads() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 3000 --words 12 --duplicates 0.5 --output docs.jsonl");
    let dedup = |options: &str| folder.stdout(&format!("dedup docs.jsonl --threshold 0.7 {options}"));
    let by_labels = dedup("--method lsh --threads 1");
    assert_eq!(dedup("--method lsh --threads 2"), by_labels);
    assert_eq!(dedup("--method lsh --threads 5"), by_labels);
    // What is kept exactly is kept, and little else.
    let (exact, found) = (dedup("").lines().count(), by_labels.lines().count());
    assert!(exact <= found && found < exact + exact / 20, "{found} of {exact}");
    let output = folder.run("dedup docs.jsonl --threshold 0.7 --method lsh --memory 1G");
    assert!(String::from_utf8(output.stderr).unwrap().contains("labels are held in memory"));
}

#[test]
fn records_without_tokens_are_counted_by_every_command() {
    let folder = Folder::with(&[("a.txt", b"one two\n\n...\none two\n")]);
    folder.stdout("index create news");
    for (args, note) in [
        ("join a.txt --threshold 0.5", "2 records without any token took no part"),
        ("dedup a.txt --threshold 0.5", "2 records without any token took no part"),
        ("dedup a.txt --threshold 0.5 --stream", "2 records without any token took no part"),
        ("sketch a.txt --output a.sketch", "2 records without any token"),
        ("index add news a.txt", "2 records without any token"),
    ] {
        let summary = String::from_utf8(folder.run(args).stderr).unwrap();
        assert!(summary.contains(note), "{args}: {summary}");
    }
}

#[test]
fn empty_jsonl_records_may_come_first() {
    let lines = "{\"id\":\"a\"}\n{}\n{\"id\":\"b\",\"text\":\"x y\",\"tag\":\"p\"}\n{\"id\":\"c\",\"text\":\"x y\",\"tag\":\"q r s\"}\n";
    let folder = Folder::with(&[("a.jsonl", lines.as_bytes())]);
    let kept: String = lines.lines().take(3).map(|line| format!("{line}\n")).collect();
    for settings in ["", "--stream"] {
        let output = folder.run(&format!("dedup a.jsonl --threshold 1 {settings}"));
        let summary = String::from_utf8(output.stderr).unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), kept, "{settings}: {summary}");
        assert!(summary.contains("2 records without any token took no part"), "{settings}: {summary}");
    }
}

#[test]
fn the_report_shows_what_another_collection_removed() {
    let folder = Folder::with(&[
        ("train.txt", b"the old bridge is closed\na new library opens\nsomething else\n"),
        ("test.txt", b"unrelated\nThe old bridge is closed now\n"),
    ]);
    folder.stdout("dedup train.txt --against test.txt --against-only --threshold 0.7 --output k.txt --report r.html");
    let page = folder.read("r.html");
    assert!(page.contains("Removed because of test.txt"), "{page}");
    assert!(page.contains("<td>against</td><td>test.txt</td>"), "{page}");
    assert!(page.contains("The old bridge is closed now") && page.contains("0.833"), "{page}");
    assert_eq!(
        folder.run("dedup train.txt --against test.txt --against-only -t 0.7 --window 3").status.code(),
        Some(2)
    );
}

#[test]
fn the_summary_says_that_the_output_is_a_folder() {
    let folder = Folder::with(&[("in/a.txt", b"a b c\n"), ("in/b.txt", b"a b c\n")]);
    let summary = |args: &str| String::from_utf8(folder.run(args).stderr).unwrap();
    let written = summary("dedup in --threshold 0.8 --output kept.txt");
    assert!(written.contains("1 record kept, 1 removed, in the folder kept.txt, a file for each input"), "{written}");
    assert_eq!(folder.read("kept.txt/a.txt"), "a b c\n");
    let written = summary("dedup in/a.txt --threshold 0.8 --output one.txt");
    assert!(written.contains("1 record kept, 0 removed") && !written.contains("folder"), "{written}");
}
