//! The chores of this repository: `cargo xtask test` is what must pass before anything lands.

mod fuzz;
mod torture;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use clap::Parser;

/// The chores of this repository
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Chore {
    /// The fast loop: formatting, clippy, and the tests of the library and the readers, without network or servers
    Check,
    /// Formatting, clippy, all tests, doc tests, some fuzzing, licences, Python tests, the API against its description, documentation, packaging
    Test {
        /// Also what takes long: many more random cases, and a large collection
        #[arg(long)]
        full: bool,
    },
    Torture(torture::Torture),
    /// The wheel of the Python package, in target/wheels
    Wheel,
    /// Looks for bytes that show a fault in a reader, an index, a join or a request
    Fuzz(fuzz::Fuzz),
}

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = fuzz::compiler() {
        return Ok(code);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
    std::env::set_current_dir(root)?;
    match Chore::parse() {
        Chore::Check => check(),
        Chore::Test { full } => test(full),
        Chore::Torture(torture) => {
            install_packages()?;
            torture.run()
        }
        Chore::Wheel => {
            install_packages()?;
            install_python(PYTHON)?;
            wheel("--release")
        }
        Chore::Fuzz(fuzz) => fuzz.run(),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Tests that need something that is not installed fail instead of being skipped.
const REQUIRE_ALL: (&str, &str) = ("TWINSET_REQUIRE_ALL", "1");

fn check() -> anyhow::Result<()> {
    cargo("fmt --all --check", &[])?;
    cargo("clippy --workspace --all-targets --offline --quiet -- -D warnings", &[])?;
    cargo("test --package twinset --package twinset-io --offline --quiet", &[])?;
    print_parts();
    Ok(())
}

fn test(full: bool) -> anyhow::Result<()> {
    let begin = Instant::now();
    for component in ["rustfmt", "clippy"] {
        install(component)?;
    }
    install_packages()?;
    std::thread::scope(|scope| {
        // Half a gigabyte is fetched while the compiler works.
        let packages = scope.spawn(|| install_python(PYTHON));
        cargo("fmt --all --check", &[])?;
        cargo("clippy --workspace --all-targets --quiet -- -D warnings", &[])?;
        cargo("test --workspace --quiet", &[REQUIRE_ALL])?;
        // With all targets the features of dependencies are those of the tests, so that nothing is compiled again.
        cargo("build --workspace --all-targets --quiet", &[])?;
        packages.join().map_err(|_| anyhow!("the Python packages could not be installed"))?
    })?;
    dependencies()?;
    fuzz::Fuzz { minutes: 0.0, target: Vec::new(), stable: true, runs: Some(1000) }.run()?;
    described_api()?;
    python()?;
    cargo("doc --workspace --no-deps --quiet", &[("RUSTDOCFLAGS", "-D warnings")])?;
    cargo("package --package twinset --allow-dirty --quiet", &[])?;
    if full {
        sanitized()?;
        cargo("test --package twinset --test tests exact::", &[("PROPTEST_CASES", "20000")])?;
        torture::Torture::in_full()?;
        wheel("--release")?;
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
    cargo(&format!("+nightly test --package twinset --lib --tests {place}"), &environment)
}

/// Folders of Python packages, each with the file that lists them.
const PYTHON: (&str, &str) = ("target/python", "crates/twinset-python/requirements-test.txt");
const OLDER_SPARK: (&str, &str) = ("target/python-spark-3.5", "crates/twinset-python/requirements-spark-3.5.txt");

/// Puts Python packages into a folder of their own, unless they are there.
fn install_python((folder, list): (&str, &str)) -> anyhow::Result<()> {
    let installed = format!("{folder}/installed.txt");
    let wanted = std::fs::read_to_string(list)?;
    if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    run("python3", &format!("-m venv {folder}"), &[])?;
    run(&format!("{folder}/bin/pip"), &format!("install --quiet --disable-pip-version-check -r {list}"), &[])?;
    Ok(std::fs::write(installed, wanted)?)
}

/// Builds the wheel of the Python package.
fn wheel(profile: &str) -> anyhow::Result<()> {
    run("target/python/bin/maturin", &format!("build {profile} --quiet --out target/wheels"), &[])
}

/// Puts the Python package, as it was built last, where its tests look for it.
fn lay_out_python() -> anyhow::Result<()> {
    let package = Path::new("target/python-package/twinset");
    std::fs::create_dir_all(package)?;
    for entry in std::fs::read_dir("crates/twinset-python/python/twinset")? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            std::fs::copy(&path, package.join(name))?;
        }
    }
    std::fs::copy("target/debug/lib_twinset.so", package.join("_twinset.abi3.so"))?;
    Ok(())
}

/// The Python package does what the command does; its examples run, its types fit.
fn python() -> anyhow::Result<()> {
    lay_out_python()?;
    // The examples for Spark need a cluster, and run in a test.
    let examples = "--doctest-modules target/python-package --ignore target/python-package/twinset/spark.py";
    pytest(PYTHON.0, &format!("{examples} crates/twinset-python/tests"), &[])?;
    run("target/python/bin/python", "-m mypy --strict --ignore-missing-imports target/python-package/twinset", &[])
}

/// Runs Python tests with the packages of a folder.
fn pytest(folder: &str, args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let [python, packages, command] = of_pytest(folder)?;
    let environment = [&[("PYTHONPATH", packages.as_str()), ("TWINSET", command.as_str())], environment].concat();
    run(&python, &format!("-m pytest {args}"), &environment)
}

/// What Python tests need: the interpreter of a folder, where the package lies, and the command.
fn of_pytest(folder: &str) -> anyhow::Result<[String; 3]> {
    let absolute = |path: &str| std::path::absolute(path).map(|path| path.display().to_string());
    Ok([
        absolute(&format!("{folder}/bin/python"))?,
        absolute("target/python-package")?,
        absolute("target/debug/twinset")?,
    ])
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

/// Adds a component of the toolchain that is not there yet.
fn install(component: &str) -> anyhow::Result<()> {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    let there = Command::new("cargo").args([tool, "--version"]).output().is_ok_and(|output| output.status.success());
    if there { Ok(()) } else { run("rustup", &format!("component add {component}"), &[]) }
}

/// What the tests run against: for each a Debian package, and files of which one shows that it is there.
const PACKAGES: [(&str, &[&str]); 7] = [
    ("default-jre-headless", &["/usr/bin/java", "/usr/local/bin/java", "/usr/lib/jvm/*/bin/java"]),
    ("chromium", &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]),
    ("postgresql", &["/usr/lib/postgresql/*/bin/initdb", "/usr/bin/initdb", "/usr/local/bin/initdb"]),
    ("mariadb-server", &["/usr/sbin/mariadbd", "/usr/bin/mariadbd"]),
    ("openssl", &["/usr/bin/openssl", "/usr/local/bin/openssl"]),
    ("g++", &["/usr/bin/c++", "/usr/bin/g++", "/usr/local/bin/g++", "/usr/bin/clang++"]),
    ("python3-venv", &["/usr/lib/python3*/ensurepip/__init__.py", "/usr/local/lib/python3*/ensurepip/__init__.py"]),
];

/// Installs the browser and the databases that are not there yet.
fn install_packages() -> anyhow::Result<()> {
    let is_there = |pattern: &&str| glob::glob(pattern).is_ok_and(|mut paths| paths.next().is_some());
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|(_, files)| !files.iter().any(is_there)).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"));
    let apt = |args: &str| {
        let command = format!("DEBIAN_FRONTEND=noninteractive apt-get {args}");
        if is_root { run("env", &command, &[]) } else { run("sudo", &format!("env {command}"), &[]) }
    };
    let missing = missing.join(" ");
    println!("installing {missing} with apt-get");
    apt("update --quiet")
        .and_then(|()| apt(&format!("install --yes --quiet --no-install-recommends {missing}")))
        .with_context(|| format!("the tests need {missing}; install them by hand where there is no apt"))
}

fn cargo(args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    run("cargo", args, environment)
}

fn run(program: &str, args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    println!("$ {program} {args}");
    let begin = Instant::now();
    let mut command = Command::new(program);
    // What cargo tells of this package would have dependencies compiled again that ask for it.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
            command.env_remove(name);
        }
    }
    command.args(args.split_whitespace()).envs(environment.iter().copied());
    let status = command.status().with_context(|| format!("{program} could not be started"))?;
    if !status.success() {
        bail!("`{program} {args}` failed");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("  {seconds:.0} s");
    if let Ok(mut parts) = PARTS.lock() {
        parts.push((format!("{program} {args}"), seconds));
    }
    Ok(())
}

/// What was run, and how many seconds each took.
static PARTS: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

/// Prints how long each part took.
fn print_parts() {
    let Ok(parts) = PARTS.lock() else { return };
    println!("\nseconds  what");
    for (what, seconds) in parts.iter() {
        println!("{seconds:7.0}  {}", what.chars().take(100).collect::<String>());
    }
}
