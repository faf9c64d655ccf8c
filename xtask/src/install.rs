//! Installs what the tests need and the machine lacks.

use std::process::Command;

use anyhow::Context;

use crate::command::run;

/// Adds a component to the toolchain unless it is installed.
pub(crate) fn install_component(component: &str) -> anyhow::Result<()> {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    let there = Command::new("cargo").args([tool, "--version"]).output().is_ok_and(|output| output.status.success());
    if there { Ok(()) } else { run("rustup", &format!("component add {component}"), &[]) }
}

/// The Debian packages that the tests need, each with files of which one shows that it is installed.
const PACKAGES: [(&str, &[&str]); 7] = [
    ("default-jre-headless", &["/usr/bin/java", "/usr/local/bin/java", "/usr/lib/jvm/*/bin/java"]),
    ("chromium", &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]),
    ("postgresql", &["/usr/lib/postgresql/*/bin/initdb", "/usr/bin/initdb", "/usr/local/bin/initdb"]),
    ("mariadb-server", &["/usr/sbin/mariadbd", "/usr/bin/mariadbd"]),
    ("openssl", &["/usr/bin/openssl", "/usr/local/bin/openssl"]),
    ("g++", &["/usr/bin/c++", "/usr/bin/g++", "/usr/local/bin/g++", "/usr/bin/clang++"]),
    ("python3-venv", &["/usr/lib/python3*/ensurepip/__init__.py", "/usr/local/lib/python3*/ensurepip/__init__.py"]),
];

/// Installs the browser and the databases unless they are installed.
pub(crate) fn install_packages() -> anyhow::Result<()> {
    let is_there = |pattern: &&str| glob::glob(pattern).is_ok_and(|mut paths| paths.next().is_some());
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|(_, files)| !files.iter().any(is_there)).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"));
    let apt = |args: &str| {
        let command = format!("DEBIAN_FRONTEND=noninteractive apt-get {args}");
        if is_root { run("env", &command, &[]) } else { run("sudo", &format!("env {command}"), &[]) }
    };
    let missing = missing.join(" ");
    println!("installing {missing} with apt-get");
    apt("update --quiet")
        .and_then(|()| apt(&format!("install --yes --quiet --no-install-recommends {missing}")))
        .with_context(|| format!("the tests need {missing}; install them by hand where there is no apt"))
}

/// Virtual environments, each with the list of its packages.
pub(crate) const PYTHON: (&str, &str) = ("target/python", "crates/twinset-python/requirements-test.txt");
/// What builds wheels.
pub(crate) const BUILD: (&str, &str) = ("target/python-build", "crates/twinset-python/requirements-build.txt");
pub(crate) const OLDER_SPARK: (&str, &str) =
    ("target/python-spark-3.5", "crates/twinset-python/requirements-spark-3.5.txt");

/// Installs the packages of a list into a virtual environment, unless it has them.
pub(crate) fn install_python((folder, list): (&str, &str)) -> anyhow::Result<()> {
    let installed = format!("{folder}/installed.txt");
    let wanted = std::fs::read_to_string(list)?;
    if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    run("python3", &format!("-m venv {folder}"), &[])?;
    run(&format!("{folder}/bin/pip"), &format!("install --quiet --disable-pip-version-check -r {list}"), &[])?;
    Ok(std::fs::write(installed, wanted)?)
}
