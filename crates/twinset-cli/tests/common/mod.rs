//! A folder of small files, and the command run in it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::path::PathBuf;
use std::process::Output;

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
