//! Regenerates the papers' tables and figures, and measures speed. Each experiment has a file of its own.

mod chart;
mod page;
mod ppjoin;
mod source;
mod speed;

use clap::Parser;

/// Regenerates the papers' tables and figures
#[derive(Parser)]
#[command(name = "experiments")]
enum Experiment {
    Ppjoin(ppjoin::Ppjoin),
    Speed(speed::Speed),
}

fn main() -> anyhow::Result<()> {
    match Experiment::parse() {
        Experiment::Ppjoin(experiment) => experiment.run(),
        Experiment::Speed(experiment) => experiment.run(),
    }
}
