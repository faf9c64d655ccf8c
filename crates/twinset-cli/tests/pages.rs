//! Web pages: their texts, their encodings, and what hostile ones do.

mod common;

use std::io::Write;

use common::Folder;

/// A page with an article between a menu and a footer.
fn page(title: &str, article: &str) -> String {
    let sentences = format!("<p>{article}</p>").repeat(6);
    format!(
        "<!DOCTYPE html><html><head><title>{title}</title><style>p {{ color: red }}</style></head><body>\
         <nav><ul><li><a href=/>Home</a><li><a href=/news>News</a></ul></nav>\
         <article><h1>{title}</h1>{sentences}</article><script>var tracking = 1;</script>\
         <footer>Copyright of {title}</footer></body></html>"
    )
}

const STORY: &str = "The river rose by two metres during the night, and the old bridge near the mill was closed to all traffic \
                     until engineers could look at its pillars, which they will do as soon as the water has gone down again.";

#[test]
fn articles_are_compared_and_files_are_copied() {
    let cafe = STORY.replace("mill", "café");
    let latin: Vec<u8> = page("Latin", &cafe)
        .replace("<head>", "<head><meta charset=windows-1252>")
        .chars()
        .map(|c| c as u32 as u8)
        .collect();
    let wide: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(page("Wide", &cafe).encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let folder = Folder::with(&[
        ("site/a.html", page("First", &cafe).as_bytes()),
        ("site/b/copy.htm", page("Second", &cafe).as_bytes()),
        ("site/latin.html", &latin),
        ("site/wide.html", &wide),
        (
            "site/other.html",
            page("Other", "Nothing but the weather of the coming week, which will be dry and warm in the south.")
                .as_bytes(),
        ),
        ("site/empty.html", b""),
    ]);
    let pairs = folder.stdout("join site --threshold 0.95 --show title");
    let titles: Vec<&str> = pairs.lines().skip(1).map(|row| row.splitn(4, ',').nth(3).unwrap()).collect();
    assert_eq!(titles, ["First,Second", "First,Latin", "First,Wide", "Second,Latin", "Second,Wide", "Latin,Wide"]);
    folder.stdout("dedup site --threshold 0.95 --output kept --removed gone");
    let names = |name: &str| {
        let mut names: Vec<String> = std::fs::read_dir(folder.path(name))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("kept"), ["a.html", "b", "empty.html", "other.html"]);
    assert_eq!(names("gone"), ["b", "latin.html", "wide.html"]);
    assert_eq!(std::fs::read(folder.path("gone/wide.html")).unwrap(), wide);
    // The whole text has the menu and the footer, and so the titles.
    let whole = folder.stdout("join site --threshold 0.95 --page text --tokens qgrams:4 --algorithm ppjoin+");
    assert!(whole.lines().count() <= 7);
    let explained = folder.stdout("explain site 1 2 --page text --threshold 0.5");
    assert!(
        explained.contains("copyright") && explained.contains("river") && !explained.contains("tracking"),
        "{explained}"
    );
    assert!(!folder.stdout("explain site 1 2 --threshold 0.5").contains("copyright"));
    let by_url = folder.stdout("join site --threshold 0.95 --id url --count");
    assert_eq!(by_url, "6\n");
}

#[test]
fn hostile_pages_are_rejected_in_time() {
    let deep = format!("<html><body>{}text", "<div>".repeat(300_000));
    let attribute = format!("<p class='{}'>text</p>", "x".repeat(3 << 20));
    let broken = "<table><tr><td><a><b><i></table></b><svg><math></a>".repeat(250);
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..64 {
        bomb.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let folder = Folder::with(&[
        ("s/deep.html", deep.as_bytes()),
        ("s/attribute.html", attribute.as_bytes()),
        ("s/broken.html", broken.as_bytes()),
        ("s/bomb.html.gz", &bomb),
        ("s/nested.html", format!("{}<p>{STORY}", "<div>".repeat(990)).as_bytes()),
        ("s/fine.html", page("Fine", STORY).as_bytes()),
    ]);
    let output = folder.run("join s --threshold 0.9 --max-record 2M");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("attribute.html:1: the record is longer"), "{message}");
    let summary =
        String::from_utf8(folder.run("join s --threshold 0.9 --max-record 2M --rejects r.csv").stderr).unwrap();
    assert!(summary.contains("3 bad records"), "{summary}");
    let rejects = folder.read("r.csv");
    assert!(rejects.contains("deep.html,1,,\"the page's elements lie 300000 deep"), "{rejects}");
    let output = folder.run("join s/bomb.html.gz --threshold 0.9 --max-unpacked 1M");
    assert!(String::from_utf8(output.stderr).unwrap().contains("--max-unpacked"));
}
