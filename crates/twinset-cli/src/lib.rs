//! The `twinset` command. Each subcommand has a file of its own, and is a [`Job`] that other programs run as well.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod dedup;
mod explain;
mod failure;
mod generate;
#[cfg(feature = "index")]
mod index;
mod interrupt;
mod job;
mod join;
#[cfg(not(all(feature = "index", feature = "parquet", feature = "profile", feature = "serve")))]
mod missing;
#[cfg(feature = "profile")]
mod profile;
mod progress;
mod report;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod shuffle;
#[cfg(feature = "parquet")]
mod sketch;
mod stream;
mod tune;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{CommandFactory, Parser, Subcommand};
use twinset_io::Output;

pub use dedup::Dedup;
pub use explain::{Explain, Records};
pub use failure::Failure;
#[cfg(feature = "index")]
pub use index::{
    Add as IndexAdd, Check as IndexCheck, Count as IndexCount, Create as IndexCreate, Join as IndexJoin,
    Query as IndexQuery, Remove as IndexRemove, Stats as IndexStats, run_index_in_program,
};
use job::run_in_terminal;
pub use job::{Job, SettingError, from_settings, run_in_program, settings_of};
pub use join::Join;
#[cfg(not(all(feature = "index", feature = "parquet", feature = "profile", feature = "serve")))]
use missing::Missing;
#[cfg(feature = "profile")]
pub use profile::Profile;
pub use session::{Listener, Session, SessionOptions};
pub use shuffle::ShuffleSettings;
#[cfg(feature = "parquet")]
pub use sketch::Sketch;
pub use tune::Thresholds;

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
    #[cfg(feature = "parquet")]
    Sketch(sketch::Sketch),
    /// Writes MinHash sketches that stand for texts (not in this build)
    #[cfg(not(feature = "parquet"))]
    #[command(after_help = missing::BUILD)]
    Sketch(Missing),
    Tune(tune::Tune),
    #[cfg(feature = "index")]
    Index(index::Index),
    /// Keeps records in an index, and finds near duplicates in it at any threshold (not in this build)
    #[cfg(not(feature = "index"))]
    #[command(after_help = missing::BUILD)]
    Index(Missing),
    #[cfg(feature = "profile")]
    Profile(profile::Profile),
    /// Finds similar columns, contained columns and foreign keys (not in this build)
    #[cfg(not(feature = "profile"))]
    #[command(after_help = missing::BUILD)]
    Profile(Missing),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Serves news: articles in, stories out (not in this build)
    #[cfg(not(feature = "serve"))]
    #[command(after_help = missing::BUILD)]
    Serve(Missing),
    Generate(generate::Generate),
    /// Prints a script that completes commands and options in a shell
    #[command(after_help = "Example:\n  twinset completions bash > ~/.local/share/bash-completion/completions/twinset")]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    #[command(hide = true)]
    Man {
        /// The folder, which must exist
        folder: PathBuf,
    },
}

impl Command {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Join(join) => run_in_terminal(join),
            Self::Dedup(dedup) => run_in_terminal(dedup),
            Self::Explain(explain) => run_in_terminal(explain),
            #[cfg(feature = "parquet")]
            Self::Sketch(sketch) => run_in_terminal(sketch),
            #[cfg(not(feature = "parquet"))]
            Self::Sketch(_) => missing::command("sketch"),
            Self::Tune(tune) => tune.run(),
            #[cfg(feature = "index")]
            Self::Index(index) => index.run(),
            #[cfg(not(feature = "index"))]
            Self::Index(_) => missing::command("index"),
            #[cfg(feature = "profile")]
            Self::Profile(profile) => run_in_terminal(profile),
            #[cfg(not(feature = "profile"))]
            Self::Profile(_) => missing::command("profile"),
            #[cfg(feature = "serve")]
            Self::Serve(serve) => serve.run(),
            #[cfg(not(feature = "serve"))]
            Self::Serve(_) => missing::command("serve"),
            Self::Generate(generate) => generate.run(),
            Self::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "twinset", &mut script);
                session::write_text(Output::standard(), &String::from_utf8_lossy(&script))
            }
            Self::Man { folder } => clap_mangen::generate_to(Cli::command(), &folder)
                .with_context(|| format!("cannot write the manual pages into {}", folder.display())),
        }
    }
}

/// Runs the command that the arguments of this process name.
pub fn main() -> ExitCode {
    hide_guarded_panics();
    let command = Cli::parse().command;
    let result = catch_unwind(AssertUnwindSafe(|| command.run()));
    // What panicked was printed where it did, and all threads have ended.
    let bug =
        |_| anyhow!("this is a bug of twinset; please report it with the lines above, and with the input if you can");
    failure::exit_code(result.unwrap_or_else(|panic| Err(bug(panic))))
}

/// From now on nothing is printed for panics that are turned into errors.
pub fn hide_guarded_panics() {
    let report_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !twinset_io::is_guarded() {
            report_panic(panic);
        }
    }));
}
