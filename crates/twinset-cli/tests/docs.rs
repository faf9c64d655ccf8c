//! The commands in the documentation run and print what it says, and its links lead somewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All pages: those at the root, and everything under docs/.
fn pages() -> Vec<PathBuf> {
    fn collect(folder: &Path, deep: bool, pages: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && deep {
                collect(&path, deep, pages);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    let mut pages = Vec::new();
    collect(&root(), false, &mut pages);
    collect(&root().join("docs"), true, &mut pages);
    pages.push(root().join("crates/twinset/README.md"));
    pages.sort();
    pages
}

/// The commands of the `console` blocks of a page, each with the output shown below it.
fn commands(page: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut in_block = false;
    for event in Parser::new_ext(&text, Options::all()) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => in_block = &*language == "console",
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Text(block) if in_block => {
                for line in block.lines() {
                    match line.strip_prefix("$ ") {
                        Some(command) => commands.push((command.to_owned(), String::new())),
                        None => {
                            let (_, output) = commands.last_mut().expect("a block begins with a command");
                            output.push_str(line);
                            output.push('\n');
                        }
                    }
                }
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn commands_print_what_the_pages_say() {
    let binary = assert_cmd::cargo::cargo_bin("twinset");
    let path = std::env::join_paths(
        [binary.parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut checked = 0;
    for page in pages() {
        // Commands of a page may build on files of earlier ones; they run in a copy, with the examples.
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&root().join("examples"), &folder.path().join("examples"));
        for (command, expected) in commands(&page) {
            // The first runs this test; the second builds what the test runs.
            if command == "cargo xtask test" || command.starts_with("cargo install ") {
                continue;
            }
            let command = command.replace("cargo run --release --", "twinset");
            let output = Command::new("bash")
                .args(["-c", &command])
                .env("PATH", &path)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{}: {command}: {stderr}", page.display());
            if !expected.is_empty() {
                assert_eq!(stdout, expected, "{}: {command}", page.display());
            }
            checked += 1;
        }
    }
    assert!(checked >= 5, "only {checked} commands were found");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            std::fs::copy(&path, copy).unwrap();
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for event in Parser::new_ext(&text, Options::all()) {
            let (Event::Start(Tag::Link { dest_url: target, .. }) | Event::Start(Tag::Image { dest_url: target, .. })) =
                event
            else {
                continue;
            };
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let file = target.split('#').next().unwrap();
            assert!(page.parent().unwrap().join(file).exists(), "{}: {target} is not there", page.display());
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} links were found");
}

/// Paths in code spans, such as `crates/twinset/src/lib.rs` or `join/ppjoin.rs::join`, must exist.
#[test]
fn named_source_files_exist() {
    let crates = ["twinset", "twinset-io", "twinset-index", "twinset-profile", "twinset-server", "twinset-cli"];
    let folders = crates.iter().flat_map(|name| ["src", "tests"].map(|folder| format!("crates/{name}/{folder}")));
    let python = "crates/twinset-python/tests".to_owned();
    let sources: Vec<String> = folders.chain([python, "crates".to_owned(), String::new()]).collect();
    for page in pages().iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        let text = std::fs::read_to_string(page).unwrap();
        for event in Parser::new_ext(&text, Options::all()) {
            let Event::Code(code) = event else { continue };
            let (file, item) = code.split_once("::").unwrap_or((&code, ""));
            let keyword = match file.rsplit_once('.') {
                Some((name, "rs")) if !name.contains(['*', ' ']) => "fn",
                Some((name, "py")) if !name.contains(['*', ' ']) && !item.is_empty() => "def",
                _ => continue,
            };
            let found = sources.iter().map(|folder| root().join(folder).join(file)).filter(|path| path.exists());
            let found: Vec<String> = found.map(|path| std::fs::read_to_string(path).unwrap()).collect();
            assert!(!found.is_empty(), "{}: {file} is not there", page.display());
            let name = item.rsplit("::").next().unwrap();
            let has = |source: &String| ["(", "<"].iter().any(|end| source.contains(&format!("{keyword} {name}{end}")));
            assert!(name.is_empty() || found.iter().any(has), "{}: {code} is not there", page.display());
        }
    }
}
