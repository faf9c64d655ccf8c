//! The `twinset` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    twinset_cli::main()
}
