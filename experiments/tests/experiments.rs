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
