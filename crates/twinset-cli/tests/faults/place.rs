//! A folder in which commands run, and the part of it that lies on a disk with faults.

use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use tempfile::TempDir;
use testbed::disk::{Disk, Strike};

/// A folder with inputs, and with a folder `disk`, where all is written to.
pub(crate) struct Place(TempDir);

/// A run of the program that has ended.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    /// How many calls changed the disk.
    pub(crate) calls: u64,
    /// The call that was struck, if it came to that.
    pub(crate) struck: Option<String>,
    pub(crate) disk: Disk,
}

impl Place {
    pub(crate) fn new() -> Self {
        // In main memory syncs take no time. What they are worth, the disk knows by itself.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
        fs::create_dir(folder.path().join("disk")).unwrap();
        Self(folder)
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (name, content) in files {
            fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
            fs::write(place.path(name), content).unwrap();
        }
        place
    }

    pub(crate) fn copy(&self) -> Self {
        let other = Self::new();
        copy(self.0.path(), other.0.path());
        other
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command with arguments as a shell would split them at spaces.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("twinset"));
        // What is temporary lies on the disk too.
        command.current_dir(self.0.path()).env("TMPDIR", self.path("disk")).args(args.split_whitespace());
        command
    }

    pub(crate) fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard output of a run that must succeed.
    #[track_caller]
    pub(crate) fn stdout(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command while the disk fails, or does not.
    pub(crate) fn strike(&self, args: &str, strike: Option<Strike>) -> Ran {
        let mut stderr = tempfile::tempfile().unwrap();
        let mut command = self.command(args);
        command.stdout(std::process::Stdio::null()).stderr(stderr.try_clone().unwrap());
        let ended = Disk::of(&self.path("disk")).and_then(|disk| disk.run(command, strike)).unwrap();
        let mut told = String::new();
        stderr.rewind().unwrap();
        stderr.read_to_string(&mut told).unwrap();
        Ran { status: ended.status, stderr: told, calls: ended.calls, struck: ended.struck, disk: ended.disk }
    }

    /// All files below the folder, with their paths in it.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.path("disk"), "disk", &mut found);
        found.sort();
        found
    }
}

fn list(folder: &Path, name: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => list(&entry.path(), &name, found),
            false => found.push(name),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
