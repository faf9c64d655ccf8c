//! The experiments run on generated data: one writes a page with its tables and charts, the other prints ratios.

#[test]
fn the_page_has_tables_and_charts() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("experiments").unwrap();
    command.current_dir(folder.path()).args(["ppjoin", "--records", "300"]).assert().success();
    let page = std::fs::read_to_string(folder.path().join("ppjoin.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 8);
    assert_eq!(page.matches("<table").count(), 5);
    assert!(page.contains("16,983,319") && page.contains("recall of sp"));
    assert!(!page.contains("http"), "the page needs no network");
}

#[test]
fn speed_is_printed_as_ratios() {
    let mut command = assert_cmd::Command::cargo_bin("experiments").unwrap();
    let output =
        command.args(["speed", "--records", "300", "--thresholds", "0.8", "0.6", "--rounds", "1"]).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert_eq!(text.matches('×').count(), 2 * 5, "{text}");
    assert!(text.contains("auto, all cores") && text.contains("1.0×"), "{text}");
}

#[test]
fn sketches_are_compared_with_the_formula_and_with_exact_joins() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("experiments").unwrap();
    let output =
        command.current_dir(folder.path()).args(["sketches", "--records", "300", "--trials", "50"]).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("0.90 | 0.5832 | ") && text.contains("a misprint"), "{text}");
    let rows = text.lines().filter(|line| line.split(" | ").count() == 8).skip(1);
    assert_eq!(rows.count(), 12, "{text}");
    assert!(std::fs::read_to_string(folder.path().join("sketches.html")).unwrap().contains("<svg"));
}

#[test]
fn labels_are_measured_in_four_homes() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("experiments").unwrap();
    let args = ["rdfsim", "--records", "400", "--queries", "50", "--growth", "100"];
    let output = command.current_dir(folder.path()).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // The paper's first table, in which no cell differs.
    assert!(
        text.contains("0.8 | 24 | 23 | 23 | 22 | 21 | 21 | 20 | 19 | 18 | 16\n0.9 | 49 |") && !text.contains("paper"),
        "{text}"
    );
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(" | ").collect()).collect();
    let measured = rows.iter().filter(|row| row.len() == 5).skip(1);
    assert_eq!(measured.clone().count(), 4 * 2 * 10, "{text}");
    // Every home has the same labels, so all find the same.
    let recall = |home: &str| measured.clone().filter(|row| row[0] == home).map(|row| row[3]).collect::<Vec<_>>();
    for home in ["SQLite", "PostgreSQL", "MariaDB"] {
        assert_eq!(recall(home), recall("main memory"));
    }
    assert!(std::fs::read_to_string(folder.path().join("rdfsim.html")).unwrap().contains("<svg"));
}

#[test]
fn synopses_are_measured_against_k_and_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("experiments").unwrap();
    let args = ["crsi", "--records", "3000", "--queries", "50", "--probes", "200"];
    let output = command.current_dir(folder.path()).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(" | ").collect()).collect();
    // All ways find the same, and optimistic hardly less.
    let found = |way: &str| rows.iter().find(|row| row[0] == way).unwrap()[3].parse::<f64>().unwrap();
    assert_eq!((found("or"), found("frontier")), (found("pivot"), found("pivot")), "{text}");
    assert!(found("optimistic") >= 0.95 * found("pivot") && found("pivot") > 50.0, "{text}");
    // Observed errors are within the bound, and shrink with k.
    let percent = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap();
    let errors: Vec<&Vec<&str>> = rows.iter().filter(|row| row.len() == 6 && row[5].ends_with('%')).collect();
    assert_eq!(errors.len(), 4, "{text}");
    assert!(errors.iter().all(|row| percent(row[3]) <= percent(row[5])), "{text}");
    assert!(percent(errors[3][1]) < percent(errors[0][1]), "{text}");
    let page = std::fs::read_to_string(folder.path().join("crsi.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("INFOBOXES"));
}
