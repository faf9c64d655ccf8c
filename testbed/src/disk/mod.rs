//! A disk that fails when it is told to: a program runs on it, and each call that changes a file is seen before it is made.
//!
//! Calls are caught in the kernel (seccomp and ptrace), and not in the C library: some crates make theirs without it, among them the
//! one that gives files their names. Only calls on what lies in one folder count, so the input and standard output are left alone.
//! `call` says what a call does, `trace` lets it happen or not, and `platter` knows what a power failure would leave of the folder.

mod call;
mod platter;
mod trace;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use self::platter::Platter;
use self::trace::Tracer;

/// What goes wrong, at one call or from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call fails, and those after it do not: for want of room where it takes some, else as the disk does not answer.
    Fail,
    /// The disk is full: from this call on, all that take room fail. Files can still be renamed and removed.
    Full,
    /// The disk is gone: from this call on, all of them fail.
    Gone,
    /// The process is killed after half of what the call would write; the disk keeps all that was written.
    Tear,
    /// The process is killed, and of what it wrote only that is left which was synced.
    Power,
    /// The same, but some pages of files and some changes of names are left although they were not synced, as this seed says.
    Reorder(u64),
}

/// The number of the call at which something goes wrong, from 1, and what it is.
pub type Strike = (u64, Fault);

/// A folder as it lies on a disk.
pub struct Disk {
    platter: Platter,
}

/// How a program ended.
pub struct Ended {
    /// Its exit code, or the signal that killed it.
    pub status: ExitStatus,
    /// How many calls it made that change the folder.
    pub calls: u64,
    /// The call that was struck, if it came to that.
    pub struck: Option<String>,
    /// The disk, for a power failure afterwards.
    pub disk: Disk,
}

/// A program that runs on a disk.
pub struct Running {
    process: Pid,
    thread: JoinHandle<anyhow::Result<Ended>>,
}

impl Disk {
    /// A folder all of which is on the disk for good.
    pub fn of(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self { platter: Platter::of(folder)? })
    }

    /// Runs a program to its end, with one fault or none. One that takes too long is ended by SIGALRM.
    pub fn run(self, command: Command, strike: Option<Strike>) -> anyhow::Result<Ended> {
        self.start(command, strike)?.wait()
    }

    /// Starts a program.
    pub fn start(mut self, command: Command, strike: Option<Strike>) -> anyhow::Result<Running> {
        let (started, process) = mpsc::channel();
        // Only the thread that starts a program hears of its calls.
        let thread = std::thread::spawn(move || {
            let tracer = Tracer::start(command, &mut self.platter, strike)?;
            started.send(tracer.process())?;
            let (status, calls, struck) = tracer.run()?;
            match strike {
                Some((_, Fault::Power)) if struck.is_some() => self.platter.lose_power(None)?,
                Some((_, Fault::Reorder(seed))) if struck.is_some() => self.platter.lose_power(Some(seed))?,
                _ => {}
            }
            Ok(Ended { status: ExitStatus::from_raw(status), calls, struck, disk: self })
        });
        match process.recv() {
            Ok(process) => Ok(Running { process, thread }),
            Err(_) => Err(joined(thread).err().context("the program ended before it began")?),
        }
    }

    /// The power fails now: what was not synced is gone, or with a seed some of it.
    pub fn lose_power(mut self, seed: Option<u64>) -> anyhow::Result<()> {
        self.platter.lose_power(seed)
    }
}

impl Running {
    /// Waits until it ends.
    pub fn wait(self) -> anyhow::Result<Ended> {
        joined(self.thread)
    }

    /// Tells it to end; it may have ended by itself.
    pub fn stop(&self) {
        let _ = kill(self.process, Signal::SIGTERM);
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }
}

fn joined(thread: JoinHandle<anyhow::Result<Ended>>) -> anyhow::Result<Ended> {
    thread.join().map_err(|_| anyhow!("the tracer panicked"))?
}
