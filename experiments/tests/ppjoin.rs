//! The experiment runs on generated data and writes a page with its tables and charts.

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
