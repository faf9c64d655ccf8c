//! Runs a program, and stops it before each call that is looked at.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::libc::{self, sock_filter, sock_fprog};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::call::{CALLS, Call};
use super::platter::Platter;
use super::{Fault, Strike};

/// A program under way.
pub(super) struct Tracer<'a> {
    process: Pid,
    platter: &'a mut Platter,
    strike: Option<Strike>,
    calls: u64,
    struck: Option<String>,
}

/// A program that takes longer hangs.
const PATIENCE: u32 = 100;

impl<'a> Tracer<'a> {
    pub(super) fn start(
        mut command: Command,
        platter: &'a mut Platter,
        strike: Option<Strike>,
    ) -> anyhow::Result<Self> {
        let filter = filter();
        // SAFETY: between fork and exec only system calls are made; what they need was allocated before.
        unsafe {
            command.pre_exec(move || {
                ptrace::traceme()?;
                libc::alarm(PATIENCE);
                catch_calls(&filter)
            });
        }
        let child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
        let process = Pid::from_raw(child.id() as i32);
        // It waits at its first instruction.
        waitpid(process, Some(WaitPidFlag::__WALL))?;
        let options = Options::PTRACE_O_TRACESECCOMP
            | Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEFORK
            | Options::PTRACE_O_TRACEVFORK
            | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(process, options)?;
        ptrace::cont(process, None)?;
        Ok(Self { process, platter, strike, calls: 0, struck: None })
    }

    pub(super) fn process(&self) -> Pid {
        self.process
    }

    /// Runs it to its end. Returns how it ended, how many calls it made, and which was struck.
    pub(super) fn run(mut self) -> anyhow::Result<(i32, u64, Option<String>)> {
        let status = loop {
            // Other threads of this process trace other programs, and must hear of theirs themselves.
            let heard = waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD));
            match heard.context("the program is lost")? {
                WaitStatus::Exited(process, code) if process == self.process => break code << 8,
                WaitStatus::Signaled(process, signal, _) if process == self.process => break signal as i32,
                WaitStatus::PtraceEvent(thread, _, libc::PTRACE_EVENT_SECCOMP) => self.call(thread)?,
                WaitStatus::PtraceEvent(thread, ..) | WaitStatus::PtraceSyscall(thread) => resume(thread, None)?,
                // A new thread begins with this, and a program with the other.
                WaitStatus::Stopped(thread, Signal::SIGSTOP | Signal::SIGTRAP) => resume(thread, None)?,
                WaitStatus::Stopped(thread, signal) => resume(thread, Some(signal))?,
                _ => {}
            }
        };
        Ok((status, self.calls, self.struck))
    }

    /// Lets a call happen, or not.
    fn call(&mut self, thread: Pid) -> anyhow::Result<()> {
        let Ok(mut registers) = ptrace::getregs(thread) else { return Ok(()) };
        let Some(call) = Call::of(thread, &registers, self.platter.folder()) else { return resume(thread, None) };
        self.calls += 1;
        let fault = self.strike.and_then(|(at, fault)| match fault {
            Fault::Full if self.calls >= at => call.takes_room().then_some(fault),
            Fault::Gone if self.calls >= at => Some(fault),
            _ => (self.calls == at).then_some(fault),
        });
        if fault.is_some() {
            self.struck.get_or_insert_with(|| format!("{call:?}"));
        }
        match fault {
            None => {
                if self.happens(thread)? {
                    self.platter.take_note(call)?;
                }
            }
            Some(Fault::Fail | Fault::Full | Fault::Gone) => {
                let error = if fault == Some(Fault::Gone) { libc::EIO } else { call.error() };
                // There is no such call, so none is made, and this is what it returns.
                registers.orig_rax = u64::MAX;
                registers.rax = -i64::from(error) as u64;
                unless_gone(ptrace::setregs(thread, registers))?;
            }
            Some(Fault::Tear) => {
                if matches!(call, Call::Write { is_counted: true, .. }) {
                    registers.rdx /= 2;
                    unless_gone(ptrace::setregs(thread, registers))?;
                    self.happens(thread)?;
                }
                return self.kill();
            }
            Some(Fault::Power | Fault::Reorder(_)) => return self.kill(),
        }
        resume(thread, None)
    }

    /// Waits until a call has been made, while other threads cannot make any that is looked at. Returns whether it succeeded.
    fn happens(&self, thread: Pid) -> anyhow::Result<bool> {
        if ptrace::syscall(thread, None) == Err(Errno::ESRCH) {
            return Ok(false);
        }
        match waitpid(thread, Some(WaitPidFlag::__WALL))? {
            WaitStatus::PtraceSyscall(_) => {
                Ok(ptrace::getregs(thread).is_ok_and(|registers| registers.rax as i64 >= 0))
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) if thread != self.process => Ok(false),
            other => bail!("a call ended with {other:?}"),
        }
    }

    fn kill(&self) -> anyhow::Result<()> {
        unless_gone(kill(self.process, Signal::SIGKILL))
    }
}

/// Lets a thread go on, unless it was killed meanwhile.
fn resume(thread: Pid, signal: Option<Signal>) -> anyhow::Result<()> {
    unless_gone(ptrace::cont(thread, signal))
}

/// Another thread may end the program at any moment, which is no failure.
fn unless_gone(done: nix::Result<()>) -> anyhow::Result<()> {
    match done {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A program for the kernel, which stops at the calls that are looked at and lets all others pass.
fn filter() -> Vec<sock_filter> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    // The number of a call is the first of what is known of it.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (place, call) in CALLS.iter().enumerate() {
        let rest = (CALLS.len() - place) as u8;
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, rest, 0, *call as u32));
    }
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_TRACE));
    steps
}

/// From now on the tracer of this process hears of the calls.
fn catch_calls(filter: &[sock_filter]) -> io::Result<()> {
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: both calls take what the manual says they do, and the program outlives them.
    let results = unsafe {
        [
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
        ]
    };
    if results == [0, 0] { Ok(()) } else { Err(io::Error::last_os_error()) }
}
