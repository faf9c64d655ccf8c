//! The tests: `cargo xtask check` and `cargo xtask test`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, anyhow, bail};

use crate::command::{cargo, print_parts, run};
use crate::dist::{self, Dist};
use crate::fuzz::Fuzz;
use crate::install::{OLDER_SPARK, PYTHON, install_component, install_packages, install_python};
use crate::python::{pytest, python};
use crate::torture::Torture;
use crate::{lean, workflows};

/// Makes tests fail that are otherwise skipped because something is not installed.
pub(crate) const REQUIRE_ALL: (&str, &str) = ("TWINSET_REQUIRE_ALL", "1");

pub(crate) fn check() -> anyhow::Result<()> {
    cargo("fmt --all --check", &[])?;
    cargo("clippy --workspace --all-targets --offline --quiet -- -D warnings", &[])?;
    cargo("test --package twinset --package twinset-io --offline --quiet", &[])?;
    print_parts();
    Ok(())
}

pub(crate) fn test(full: bool) -> anyhow::Result<()> {
    let begin = Instant::now();
    for component in ["rustfmt", "clippy"] {
        install_component(component)?;
    }
    install_packages()?;
    std::thread::scope(|scope| {
        // Half a gigabyte is downloaded while the compiler works.
        let packages = scope.spawn(|| install_python(PYTHON));
        cargo("fmt --all --check", &[])?;
        lean::test()?;
        cargo("clippy --workspace --all-targets --quiet -- -D warnings", &[])?;
        cargo("test --workspace --quiet", &[REQUIRE_ALL])?;
        // With all targets, dependencies have the features that they have in the tests, so nothing is compiled again.
        cargo("build --workspace --all-targets --quiet", &[])?;
        packages.join().map_err(|_| anyhow!("the thread that installs Python packages panicked"))?
    })?;
    dependencies()?;
    workflows::lint()?;
    dist::try_archive(&dist::pack("target/debug/twinset", "target/dist-debug")?)?;
    Fuzz { minutes: 0.0, target: Vec::new(), stable: true, runs: Some(1000) }.run()?;
    described_api()?;
    python()?;
    cargo("doc --workspace --no-deps --quiet", &[("RUSTDOCFLAGS", "-D warnings")])?;
    cargo("package --package twinset --allow-dirty --quiet", &[])?;
    if full {
        sanitized()?;
        cargo("test --package twinset --test tests exact::", &[("PROPTEST_CASES", "20000")])?;
        Torture::in_full()?;
        Dist {}.run()?;
        install_python(OLDER_SPARK)?;
        for (folder, _) in [PYTHON, OLDER_SPARK] {
            pytest(folder, "-s crates/twinset-python/tests/test_spark.py", &[("TWINSET_FULL", "1")])?;
        }
        large_collection()?;
        many_short_texts()?;
        cargo("run --release --package experiments -- peers --records 2000 --output target/peers.html", &[])?;
        cargo("run --release --package experiments -- profile --rows 2000 --output target/profile.html", &[])?;
        cargo("run --release --package experiments -- serve", &[])?;
        cargo("run --release --package experiments -- serve --kill --articles 20000", &[])?;
    }
    print_parts();
    println!("everything passed in {:.0} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// Licences, sources and versions of all dependencies are those that `deny.toml` allows.
fn dependencies() -> anyhow::Result<()> {
    let tool = Path::new("target/tools/bin/cargo-deny");
    if !tool.exists() {
        let how = "--locked --debug --no-default-features --quiet --root target/tools --target-dir target/tools/build";
        cargo(&format!("install cargo-deny --version 0.20.2 {how}"), &[])?;
    }
    run(&tool.display().to_string(), "--log-level error check licenses bans sources", &[])
}

/// The unsafe code of the library under AddressSanitizer, where there is a toolchain that has it.
fn sanitized() -> anyhow::Result<()> {
    if !Command::new("cargo").args(["+nightly", "--version"]).output().is_ok_and(|output| output.status.success()) {
        println!("there is no nightly toolchain, and so no AddressSanitizer");
        return Ok(());
    }
    let environment = [("RUSTFLAGS", "-Zsanitizer=address"), ("PROPTEST_CASES", "100")];
    let place = "--target x86_64-unknown-linux-gnu --target-dir target/sanitized";
    cargo(&format!("+nightly test --package twinset --lib --tests {place} -- --skip the_programs_run"), &environment)
}

/// The news service answers requests that were made from its description, and from less, as the description says.
fn described_api() -> anyhow::Result<()> {
    let mut service = Command::new("target/debug/twinset")
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .context("the service could not be started")?;
    let mut log = BufReader::new(service.stderr.take().context("standard error is piped")?);
    let mut line = String::new();
    while log.read_line(&mut line)? > 0 && !line.contains("http://") {
        line.clear();
    }
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let address = line.split_whitespace().find(|word| word.starts_with("http://"));
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
    let tested = address.context("the service ended before it listened").and_then(|address| {
        let options = "--max-examples 30 --request-timeout 40 --seed 1 --no-color";
        run("target/python/bin/st", &format!("run {address}/api/openapi.json --checks {checks} {options}"), &[])
    });
    service.kill()?;
    service.wait()?;
    tested
}

/// A million generated records give the same bytes on one and two threads, and by the paper's algorithms.
fn large_collection() -> anyhow::Result<()> {
    let folder = Path::new("target/full");
    std::fs::create_dir_all(folder)?;
    cargo("build --release --package twinset-cli", &[])?;
    let twinset = "target/release/twinset";
    run(twinset, "generate --records 1000000 --words 15 --seed 1 --output target/full/docs.jsonl.zst", &[])?;
    let mut results = Vec::new();
    let faithful = ["--algorithm ppjoin", "--algorithm ppjoin+"];
    for settings in ["--threads 1", "--threads 2", "--algorithm prefix"].into_iter().chain(faithful) {
        let args = format!("join target/full/docs.jsonl.zst --threshold 0.8 {settings} --output target/full/pairs.csv");
        run(twinset, &args, &[])?;
        results.push(std::fs::read(folder.join("pairs.csv"))?);
    }
    std::fs::remove_dir_all(folder)?;
    if results.iter().any(|result| result != &results[0]) {
        bail!("the pairs of the large collection differ");
    }
    Ok(())
}

/// Sketches of two million short texts, in shards, give the same bytes within a memory that holds a part of them.
fn many_short_texts() -> anyhow::Result<()> {
    let folder = Path::new("target/full");
    std::fs::create_dir_all(folder.join("shards"))?;
    let twinset = "target/release/twinset";
    run(twinset, "generate --records 2000000 --words 10 --seed 1 --output target/full/all.jsonl", &[])?;
    let all = std::fs::read_to_string(folder.join("all.jsonl"))?;
    for (number, lines) in all.lines().collect::<Vec<_>>().chunks(500_000).enumerate() {
        std::fs::write(folder.join(format!("shards/{number}.jsonl")), lines.join("\n") + "\n")?;
    }
    let mut results = Vec::new();
    for memory in ["64G", "800M"] {
        let settings = "--method sketch --threshold 0.8 --agree 75 --groups target/full/groups.csv --count";
        run(twinset, &format!("dedup target/full/shards {settings} --memory {memory}"), &[])?;
        results.push(std::fs::read(folder.join("groups.csv"))?);
    }
    std::fs::remove_dir_all(folder)?;
    if results[0] != results[1] {
        bail!("the groups of short texts differ when memory is limited");
    }
    Ok(())
}
