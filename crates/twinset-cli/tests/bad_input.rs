//! What is wrong gets one message with its place and a remedy, the right exit code, and no output file.

use std::io::Write;
use std::time::Duration;

use crate::common::Folder;

fn files() -> Folder {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all("some text that is long enough to be cut\n".repeat(2000).as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    Folder::with(&[
        ("good.tsv", b"id\ttext\na\tone two\nb\tone two\n"),
        ("latin.txt", b"caf\xe9 noir\nplain\n"),
        ("latin.csv", b"id,text\n1,plain\n2,caf\xe9\n"),
        ("broken.jsonl", b"{\"text\": \"fine\"}\n{\"text\": \"no end}\n"),
        ("list.jsonl", b"[1, 2]\n"),
        ("cut.txt.gz", &gz[..gz.len() / 2]),
        ("twofold.csv", b"text,text\na,b\n"),
        ("twofold.jsonl", b"{\"text\": \"a\", \"text\": \"b\"}\n"),
        ("cut.csv", b"id,text\n1,\"never closed\n2,more\n"),
        ("ragged.csv", b"id,text\n1,a\n2,b,c\n"),
        ("ragged-crlf.csv", b"\r\nid,text\r\n\r\n1,a\r\n2,b,c\r\n"),
        ("ragged.tsv", b"id\ttext\n1\ta\n2\n"),
        ("twice.csv", b"id,text\nx,a b\ny,c d\nx,a b\n"),
        ("empty/readme.md", b"nothing to read"),
        ("fake.parquet", b"PAR1 but not really"),
        ("fake.txt.zst", b"not zstd"),
        ("unknown.dat", b"?"),
    ])
}

#[test]
fn every_mistake_gets_a_message_with_a_remedy() {
    let folder = files();
    let before = folder.files();
    for (args, code, parts) in [
        ("good.tsv --threshold 0", 2, &["threshold 0", "jaccard", "above 0 and at most 1"][..]),
        ("good.tsv --threshold -1", 2, &["-1", "0.8"]),
        ("good.tsv --threshold 1.5", 2, &["3/2", "at most 1"]),
        ("good.tsv --threshold NaN", 2, &["NaN", "4/5"]),
        ("good.tsv --threshold abc", 2, &["abc", "4/5"]),
        ("good.tsv --threshold 0.33333333333", 2, &["nine digits", "1/3"]),
        ("good.tsv", 2, &["--threshold 0.8", "--top 100"]),
        ("good.tsv --measure overlap --threshold 0.5", 2, &["overlap", "whole number from 1"]),
        ("good.tsv --threshold 0.8 --measure cosin", 2, &["cosin", "jaccard, cosine"]),
        ("good.tsv --threshold 0.8 --tokens qgrams:0", 2, &["qgrams:0", "qgrams:Q"]),
        ("good.tsv --threshold 0.8 --reduce minwise", 2, &["minwise", "minwise:N"]),
        ("good.tsv good.tsv good.tsv --threshold 0.8", 2, &["good.tsv"]),
        ("good.tsv --threshold 0.8 --threads 0", 2, &["--threads"]),
        ("- - --threshold 0.8", 2, &["only once"]),
        ("good.tsv --threshold 0.8 --text title", 1, &["good.tsv", "`title`", "id, text"]),
        ("good.tsv --threshold 0.8 --show title", 1, &["`title`", "id, text"]),
        ("broken.jsonl --threshold 0.8 --rejects r.csv", 0, &["1 bad record left out, see r.csv"]),
        (
            "broken.jsonl --threshold 0.8 --rejects r.csv --text title",
            1,
            &["broken.jsonl", "`title`", "fields are text"],
        ),
        ("latin.txt --threshold 0.8", 1, &["latin.txt:1:4", "not UTF-8", "--encoding", "--rejects"]),
        ("latin.csv --threshold 0.8", 1, &["latin.csv:3", "field 2", "not UTF-8", "--encoding"]),
        ("twofold.csv --threshold 0.8", 1, &["twofold.csv", "two fields `text`"]),
        ("twofold.jsonl --threshold 0.8", 1, &["twofold.jsonl:1", "two fields `text`"]),
        ("latin.csv --threshold 0.8 --encoding latin1 --max-record 3", 1, &["latin.csv:2", "--max-record"]),
        ("latin.txt --threshold 0.8 --encoding shift_jis", 1, &["latin.txt:1:4", "--encoding", "--rejects"]),
        ("good.tsv --measure overlap --threshold 99999999999", 2, &["too large"]),
        ("latin.txt --threshold 0.8 --encoding latin-99", 2, &["latin-99", "windows-1252"]),
        ("latin.txt --threshold 0.8 --encoding iso-2022-kr", 2, &["iso-2022-kr", "windows-1252"]),
        ("broken.jsonl --threshold 0.8", 1, &["broken.jsonl:2:", "not a JSON object"]),
        ("list.jsonl --threshold 0.8", 1, &["list.jsonl:1:", "expected an object"]),
        ("cut.txt.gz --threshold 0.8", 1, &["cut.txt.gz", "ends too early"]),
        ("fake.txt.zst --threshold 0.8", 1, &["fake.txt.zst"]),
        ("cut.csv --threshold 0.8", 1, &["cut.csv:2", "never closed"]),
        ("ragged.csv --threshold 0.8", 1, &["ragged.csv:3", "3 fields", "has 2"]),
        ("ragged-crlf.csv --threshold 0.8", 1, &["ragged-crlf.csv:5", "3 fields", "has 2"]),
        ("ragged.tsv --threshold 0.8", 1, &["ragged.tsv:3", "1 field,", "has 2"]),
        ("twice.csv --threshold 0.8", 1, &["twice.csv:4", "`x`", "twice.csv:2", "--id"]),
        ("empty --threshold 0.8", 1, &["empty", "no readable file", "txt, tsv"]),
        ("fake.parquet --threshold 0.8", 1, &["fake.parquet", "parquet"]),
        ("unknown.dat --threshold 0.8", 1, &["unknown.dat", "--format"]),
        ("missing.txt --threshold 0.8", 1, &["missing.txt", "cannot be opened"]),
        ("no*.txt --threshold 0.8", 1, &["no*.txt", "no file matches"]),
        ("good.tsv --threshold 0.8 --delimiter ab", 2, &["`ab`", "single ASCII character"]),
        ("latin.txt --threshold 0.8 --delimiter ;", 1, &["txt has no delimiter", "--format csv"]),
        ("latin.txt --threshold 0.8 --max-record 5 --encoding latin1", 1, &["latin.txt:1", "--max-record"]),
        ("good.tsv --threshold 0.8 --max-record lots", 2, &["lots", "64M"]),
    ] {
        let output = folder.run(&format!("join {args} --output out.csv"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args}: {message}");
        for part in parts {
            assert!(message.contains(part), "{args}: no `{part}` in: {message}");
        }
        assert!(output.stdout.is_empty(), "{args}");
        if code == 0 {
            std::fs::remove_file(folder.path("out.csv")).unwrap();
            std::fs::remove_file(folder.path("r.csv")).unwrap();
        } else {
            assert_eq!(message.lines().filter(|line| line.starts_with("error:")).count(), 1, "{args}: {message}");
        }
        assert_eq!(folder.files(), before, "{args} left a file behind");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_noticed_before_the_work() {
    let folder = files();
    for (output, part) in [("no/such/folder/p.csv", "no/such/folder/p.csv"), ("empty", "this is a folder")] {
        let result = folder.run(&format!("join missing.txt --threshold 0.8 --output {output}"));
        let message = String::from_utf8(result.stderr).unwrap();
        assert_eq!(result.status.code(), Some(1));
        assert!(message.contains(part) && !message.contains("missing.txt"), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let folder = files();
    for format in ["csv", "jsonl", "parquet"] {
        let result = folder.run(&format!("join good.tsv --threshold 0.8 --output /dev/full --output-format {format}"));
        let message = String::from_utf8(result.stderr).unwrap();
        assert_eq!(result.status.code(), Some(1), "{format}: {message}");
        assert!(message.contains("/dev/full") && message.contains("No space left"), "{format}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_huge_is_refused_in_little_memory() {
    let folder = Folder::with(&[("lake/fine.csv", b"a,b\n1,2\n")]);
    // Files with a hole, which is read as zeros, and takes no room.
    for (name, beginning, size) in [
        ("attribute.html", "<html><p class='", 100 << 20),
        ("literal.nt", "<http://x/a> <http://c/p> \"", 200 << 20),
        ("line.txt", "one line ", 1 << 30),
        ("lake/line.csv", "a,b\n1,2\n", 1 << 30),
    ] {
        let mut file = std::fs::File::create(folder.path(name)).unwrap();
        file.write_all(beginning.as_bytes()).unwrap();
        file.set_len(size).unwrap();
    }
    let program = assert_cmd::cargo::cargo_bin!("twinset");
    for (args, code, reason) in [
        ("join attribute.html --threshold 0.8", 1, "attribute.html:1: the record is longer"),
        ("join literal.nt --threshold 0.8", 1, "literal.nt: cannot be read: a term is longer than 16 MB"),
        ("join line.txt --threshold 0.8", 1, "line.txt:1: "),
        ("profile lake", 0, "line.csv:3: the row that starts here is longer than"),
    ] {
        let script = format!("ulimit -d 600000; exec {} {args}", program.display());
        let mut command = std::process::Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args}: {message}");
        assert!(message.contains(reason) && message.contains("--max-record"), "{args}: {message}");
    }
}

#[test]
fn rejects_hold_bad_records_with_place_and_reason() {
    let folder = files();
    let mixed: &[u8] = b"{\"id\": 1, \"text\": \"a b c\"}\nnot json\n{\"id\": 1, \"text\": \"x\"}\n{\"id\": 2}\n{\"id\": 3, \"text\": \"a b c\"}\n\xff\n";
    std::fs::write(folder.path("mixed.jsonl"), mixed).unwrap();
    let args = "join mixed.jsonl --text text --threshold 0.8 --rejects bad.csv --max-record 1K --threads";
    for threads in [1, 2] {
        assert_eq!(folder.stdout(&format!("{args} {threads}")), "left,right,similarity\n1,3,1\n");
        let rejects = folder.read("bad.csv");
        let lines: Vec<&str> = rejects.lines().collect();
        assert_eq!(lines.len(), 4, "{rejects}");
        assert_eq!(lines[0], "file,line,column,reason,record");
        // Line 4 has no text, and is empty.
        for (line, start) in lines[1..].iter().zip(["mixed.jsonl,2,", "mixed.jsonl,6,1", "mixed.jsonl,3,"]) {
            assert!(line.starts_with(start), "{line}");
        }
    }
    // Numbers count bad records, so that they stay line numbers.
    std::fs::write(folder.path("lines.txt"), b"one two\n\xff\none two\n").unwrap();
    assert_eq!(folder.stdout("join lines.txt --threshold 1 --rejects bad.csv"), "left,right,similarity\n1,3,1\n");
    // A line that is too long is bad, and the next one is read.
    let long = ["x y z\n", &"long ".repeat(300_000), "\nx y z\n"].concat();
    std::fs::write(folder.path("long.txt"), long).unwrap();
    assert_eq!(
        folder.stdout("join long.txt --threshold 1 --rejects bad.csv --max-record 1K"),
        "left,right,similarity\n1,3,1\n"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_file_behind() {
    let folder = files();
    let before = folder.files();
    // It waits for input that never comes, with its output and its rejects open.
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("twinset"))
        .args(["join", "-", "--threshold", "0.8", "--output", "out.csv", "--rejects", "bad.csv"])
        .current_dir(folder.path(""))
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..500 {
        std::thread::sleep(Duration::from_millis(20));
        if folder.files().len() == before.len() + 2 {
            break;
        }
    }
    assert_eq!(folder.files().len(), before.len() + 2, "both files were begun");
    std::thread::sleep(Duration::from_millis(100));
    // Held open, as waiting for the child would close it.
    let stdin = child.stdin.take();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(folder.files(), before);
}
