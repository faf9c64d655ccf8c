//! Commands that this build does not have.

use std::ffi::OsString;

/// Accepts any arguments, because the options of the command are unknown.
#[derive(clap::Args)]
pub(crate) struct Missing {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

/// Returns the error that says how to build a command.
pub(crate) fn command(name: &str) -> anyhow::Result<()> {
    Err(twinset_io::Error::Usage(format!("this build of twinset has no command `{name}`; {BUILD}")).into())
}

/// What to do, for errors and for the help of the command.
pub(crate) const BUILD: &str = "build it with `cargo install --path crates/twinset-cli --features full --locked`";
