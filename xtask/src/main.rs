//! The chores of this repository: `cargo xtask test` is what must pass before anything lands.

mod command;
mod dist;
mod fuzz;
mod install;
mod lean;
mod python;
mod test;
mod torture;
mod workflows;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

/// The chores of this repository
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Chore {
    /// Check the format, clippy, and the tests of the library and the readers, offline and without servers
    Check,
    /// Run all tests: format, clippy, Rust, fuzzing, licences, Python, API, documentation, packaging
    Test {
        /// Also run what takes hours: more random cases, large collections, kills, release packages
        #[arg(long)]
        full: bool,
    },
    Torture(torture::Torture),
    Dist(dist::Dist),
    Fuzz(fuzz::Fuzz),
}

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = fuzz::compiler() {
        return Ok(code);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the folder of xtask has a parent")?;
    std::env::set_current_dir(root)?;
    match Chore::parse() {
        Chore::Check => test::check(),
        Chore::Test { full } => test::test(full),
        Chore::Torture(torture) => {
            install::install_packages()?;
            torture.run()
        }
        Chore::Dist(dist) => dist.run(),
        Chore::Fuzz(fuzz) => fuzz.run(),
    }?;
    Ok(ExitCode::SUCCESS)
}
