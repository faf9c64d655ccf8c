//! Runs programs and reports how long each took.

use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, bail};

pub(crate) fn cargo(args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    run("cargo", args, environment)
}

/// Runs a program with arguments separated by spaces.
pub(crate) fn run(program: &str, args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    println!("$ {program} {args}");
    let begin = Instant::now();
    let mut command = Command::new(program);
    // Variables that cargo sets for this program would make dependencies that read them stale.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
            command.env_remove(name);
        }
    }
    command.args(args.split_whitespace()).envs(environment.iter().copied());
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("`{program} {args}` failed");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("  {seconds:.0} s: {program} {}", args.chars().take(60).collect::<String>());
    if let Ok(mut parts) = PARTS.lock() {
        parts.push((format!("{program} {args}"), seconds));
    }
    Ok(())
}

/// Runs a program and returns what it prints.
pub(crate) fn output(program: &str, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(args).output().with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        bail!("`{program} {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The commands that ran, with the seconds that each took.
static PARTS: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

/// Prints how long each part took.
pub(crate) fn print_parts() {
    let Ok(parts) = PARTS.lock() else { return };
    println!("\nseconds  command");
    for (command, seconds) in parts.iter() {
        println!("{seconds:7.0}  {}", command.chars().take(100).collect::<String>());
    }
}
