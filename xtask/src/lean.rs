//! The default build: small enough for a new user to wait for, and clear about what it lacks.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::command::{cargo, output};
use crate::dist::run_example;

/// The most crates that the default build may have.
const MOST_CRATES: usize = 150;
/// What each error of a missing command or format ends with.
const REMEDY: &str = "build it with `cargo install --path crates/twinset-cli --features full --locked`";
/// Commands that the default build refuses, each with what the error names.
const MISSING: [(&str, &str); 7] = [
    ("sketch examples/titles.tsv --output a.sketch", "`sketch`"),
    ("index create news", "`index`"),
    ("profile examples/shop", "`profile`"),
    ("serve --demo", "`serve`"),
    ("join a.parquet --threshold 0.7", "parquet"),
    ("dedup a.html --threshold 0.7 --output b.html", "web pages"),
    ("join examples/titles.tsv --format nt --threshold 0.7", "RDF"),
];

/// Counts the crates of the default build, and tests it.
pub(crate) fn test() -> anyhow::Result<()> {
    let tree = "tree --package twinset-cli --edges normal,build --prefix none --no-dedupe";
    let tree = output("cargo", &tree.split(' ').collect::<Vec<_>>())?;
    let crates: BTreeSet<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
    println!("the default build has {} crates, at most {MOST_CRATES}", crates.len());
    if crates.is_empty() || crates.len() > MOST_CRATES {
        bail!("the default build has {} crates; put what it does not need behind a feature", crates.len());
    }
    cargo("clippy --package twinset-cli --quiet -- -D warnings", &[])?;
    // Each feature compiles without the others; this one has the most code that depends on another.
    cargo("check --package twinset-cli --features index --quiet", &[])?;
    // The library without any of its features.
    cargo("clippy --package twinset --lib --no-default-features --quiet -- -D warnings", &[])?;
    cargo("test --package twinset --test tests --no-default-features --quiet tokens::", &[])?;
    cargo("test --package twinset-io --test tests --quiet features::", &[])?;
    cargo("build --package twinset-cli --quiet", &[])?;
    let command = std::path::absolute("target/debug/twinset")?;
    run_example(&command, Path::new("."))?;
    let help = output("target/debug/twinset", &["--help"])?;
    if help.matches("not in").count() < 4 {
        bail!("the help of the default build does not mark the commands that are missing");
    }
    for (args, name) in MISSING {
        let refused = Command::new(&command).args(args.split(' ')).output()?;
        let message = String::from_utf8(refused.stderr)?;
        let is_clear = message.lines().count() == 1 && message.contains(name) && message.contains(REMEDY);
        if refused.status.code() != Some(2) || !is_clear {
            bail!("`twinset {args}` of the default build ends with {} and says {message}", refused.status);
        }
    }
    Ok(())
}
