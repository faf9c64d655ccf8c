//! Regenerates the papers' tables and figures, and measures speed. Each experiment has a file of its own.

mod crsi;
mod growth;
mod peers;
mod ppjoin;
mod process;
mod profile;
mod rdfsim;
mod serve;
mod sketches;
mod source;
mod speed;

use std::io::Write;
use std::path::Path;

use clap::Parser;
use maud::Markup;
use twinset_io::Output;
use twinset_report::page;

/// Regenerates the papers' tables and figures
#[derive(Parser)]
#[command(name = "experiments")]
enum Experiment {
    Crsi(crsi::Crsi),
    Growth(growth::Growth),
    Peers(peers::Peers),
    Ppjoin(ppjoin::Ppjoin),
    Profile(profile::Profile),
    Rdfsim(rdfsim::Rdfsim),
    Serve(serve::Serve),
    Sketches(sketches::Sketches),
    Speed(speed::Speed),
}

fn main() -> anyhow::Result<()> {
    match Experiment::parse() {
        Experiment::Crsi(experiment) => experiment.run(),
        Experiment::Growth(experiment) => experiment.run(),
        Experiment::Peers(experiment) => experiment.run(),
        Experiment::Ppjoin(experiment) => experiment.run(),
        Experiment::Profile(experiment) => experiment.run(),
        Experiment::Rdfsim(experiment) => experiment.run(),
        Experiment::Serve(experiment) => experiment.run(),
        Experiment::Sketches(experiment) => experiment.run(),
        Experiment::Speed(experiment) => experiment.run(),
    }
}

fn write_page(path: &Path, title: &str, body: &Markup) -> anyhow::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(page(title, body).as_bytes()).map_err(|error| output.failure(&error))?;
    Ok(output.finish()?)
}

fn print_table(header: &[&str], rows: &[Vec<String>]) {
    println!("{}", header.join(" | "));
    rows.iter().for_each(|row| println!("{}", row.join(" | ")));
}
