//! A command that may be killed.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;

pub(crate) struct Victim {
    child: Child,
    begin: Instant,
    /// When it is killed, unless it has ended; it may be left to its end.
    deadline: Option<Duration>,
}

/// How a command ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ending {
    /// It said that all is done, after so long.
    Done(Duration),
    /// It said why not.
    Failed(String),
    Killed,
}

impl Victim {
    pub(crate) fn start<S: AsRef<str>>(folder: &Folder, args: &[S], deadline: Option<Duration>) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("twinset"));
        command.args(args.iter().map(AsRef::as_ref)).current_dir(folder.path(""));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child, begin: Instant::now(), deadline }
    }

    /// How it has ended, if it has; its time may have come.
    pub(crate) fn look(&mut self) -> Option<Ending> {
        let ended = match self.child.try_wait().unwrap() {
            None if self.deadline.is_some_and(|deadline| self.begin.elapsed() >= deadline) => {
                // It has no chance to do anything.
                self.child.kill().unwrap();
                self.child.wait().unwrap()
            }
            None => return None,
            Some(status) => status,
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        Some(match (ended.code(), ended.signal()) {
            (Some(0), _) => Ending::Done(self.begin.elapsed()),
            (None, Some(9)) => Ending::Killed,
            _ => Ending::Failed(format!("{ended}: {said}")),
        })
    }

    /// Waits until it has ended, or its time has come.
    pub(crate) fn wait(mut self) -> Ending {
        loop {
            if let Some(ending) = self.look() {
                return ending;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
