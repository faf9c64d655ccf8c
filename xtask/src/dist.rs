//! `cargo xtask dist`: the packages of a release, each tried as its user would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

use crate::command::{cargo, output, run};
use crate::python::wheel;

/// Build the release packages into target/dist: an archive of the command, the Python wheel, and SHA-256 sums
#[derive(clap::Args)]
pub(crate) struct Dist {}

/// The folder of the packages.
const FOLDER: &str = "target/dist";
/// The shells that the archive has completions for, each with the name of the file that it reads.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "twinset.bash"),
    ("elvish", "twinset.elv"),
    ("fish", "twinset.fish"),
    ("powershell", "_twinset.ps1"),
    ("zsh", "_twinset"),
];
/// What stands before the arguments in the first example of the README.
const EXAMPLE: &str = "$ cargo run --release -- ";

impl Dist {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        // Older packages would be listed with the new ones.
        if Path::new(FOLDER).exists() {
            fs::remove_dir_all(FOLDER)?;
        }
        cargo("build --release --locked --package twinset-cli --features full", &[])?;
        let archive = pack("target/release/twinset", FOLDER)?;
        wheel(FOLDER)?;
        let packages = packages()?;
        let sums: Vec<String> = packages.iter().map(|path| sum(path)).collect::<anyhow::Result<_>>()?;
        fs::write(Path::new(FOLDER).join("SHA256SUMS"), sums.concat())?;
        try_archive(&archive)?;
        let wheel = packages.iter().find(|path| path.extension().is_some_and(|ending| ending == "whl"));
        try_wheel(wheel.context("maturin built no wheel")?)?;
        for path in packages {
            println!("{} ({} kB)", path.display(), fs::metadata(&path)?.len() / 1000);
        }
        Ok(())
    }
}

/// Packs a built command into `twinset-VERSION-TARGET.tar.gz`, with licences, manual pages, completions and examples.
pub(crate) fn pack(binary: &str, folder: &str) -> anyhow::Result<PathBuf> {
    let compiler = output("rustc", &["-vV"])?;
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names its host")?;
    let name = format!("twinset-{}-{host}", env!("CARGO_PKG_VERSION"));
    let content = Path::new(folder).join(&name);
    if content.exists() {
        fs::remove_dir_all(&content)?;
    }
    for part in ["completions", "examples", "man"] {
        fs::create_dir_all(content.join(part))?;
    }
    let command = content.join("twinset");
    fs::copy(binary, &command)?;
    let command = command.to_str().context("a path in UTF-8")?;
    run("strip", command, &[])?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "examples/titles.tsv"] {
        fs::copy(file, content.join(file))?;
    }
    for (shell, file) in SHELLS {
        fs::write(content.join("completions").join(file), output(command, &["completions", shell])?)?;
    }
    run(command, &format!("man {}", content.join("man").display()), &[])?;
    let archive = Path::new(folder).join(format!("{name}.tar.gz"));
    run("tar", &format!("-czf {} -C {folder} {name}", archive.display()), &[])?;
    fs::remove_dir_all(&content)?;
    Ok(archive)
}

/// Unpacks an archive into an empty folder and runs the first example of the README there.
pub(crate) fn try_archive(archive: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    run("tar", &format!("-xzf {} -C {}", archive.display(), folder.path().display()), &[])?;
    let entries: Vec<PathBuf> = fs::read_dir(folder.path())?.flatten().map(|entry| entry.path()).collect();
    let [content] = entries.as_slice() else { bail!("{} must hold one folder", archive.display()) };
    let command = std::path::absolute(content.join("twinset"))?;
    run_example(&command, content)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "man/twinset.1", "man/twinset-join.1", "completions/twinset.bash"] {
        if fs::metadata(content.join(file)).map_or(0, |file| file.len()) == 0 {
            bail!("{} lacks {file}", archive.display());
        }
    }
    Ok(())
}

/// Runs the first example of the README in a folder that has the files of the repository.
pub(crate) fn run_example(command: &Path, folder: &Path) -> anyhow::Result<()> {
    let readme = fs::read_to_string(folder.join("README.md"))?;
    let (_, example) = readme.split_once(EXAMPLE).context("the README has an example")?;
    let (example, _) = example.split_once("```").context("the example ends")?;
    let (args, expected) = example.split_once('\n').context("the example shows what it prints")?;
    let printed = Command::new(command).args(args.split_whitespace()).current_dir(folder).output()?;
    if !printed.status.success() || String::from_utf8(printed.stdout)? != expected {
        bail!("`{} {args}` does not print what the README shows", command.display());
    }
    Ok(())
}

/// Installs a wheel into an empty virtual environment and joins three texts.
fn try_wheel(wheel: &Path) -> anyhow::Result<()> {
    const JOIN: &str = "import twinset; print(twinset.join(['a b c', 'x y', 'c b a'], threshold=0.9).to_pylist())";
    let folder = tempfile::tempdir()?;
    let environment = folder.path().display();
    run("python3", &format!("-m venv {environment}"), &[])?;
    let pip = "install --quiet --disable-pip-version-check";
    run(&format!("{environment}/bin/pip"), &format!("{pip} {}", wheel.display()), &[])?;
    let printed = output(&format!("{environment}/bin/python"), &["-c", JOIN])?;
    if printed.trim() != "[{'left': 0, 'right': 2, 'similarity': 1.0}]" {
        bail!("the wheel joins three texts to {printed}");
    }
    Ok(())
}

/// The packages in the folder, in the order of their names.
fn packages() -> anyhow::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(FOLDER)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// A line of SHA256SUMS, as `sha256sum --check` reads it.
fn sum(path: &Path) -> anyhow::Result<String> {
    let digest = Sha256::digest(fs::read(path)?);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = path.file_name().context("a file has a name")?;
    Ok(format!("{hex}  {}\n", name.display()))
}
