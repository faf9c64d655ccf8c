//! Runs a program and tells what it took.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use wait4::Wait4;

/// What a run took.
pub(crate) struct Usage {
    pub(crate) seconds: f64,
    /// Of all cores together.
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: u64,
}

/// Runs a command to its end, or ends it after the time allowed: then there is no usage.
pub(crate) fn measure(command: &mut Command, allowed: Duration) -> anyhow::Result<Option<Usage>> {
    let begin = Instant::now();
    let name = format!("{command:?}");
    let child = command.stdout(Stdio::null()).spawn().with_context(|| format!("could not start {name}"))?;
    let (done, watched) = std::sync::mpsc::channel::<()>();
    let process = Pid::from_raw(child.id() as i32);
    let watch = std::thread::spawn(move || {
        let late = watched.recv_timeout(allowed) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if late {
            let _ = kill(process, Signal::SIGKILL);
        }
        late
    });
    // The process stays until the watch is over, so that its number is its own till then.
    waitid(Id::Pid(process), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
    drop(done);
    let late = watch.join().expect("the watch does not panic");
    let used = child.wait4().with_context(|| format!("could not wait for {name}"))?;
    if late {
        return Ok(None);
    }
    if !used.status.success() {
        bail!("{name} failed: {}", used.status);
    }
    Ok(Some(Usage {
        seconds: begin.elapsed().as_secs_f64(),
        cpu_seconds: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        peak_bytes: used.rusage.maxrss,
    }))
}

/// Builds the `twinset` command, and gives a command that runs it.
pub(crate) fn twinset() -> anyhow::Result<Command> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--release", "-p", "twinset-cli", "--features", "full"])
        .status()?;
    if !built.success() {
        bail!("the twinset command could not be built");
    }
    let own = std::env::current_exe()?;
    let target = own.ancestors().find(|folder| folder.join("release").is_dir()).context("a build has a folder")?;
    Ok(Command::new(target.join("release").join("twinset")))
}
