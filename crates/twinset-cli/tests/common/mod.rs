//! A folder of small files, and the command run in it.

pub(crate) mod asking;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    /// A temporary folder with these files.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `twinset` with arguments as a shell would split them at spaces.
    pub(crate) fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::cargo_bin("twinset").unwrap();
        command.current_dir(self.0.path()).args(args.split_whitespace());
        command
    }

    /// Standard output of a run that must succeed.
    pub(crate) fn stdout(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A news service on a port of its own. It is killed when this value goes.
pub(crate) struct Service {
    child: Child,
    /// Where it listens, with the scheme.
    pub(crate) address: String,
}

impl Service {
    pub(crate) fn start(folder: &Folder, args: &str) -> Self {
        Self::start_by(&[], folder, args)
    }

    /// By a program that runs another one.
    pub(crate) fn start_by(program: &[&str], folder: &Folder, args: &str) -> Self {
        let twinset: &OsStr = assert_cmd::cargo::cargo_bin!("twinset").as_ref();
        let mut words = program.iter().map(OsStr::new).chain([twinset]);
        let mut command = std::process::Command::new(words.next().unwrap());
        command.args(words).args(["serve", "--listen", "127.0.0.1:0"]).args(args.split_whitespace());
        command.current_dir(folder.path("."));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let before = said.len();
            assert!(log.read_line(&mut said).unwrap() > 0, "the service ended before it listened: {said}");
            if let Some((_, rest)) = said[before..].split_once("stories are at http://") {
                break format!("http://{}", rest.split_whitespace().next().unwrap());
            }
        };
        // The log must be read, or the service would wait for someone to do so.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address }
    }

    /// Sends it a signal.
    pub(crate) fn tell(&self, signal: &str) {
        let told = std::process::Command::new("kill").args(["-s", signal, &self.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Waits until it ends.
    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        self.child.wait().unwrap()
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
