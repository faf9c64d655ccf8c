//! Builds the Python package and runs its tests.

use std::path::Path;

use crate::command::run;
use crate::install::{BUILD, PYTHON, install_python};

/// Builds the wheel of the Python package and puts it into a folder.
pub(crate) fn wheel(folder: &str) -> anyhow::Result<()> {
    install_python(BUILD)?;
    run(&format!("{}/bin/maturin", BUILD.0), &format!("build --release --locked --quiet --out {folder}"), &[])
}

/// Copies the Python package, as it was built last, to where its tests look for it.
pub(crate) fn lay_out_python() -> anyhow::Result<()> {
    let package = Path::new("target/python-package/twinset");
    std::fs::create_dir_all(package)?;
    for entry in std::fs::read_dir("crates/twinset-python/python/twinset")? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            std::fs::copy(&path, package.join(name))?;
        }
    }
    std::fs::copy("target/debug/lib_twinset.so", package.join("_twinset.abi3.so"))?;
    Ok(())
}

/// Runs the tests, the examples and the type checker on the Python package.
pub(crate) fn python() -> anyhow::Result<()> {
    lay_out_python()?;
    // The examples for Spark need a cluster, and run in a test.
    let examples = "--doctest-modules target/python-package --ignore target/python-package/twinset/spark.py";
    pytest(PYTHON.0, &format!("{examples} crates/twinset-python/tests"), &[])?;
    run("target/python/bin/python", "-m mypy --strict --ignore-missing-imports target/python-package/twinset", &[])
}

/// Runs Python tests with the packages of a folder.
pub(crate) fn pytest(folder: &str, args: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let [python, packages, command] = of_pytest(folder)?;
    let environment = [&[("PYTHONPATH", packages.as_str()), ("TWINSET", command.as_str())], environment].concat();
    run(&python, &format!("-m pytest {args}"), &environment)
}

/// What Python tests need: an interpreter, the folder of the package, and the command.
pub(crate) fn of_pytest(folder: &str) -> anyhow::Result<[String; 3]> {
    let absolute = |path: &str| std::path::absolute(path).map(|path| path.display().to_string());
    Ok([
        absolute(&format!("{folder}/bin/python"))?,
        absolute("target/python-package")?,
        absolute("target/debug/twinset")?,
    ])
}
