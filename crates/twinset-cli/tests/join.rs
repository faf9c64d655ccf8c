//! `twinset join` as its users see it.

use std::io::Write;

use crate::common::Folder;

const TITLES: &[u8] = b"id\ttext\tyear\na\tYes, as soon as possible\t1\nb\tas soon as possible please\t1\nc\tsomething else\t2\nd\tYES as SOON as possible\t2\n";

#[test]
fn pairs_are_sorted_and_carry_their_similarity() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    let expected = "left,right,similarity\na,b,0.6666666666666666\na,d,1\nb,d,0.6666666666666666\n";
    assert_eq!(folder.stdout("join t.tsv --threshold 0.6"), expected);
    assert_eq!(folder.stdout("join t.tsv --threshold 2/3"), expected);
    assert_eq!(folder.stdout("join t.tsv --threshold 2/3 --count"), "3\n");
    for algorithm in ["naive", "allpairs", "ppjoin", "ppjoin+", "auto"] {
        assert_eq!(folder.stdout(&format!("join t.tsv --threshold 2/3 --algorithm {algorithm}")), expected);
    }
}

#[test]
fn every_format_gives_the_same_pairs() {
    let rows =
        [("a", "Yes, as soon as possible"), ("b", "as soon as possible please"), ("c", "étude \"quoted\", done")];
    let csv: String = rows.iter().map(|(id, text)| format!("{id},\"{}\"\r\n", text.replace('"', "\"\""))).collect();
    let tsv: String = rows.iter().map(|(id, text)| format!("{id}\t{text}\n")).collect();
    let jsonl: String = rows
        .iter()
        .map(|(id, text)| format!("{}\n\n", serde_json::json!({"n": {"x": [1]}, "id": id, "text": text})))
        .collect();
    let mut gz = flate2_encode(format!("id,text\n{csv}").as_bytes());
    gz.extend(flate2_encode(b"")); // A second member, as concatenated files have.
    let latin: Vec<u8> = format!("id,text\n{csv}").chars().map(|c| c as u32 as u8).collect();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(tsv.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let bom = format!("\u{feff}id,text\n{csv}");
    let folder = Folder::with(&[
        ("a.csv", format!("id,text\n{csv}").as_bytes()),
        ("b.tsv", format!("id\ttext\n{tsv}").as_bytes()),
        ("c.jsonl", jsonl.as_bytes()),
        ("d.csv.gz", &gz),
        ("e.csv", csv.as_bytes()),
        ("f.csv", &latin),
        ("g.tsv", &utf16),
        ("h.csv", bom.as_bytes()),
        ("i.txt", csv.replace(',', "%").as_bytes()),
        ("j.csv", &encoding_rs::GB18030.encode(&bom).0),
        ("k.tsv", &encoding_rs::GB18030.encode(&format!("\u{feff}id\ttext\n{tsv}")).0),
    ]);
    let expected = "left,right,similarity\na,b,0.6666666666666666\n";
    for args in [
        "a.csv",
        "b.tsv",
        "c.jsonl",
        "d.csv.gz",
        "e.csv --no-header --id 1 --text 2",
        "f.csv --encoding windows-1252",
        "g.tsv --no-header --id 1",
        "h.csv",
        "i.txt --format csv --delimiter % --no-header --id 1",
        "j.csv --encoding gb18030",
        "k.tsv --encoding gb18030",
    ] {
        assert_eq!(folder.stdout(&format!("join {args} --threshold 0.6")), expected, "{args}");
    }
    // Through standard input, and as parquet that the command itself wrote.
    let stdin = folder.command("join - --format jsonl --threshold 0.6").write_stdin(jsonl).output().unwrap();
    assert_eq!(String::from_utf8(stdin.stdout).unwrap(), expected);
    let stdin = folder.command("join - --format csv --threshold 0.6").write_stdin(gz).output().unwrap();
    assert_eq!(String::from_utf8(stdin.stdout).unwrap(), expected);
    folder.stdout("generate --records 200 --seed 3 --output g.parquet");
    folder.stdout("generate --records 200 --seed 3 --output g2.csv");
    let pairs = folder.stdout("join g.parquet --threshold 0.7");
    assert!(pairs.lines().count() > 10);
    assert_eq!(pairs, folder.stdout("join g2.csv --threshold 0.7"));
}

#[test]
fn blank_lines_before_a_header_are_none() {
    let blank = "\r\n".repeat(400_000);
    for (name, delimiter) in [("d.csv", ","), ("d.tsv", "\t")] {
        let text = format!("{blank}id,text\n1,a\n2,b\n3,a\n").replace(',', delimiter);
        let folder = Folder::with(&[(name, text.as_bytes())]);
        let found = folder.stdout(&format!("join {name} --threshold 1"));
        assert_eq!(found, "left,right,similarity\n1,3,1\n", "{name}");
        folder.stdout(&format!("profile {name} --features features.csv"));
        let features = folder.read("features.csv");
        assert!(features.contains("d.id") && features.contains("d.text"), "{features}");
    }
}

#[test]
fn any_character_may_separate_fields() {
    for delimiter in [" ", ";", "e", "0", "\u{1}"] {
        let text = "id,txt\n1,a\n2,b\n3,a\n".replace(',', delimiter);
        let folder = Folder::with(&[("d.csv", text.as_bytes())]);
        let mut command = folder.command("join d.csv --threshold 1 --text txt");
        let output = command.args(["--delimiter", delimiter]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "left,right,similarity\n1,3,1\n", "{delimiter:?}");
    }
}

fn flate2_encode(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn folders_and_globs_number_records_through_in_path_order() {
    let folder = Folder::with(&[
        ("in/b.txt", b"one two three\n"),
        ("in/a/z.txt", b"\nfour five six\n"),
        ("in/notes.pdf", b"%PDF"),
        ("in/.hidden.txt", b"one two three\n"),
        ("right.txt", b"one two three\nFOUR five six\n"),
    ]);
    // in/a/z.txt has records 1 and 2, in/b.txt record 3.
    assert_eq!(folder.stdout("join in right.txt --threshold 1"), "left,right,similarity\n2,2,1\n3,1,1\n");
    assert_eq!(folder.stdout("join in/*.txt right.txt --threshold 1"), "left,right,similarity\n1,1,1\n");
    let summary = String::from_utf8(folder.run("join in right.txt --threshold 1").stderr).unwrap();
    assert!(summary.contains("1 file skipped") && summary.contains("1 record without any token"), "{summary}");
    assert!(folder.run("join in right.txt --threshold 1 --quiet").stderr.is_empty());
}

#[test]
fn output_formats_hold_the_same_rows() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    folder.stdout("join t.tsv --threshold 2/3 --show year --output p.csv");
    folder.stdout("join t.tsv --threshold 2/3 --show year --output p.jsonl.gz");
    folder.stdout("join t.tsv --threshold 2/3 --show year --output p.parquet");
    assert!(
        folder.read("p.csv").starts_with("left,right,similarity,left_year,right_year\na,b,0.6666666666666666,1,1\n")
    );
    let bytes = std::fs::read(folder.path("p.jsonl.gz")).unwrap();
    let json = std::io::read_to_string(flate2::read::GzDecoder::new(bytes.as_slice())).unwrap();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let expected =
        serde_json::json!({"left": "a", "right": "b", "similarity": 2.0 / 3.0, "left_year": "1", "right_year": "1"});
    assert_eq!(first, expected);
    // What was written can be read: pairs are records too.
    assert_eq!(folder.stdout("join p.parquet --id left --text left_year --threshold 1 --count --rejects r.csv"), "1\n");
    assert_eq!(folder.read("r.csv").lines().count(), 2, "the second pair of a has the same id");
}

#[test]
fn measures_that_count_print_whole_numbers() {
    let folder = Folder::with(&[("t.tsv", TITLES), ("n.txt", "Anna\nAnne\nHannah\n\nÄnna\n".as_bytes())]);
    assert_eq!(
        folder.stdout("join t.tsv --text text --measure overlap --threshold 5"),
        "left,right,similarity\na,d,5\n"
    );
    assert_eq!(folder.stdout("join n.txt --measure edit --threshold 1"), "left,right,distance\n1,2,1\n1,5,1\n");
    assert_eq!(
        folder.stdout("join t.tsv --text text --text year --measure hamming --threshold 0"),
        "left,right,distance\n"
    );
    assert_eq!(folder.stdout("join t.tsv --text text --measure hamming --threshold 0"), "left,right,distance\na,d,0\n");
}

#[test]
fn containment_lists_ordered_pairs() {
    let folder = Folder::with(&[("c.txt", b"a b c d\nb c\nc b\n")]);
    assert_eq!(
        folder.stdout("join c.txt --measure containment --threshold 1"),
        "left,right,similarity\n2,1,1\n2,3,1\n3,1,1\n3,2,1\n"
    );
}

#[test]
fn empty_records_take_part_only_when_asked() {
    let folder = Folder::with(&[("e.txt", b"\na b\n\n!?\n")]);
    assert_eq!(folder.stdout("join e.txt --threshold 0.5 --count"), "0\n");
    assert_eq!(folder.stdout("join e.txt --threshold 0.5 --empty"), "left,right,similarity\n1,3,1\n1,4,1\n3,4,1\n");
    assert_eq!(folder.stdout("join e.txt --measure containment --threshold 1 --empty --count"), "9\n");
    assert_eq!(folder.stdout("join e.txt --measure hamming --threshold 2 --empty --count"), "6\n");
}

/// White space is nothing to compare, in whatever way a text is cut.
#[test]
fn blank_records_are_empty_and_blank_fields_add_nothing() {
    let folder = Folder::with(&[
        ("e.csv", "id,a,b\n1,,\n2, ,\u{a0}\n3,xx yy,\n4,xx,yy\n5,zz,qq\n6,,\n".as_bytes()),
        ("b.txt", b" \n\t\nabc\n  \n"),
    ]);
    for settings in [
        "--tokens words",
        "--tokens qgrams:3",
        "--tokens qgrams:1",
        "--tokens shingles:2",
        "--tokens lines",
        "--tokens items",
        "--tokens qgrams:3 --method minhash",
        "--tokens qgrams:3 --method lsh",
        "--tokens qgrams:3 --method kmv",
    ] {
        let output = folder.run(&format!("join e.csv --threshold 0.9 {settings}"));
        let pairs = String::from_utf8(output.stdout).unwrap();
        assert_eq!(pairs.lines().count(), 2, "{settings}: {pairs}");
        assert!(pairs.lines().nth(1).unwrap().starts_with("3,4,1"), "{settings}: {pairs}");
        let summary = String::from_utf8(output.stderr).unwrap();
        assert!(summary.contains("3 records without any token"), "{settings}: {summary}");
        for stream in ["", " --stream"] {
            let can_stream = !settings.contains("--method");
            if stream.is_empty() || can_stream {
                let command = format!("dedup e.csv --threshold 0.9 {settings}{stream}");
                let kept = folder.stdout(&command);
                assert_eq!(kept.lines().count(), 6, "{command}: {kept}");
            }
        }
    }
    assert_eq!(folder.stdout("join b.txt --measure edit --threshold 2"), "left,right,distance\n");
    assert_eq!(folder.stdout("dedup b.txt --measure edit --threshold 2"), folder.read("b.txt"));
    assert_eq!(folder.stdout("dedup b.txt --measure edit --threshold 2 --stream"), folder.read("b.txt"));
    assert_eq!(folder.stdout("join b.txt --measure edit --threshold 1 --empty --count"), "3\n");
}

/// An empty cell, a field that is missing, a null: the record is empty, and its neighbours are read as ever.
#[test]
fn records_without_a_text_are_empty_in_every_format() {
    let folder = Folder::with(&[
        ("t.csv", b"id,text,note\n1,one two,x\n2,,same\n3,one two,,\n4,,same,,\n"),
        ("t.tsv", b"id\ttext\tnote\n1\tone two\tx\n2\t\tsame\n3\tone two\t\t\n4\t\tsame\t\t\n"),
        (
            "t.jsonl",
            br#"{"id": 1, "text": "one two", "note": "x"}
{"id": 2, "note": "same"}
{"id": 3, "text": "one two"}
{"id": 4, "text": null, "note": "same"}
"#,
        ),
        ("late.jsonl", b"{\"id\": 1, \"note\": \"x\"}\n{\"id\": 2, \"text\": \"x\"}\n"),
    ]);
    for file in ["t.csv", "t.tsv", "t.jsonl"] {
        for settings in ["", "--text text", "--show note"] {
            let output = folder.run(&format!("join {file} --threshold 1 {settings}"));
            let (pairs, summary) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert_eq!(pairs.lines().skip(1).count(), 1, "{file} {settings}: {pairs}{summary}");
            assert!(pairs.contains("\n1,3,1"), "{file} {settings}: {pairs}");
            assert!(summary.contains("2 records without any token"), "{file} {settings}: {summary}");
        }
        let kept = folder.stdout(&format!("dedup {file} --threshold 1 --quiet"));
        assert_eq!(kept.lines().count(), folder.read(file).lines().count() - 1, "{file}: {kept}");
        assert_eq!(folder.stdout(&format!("dedup {file} --threshold 1 --quiet --stream")), kept, "{file}");
    }
    for command in ["join t.jsonl --threshold 1 --text body", "dedup t.jsonl --threshold 1 --text body --stream"] {
        let output = folder.run(command);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(
            message.contains("none of the first") && message.contains("`body`") && message.contains("text"),
            "{message}"
        );
    }
    // What the first record lacks cannot be what is compared of a later one alone.
    for command in ["join late.jsonl --threshold 1", "dedup late.jsonl --threshold 1 --stream"] {
        let message = String::from_utf8(folder.run(command).stderr).unwrap();
        assert!(message.contains("late.jsonl:2") && message.contains("--text"), "{command}: {message}");
    }
    assert_eq!(folder.stdout("join late.jsonl --threshold 1 --text text --count"), "0\n");
}

#[test]
fn pairs_can_be_selected() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    assert_eq!(folder.stdout("join t.tsv --threshold 0.6 --text text --same year --count"), "1\n");
    // a and d are most alike, so b is left without a partner.
    assert_eq!(folder.stdout("join t.tsv --threshold 0.6 --text text --best"), "left,right,similarity\na,d,1\n");
    let top = "left,right,similarity\na,d,1\na,b,0.6666666666666666\n";
    assert_eq!(folder.stdout("join t.tsv --text text --top 2"), top);
    assert_eq!(folder.stdout("join t.tsv --text text --top 2 --threshold 0.1"), top);
    assert_eq!(folder.stdout("join t.tsv --text text --top 100").lines().count(), 4);
    assert_eq!(folder.stdout("join t.tsv --text text --top 1 --measure hamming"), "left,right,distance\na,d,0\n");
    // The best of what the other conditions leave.
    assert_eq!(
        folder.stdout("join t.tsv --text text --top 1 --same year"),
        "left,right,similarity\na,b,0.6666666666666666\n"
    );
    // Two columns of the same collection are not compared with themselves.
    assert_eq!(folder.stdout("join t.tsv t.tsv --threshold 1 --text text --best --count"), "4\n");
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 14000 --seed 5 --words 12 --vocabulary 3000 --output d.jsonl.zst --truth t.csv");
    for tokens in ["words", "qgrams:3", "shingles:2", "shingles:2 --reduce minwise:8", "items --repeats ignore"] {
        let one =
            folder.stdout(&format!("join d.jsonl.zst --tokens {tokens} --threshold 0.6 --threads 1 --stats 1.json"));
        let three =
            folder.stdout(&format!("join d.jsonl.zst --tokens {tokens} --threshold 0.6 --threads 3 --stats 3.json"));
        assert_eq!(one, three, "{tokens}");
        assert!(one.lines().count() > 100, "{tokens}: {}", one.lines().count());
        let stats = |name: &str| -> serde_json::Value { serde_json::from_str(&folder.read(name)).unwrap() };
        assert_eq!(stats("1.json")["candidates"], stats("3.json")["candidates"], "{tokens}");
    }
}

#[test]
fn outputs_never_replace_an_input_or_each_other() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    for args in [
        "join t.tsv --threshold 1 --output t.tsv --output-format csv",
        "join t.tsv --threshold 1 --rejects ./t.tsv",
        "join t.tsv --threshold 1 --output x.csv --stats x.csv",
        "generate --records 3 --output x.csv --truth x.csv",
        "tune curve --trees 2 --output x.csv --report x.csv",
        // Only --output can be standard output.
        "join t.tsv --threshold 1 --output x.csv --stats -",
        "tune t.tsv --output x.csv --report -",
        "join t.tsv --threshold 1 --output x.tsv",
        "join t.tsv --threshold 1 --output x.parquet.gz",
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(2), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(folder.files(), ["t.tsv"], "{args}");
    }
    assert_eq!(folder.read("t.tsv").as_bytes(), TITLES);
    assert!(folder.stdout("join t.tsv --threshold 1 --output -").starts_with("left,right"));
    assert!(folder.stdout("generate --records 3 --output -").starts_with("id,text"));
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("t.tsv", TITLES), ("real.csv", b"old")]);
    std::fs::set_permissions(folder.path("real.csv"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(folder.path("real.csv"), folder.path("link.csv")).unwrap();
    folder.stdout("join t.tsv --threshold 1 --output link.csv");
    assert!(folder.path("link.csv").is_symlink());
    assert!(folder.read("real.csv").starts_with("left,right"));
    assert_eq!(folder.path("real.csv").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

/// Runs a script in which `$T` is the command.
#[cfg(unix)]
fn shell(folder: &Folder, script: &str) {
    let twinset = assert_cmd::cargo::cargo_bin!("twinset");
    let mut command = std::process::Command::new("sh");
    let status = command.args(["-e", "-c", script]).env("T", twinset).current_dir(folder.path(".")).status().unwrap();
    assert!(status.success(), "{script}");
}

/// What leads to a descriptor, a pipe or a device is written through, and never replaced, whatever option names it.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_pipes_and_devices_are_written_through() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::with(&[("x.txt", b"one two\none two\n")]);
    let pairs = "left,right,similarity\n1,2,1\n";
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "so", "again"] {
        let link = "ln -sf /proc/self/fd/1 so; ln -sf so again";
        // Twice, as the first run must leave everything as it was.
        let run = format!("$T join x.txt -t 0.5 -q -o {path}");
        shell(&folder, &format!("{link}; (echo first; {run}; {run}; echo last) > out.txt"));
        assert_eq!(folder.read("out.txt"), format!("first\n{pairs}{pairs}last\n"), "{path}");
        shell(&folder, &format!("{link}; (echo first; {run}) | cat > out.txt"));
        assert_eq!(folder.read("out.txt"), format!("first\n{pairs}"), "{path}");
        shell(&folder, &format!("(echo first >&2; $T join x.txt -t 0.5 -q -o {}) 2> out.txt >&2", path));
        assert_eq!(folder.read("out.txt"), format!("first\n{pairs}"), "{path}");
    }
    for name in ["so", "again"] {
        assert!(std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(std::fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
    // Other descriptors, and other options that name outputs.
    for (command, expected) in [
        ("join x.txt -t 0.5 -q -o", pairs),
        ("join x.txt -t 0.5 -q -o p.csv --stats", "{"),
        ("dedup x.txt -t 0.5 -q -o", "one two\n"),
        ("dedup x.txt -t 0.5 -q --stream -o", "one two\n"),
        ("dedup x.txt -t 0.5 -q -o k.txt --removed", "one two\n"),
        ("dedup x.txt -t 0.5 -q -o k.txt --groups", "record,group"),
        ("dedup x.txt -t 0.5 -q -o k.txt --report", "<!DOCTYPE html>"),
        ("join x.txt -t 0.5 -q -o p.csv --rejects", "file,line"),
        ("tune x.txt -q -o", "threshold,"),
        ("tune x.txt -q -o p.csv --report", "<!DOCTYPE html>"),
        ("generate --records 5 --seed 1 -q -o", "id,text"),
        ("generate --records 5 --seed 1 -q -o g.jsonl --truth", "left,right"),
    ] {
        shell(&folder, &format!("(echo first >&3; $T {command} /dev/fd/3; echo last >&3) 3> out.txt > /dev/null"));
        let written = folder.read("out.txt");
        assert!(written.starts_with(&format!("first\n{expected}")), "{command}: {written}");
        assert!(written.ends_with("last\n"), "{command}: {written}");
        shell(&folder, &format!("$T {command} /dev/null > /dev/null"));
    }
    assert!(std::fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    shell(&folder, "mkfifo pipe; cat pipe > out.txt & $T join x.txt -t 0.5 -q -o pipe; wait");
    assert_eq!(folder.read("out.txt"), pairs);
    assert!(std::fs::symlink_metadata(folder.path("pipe")).unwrap().file_type().is_fifo());
    // A link to a file that does not exist yet stays a link.
    shell(&folder, "ln -s new.csv link; $T join x.txt -t 0.5 -q -o link");
    assert!(std::fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_eq!(folder.read("new.csv"), pairs);
    // The given name decides on compression, not the name of the target.
    shell(
        &folder,
        "touch data; ln -s data pairs.csv.gz; $T join x.txt -t 0.5 -q -o pairs.csv.gz; gzip -cd data > out.txt",
    );
    assert_eq!(folder.read("out.txt"), pairs);
    // A file that standard output goes to is not replaced.
    shell(&folder, "! $T dedup x.txt -t 0.5 --groups out.csv > out.csv 2> message.txt");
    assert!(folder.read("message.txt").contains("out.csv: standard output goes to this file as well"));
    // Two outputs cannot share a descriptor, and a loop of links leads nowhere.
    let output = folder.run("dedup x.txt -t 0.5 --output /dev/fd/1 --groups /dev/stdout");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    shell(&folder, "ln -s loop loop");
    let message = String::from_utf8(folder.run("join x.txt -t 0.5 --output loop").stderr).unwrap();
    assert!(message.contains("loop") && message.contains("links"), "{message}");
}

#[test]
fn planted_duplicates_are_found() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 500 --seed 9 --duplicates 0.3 --edits 0.02 --output d.csv --truth t.csv");
    let found = folder.stdout("join d.csv --threshold 0.6");
    let pair = |line: &str| line.splitn(3, ',').take(2).map(str::to_owned).collect::<Vec<_>>();
    let found: std::collections::BTreeSet<_> = found.lines().skip(1).map(pair).collect();
    let truth: Vec<_> = folder.read("t.csv").lines().skip(1).map(pair).collect();
    let hits = truth.iter().filter(|pair| found.contains(*pair)).count();
    assert!(truth.len() > 100 && hits * 100 >= truth.len() * 95, "{hits} of {}", truth.len());
    // The same seed gives the same bytes, another seed others.
    let generate = |seed: u32| folder.stdout(&format!("generate --records 50 --seed {seed}"));
    assert_eq!(generate(4), generate(4));
    assert_ne!(generate(4), generate(5));
}

#[test]
fn stats_tell_what_was_done() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    folder.stdout("join t.tsv --text text --threshold 0.6 --algorithm ppjoin+ --stats s.json --output p.csv");
    let stats: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    assert_eq!((&stats["algorithm"], &stats["records"], &stats["pairs"]), (&"ppjoin+".into(), &4.into(), &3.into()));
    assert_eq!((&stats["distinct_sets"], &stats["tokens"]), (&3.into(), &17.into()));
    for filter in ["prefix", "positional", "suffix"] {
        assert!(stats["candidates"][filter].is_u64(), "{filter}");
    }
    for stage in ["read", "tokenize", "join", "write"] {
        assert!(stats["seconds"][stage].is_f64(), "{stage}");
    }
    assert!(stats["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
}

#[test]
fn little_memory_gives_the_same_bytes_and_leaves_no_files() {
    let folder = Folder::with(&[]);
    folder.stdout("generate --records 6000 --seed 3 --words 30 --vocabulary 2000 --duplicates 0.6 --output d.csv");
    folder.stdout("generate --records 2000 --seed 3 --words 30 --vocabulary 2000 --output e.csv");
    std::fs::create_dir(folder.path("spill")).unwrap();
    let run = |args: &str| {
        let output = folder
            .command(&format!("join {args} --stats s.json"))
            .env("TMPDIR", folder.path("spill"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        let stats: serde_json::Value = serde_json::from_str(&folder.read("s.json")).unwrap();
        (output.stdout, stats["parts"].as_u64())
    };
    for args in [
        "d.csv --threshold 0.6",
        "d.csv --threshold 0.9 --measure containment --threads 1",
        "d.csv e.csv --threshold 0.7",
        "d.csv e.csv --threshold 0.8 --measure containment --output-format jsonl",
        "d.csv --threshold 0.5 --best",
        "d.csv --top 300",
        "d.csv --threshold 4 --measure hamming --count",
        "d.csv --threshold 0.5 --tokens shingles:2",
        "d.csv e.csv --threshold 0.4 --tokens shingles:3 --repeats ignore",
    ] {
        let (expected, parts) = run(args);
        assert!(parts.is_none() && expected.len() > 3, "{args}");
        let (found, parts) = run(&format!("{args} --memory 1200K"));
        assert!(parts.is_some_and(|parts| parts > 3), "{args}: {parts:?}");
        assert!(found == expected, "{args}");
    }
    assert_eq!(std::fs::read_dir(folder.path("spill")).unwrap().count(), 0);
}

#[test]
fn too_little_memory_is_refused_with_a_remedy() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    let output = folder.run("join t.tsv --threshold 0.6 --memory 1K");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("allow more"), "{message}");
    let output = folder.command("join t.tsv --threshold 0.6 --memory 1G").env("TMPDIR", "/nowhere").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("temporary file") && message.contains("TMPDIR"), "{message}");
}

#[test]
fn pairs_of_samples_are_called_estimates() {
    let folder = Folder::with(&[("t.tsv", TITLES)]);
    let summary =
        |options: &str| String::from_utf8(folder.run(&format!("join t.tsv --threshold 0.6 {options}")).stderr).unwrap();
    assert!(summary("--reduce minwise:3").contains("estimates"));
    assert!(!summary("").contains("estimates"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::with(&[("c.txt", "a b c\n".repeat(3000).as_bytes())]);
    let twinset = assert_cmd::cargo::cargo_bin("twinset");
    let script = format!("{} join {} --threshold 1 | head -n 1", twinset.display(), folder.path("c.txt").display());
    let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, b"left,right,similarity\n");
}
