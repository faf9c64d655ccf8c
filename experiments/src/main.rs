//! Regenerates the papers' tables and figures, and measures speed. Each experiment has a file of its own.

mod chart;
mod growth;
mod page;
mod peers;
mod ppjoin;
mod process;
mod source;
mod speed;

use clap::Parser;

/// Regenerates the papers' tables and figures
#[derive(Parser)]
#[command(name = "experiments")]
enum Experiment {
    Growth(growth::Growth),
    Peers(peers::Peers),
    Ppjoin(ppjoin::Ppjoin),
    Speed(speed::Speed),
}

fn main() -> anyhow::Result<()> {
    match Experiment::parse() {
        Experiment::Growth(experiment) => experiment.run(),
        Experiment::Peers(experiment) => experiment.run(),
        Experiment::Ppjoin(experiment) => experiment.run(),
        Experiment::Speed(experiment) => experiment.run(),
    }
}
