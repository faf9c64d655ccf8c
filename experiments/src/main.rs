//! Regenerates the papers' tables and figures. Each experiment has a file of its own and writes one HTML page.

mod chart;
mod page;
mod ppjoin;
mod source;

use clap::Parser;

/// Regenerates the papers' tables and figures
#[derive(Parser)]
#[command(name = "experiments")]
enum Experiment {
    Ppjoin(ppjoin::Ppjoin),
}

fn main() -> anyhow::Result<()> {
    match Experiment::parse() {
        Experiment::Ppjoin(experiment) => experiment.run(),
    }
}
