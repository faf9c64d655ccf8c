//! `cargo xtask fuzz`: libFuzzer looks for bytes that show a fault, and a table tells what it did.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, anyhow, bail};
use wait4::Wait4;

/// How long to look, and where
#[derive(clap::Args)]
pub(crate) struct Fuzz {
    /// So many minutes of processor time for each target
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub(crate) minutes: f64,
    /// Only this target; repeat it for several
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Without the address sanitizer, which needs a nightly toolchain
    #[arg(long)]
    pub(crate) stable: bool,
    /// Run N inputs of each target instead, the same ones every time
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
}

/// What is watched of a program: which branches it takes, and what it compares.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// Where everything lies that is not worth keeping.
const FOLDER: &str = "target/fuzz";
/// Set for a compiler that watches.
const WATCHING: &str = "TWINSET_WATCHED";
/// So many targets run at a time.
const TOGETHER: usize = 2;
/// Limits of each input: seconds, and megabytes of memory. A thread of an index that is just being started would be taken for a leak.
const LIMITS: [&str; 3] = ["-timeout=60", "-rss_limit_mb=3000", "-detect_leaks=0"];
/// How many bytes an input may have. libFuzzer takes no such limit while it makes one smaller.
const LENGTH: &str = "-max_len=16384";

/// Stands for the compiler of this workspace, if it was asked for: the same with coverage. The crates that it depends on are those of
/// every other build, so nothing else is compiled again.
pub(crate) fn compiler() -> Option<std::process::ExitCode> {
    std::env::var_os(WATCHING)?;
    let mut words = std::env::args_os().skip(1);
    let status = Command::new(words.next()?).args(words).args(COVERAGE).status().ok()?;
    Some(if status.success() { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE })
}

/// What a target did.
struct Outcome {
    target: String,
    seconds: f64,
    executions: u64,
    coverage: String,
    findings: Vec<PathBuf>,
}

impl Fuzz {
    /// Runs all targets, and fails if there is a finding.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let mut all = folders("fuzz/corpus")?;
        if self.runs.is_none() {
            all.push(PYTHON.to_owned());
        }
        if let Some(unknown) = self.target.iter().find(|target| !all.contains(target)) {
            bail!("there is no target {unknown}; there are {}", all.join(", "));
        }
        let targets = if self.target.is_empty() { all } else { self.target.clone() };
        if targets.iter().any(|target| target == PYTHON) {
            crate::install::install_packages()?;
            crate::install::install_python(crate::install::PYTHON)?;
            crate::command::cargo("build --workspace --all-targets --quiet", &[])?;
            crate::python::lay_out_python()?;
        }
        let has_nightly = || rustup(&["run", "nightly", "cargo", "--version"]).output();
        let program = match !self.stable && has_nightly().is_ok_and(|output| output.status.success()) {
            true => with_sanitizer()?,
            false => with_coverage()?,
        };
        let queue = Mutex::new(VecDeque::from(targets));
        let next = || queue.lock().expect("no thread panics with the queue").pop_front();
        let work = || -> anyhow::Result<Vec<Outcome>> {
            let look =
                |target: String| if target == PYTHON { self.look_at_python() } else { self.look(&program, target) };
            std::iter::from_fn(next).map(look).collect()
        };
        let outcomes: Vec<Outcome> = std::thread::scope(|scope| -> anyhow::Result<Vec<Outcome>> {
            let threads: Vec<_> = (0..TOGETHER).map(|_| scope.spawn(work)).collect();
            let mut outcomes = Vec::new();
            for thread in threads {
                outcomes.extend(thread.join().map_err(|_| anyhow!("a thread panicked"))??);
            }
            Ok(outcomes)
        })?;
        println!("{:<10} {:>7} {:>12} {:>8} {:>8}  findings", "target", "seconds", "executions", "/s", "coverage");
        for Outcome { target, seconds, executions, coverage, findings } in &outcomes {
            let rate = *executions as f64 / seconds.max(0.01);
            println!("{target:<10} {seconds:>7.0} {executions:>12} {rate:>8.0} {coverage:>8}  {}", findings.len());
        }
        let findings: Vec<&PathBuf> = outcomes.iter().flat_map(|outcome| &outcome.findings).collect();
        for finding in &findings {
            if finding.extension().is_some_and(|ending| ending == "log") {
                println!("{} tells what Python handed over", finding.display());
                continue;
            }
            let target = finding.parent().and_then(Path::file_name).unwrap_or_default();
            println!("{CHOICE}={} {} {}", target.display(), program.display(), finding.display());
        }
        if findings.is_empty() { Ok(()) } else { bail!("{} findings; run them as above", findings.len()) }
    }

    /// Runs a target for as much processor time as was asked for, or until it finds something.
    fn look(&self, program: &Path, target: String) -> anyhow::Result<Outcome> {
        let corpus = Path::new(FOLDER).join("corpus").join(&target);
        let artifacts = Path::new(FOLDER).join("artifacts").join(&target);
        _ = fs::remove_dir_all(&artifacts);
        if self.runs.is_some() {
            // What earlier runs have learned would lead to other inputs.
            _ = fs::remove_dir_all(&corpus);
        }
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let dictionary = PathBuf::from(format!("fuzz/dictionaries/{target}.txt"));
        let mut outcome = Outcome {
            target: target.clone(),
            seconds: 0.0,
            executions: 0,
            coverage: String::new(),
            findings: Vec::new(),
        };
        loop {
            let left = 60.0 * self.minutes - outcome.seconds;
            let extent = match self.runs {
                Some(_) if outcome.executions > 0 => break,
                Some(runs) => vec![format!("-runs={runs}"), "-seed=1".to_owned()],
                None if left < 1.0 => break,
                None => vec![format!("-max_total_time={}", left as u64)],
            };
            let log = Path::new(FOLDER).join(format!("{target}.log"));
            let mut command = fuzzer(program, &target)?;
            command.arg(LENGTH).args(LIMITS).args(extent).arg("-print_final_stats=1");
            command.arg(format!("-artifact_prefix={}/", artifacts.display()));
            if dictionary.is_file() {
                command.arg(format!("-dict={}", dictionary.display()));
            }
            command.arg(&corpus).arg(format!("fuzz/corpus/{target}"));
            let file = fs::File::create(&log)?;
            let done = command.stdout(Stdio::null()).stderr(file).spawn()?.wait4()?;
            let told = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
            outcome.seconds += (done.rusage.utime + done.rusage.stime).as_secs_f64();
            outcome.executions += executions(&told);
            outcome.coverage = word_after(&told, " cov: ").unwrap_or(outcome.coverage);
            if !done.status.success() {
                outcome.findings = kept(program, &target, &artifacts)?;
                if outcome.findings.is_empty() {
                    bail!("{target} ended with {} and left nothing behind; {} tells more", done.status, log.display());
                }
                break;
            }
        }
        println!("  {target}: {} executions in {:.0} s", outcome.executions, outcome.seconds);
        Ok(outcome)
    }
}

/// The target that is no program of libFuzzer: Hypothesis makes up what a program in Python hands over.
const PYTHON: &str = "python";

impl Fuzz {
    /// Runs the tests of the Python package that make up values, with others each time, for as long as was asked for.
    fn look_at_python(&self) -> anyhow::Result<Outcome> {
        const TESTS: &str = "-m pytest --quiet --hypothesis-show-statistics crates/twinset-python/tests/test_fuzz.py";
        let log = Path::new(FOLDER).join("python.log");
        let [python, packages, command] = crate::python::of_pytest(crate::install::PYTHON.0)?;
        let (target, coverage) = (PYTHON.to_owned(), String::new());
        let mut outcome = Outcome { target, seconds: 0.0, executions: 0, coverage, findings: Vec::new() };
        while outcome.seconds < 60.0 * self.minutes && outcome.findings.is_empty() {
            let mut tests = Command::new(&python);
            tests.args(TESTS.split_whitespace()).stdout(fs::File::create(&log)?);
            tests.env("PYTHONPATH", &packages).env("TWINSET", &command).env("TWINSET_EXAMPLES", "400");
            let done = tests.spawn()?.wait4()?;
            let told = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
            outcome.seconds += (done.rusage.utime + done.rusage.stime).as_secs_f64();
            let counts = told.match_indices(" passing,").filter_map(|(end, _)| told[..end].split(' ').next_back());
            outcome.executions += counts.filter_map(|count| count.parse::<u64>().ok()).sum::<u64>();
            if !done.status.success() {
                outcome.findings.push(log.clone());
            }
        }
        println!("  {PYTHON}: {} executions in {:.0} s", outcome.executions, outcome.seconds);
        Ok(outcome)
    }
}

/// Names the target, as `fuzz/src/lib.rs` reads it.
const CHOICE: &str = "TWINSET_FUZZ";

/// A run of a target, whose files lie in main memory, where there is a folder for that.
fn fuzzer(program: &Path, target: &str) -> anyhow::Result<Command> {
    let memory = Path::new("/dev/shm");
    let scratch = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let scratch = scratch.join(format!("twinset-fuzz-{target}"));
    _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch)?;
    // Threads of a command have a stack of two megabytes, and the main thread of a program more than that. The sanitizer makes
    // whatever lies there several times as large.
    let kilobytes = if program.starts_with(FOLDER) { 8192 } else { 2048 };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -s {kilobytes}; exec \"$0\" \"$@\"")).arg(program);
    command.env(CHOICE, target).env("TMPDIR", scratch);
    Ok(command)
}

/// Makes what was found as small as it can be, and keeps it with the findings of its target.
fn kept(program: &Path, target: &str, artifacts: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = Path::new("fuzz/findings").join(target);
    let mut kept = Vec::new();
    let found: Vec<PathBuf> = fs::read_dir(artifacts)?.flatten().map(|entry| entry.path()).collect();
    for artifact in found {
        let name = artifact.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        // What was only slow is no finding.
        if name.starts_with("slow-unit") {
            continue;
        }
        fs::create_dir_all(&folder)?;
        let (finding, small) = (folder.join(&name), artifacts.join(format!("small-{name}")));
        if name.starts_with("crash") {
            let mut command = fuzzer(program, target)?;
            command.args(LIMITS).args(["-minimize_crash=1", "-max_total_time=20"]);
            command.arg(format!("-exact_artifact_path={}", small.display())).arg(&artifact);
            command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        }
        // What is kept must show the fault.
        let is_smaller = small.is_file() && !runs_well(program, target, &small)?;
        fs::copy(if is_smaller { &small } else { &artifact }, &finding)?;
        kept.push(finding);
    }
    Ok(kept)
}

/// Whether an input shows no fault.
fn runs_well(program: &Path, target: &str, input: &Path) -> anyhow::Result<bool> {
    let mut command = fuzzer(program, target)?;
    command.args(LIMITS).arg(input).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status()?.success())
}

fn executions(told: &str) -> u64 {
    word_after(told, "number_of_executed_units:").and_then(|word| word.parse().ok()).unwrap_or_else(|| {
        // One that was ended by a fault tells no final figures.
        let last = told.lines().rev().find(|line| line.starts_with('#'));
        last.and_then(|line| line[1..].split_whitespace().next()?.parse().ok()).unwrap_or(0)
    })
}

/// The first word after the last occurrence of a mark.
fn word_after(text: &str, mark: &str) -> Option<String> {
    text.rsplit_once(mark)?.1.split_whitespace().next().map(str::to_owned)
}

fn folders(path: &str) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(path)?.flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn rustup(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(args);
    command
}

/// The program on any toolchain: the crates of this workspace are watched.
fn with_coverage() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    // A build of the whole workspace may have made this program anew; what has its place now does the same.
    let own = own.to_str().context("a path of text")?.trim_end_matches(" (deleted)");
    let environment = [(WATCHING, "1"), ("RUSTC_WORKSPACE_WRAPPER", own)];
    // With the features of the whole workspace its dependencies are those of every other build.
    crate::command::cargo("build --workspace --bin fuzz --features twinset-fuzz/libfuzzer --quiet", &environment)?;
    Ok(PathBuf::from("target/debug/fuzz"))
}

/// The program on nightly: everything is watched, and every access to memory checked.
fn with_sanitizer() -> anyhow::Result<PathBuf> {
    let told = Command::new("rustc").arg("-vV").output()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = word_after(&told, "host: ").context("rustc tells its host")?;
    let flags = [COVERAGE.join(" "), "-Zsanitizer=address".to_owned()].join(" ");
    let args = format!(
        "run nightly cargo build --package twinset-fuzz --bin fuzz --features libfuzzer --quiet --target {host} --target-dir {FOLDER}/nightly"
    );
    crate::command::run("rustup", &args, &[("RUSTFLAGS", flags.as_str())])?;
    Ok(PathBuf::from(format!("{FOLDER}/nightly/{host}/debug/fuzz")))
}
