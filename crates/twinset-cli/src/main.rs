//! The `twinset` command. Each subcommand has a file of its own; this one lists them.

mod dedup;
mod explain;
mod failure;
mod generate;
mod index;
mod interrupt;
mod join;
mod profile;
mod progress;
mod report;
mod search;
mod serve;
mod session;
mod sketch;
mod stream;
mod tune;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Finds near duplicates: every pair at or above a threshold, none missing.
#[derive(Parser)]
#[command(name = "twinset", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  twinset join titles.tsv --threshold 0.7
  twinset join dblp.csv acm.csv --text title --threshold 0.8 --best
  twinset dedup docs.jsonl --threshold 0.8 --output kept.jsonl
  twinset explain titles.tsv 3 17 --threshold 0.7
  twinset profile exports/ --report profile.html
  twinset serve --demo

Run `twinset COMMAND --help` for the options of a command and more examples.";

#[derive(Subcommand)]
enum Command {
    Join(join::Join),
    Dedup(dedup::Dedup),
    Explain(explain::Explain),
    Sketch(sketch::Sketch),
    Tune(tune::Tune),
    Index(index::Index),
    Profile(profile::Profile),
    Serve(serve::Serve),
    Generate(generate::Generate),
    /// Prints a script that completes commands and options in a shell
    #[command(after_help = "Example:\n  twinset completions bash > ~/.local/share/bash-completion/completions/twinset")]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let report_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !twinset_io::is_guarded() {
            report_panic(panic);
        }
    }));
    let result = match Cli::parse().command {
        Command::Join(join) => join.run(),
        Command::Dedup(dedup) => dedup.run(),
        Command::Explain(explain) => explain.run(),
        Command::Sketch(sketch) => sketch.run(),
        Command::Tune(tune) => tune.run(),
        Command::Index(index) => index.run(),
        Command::Profile(profile) => profile.run(),
        Command::Serve(serve) => serve.run(),
        Command::Generate(generate) => generate.run(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "twinset", &mut script);
            session::print(&String::from_utf8_lossy(&script))
        }
    };
    failure::exit_code(result)
}
