//! The service over HTTP, as a program: what it answers, and what it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common::Folder;
use crate::common::asking::{Asking, words};
use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::StatusCode;
use serde_json::{Value, json};

impl Asking {
    fn page(&self, path: &str) -> String {
        let response = self.client.get(self.url(path)).send().unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        response.text().unwrap()
    }

    fn post(&self, url: &str, title: &str, text: &str) -> i64 {
        let (status, receipt) = self.send("/api/articles", &json!({ "url": url, "title": title, "text": text }));
        assert_eq!(status, StatusCode::OK, "{receipt}");
        receipt["id"].as_i64().unwrap()
    }

    /// How many megabytes it holds at most.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.service.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
    }
}

const TEXT: &str = "A ferry with ninety passengers ran aground near the old lighthouse on Sunday morning, and everyone was brought \
                    ashore by the coastguard within two hours, as the harbour office of the town said in the evening.";

#[test]
fn the_api_takes_articles_and_answers() {
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news");
    let one = service.post("https://a.example/1", "Ferry aground", TEXT);
    let two = service.post("https://b.example/1", "All ashore", &TEXT.replace("ninety", "95"));
    let (_, found) = service.get("/api/search?q=lighthouse");
    assert_eq!((found["articles"].as_u64(), found["stories"].as_array().map(Vec::len)), (Some(2), Some(1)));
    assert_eq!(found["stories"][0]["sources"], 2);
    let piece = &found["stories"][0]["snippet"];
    let marked = piece["marked"][0].as_array().unwrap();
    let (start, end) = (marked[0].as_u64().unwrap() as usize, marked[1].as_u64().unwrap() as usize);
    assert_eq!(&piece["text"].as_str().unwrap()[start..end], "lighthouse");
    let (_, similar) = service.get(&format!("/api/articles/{one}/similar?min_sim=0.8&min_prob=0.9"));
    assert_eq!(similar[0]["id"], two);
    let (_, similar) = service.send("/api/similar", &json!({ "text": TEXT, "min_sim": 0.8 }));
    assert_eq!(similar.as_array().map(Vec::len), Some(2));
    let (_, group) = service.get(&format!("/api/groups/{two}"));
    assert_eq!(group["articles"].as_array().map(Vec::len), Some(2));
    // A story that was read is left out, with all its articles.
    let mark = |is_read: bool| {
        let request = service.client.put(service.url(&format!("/api/groups/{one}/read")));
        request.json(&json!({ "read": is_read })).send().unwrap().json::<Value>().unwrap()["articles"].as_u64()
    };
    assert_eq!(mark(true), Some(2));
    let (status, unread) = service.get("/api/search?unread=true&q=lighthouse");
    assert_eq!((status, unread["stories"].as_array().map(Vec::len)), (StatusCode::OK, Some(0)));
    assert_eq!(mark(false), Some(2));
    let verdict =
        service.client.put(service.url("/api/verdicts")).json(&json!({ "left": one, "right": two, "same": false }));
    assert_eq!(verdict.send().unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(service.get("/api/search?q=lighthouse").1["stories"].as_array().map(Vec::len), Some(2));
    let read = service.client.put(service.url(&format!("/api/groups/{one}/read"))).json(&json!({ "read": true }));
    assert_eq!(read.send().unwrap().json::<Value>().unwrap()["articles"], 1);
    assert_eq!(service.get("/api/search?unread=true").1["stories"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        service.client.delete(service.url(&format!("/api/articles/{two}"))).send().unwrap().status(),
        StatusCode::NO_CONTENT
    );
    assert_eq!(service.get("/api/health").1, json!({ "status": "ok", "articles": 1 }));
    assert!(service.page("/metrics").contains("twinset_articles 1"));
    let (_, description) = service.get("/api/openapi.json");
    assert!(description["paths"]["/api/search"]["get"]["responses"]["400"].is_object());
    // Without words, sources or days that exist, nothing is found, which is no failure.
    for path in ["/api/search?q=nothinglikethis", "/api/search?entity=Nobody", "/api/search?to=1990-01-01"] {
        assert_eq!(service.get(path).1["stories"], json!([]), "{path}");
    }
}

#[test]
fn a_story_that_was_read_and_has_news_is_unread() {
    let folder = Folder::with(&[]);
    let unread =
        |service: &Asking| service.get("/api/search?unread=true&q=wildfire").1["stories"].as_array().unwrap().len();
    let fire = "A wildfire north of the town has burned 10 square miles of forest since Friday, and 300 people have left their homes. \
                Crews from four counties fight it with aircraft, while strong winds from the west are forecast until Monday.";
    let news = fire.replace(
        "has burned 10 square miles",
        "grows to 40 square miles, 2 dead, after it jumped a river and burned miles",
    );
    {
        let service = Asking::start(&folder, "--data news");
        let one = service.post("https://a.example/1", "Wildfire near the town", fire);
        let read = service.client.put(service.url(&format!("/api/groups/{one}/read"))).json(&json!({ "read": true }));
        assert_eq!(read.send().unwrap().status(), StatusCode::OK);
        service.post("https://b.example/1", "Wildfire near town", fire);
        assert_eq!((unread(&service), &service.get(&format!("/api/groups/{one}")).1["is_read"]), (0, &json!(true)));
        service.post("https://c.example/1", "Wildfire near the town", &news);
        let (_, story) = service.get(&format!("/api/groups/{one}"));
        assert_eq!(
            (story["articles"].as_array().map(Vec::len), &story["is_read"]),
            (Some(3), &json!(false)),
            "{story}"
        );
    }
    assert_eq!(unread(&Asking::start(&folder, "--data news")), 1);
}

#[test]
fn a_damaged_label_index_is_made_again_at_the_start() {
    let folder = Folder::with(&[("none.jsonl", b"")]);
    let id = {
        let service = Asking::start(&folder, "--data news");
        service.post("https://b.example/1", "All ashore", TEXT);
        service.post("https://a.example/1", "Ferry aground", TEXT)
    };
    let similar = |service: &Asking| service.get(&format!("/api/articles/{id}/similar?min_sim=0.6")).1;
    let expected = similar(&Asking::start(&folder, "--data news"));
    assert_eq!(expected.as_array().map(Vec::len), Some(1), "{expected}");
    let labels = folder.path("news/labels/labels.sqlite");
    let start = "serve --data news --import none.jsonl --import-only";
    // One that ends as it should leaves everything in this file.
    assert!(!String::from_utf8(folder.run(start).stderr).unwrap().contains("made again"));
    let mut bytes = std::fs::read(&labels).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&labels, &bytes).unwrap();
    let output = folder.run(start);
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && log.contains("is made again from the articles"), "{log}");
    assert_eq!(similar(&Asking::start(&folder, "--data news")), expected);
}

#[test]
fn what_makes_no_sense_is_refused_in_json() {
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news");
    let bad = [
        "/api/search?limit=0",
        "/api/search?offset=100000",
        "/api/search?min_sim=2",
        "/api/search?min_sim=abc",
        "/api/search?min_prob=1",
        "/api/search?from=yesterday",
        "/api/search?nonsense=1",
        "/api/compare?left=1",
        "/api/articles?limit=-1",
    ];
    for path in bad {
        let (status, answer) = service.get(path);
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
        assert!(answer["error"].is_string(), "{path}: {answer}");
    }
    for path in ["/api/articles/7", "/api/nothing", "/api/articles/x", "/api/../api/etc/passwd", "/api/groups/99"] {
        let (status, answer) = service.get(path);
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer["error"].is_string(), "{path}");
    }
    // No path from a request reaches the file system.
    let outside = "..%2F..%2F..%2Fetc%2Fpasswd";
    let parameters = ["q", "entity", "source", "from", "to", "sort", "min_sim", "limit"];
    let searches = parameters.map(|name| format!("/api/search?{name}={outside}"));
    let paths = ["/api/articles/", "/api/groups/", "/api/compare?left=1&right=", "/assets/", "/stories/", "/"];
    for path in searches.into_iter().chain(paths.map(|path| format!("{path}{outside}"))) {
        let response = service.client.get(service.url(&path)).send().unwrap();
        assert!(response.status().is_client_error() || response.status() == StatusCode::OK, "{path}");
        assert!(!response.text().unwrap().contains("root:"), "{path}");
    }
    let many_words = format!("/api/search?q={}", "word+".repeat(10_000));
    assert!(service.get(&many_words).0.is_client_error());
    let deep =
        format!("{{\"url\": \"https://a.example/1\", \"json_ld\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let send = |body: Vec<u8>, encoding: Option<&str>| {
        let mut request = service.client.post(service.url("/api/articles")).header("content-type", "application/json");
        if let Some(encoding) = encoding {
            request = request.header("content-encoding", encoding);
        }
        request.body(body).send().map(|response| response.status())
    };
    assert_eq!(send(deep.into_bytes(), None).unwrap(), StatusCode::BAD_REQUEST);
    assert_eq!(send(b"{".to_vec(), None).unwrap(), StatusCode::BAD_REQUEST);
    // Five megabytes are too many, also when they come packed. The service may hang up before it has heard them all.
    assert!(send(vec![b' '; 5 << 20], None).map_or(true, |status| status == StatusCode::PAYLOAD_TOO_LARGE));
    // A gigabyte is refused before it is sent.
    let address = service.service.address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "POST /api/articles HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n";
    write!(stream, "{head}Host: {address}\r\n\r\n{{").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    (0..500).for_each(|_| packed.write_all(&vec![b' '; 1 << 20]).unwrap());
    assert_eq!(send(packed.finish().unwrap(), Some("gzip")).unwrap(), StatusCode::PAYLOAD_TOO_LARGE);
    // Short names that stand for long ones, and what takes the square of its length.
    let long = "x".repeat(100_000);
    let many = |of: &str| vec![of; 50_000].join(",");
    for (field, value) in [
        ("turtle", json!(format!("@prefix p: <http://{long}/> . p:a p:b {} .", many("p:c")))),
        (
            "json_ld",
            json!({ "@context": { "@vocab": format!("http://{long}/") }, "@graph": vec![json!({ "@type": "a" }); 20_000] }),
        ),
        (
            "html",
            json!(format!("<p {}>text</p>", (0..100_000).map(|number| format!("a{number}=1 ")).collect::<String>())),
        ),
        ("json_ld", json!("a text")),
    ] {
        let (status, answer) =
            service.send("/api/articles", &json!({ "url": "https://a.example/1", "text": TEXT, field: value }));
        assert_eq!(status, StatusCode::BAD_REQUEST, "{field}: {answer}");
    }
    assert_eq!(service.get("/api/search?q=title:*").0, StatusCode::BAD_REQUEST);
    for range in ["text:>0", "aground+OR+(title:[a+TO+z])", "-source:<m^2"] {
        let (status, answer) = service.get(&format!("/api/search?q={range}"));
        assert_eq!(status, StatusCode::BAD_REQUEST, "{range}");
        assert!(answer["error"].as_str().unwrap().contains("name the words"), "{range}: {answer}");
    }
    let plain = service.client.post(service.url("/api/articles")).body("x").send().unwrap();
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(service.peak() < 200, "{} MB", service.peak());
}

#[test]
fn what_comes_from_outside_is_shown_as_text() {
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news");
    let script = "<script>alert(1)</script>";
    let article = json!({
        "url": "javascript:alert(1)", "title": format!("{script} title"), "text": format!("{script} {TEXT}"), "source": script,
        "json_ld": { "@context": "https://schema.org", "@type": "NewsArticle", "mentions": [{ "@type": "Person", "name": script }] },
    });
    let (status, receipt) = service.send("/api/articles", &article);
    assert_eq!(status, StatusCode::OK, "{receipt}");
    let id = receipt["id"].as_i64().unwrap();
    let other = service.post("https://a.example/'\"><img src=x onerror=alert(1)>", "x\" onload=\"alert(1)", TEXT);
    let pages = [
        "/".to_owned(),
        format!("/?q={script}"),
        format!("/?entity={script}&source={script}&from={script}"),
        format!("/stories/{id}"),
        format!("/articles/{id}"),
        format!("/compare?left={id}&right={other}"),
        "/feeds".to_owned(),
        "/status".to_owned(),
        format!("/stories/{script}"),
    ];
    for path in pages {
        let page = service.page(&path);
        assert!(page.starts_with("<!DOCTYPE html>"), "{path}: {page}");
        assert!(
            !page.contains("<script>alert") && !page.contains("<img") && !page.contains("href=\"javascript:"),
            "{path}"
        );
    }
    // A page may only lead back to this service.
    let form = [
        ("left", id.to_string()),
        ("right", other.to_string()),
        ("verdict", "same".to_owned()),
        ("back", "//evil.example".to_owned()),
    ];
    let answer = service.client.post(service.url("/verdicts")).form(&form).send().unwrap();
    assert_eq!(answer.headers()["location"], "/");
    // And another site may not write through a reader's browser, nor read by a name of its own.
    let foreign = service
        .client
        .post(service.url("/verdicts"))
        .header("sec-fetch-site", "cross-site")
        .form(&form)
        .send()
        .unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let foreign = service
        .client
        .post(service.url("/verdicts"))
        .header("origin", "https://evil.example")
        .form(&form)
        .send()
        .unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let renamed = service.client.get(service.url("/")).header("host", "evil.example").send().unwrap();
    assert_eq!(renamed.status(), StatusCode::FORBIDDEN);
}

#[test]
fn people_are_told_failures_on_a_page_and_programs_in_json() {
    let folder = Folder::with(&[("keys", b"read 0123456789abcdef\nwrite fedcba9876543210\n")]);
    let service = Asking::start(&folder, "--data news --limit request-time=1 --limit request=2000");
    let is_page = |kind: &str, body: &str| {
        kind.starts_with("text/html") && body.starts_with("<!DOCTYPE html>") && body.contains("role=\"alert\"")
    };
    let told = |request: reqwest::blocking::RequestBuilder| {
        let response = request.send().unwrap();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        (response.status().as_u16(), kind, response.text().unwrap())
    };
    let (get, post) =
        (|path: &str| service.client.get(service.url(path)), |path: &str| service.client.post(service.url(path)));
    for (status, request, reason) in [
        (404, get("/nothing"), "there is nothing here"),
        (404, get("/../../etc/passwd"), "there is nothing here"),
        (404, get("/assets/../news.sqlite"), "there is nothing here"),
        (404, get("/stories/7"), "there is no article 7"),
        (405, get("/verdicts"), "this cannot be done here"),
        (422, post("/verdicts").form(&[("left", "1")]), "cannot be understood"),
        (415, post("/feeds").body("x"), "cannot be understood"),
        (413, post("/feeds").form(&[("opml", "x".repeat(3000))]), "2000 bytes"),
        (400, post("/verdicts").form(&[("left", "1"), ("right", "2"), ("verdict", "?")]), "a verdict is"),
        (403, get("/").header("host", "evil.example"), "localhost alone"),
    ] {
        let (told, kind, body) = told(request);
        assert_eq!(told, status, "{reason}");
        assert!(is_page(&kind, &body) && body.contains(reason), "{reason}: {kind} {body}");
    }
    for (status, request) in [
        (404, get("/api/nothing")),
        (405, post("/api/search")),
        (405, post("/metrics")),
        (413, post("/api/articles").header("content-type", "application/json").body("x".repeat(3000))),
        (403, get("/api/search").header("host", "evil.example")),
    ] {
        let (told, kind, body) = told(request);
        assert_eq!((told, kind.as_str()), (status, "application/json"), "{body}");
        assert!(serde_json::from_str::<Value>(&body).unwrap()["error"].is_string(), "{body}");
    }
    assert_eq!(get("/verdicts").send().unwrap().headers()["allow"], "POST");
    let address = service.service.address.trim_start_matches("http://");
    let form =
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\nConnection: close\r\n\r\nleft=";
    let answer = answer_to(address, &format!("POST /verdicts HTTP/1.1\r\nHost: {address}\r\n{form}"));
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("<!DOCTYPE html>"), "{answer}");
    // Who may read presses a button that writes.
    let service = Asking::start(&folder, "--data other --key-file keys");
    let login = service.client.post(service.url("/login")).form(&[("key", "0123456789abcdef")]).send().unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let marking =
        service.client.post(service.url("/stories/1/read")).header("cookie", cookie).form(&[("read", "true")]);
    let (status, kind, body) = told(marking);
    assert!(
        status == 403 && is_page(&kind, &body) && body.contains("the one that may write"),
        "{status} {kind} {body}"
    );
}

/// Serves some documents by their paths until the test ends; counts how often it was asked.
fn documents(documents: Vec<(&'static str, String)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &documents);
        }
    });
    address
}

fn answer(mut stream: TcpStream, documents: &[(&'static str, String)]) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let (mut request, mut line) = (String::new(), String::new());
    while lines.read_line(&mut line).is_ok_and(|length| length > 2) {
        request.push_str(&line);
        line.clear();
    }
    let path = request.split_whitespace().nth(1).unwrap_or("/").to_owned();
    let found = documents.iter().find(|(own, _)| *own == path);
    let is_known = request.to_lowercase().contains("if-none-match: \"one\"");
    let head = match found {
        Some(_) if is_known => "HTTP/1.1 304 Not Modified\r\n".to_owned(),
        Some(_) => "HTTP/1.1 200 OK\r\nETag: \"one\"\r\n".to_owned(),
        None => "HTTP/1.1 404 Not Found\r\n".to_owned(),
    };
    let body = found.filter(|_| !is_known).map_or("", |(_, body)| body);
    _ = write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
}

fn rss(name: &str, title: &str, text: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>{name}</title><link>https://{name}.example/</link>\
         <item><title>{title}</title><link>https://{name}.example/1</link><description>&lt;p&gt;{text}&lt;/p&gt;</description>\
         <pubDate>Sun, 01 Mar 2026 08:00:00 GMT</pubDate></item></channel></rss>"
    )
}

#[test]
fn copies_from_two_feeds_come_up_as_one_story() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE r [<!ENTITY a \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\">\
                <!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">\
                <!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\">\
                <!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\"><!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\">]>\
                <rss version=\"2.0\"><channel><title>&g;</title></channel></rss>";
    let address = documents(vec![
        ("/one", rss("morning", "Ferry aground", TEXT)),
        ("/two", rss("evening", "All ashore", &TEXT.replace("ninety", "95"))),
        ("/bomb", bomb.to_owned()),
    ]);
    let folder = Folder::with(&[]);
    {
        // Addresses of this machine are refused.
        let service = Asking::start(&folder, "--data private");
        let (status, feeds) = service.send("/api/feeds", &json!({ "address": format!("http://{address}/one") }));
        assert_eq!(status, StatusCode::OK);
        assert!(feeds[0]["problem"].as_str().unwrap().contains("private"), "{feeds}");
        let (status, _) = service.send("/api/feeds", &json!({ "address": "file:///etc/passwd" }));
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    let service = Asking::start(&folder, "--data news --allow-private");
    for path in ["one", "two"] {
        let (_, feeds) = service.send("/api/feeds", &json!({ "address": format!("http://{address}/{path}") }));
        assert_eq!((&feeds[0]["problem"], &feeds[0]["articles"]), (&Value::Null, &json!(1)), "{feeds}");
    }
    let (_, found) = service.get("/api/search?q=lighthouse");
    assert_eq!(found["stories"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["stories"][0]["sources"], 2);
    // What has not changed is not sent again, and what is there already is not new.
    let (_, feeds) = service.get("/api/feeds");
    let again = service.send(&format!("/api/feeds/{}/poll", feeds[0]["id"]), &json!({})).1;
    assert_eq!((&again["articles"], &again["failures"]), (&json!(1), &json!(0)), "{again}");
    let followed = |path: &str| service.send("/api/feeds", &json!({ "address": format!("http://{address}/{path}") })).1;
    let missing = followed("missing");
    assert!(missing[0]["problem"].as_str().unwrap().contains("404"), "{missing}");
    // What an entity stands for is not looked up.
    let bomb = followed("bomb");
    assert_eq!((&bomb[0]["title"], &bomb[0]["problem"]), (&json!("&g;"), &Value::Null), "{bomb}");
    assert!(service.peak() < 200, "{} MB", service.peak());
    let opml = "<opml version=\"2.0\"><body><outline text=\"x\"><outline type=\"rss\" xmlUrl=\"https://x.example/a?b=1&amp;c=2\"/></outline></body></opml>";
    let (_, feeds) = service.send("/api/feeds", &json!({ "opml": opml }));
    assert!(feeds.as_array().unwrap().iter().any(|feed| feed["address"] == "https://x.example/a?b=1&c=2"), "{feeds}");
}

#[test]
fn others_need_a_key() {
    let folder = Folder::with(&[("keys", b"read 0123456789abcdef\nwrite fedcba9876543210\n")]);
    let refused = folder.run("serve --data news --listen 0.0.0.0:0");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--key-file"));
    let service = Asking::start(&folder, "--data news --key-file keys");
    let ask = |path: &str, key: Option<&str>| {
        let request = service.client.get(service.url(path));
        let request = if let Some(key) = key { request.bearer_auth(key) } else { request };
        request.send().unwrap().status()
    };
    assert_eq!(ask("/api/search", None), StatusCode::UNAUTHORIZED);
    assert_eq!(ask("/api/search", Some("0123456789abcdee")), StatusCode::UNAUTHORIZED);
    assert_eq!(ask("/api/search", Some("0123456789abcdef")), StatusCode::OK);
    assert_eq!(ask("/", None), StatusCode::SEE_OTHER);
    let post = |key: &str| {
        let article = json!({ "url": "https://a.example/1", "text": TEXT });
        service.client.post(service.url("/api/articles")).bearer_auth(key).json(&article).send().unwrap().status()
    };
    assert_eq!(post("0123456789abcdef"), StatusCode::FORBIDDEN);
    assert_eq!(post("fedcba9876543210"), StatusCode::OK);
    // A browser logs in, and shows what it was given then.
    let login = service.client.post(service.url("/login")).form(&[("key", "0123456789abcdef")]).send().unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let with_cookie = service.client.get(service.url("/")).header("cookie", cookie).send().unwrap();
    assert_eq!(with_cookie.status(), StatusCode::OK);
    let wrong = service.client.post(service.url("/login")).form(&[("key", "x")]).send().unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
}

#[test]
fn files_are_imported_and_a_second_time_nothing_is_new() {
    let lines = format!(
        "{}\nnonsense\n{}\n",
        json!({ "url": "https://a.example/1", "title": "One", "text": TEXT }),
        json!({ "url": "https://a.example/2", "title": "Two" })
    );
    let folder = Folder::with(&[
        ("in/a.jsonl", lines.as_bytes()),
        (
            "in/page.html",
            format!("<html><title>Page</title><body><article><p>{TEXT}</p></article></body></html>").as_bytes(),
        ),
        ("in/feed.rss", rss("morning", "Ferry", TEXT).as_bytes()),
        ("in/note.txt", b"A note of some words."),
        ("in/ignored.bin", b"x"),
    ]);
    let import = || {
        let output = folder.run("serve --data news --import in --import-only --quiet");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let first = import();
    assert!(first.contains("4 new") && first.contains("2 refused"), "{first}");
    assert!(first.contains("a.jsonl, line 2") && first.contains("needs a `text`"), "{first}");
    let second = import();
    assert!(second.contains("0 new, 0 replaced"), "{second}");
    let output = folder.run("serve --data news --backup copy.sqlite");
    assert!(output.status.success());
    assert!(folder.path("copy.sqlite").is_file());
    let mut beginning = [0; 15];
    std::fs::File::open(folder.path("copy.sqlite")).unwrap().read_exact(&mut beginning).unwrap();
    assert_eq!(&beginning, b"SQLite format 3");
}

#[test]
fn a_service_that_is_told_to_stop_finishes_what_it_has_begun() {
    let folder = Folder::with(&[]);
    let mut service = Asking::start(&folder, "--data news");
    // A request of which half is sent.
    let address = service.service.address.trim_start_matches("http://").to_owned();
    let body = json!({ "url": "https://a.example/1", "title": "Ferry aground", "text": TEXT }).to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = "POST /api/articles HTTP/1.1\r\nContent-Type: application/json\r\n";
    write!(stream, "{head}Host: {address}\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(&body.as_bytes()[..20]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    service.service.tell("TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(TcpStream::connect(&address).is_err(), "it takes new connections");
    stream.write_all(&body.as_bytes()[20..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(service.service.wait().success());
    let again = Asking::start(&folder, "--data news");
    assert_eq!(again.get("/api/search?q=lighthouse").1["articles"], 1);
}

#[test]
fn posts_that_wait_for_a_slow_extractor_do_not_hold_up_the_end() {
    let extractor = "#!/bin/sh\nwhile read line; do sleep 4; echo '{\"entities\": []}'; done\n";
    let folder = Folder::with(&[("slow.sh", extractor.as_bytes())]);
    std::fs::set_permissions(folder.path("slow.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut service = Asking::start(&folder, "--data news --extractor ./slow.sh --limit request-time=2");
    let (client, url) = (service.client.clone(), service.url("/api/articles"));
    let post = |number: u32| {
        let article = json!({ "url": format!("https://a.example/{number}"), "text": words(&number.to_string()) });
        client.post(&url).json(&article).send().map(|answer| answer.status())
    };
    std::thread::scope(|scope| {
        let post = &post;
        let posts: Vec<_> = (0..5).map(|number| scope.spawn(move || post(number))).collect();
        std::thread::sleep(Duration::from_millis(500));
        service.service.tell("TERM");
        let begin = Instant::now();
        assert!(service.service.wait().success());
        // The extractor would take twenty seconds for them all.
        assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
        for post in posts {
            assert!(post.join().unwrap().map_or(true, |status| !status.is_success()));
        }
    });
    let again = Asking::start(&folder, "--data news");
    assert_eq!(again.get("/api/health").1["articles"], 0);
}

/// Reads what is answered to a request that never ends.
fn answer_to(address: &str, beginning: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(beginning.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn who_says_nothing_is_not_waited_for() {
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news");
    let address = service.service.address.trim_start_matches("http://");
    let get = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n");
    let post = format!(
        "POST /api/articles HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let asked = [String::new(), get.clone(), format!("{get}\r\n"), post];
    let answers: Vec<String> = std::thread::scope(|scope| {
        let asking: Vec<_> =
            asked.each_ref().map(|beginning| scope.spawn(move || answer_to(address, beginning))).into();
        asking.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    // No request, half a request, nothing after a request, and half a body.
    assert_eq!((&*answers[0], &*answers[1]), ("", ""));
    assert!(answers[2].starts_with("HTTP/1.1 200"), "{}", answers[2]);
    assert!(answers[3].starts_with("HTTP/1.1 408"), "{}", answers[3]);
    assert_eq!(service.get("/api/health").0, StatusCode::OK);
}

#[test]
fn a_full_disk_refuses_articles_and_lets_others_read() {
    // A file system of a few megabytes, which only the service and its children see.
    let small = "mount -t tmpfs -o size=24m twinset news && exec \"$@\"";
    let folder = Folder::with(&[("news/.keep", b"")]);
    let service = Asking::start_by(&["unshare", "-rm", "sh", "-c", small, "sh"], &folder, "--data news");
    let mut acknowledged = Vec::new();
    let refused = (0..5000).find_map(|number| {
        let word = format!("w{number}");
        let text = words(&word).repeat(40);
        let article = json!({ "url": format!("https://a.example/{word}"), "title": word, "text": text });
        match service.send("/api/articles", &article) {
            (StatusCode::OK, _) => acknowledged.push(word),
            refused => return Some(refused),
        }
        None
    });
    let (status, answer) = refused.expect("the disk is full at last");
    assert_eq!(status, StatusCode::INSUFFICIENT_STORAGE, "{answer}");
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    for word in &acknowledged {
        assert_eq!(service.get(&format!("/api/search?q={word}")).1["articles"], 1, "{word}");
    }
}

#[test]
fn logs_can_be_lines_of_json() {
    let line = json!({ "url": "https://a.example/1", "title": "One", "text": TEXT }).to_string();
    let folder = Folder::with(&[("a.jsonl", line.as_bytes())]);
    let output = folder.run("serve --data news --import a.jsonl --import-only --log-json");
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    // The closing summary is for people.
    let logs: Vec<Value> = told
        .lines()
        .filter(|line| !line.starts_with("a.jsonl: 1 new"))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect();
    let commit = logs.iter().find(|log| log["fields"]["message"] == "commit, in milliseconds").unwrap();
    assert_eq!((&commit["level"], &commit["fields"]["articles"]), (&json!("INFO"), &json!(1)), "{told}");
}
