//! A program of the user's that finds entities: it reads a line of JSON for each article, and writes one.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::article::{Entity, EntityKind};
use crate::limits::Limits;
use crate::{Error, Result};

/// A program that runs as long as the service, and is started again when it fails.
pub(super) struct Program {
    command: String,
    allowed: ProcessLimits,
    running: Mutex<Option<Process>>,
}

struct Process {
    child: Child,
    patience: Duration,
    /// Lines to the program, which may not read them.
    input: SyncSender<Vec<u8>>,
    /// Its answers, unless they are too long.
    answers: Receiver<Result<Vec<u8>, String>>,
}

#[derive(Serialize)]
struct Question<'a> {
    title: &'a str,
    text: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    entities: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    kind: Option<EntityKind>,
}

/// What it may take: time for an article, memory, and bytes for an answer.
#[derive(Clone, Copy)]
struct ProcessLimits {
    time: Duration,
    memory: u64,
    answer: u64,
}

impl Program {
    /// Starts the program, to see whether it can be.
    pub(super) fn start(command: &str, limits: &Limits) -> Result<Self> {
        let allowed = ProcessLimits {
            time: Duration::from_secs(limits.extractor_time),
            memory: limits.extractor_memory,
            answer: limits.extractor_answer,
        };
        let running = Process::start(command, allowed)
            .map_err(|error| Error::Usage(format!("--extractor {command}: it cannot be started: {error}")))?;
        Ok(Self { command: command.to_owned(), allowed, running: Mutex::new(Some(running)) })
    }

    /// What the program says of an article.
    pub(super) fn entities(&self, title: &str, text: &str) -> Result<Vec<Entity>, String> {
        let mut place = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut running = match place.take() {
            Some(running) => running,
            None => Process::start(&self.command, self.allowed).map_err(|error| error.to_string())?,
        };
        let answer = running.ask(&Question { title, text })?;
        *place = Some(running);
        let named = |named: Named| Entity { name: named.name, kind: named.kind.unwrap_or(EntityKind::Other) };
        Ok(answer.entities.into_iter().map(named).collect())
    }
}

impl Process {
    fn start(command: &str, allowed: ProcessLimits) -> std::io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {}; {command}", allowed.memory >> 10)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What it starts itself is to end with it.
            .process_group(0)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("it has no standard input and output"));
        };
        let (to_program, given) = sync_channel::<Vec<u8>>(1);
        std::thread::spawn(move || write_all(input, &given));
        let (sender, answers) = sync_channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(answer) = next_line(&mut output, allowed.answer) {
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, patience: allowed.time, input: to_program, answers })
    }

    /// Asks, and waits for the answer. Who has failed once is not asked again.
    fn ask(&mut self, question: &Question<'_>) -> Result<Answer, String> {
        let mut line = serde_json::to_vec(question).map_err(|error| error.to_string())?;
        line.push(b'\n');
        if self.answers.try_recv().is_ok() {
            return Err("it said more than it was asked".to_owned());
        }
        self.input.try_send(line).map_err(|_| "it does not read".to_owned())?;
        let answer = self.answers.recv_timeout(self.patience).map_err(|_| "it gave no answer in time".to_owned())??;
        serde_json::from_slice(&answer).map_err(|error| format!("its answer cannot be read: {error}"))
    }
}

/// The next line without its end, or why it is not taken; `None` when there are no more.
fn next_line(output: &mut impl BufRead, longest: u64) -> Option<Result<Vec<u8>, String>> {
    let mut line = Vec::new();
    // One byte more is the end of the line.
    let length = output.take(longest + 1).read_until(b'\n', &mut line).ok()?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    let is_too_long = line.len() as u64 > longest;
    (length > 0).then(|| if is_too_long { Err(format!("its answer is longer than {longest} bytes")) } else { Ok(line) })
}

fn write_all(mut input: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            break;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_and_started_again_when_it_fails() {
        let command = r#"while read line; do case "$line" in *secret*) exit 1;; esac; echo '{"entities": [{"name": "Ada", "kind": "person"}, {"name": "X"}]}'; done"#;
        let program = Program::start(command, &Limits::default()).unwrap();
        let expected = [("Ada", EntityKind::Person), ("X", EntityKind::Other)];
        let ask = |text: &str| {
            let found = program.entities("t", text);
            found.map(|found| found.into_iter().map(|entity| (entity.name, entity.kind)).collect::<Vec<_>>())
        };
        let expected: Vec<_> = expected.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        assert_eq!(ask("one").unwrap(), expected);
        assert_eq!(ask("two").unwrap(), expected);
        ask("secret").unwrap_err();
        assert_eq!(ask("three").unwrap(), expected);
    }

    #[test]
    fn lines_are_told_from_what_is_too_long() {
        let mut output = b"abc\n\nabc".as_slice();
        let taken: Vec<_> = std::iter::from_fn(|| next_line(&mut output, 3)).map(Result::unwrap).collect();
        assert_eq!(taken, [b"abc".as_slice(), b"", b"abc"]);
        for long in ["abcd\n", "abcd"] {
            assert!(next_line(&mut long.as_bytes(), 3).unwrap().unwrap_err().contains("longer than 3 bytes"), "{long}");
        }
    }

    #[test]
    fn an_answer_that_is_no_json_is_told() {
        let program = Program::start("while read line; do echo nonsense; done", &Limits::default()).unwrap();
        assert!(program.entities("t", "x").unwrap_err().contains("cannot be read"));
    }
}
