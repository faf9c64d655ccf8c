//! Web pages: their texts, their encodings, and what hostile ones do.

use std::io::Write;

use crate::common::Folder;

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
    let explained = folder.stdout("explain site 1 2 --page text --threshold 0.5 --verbose");
    assert!(
        explained.contains("copyright") && explained.contains("river") && !explained.contains("tracking"),
        "{explained}"
    );
    assert!(!folder.stdout("explain site 1 2 --threshold 0.5 --verbose").contains("copyright"));
    let by_url = folder.stdout("join site --threshold 0.95 --id url --count");
    assert_eq!(by_url, "6\n");
}

#[test]
fn short_pages_of_a_site_are_not_taken_for_their_footer() {
    let footer =
        "<p>All rights reserved by the authors of this manual, which was built with a generator of documentation, \
                  and may be copied under the terms of its license, a copy of which is part of it.</p>"
            .repeat(3);
    let texts =
        ["Install it with a package manager.", "Report a bug.", "Glossary of terms, A to Z.", "See also the tutorial."];
    for (before, after) in [
        ("<main><article>", "</article></main><footer>"),
        // As Sphinx builds them.
        (
            "<div class=related role=navigation><ul><li><a href=/>index</a></ul></div><div class=body role=main><section>",
            "</section></div><div class=footer role=contentinfo>",
        ),
    ] {
        let page = |(number, text): (usize, &&str)| {
            let body = format!("{before}<h1>Page {number}</h1><p>{text}</p>{after}{footer}");
            (format!("manual/{number}.html"), format!("<html><head><title>Manual</title></head><body>{body}"))
        };
        let pages: Vec<(String, String)> = texts.iter().enumerate().map(page).collect();
        let files: Vec<(&str, &[u8])> = pages.iter().map(|(name, html)| (name.as_str(), html.as_bytes())).collect();
        let folder = Folder::with(&files);
        folder.stdout("dedup manual --threshold 0.8 --output kept --removed gone");
        assert_eq!(std::fs::read_dir(folder.path("kept")).unwrap().count(), pages.len(), "{before}");
        // Their whole texts are nearly the same.
        assert_eq!(folder.stdout("join manual --threshold 0.8 --count --page text"), "6\n", "{before}");
    }
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
    assert!(rejects.contains("deep.html,1,,the page's elements lie more than 1000 deep"), "{rejects}");
    let output = folder.run("join s/bomb.html.gz --threshold 0.9 --max-unpacked 1M");
    assert!(String::from_utf8(output.stderr).unwrap().contains("--max-unpacked"));
}

/// A record of an archive.
fn archived(kind: &str, url: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    [header.as_bytes(), body, b"\r\n\r\n"].concat()
}

/// A page as a server sent it.
fn response(url: &str, header: &str, body: &[u8]) -> Vec<u8> {
    let body = [format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n").as_bytes(), body].concat();
    archived("response", url, "application/http; msgtype=response", &body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_are_compared_by_page_and_copied_whole() {
    let html = page("First", STORY);
    let chunked = format!("{:x}\r\n{html}\r\n0\r\n\r\n", html.len());
    let other = page("Other", "Nothing but the weather of the coming week, which will be dry and warm in the south.");
    let records = [
        archived("warcinfo", "", "application/warc-fields", b"software: none\r\n"),
        response("http://a/1", "content-type: text/html", html.as_bytes()),
        archived("request", "http://a/2", "application/http; msgtype=request", b"GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"),
        response("http://a/2", "Content-Type: text/html\r\nContent-Encoding: gzip", &gzip(html.as_bytes())),
        response("http://a/2.png", "Content-Type: image/png", &[0x89, b'P', b'N', b'G', 0, b'\r', b'\n', b'\r', b'\n']),
        response("http://a/3", "Content-Type: text/html\r\nTransfer-Encoding: chunked", chunked.as_bytes()),
        // Servers send line ends as they like.
        archived(
            "response",
            "http://a/4",
            "application/http",
            format!("HTTP/1.0 200\nContent-Type: text/html\n\n{other}").as_bytes(),
        ),
        archived("conversion", "http://a/5", "text/plain", format!("First {}", [STORY; 6].join(" ")).as_bytes()),
        response("http://a/6", "Content-Type: text/html; charset=windows-1252", b"<p>caf\xe9"),
    ];
    let packed: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
    let folder = Folder::with(&[("a.warc", &records.concat()), ("b.warc.gz", &packed)]);
    let pairs = folder.stdout("join a.warc --threshold 0.95 --id url");
    let urls: Vec<&str> = pairs.lines().skip(1).map(|row| row.rsplit_once(',').unwrap().0).collect();
    let pair = |left: u32, right: u32| format!("http://a/{left},http://a/{right}");
    assert_eq!(urls, [pair(1, 2), pair(1, 3), pair(1, 5), pair(2, 3), pair(2, 5), pair(3, 5)]);
    assert!(folder.stdout("explain a.warc 6 6 --threshold 0.5").contains("café"));
    for name in ["a.warc", "b.warc.gz"] {
        folder.stdout(&format!("dedup {name} --threshold 0.95 --output kept.{name} --removed gone.{name}"));
    }
    let of = |chosen: &[usize]| chosen.iter().map(|&at| records[at].clone()).collect::<Vec<_>>();
    let (kept, gone) = (of(&[0, 1, 2, 4, 6, 8]), of(&[3, 5, 7]));
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!((read("kept.a.warc"), read("gone.a.warc")), (kept.concat(), gone.concat()));
    // Each record can be unpacked by itself.
    for (name, records) in [("kept.b.warc.gz", kept), ("gone.b.warc.gz", gone)] {
        let bytes = read(name);
        let mut rest = bytes.as_slice();
        for record in records {
            let mut member = flate2::bufread::GzDecoder::new(rest);
            let mut unpacked = Vec::new();
            std::io::Read::read_to_end(&mut member, &mut unpacked).unwrap();
            assert_eq!(unpacked, record);
            rest = member.into_inner();
        }
        assert!(rest.is_empty());
    }
}

#[test]
fn broken_archives_are_refused_or_rejected() {
    let first = response("http://a/1", "Content-Type: text/html", page("First", STORY).as_bytes());
    let twin = response("http://a/2", "Content-Type: text/html", page("First", STORY).as_bytes());
    let whole = [first.clone(), twin.clone(), first.clone()].concat();
    let bomb = gzip(&vec![b' '; 64 << 20]);
    let endless = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: 999999999999999\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>";
    let header = format!("WARC/1.0\r\nWARC-Type: {}", "x".repeat(1 << 20));
    let folder = Folder::with(&[
        ("body.warc", &whole[..whole.len() - 100]),
        ("header.warc", &whole[..first.len() + twin.len() + 20]),
        ("packed.warc.gz", &gzip(&whole)[..200]),
        (
            "bomb.warc",
            &[
                first.clone(),
                response("http://a/b", "Content-Type: text/html\r\nContent-Encoding: gzip", &bomb),
                twin.clone(),
            ]
            .concat(),
        ),
        (
            "damaged.warc",
            &[
                first.clone(),
                response("http://a/b", "Content-Type: text/html\r\nContent-Encoding: gzip", b"no gzip"),
                twin.clone(),
            ]
            .concat(),
        ),
        (
            "long.warc",
            &[
                first.clone(),
                response("http://a/b", "Content-Type: text/html", &vec![b'x'; 1 << 20]),
                response("http://a/v", "Content-Type: video/mp4", &vec![0; 1 << 20]),
                twin.clone(),
            ]
            .concat(),
        ),
        ("endless.warc", &[&first[..], &twin, endless].concat()),
        ("unknown.warc", &[&first[..], b"hello\r\n\r\n"].concat()),
        ("lengthless.warc", &[&first[..], b"WARC/1.0\r\nWARC-Type: response\r\n\r\n\r\n\r\n"].concat()),
        ("huge.warc", header.as_bytes()),
        (
            "letters.warc",
            &[
                &first[..],
                &String::from_utf8(twin.clone()).unwrap().replace("Content-Length", "content-length").into_bytes(),
            ]
            .concat(),
        ),
        ("empty.warc", b""),
    ]);
    for (name, reason) in [
        ("body.warc", "body.warc:3: the archive ends in the middle"),
        ("header.warc", "header.warc:3: the archive ends in the middle"),
        ("endless.warc", "endless.warc:3: the archive ends in the middle"),
        ("bomb.warc", "bomb.warc:2: the record is longer"),
        ("damaged.warc", "damaged.warc:2: the page cannot be unpacked"),
        ("long.warc", "long.warc:2: the record is longer"),
    ] {
        let output = folder.run(&format!("join {name} --threshold 0.9 --max-record 1M"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains(reason), "{name}: {message}");
        folder.stdout(&format!(
            "dedup {name} --threshold 0.9 --max-record 1M --rejects r.csv --output kept.warc --removed gone.warc"
        ));
        let copied = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(copied("kept.warc").starts_with(&first) && copied("gone.warc") == twin, "{name}");
        let others = if name == "long.warc" { (1 << 20)..(2 << 20) } else { 0..1 };
        assert!(others.contains(&(copied("kept.warc").len() - first.len())), "{name}");
    }
    for (name, reason) in [
        ("packed.warc.gz", "ends too early"),
        ("unknown.warc", "record 2 of the archive is broken"),
        ("lengthless.warc", "its Content-Length is missing"),
        ("huge.warc", "record 1 of the archive is broken"),
        ("letters.warc", "Content-Length is written in other letters"),
    ] {
        let output = folder.run(&format!("join {name} --threshold 0.9 --rejects r.csv"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains(reason), "{name}: {message}");
    }
    assert_eq!(folder.stdout("join empty.warc --threshold 0.9 --count"), "0\n");
}
