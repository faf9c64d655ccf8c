//! What a service keeps: files by their own addresses and as they were written, for so long as is asked; and copies of all of it.

use std::time::{Duration, Instant};

use crate::common::Folder;
use crate::common::asking::{Asking, words};
use serde_json::json;

impl Asking {
    fn count(&self) -> u64 {
        self.get("/api/health").1["articles"].as_u64().unwrap()
    }

    /// The text of an article that has this word.
    fn text(&self, word: &str) -> String {
        let (_, found) = self.get(&format!("/api/search?q={word}"));
        let id = &found["stories"][0]["representative"]["id"];
        self.get(&format!("/api/articles/{id}")).1["text"].as_str().unwrap_or_default().to_owned()
    }
}

/// What an import tells.
fn import(folder: &Folder, args: &str) -> String {
    let output = folder.run(&format!("serve --data news --import-only --quiet {args}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn files_of_one_name_are_different_articles() {
    let page =
        |word: &str| format!("<html><title>T</title><body><article><p>{}</p></article></body></html>", words(word));
    let folder = Folder::with(&[
        ("mon/1.html", page("monday").as_bytes()),
        ("tue/1.html", page("tuesday").as_bytes()),
        ("tue/a#1.txt", words("first").as_bytes()),
        ("tue/a#2.txt", words("second").as_bytes()),
        ("tue/a%231.txt", words("third").as_bytes()),
    ]);
    let told = import(&folder, "--import mon --import tue");
    assert!(told.contains("mon: 1 new") && told.contains("tue: 4 new"), "{told}");
    // The same files, however they are named, take their own places.
    std::fs::write(folder.path("tue/a#1.txt"), words("changed")).unwrap();
    let told = import(&folder, "--import tue/../mon/1.html --import ./tue");
    assert!(told.contains("1.html: 0 new, 0 replaced, 1 unchanged"), "{told}");
    assert!(told.contains("tue: 0 new, 1 replaced, 3 unchanged"), "{told}");
    let service = Asking::start(&folder, "--data news");
    assert_eq!(service.count(), 5);
    for (word, articles) in [("monday", 1), ("tuesday", 1), ("first", 0), ("changed", 1), ("second", 1), ("third", 1)] {
        assert_eq!(service.get(&format!("/api/search?q={word}")).1["articles"], articles, "{word}");
    }
}

#[test]
fn files_are_read_in_their_encoding_or_refused() {
    let page = |head: &[u8], text: &[u8]| {
        let end = format!(" {}</p></article></body></html>", words("page"));
        [b"<html><head>", head, b"</head><body><article><p>", text, end.as_bytes()].concat()
    };
    let wide: Vec<u8> = "\u{feff}Grüße wide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), &page(b"<meta charset=koi8-r>", "Grüße marked".as_bytes())].concat();
    let folder = Folder::with(&[
        ("in/latin.html", &page(b"<meta charset=iso-8859-1>", b"Gr\xfc\xdfe latin")),
        ("in/marked.html", &marked),
        ("in/wide.txt", &wide),
        ("in/bad.txt", b"Gr\xfc\xdfe bad"),
        ("in/feed.rss", b"<?xml version='1.0' encoding='iso-8859-1'?><rss version='2.0'><channel><title>F</title><item><title>T</title>\
            <link>https://f.example/1</link><description>Gr\xfc\xdfe feed</description></item></channel></rss>"),
    ]);
    let told = import(&folder, "--import in");
    assert!(told.contains("4 new") && told.contains("1 refused"), "{told}");
    assert!(told.contains("bad.txt: it is no UTF-8 after byte 2"), "{told}");
    let service = Asking::start(&folder, "--data news");
    for word in ["latin", "marked", "wide", "feed"] {
        let text = service.text(word);
        assert!(text.starts_with(&format!("Grüße {word}")), "{word}: {text}");
    }
}

#[test]
fn articles_are_kept_for_so_many_days() {
    let article = |year: u16| json!({ "url": format!("https://a.example/{year}"), "text": words(&format!("y{year}")), "published": format!("{year}-03-01") });
    let lines = format!("{}\n{}\n{}\n", article(1970), article(1971), article(2026));
    let folder = Folder::with(&[("articles.jsonl", lines.as_bytes())]);
    assert!(import(&folder, "--import articles.jsonl").contains("3 new"));
    let service = Asking::start(&folder, "--data news --keep-days 18000");
    let begin = Instant::now();
    let found = loop {
        let (_, found) = service.get("/api/search?q=lighthouse");
        if found["articles"] == 1 {
            break found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "they are still there");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(found["stories"][0]["representative"]["url"], "https://a.example/2026");
    assert_eq!(service.count(), 1);
}

#[test]
fn a_backup_is_taken_while_a_service_runs() {
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news");
    let post = |word: &str| {
        let article = json!({ "url": format!("https://a.example/{word}"), "text": words(word) });
        let (status, answer) = service.send("/api/articles", &article);
        assert!(status.is_success(), "{answer}");
    };
    let there = |service: &Asking, word: &str| service.get(&format!("/api/search?q={word}")).1["articles"] == 1;
    (0..20).for_each(|number| post(&format!("before{number}")));
    // Articles arrive all the time.
    std::thread::scope(|scope| {
        let posting = scope.spawn(|| (0..20).for_each(|number| post(&format!("meanwhile{number}"))));
        let output = folder.run("serve --data news --backup copy.sqlite");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        posting.join().unwrap();
    });
    post("after");
    assert!(there(&service, "before19") && there(&service, "meanwhile19") && there(&service, "after"));
    std::fs::create_dir(folder.path("restored")).unwrap();
    std::fs::rename(folder.path("copy.sqlite"), folder.path("restored/news.sqlite")).unwrap();
    let restored = Asking::start(&folder, "--data restored");
    for number in 0..20 {
        assert!(there(&restored, &format!("before{number}")), "{number}");
    }
    assert!(!there(&restored, "after"));
    // Each article of the copy is whole: it is found by search and by similarity.
    let (_, articles) = restored.get("/api/articles?limit=200");
    assert_eq!(restored.count(), articles.as_array().unwrap().len() as u64);
    for article in articles.as_array().unwrap() {
        let word = article["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        assert!(there(&restored, &word), "{word}");
        let (_, similar) = restored.send("/api/similar", &json!({ "text": words(&word), "min_sim": 0.9 }));
        assert_eq!(similar[0]["url"], article["url"], "{word}");
    }
}
