//! `cargo xtask torture`: kills everything that keeps data, damages it, lets its disk fail, and writes what came of it into a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use crate::command::cargo;
use crate::test::REQUIRE_ALL;

/// Kills writers and readers of every index home and of the service, damages files, lets disks fail, and writes docs/reliability.md
#[derive(clap::Args)]
pub(crate) struct Torture {
    /// For how long there are kills, shared out among all homes
    #[arg(long, value_name = "N", default_value_t = 30, conflicts_with = "kills")]
    minutes: u64,
    /// So many kills of each index in a file or folder instead, and a fifth of them of each database and of the service
    #[arg(long, value_name = "N")]
    kills: Option<u64>,
    /// The page whose figures are replaced
    #[arg(long, value_name = "FILE", default_value = PAGE)]
    page: PathBuf,
}

const PAGE: &str = "docs/reliability.md";
/// As the test command builds it, so that it is built once.
const HARNESS: &str = "test --workspace --quiet --test tests --";
const ONE: &str = "--nocapture --exact";
/// The tests that kill, each with the share of the kills that it gets.
const KILLING: [(&str, u64); 5] = [("sqlite", 1), ("synopses", 1), ("postgres", 5), ("mariadb", 5), ("service", 5)];

impl Torture {
    /// As `cargo xtask test --full` does it, which leaves the page of the repository as it is.
    pub(crate) fn in_full() -> anyhow::Result<()> {
        let page = Path::new("target/reliability.md");
        std::fs::copy(PAGE, page)?;
        Self { minutes: 0, kills: Some(1000), page: page.to_owned() }.run()
    }

    pub(crate) fn run(self) -> anyhow::Result<()> {
        let lines = std::path::absolute("target/torture.jsonl")?;
        if lines.exists() {
            std::fs::remove_file(&lines)?;
        }
        let report = lines.to_str().context("the folder has a name in UTF-8")?;
        let mut stages: Vec<(String, &str, String)> = Vec::new();
        for (test, share) in KILLING {
            let (name, number) = match self.kills {
                Some(kills) => ("TWINSET_KILLS", kills / share),
                None => ("TWINSET_SECONDS", self.minutes * 60 / KILLING.len() as u64),
            };
            stages.push((format!("{HARNESS} {ONE} torture::{test}"), name, number.to_string()));
        }
        stages.push((format!("{HARNESS} {ONE} torture::flips"), "TWINSET_FLIPS", "all".to_owned()));
        stages.push((format!("{HARNESS} faults::"), "TWINSET_FULL", "1".to_owned()));
        // The page also tells what went wrong.
        let run = |(args, name, value): &(String, &str, String)| {
            cargo(args, &[(*name, value.as_str()), ("TWINSET_REPORT", report), REQUIRE_ALL])
        };
        let done: Vec<anyhow::Result<()>> = stages.iter().map(run).collect();
        let lines = std::fs::read_to_string(&lines)?;
        let lines = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        let page = std::fs::read_to_string(&self.page)?;
        let page = replaced(&page, "kills", &self.kills_in_words(&lines))?;
        let page = replaced(&page, "flips", &flips_in_words(&lines))?;
        let page = replaced(&page, "faults", &faults_in_words(&lines))?;
        std::fs::write(&self.page, page)?;
        done.into_iter().collect()
    }

    /// What was killed, as a table.
    fn kills_in_words(&self, lines: &[Value]) -> String {
        let told = match self.kills {
            Some(kills) => format!("--kills {kills}"),
            None => format!("--minutes {}", self.minutes),
        };
        let mut text = format!("Made by `cargo xtask torture {told}` {}.\n\n", circumstances());
        text += "| home | kills | acknowledged changes | records in them | read meanwhile | lost | resurrected | half there | \
                 recovery, median | longest |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        for line in lines.iter().filter(|line| line["home"].is_string()) {
            let counts = ["kills", "changes", "records", "readings", "lost", "resurrected", "half_there"];
            let counts: Vec<String> = counts.iter().map(|name| grouped(line[name].as_u64().unwrap_or(0))).collect();
            let time = |name: &str| line[name].as_f64().map_or("-".to_owned(), milliseconds);
            let home = line["home"].as_str().unwrap_or_default();
            let (median, longest) = (time("median_ms"), time("longest_ms"));
            writeln!(text, "| {home} | {} | {median} | {longest} |", counts.join(" | ")).expect("a string takes it");
        }
        text
    }
}

/// What was damaged, as a table.
fn flips_in_words(lines: &[Value]) -> String {
    let mut text = format!("Made by the same run {}.\n\n", circumstances());
    text += "| what | files | damages | told by opening or by `check` | answers unaffected | earlier | wrong |\n|---|--:|--:|--:|--:|--:|--:|\n";
    for line in lines.iter().filter(|line| line["damaged"].is_string()) {
        let counts = ["files", "damages", "told", "unaffected", "earlier", "wrong"];
        let counts: Vec<String> = counts.iter().map(|name| grouped(line[name].as_u64().unwrap_or(0))).collect();
        let what = line["damaged"].as_str().unwrap_or_default();
        writeln!(text, "| {what} | {} |", counts.join(" | ")).expect("a string takes it");
    }
    text
}

/// What came of disks that failed, as a table: the operations of one thing in a row.
fn faults_in_words(lines: &[Value]) -> String {
    let mut text = format!("Made by the same run {}.\n\n", circumstances());
    text += "| what | operations | faults | second ones on reopening | ended with a message | killed | as before | as after | in between |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    let mut rows: BTreeMap<&str, [u64; 8]> = BTreeMap::new();
    for line in lines {
        let Some(operation) = line["operation"].as_str() else { continue };
        let what = operation.split_once(": ").map_or("files of commands", |(what, _)| what);
        let row = rows.entry(what).or_default();
        row[0] += 1;
        let counts = ["faults", "again", "refused", "killed", "old", "new", "between"];
        row[1..].iter_mut().zip(counts).for_each(|(sum, name)| *sum += line[name].as_u64().unwrap_or(0));
    }
    for (what, row) in rows {
        writeln!(text, "| {what} | {} |", row.map(grouped).join(" | ")).expect("a string takes it");
    }
    text
}

/// When, where and of what.
fn circumstances() -> String {
    let said = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output().map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).trim().to_owned()
    };
    let (day, commit) = (said("date", &["-u", "+%F"]), said("git", &["describe", "--always", "--dirty"]));
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, model)| model.trim());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("on {day}, of commit {commit}, on {threads} threads of {model}, {}", said("uname", &["-sr"]))
}

/// A page with what stands between two marks replaced.
fn replaced(page: &str, name: &str, text: &str) -> anyhow::Result<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let missing = || format!("the page has no marks `{}` and `{end}`", begin.trim());
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

/// A time as it is read: 0.4 ms, 16 ms.
fn milliseconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.1} ms") } else { format!("{time:.0} ms") }
}

/// A number as it is read: 12,345.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
