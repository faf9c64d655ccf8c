//! Feeds that a service follows: how they are named, when they are asked, and what of them is taken in.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::Folder;
use crate::common::asking::{Asking, words};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// A web server on loopback, which remembers what it was asked.
struct Web {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Answers each request, given as its lines, with a status, headers and a body.
    fn answering(answer: impl Fn(&str) -> (&'static str, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, asked) = (Arc::new(answer), requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, asked) = (answer.clone(), asked.clone());
                std::thread::spawn(move || {
                    let request = request(&stream);
                    asked.lock().unwrap().push(request.clone());
                    let (head, body) = answer(&request);
                    respond(stream, head, &body);
                });
            }
        });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What was asked for this path.
    fn requests(&self, path: &str) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| request.starts_with(&format!("GET {path} "))).cloned().collect()
    }
}

fn request(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream);
    let (mut request, mut line) = (String::new(), String::new());
    while lines.read_line(&mut line).is_ok_and(|length| length > 2) {
        request.push_str(&line);
        line.clear();
    }
    request
}

fn respond(mut stream: TcpStream, head: &str, body: &str) {
    let length = body.len();
    _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

/// The path of a request.
fn path(request: &str) -> &str {
    request.split_whitespace().nth(1).unwrap_or("/")
}

/// An RSS feed with articles at these addresses, published on these days. One at `/empty` says nothing.
fn rss(name: &str, articles: &[(&str, &str)]) -> String {
    let item = |(url, day): &(&str, &str)| {
        if url.ends_with("/empty") {
            return format!("<item><link>{url}</link></item>");
        }
        let text = words(url);
        format!(
            "<item><title>{url}</title><link>{url}</link><description>{text}</description><pubDate>{day}</pubDate></item>"
        )
    };
    let items: String = articles.iter().map(item).collect();
    format!("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>{name}</title>{items}</channel></rss>")
}

const DAY: &str = "Sun, 01 Mar 2026 08:00:00 GMT";

fn one(name: &str) -> String {
    rss(name, &[(&format!("https://{name}.example/1"), DAY)])
}

fn atom(name: &str) -> String {
    format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>{name}</title><id>urn:{name}</id><updated>2026-03-01T08:00:00Z</updated>\
         <entry><title>An entry</title><id>urn:{name}:1</id><link href=\"https://{name}.example/1\"/>\
         <updated>2026-03-01T08:00:00Z</updated><content type=\"html\">&lt;p&gt;{}&lt;/p&gt;</content></entry></feed>",
        words(name)
    )
}

fn opml(addresses: &[&str]) -> String {
    let outline = |address: &&str| format!("<outline type=\"rss\" text=\"A feed\" xmlUrl=\"{address}\"/>");
    let outlines: String = addresses.iter().map(outline).collect();
    format!("<opml version=\"2.0\"><body>{outlines}</body></opml>")
}

impl Asking {
    fn follow(&self, address: &str) -> Value {
        let (status, feeds) = self.send("/api/feeds", &json!({ "address": address }));
        assert_eq!(status, StatusCode::OK, "{feeds}");
        feeds[0].clone()
    }

    fn poll(&self, feed: &Value) -> Value {
        self.send(&format!("/api/feeds/{}/poll", feed["id"]), &json!({})).1
    }

    fn feeds(&self) -> Vec<Value> {
        self.get("/api/feeds").1.as_array().unwrap().clone()
    }

    /// The values of a field of all articles.
    fn articles(&self, field: &str) -> BTreeSet<String> {
        let (_, articles) = self.get("/api/articles?limit=200");
        articles.as_array().unwrap().iter().map(|article| article[field].as_str().unwrap().to_owned()).collect()
    }
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn set<const N: usize>(values: [&str; N]) -> BTreeSet<String> {
    values.map(str::to_owned).into()
}

#[test]
fn every_form_of_feed_is_taken_and_a_service_starts_again_with_them() {
    let lists: Arc<Mutex<String>> = Arc::default();
    let own = lists.clone();
    let web = Web::answering(move |request| match path(request) {
        "/list" => ("200 OK", own.lock().unwrap().clone()),
        "/atom" => ("200 OK", atom("atom")),
        name => ("200 OK", one(name.trim_start_matches('/'))),
    });
    // A list that leads to itself ends there.
    *lists.lock().unwrap() = opml(&[&web.url("/listed"), &web.url("/list")]);
    let list = opml(&["ftp://a.example/", "https://", &web.url("/outline"), "not an address"]);
    let folder = Folder::with(&[
        ("feed.rss", one("file").as_bytes()),
        ("feeds/entries", atom("entries").as_bytes()),
        ("feeds.opml", list.as_bytes()),
    ]);
    let addresses = ["/rss", "/atom", "/list"].map(|path| format!("--feed {}", web.url(path))).join(" ");
    let files = "--feed feed.rss --feed feeds/entries --feed feeds.opml";
    let all = set(["atom", "entries", "file", "listed", "outline", "rss"]);
    let followed = set(["/atom", "/list", "/listed", "/outline", "/rss"]
        .map(|path| web.url(path))
        .each_ref()
        .map(|url| url.as_str()));
    // Five feeds are followed: no more are allowed, and when the service starts again, these are no new ones.
    for round in 0..2 {
        let service =
            Asking::start(&folder, &format!("--data news --allow-private --limit feeds=5 {addresses} {files}"));
        until("all feeds are taken in", || service.articles("source") == all);
        until("all feeds were asked", || service.feeds().iter().all(|feed| feed["polled"].is_string()));
        let feeds = service.feeds();
        let shown: BTreeSet<String> = feeds.iter().map(|feed| feed["address"].as_str().unwrap().to_owned()).collect();
        assert_eq!(shown, followed, "round {round}");
        for feed in &feeds {
            assert!(feed["problem"].is_null() && feed["next"].as_str().unwrap() > "2026", "{feed}");
            assert_eq!(feed["is_list"], feed["address"] == web.url("/list"), "{feed}");
        }
        let (status, refused) = service.send("/api/feeds", &json!({ "address": web.url("/more") }));
        assert!(status == StatusCode::BAD_REQUEST && refused["error"].as_str().unwrap().contains("one too many"));
    }
    // What is new in a list is followed once it is asked again.
    let service = Asking::start(&folder, "--data news --allow-private");
    *lists.lock().unwrap() = opml(&[&web.url("/later")]);
    let list = service.feeds().into_iter().find(|feed| feed["is_list"] == true).unwrap();
    assert_eq!(service.poll(&list)["title"], "List of feeds (1)");
    until("the new feed of the list is taken in", || service.articles("source").contains("later"));
}

#[test]
fn a_list_is_followed_but_for_what_cannot_be() {
    let web = Web::answering(|request| ("200 OK", one(path(request).trim_start_matches('/'))));
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news --allow-private");
    let list = opml(&["ftp://a.example/", &web.url("/good"), "nonsense", &web.url("/better")]);
    let (status, answer) = service.send("/api/feeds", &json!({ "opml": list }));
    let error = answer["error"].as_str().unwrap();
    assert!(status == StatusCode::BAD_REQUEST && error.contains("followed: 2; that are not: 2"), "{error}");
    assert!(error.contains("`ftp://a.example/` is no address") && error.contains("`nonsense`"), "{error}");
    until("the others are taken in", || service.articles("source") == set(["better", "good"]));
}

#[test]
fn a_feed_is_asked_for_what_has_changed() {
    const TAG: &str = "W/\"one-2\"";
    const LAST: &str = "Sun, 01 Mar 2026 08:00:00 GMT";
    let web = Web::answering(|request| {
        let has = |header: &str| request.to_lowercase().contains(&header.to_lowercase());
        match has(&format!("If-None-Match: {TAG}\r\n")) && has(&format!("If-Modified-Since: {LAST}\r\n")) {
            true => ("304 Not Modified", String::new()),
            // Who does not say what it has gets something else.
            false if has("if-") => ("400 Bad Request", String::new()),
            false => ("200 OK\r\nETag: W/\"one-2\"\r\nLast-Modified: Sun, 01 Mar 2026 08:00:00 GMT", one("one")),
        }
    });
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news --allow-private");
    let feed = service.follow(&web.url("/feed"));
    assert_eq!((&feed["articles"], &feed["title"]), (&json!(1), &json!("one")), "{feed}");
    let before = web.requests("/feed").len();
    for _ in 0..2 {
        let again = service.poll(&feed);
        let told = (&again["articles"], &again["title"], &again["failures"], &again["problem"]);
        assert_eq!(told, (&json!(1), &json!("one"), &json!(0), &Value::Null), "{again}");
    }
    let requests = web.requests("/feed");
    assert!(!requests[0].to_lowercase().contains("if-"), "{}", requests[0]);
    assert_eq!(requests.len() - before, 2);
    for request in &requests[before..] {
        assert!(request.contains(TAG) && request.contains(LAST), "{request}");
    }
}

#[test]
fn a_feed_that_fails_is_asked_less_often_and_not_before_it_says() {
    let web = Web::answering(|request| match path(request) {
        "/later" => ("503 Service Unavailable\r\nRetry-After: 100000", String::new()),
        "/date" => ("429 Too Many Requests\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT", String::new()),
        "/soon" => ("503 Service Unavailable\r\nRetry-After: 1", String::new()),
        _ => ("404 Not Found", String::new()),
    });
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, "--data news --allow-private --poll-minutes 10");
    // Seconds until it is asked again.
    let wait = |feed: &Value| -> i64 {
        let news = rusqlite::Connection::open(folder.path("news/news.sqlite")).unwrap();
        let sql = "SELECT next - polled FROM feeds WHERE id = ?1";
        news.query_row(sql, [feed["id"].as_i64()], |row| row.get(0)).unwrap()
    };
    let missing = service.follow(&web.url("/missing"));
    assert!(missing["problem"].as_str().unwrap().contains("404"), "{missing}");
    let mut waits = vec![wait(&missing)];
    for _ in 0..7 {
        service.poll(&missing);
        waits.push(wait(&missing));
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 64, 64].map(|times| times * 600));
    // A server may ask for more patience, within reason, and not for less.
    assert_eq!(
        ["/later", "/date", "/soon"].map(|path| wait(&service.follow(&web.url(path)))),
        [100_000, 7 * 86_400, 1200]
    );
}

#[test]
fn a_feed_of_teasers_does_not_replace_the_articles_of_others() {
    let full = words("full");
    let link = "<link>https://a.example/2.html</link>";
    let teaser = format!(
        "<rss version=\"2.0\"><channel><title>Teasers</title><item><title>More inside</title>{link}\
         <description>Read more</description></item></channel></rss>"
    );
    let atom =
        atom("atom").replace("https://atom.example/1", "https://a.example/2.html").replace(&words("atom"), &full);
    let folder = Folder::with(&[("in/teasers.rss", teaser.as_bytes())]);
    let web = Web::answering(move |request| match path(request) {
        "/atom" => ("200 OK", atom.clone()),
        _ => ("200 OK", teaser.clone()),
    });
    let service = Asking::start(&folder, "--data news --allow-private");
    let is_whole = || {
        let (_, articles) = service.get("/api/articles");
        assert_eq!(articles.as_array().map(Vec::len), Some(1), "{articles}");
        let (_, article) = service.get(&format!("/api/articles/{}", articles[0]["id"]));
        article["text"] == full && article["source"] == "atom" && article["title"] == "An entry"
    };
    let followed = service.follow(&web.url("/atom"));
    assert!(is_whole());
    let teasers = service.follow(&web.url("/teasers"));
    assert!(is_whole() && teasers["articles"] == 0 && teasers["problem"].is_null(), "{teasers}");
    service.poll(&followed);
    service.poll(&teasers);
    assert!(is_whole());
    // Whoever posts hears of it.
    let article = json!({ "url": "https://a.example/2.html", "title": "Short", "text": "Read more here" });
    let (status, receipt) = service.send("/api/articles", &article);
    assert_eq!((status, &receipt["outcome"]), (StatusCode::OK, &json!("ignored")), "{receipt}");
    assert!(is_whole());
    let (_, description) = service.get("/api/openapi.json");
    assert!(description["components"]["schemas"]["Outcome"].to_string().contains("ignored"));
    // A feed does not shorten what was posted under its own name.
    let longer = format!("{full} and more");
    let article = json!({ "url": "https://a.example/2.html", "title": "Long", "text": longer, "source": "Teasers" });
    assert_eq!(service.send("/api/articles", &article).1["outcome"], "replaced");
    service.poll(&teasers);
    assert_eq!(service.get(&format!("/api/articles/{}", receipt["id"])).1["text"], longer);
    drop(service);
    let told = String::from_utf8(folder.run("serve --data news --import in --import-only").stderr).unwrap();
    assert!(told.contains("0 new, 0 replaced, 0 unchanged, 0 refused, 1 ignored"), "{told}");
}

#[test]
fn some_feeds_are_asked_at_a_time() {
    const FEEDS: usize = 12;
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (own, own_most) = (open.clone(), most.clone());
    // Nobody is answered before four are asking; if these do not come, it is an error.
    let web = Web::answering(move |request| {
        own_most.fetch_max(own.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let begin = Instant::now();
        while own_most.load(Ordering::SeqCst) < 4 && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Whoever would ask as the fifth has time for it.
        std::thread::sleep(Duration::from_millis(300));
        let is_alone = own_most.load(Ordering::SeqCst) < 4;
        own.fetch_sub(1, Ordering::SeqCst);
        if is_alone { ("500 Too Few", String::new()) } else { ("200 OK", one(path(request).trim_start_matches('/'))) }
    });
    let folder = Folder::with(&[]);
    let feeds: Vec<String> = (0..FEEDS).map(|number| format!("--feed {}", web.url(&format!("/n{number}")))).collect();
    let service = Asking::start(&folder, &format!("--data news --allow-private {}", feeds.join(" ")));
    until("all feeds were asked", || service.feeds().iter().all(|feed| feed["polled"].is_string()));
    assert_eq!(most.load(Ordering::SeqCst), 4);
    assert!(service.feeds().iter().all(|feed| feed["failures"] == 0));
    assert_eq!(service.articles("source").len(), FEEDS);
    // Each was asked once.
    assert_eq!(web.requests.lock().unwrap().len(), FEEDS);
}

#[test]
fn who_asks_for_a_feed_that_is_being_asked_waits_for_its_answer() {
    let web = Web::answering(|_| {
        std::thread::sleep(Duration::from_secs(2));
        ("200 OK", one("slow"))
    });
    let folder = Folder::with(&[]);
    let service = Asking::start(&folder, &format!("--data news --allow-private --feed {}", web.url("/slow")));
    until("the feed is asked", || web.requests("/slow").len() == 1);
    let feed = service.poll(&service.feeds()[0]);
    assert_eq!((&feed["title"], &feed["articles"]), (&json!("slow"), &json!(1)), "{feed}");
    assert_eq!(web.requests("/slow").len(), 1);
}

#[test]
fn what_of_a_feed_is_refused_is_told() {
    let entries = [
        "https://one.example/news#a",
        "https://one.example/news#b",
        "https://one.example/empty",
        "https://one.example/c",
    ];
    let feed = rss("one", &entries.map(|url| (url, DAY)));
    let folder = Folder::with(&[("in/feed.rss", feed.as_bytes())]);
    let web = Web::answering(move |request| match request.to_lowercase().contains("if-none-match") {
        true => ("304 Not Modified", String::new()),
        false => ("200 OK\r\nETag: \"1\"", feed.clone()),
    });
    let service = Asking::start(&folder, "--data news --allow-private --limit feed-entries=3");
    let followed = service.follow(&web.url("/feed"));
    // Addresses that differ behind # are two articles.
    assert_eq!(service.articles("url"), set(["https://one.example/news#a", "https://one.example/news#b"]));
    for feed in [&followed, &service.poll(&followed)] {
        let problem = feed["problem"].as_str().unwrap();
        assert!(problem.contains("refused: 2") && problem.contains("feed-entries"), "{problem}");
        assert!(problem.contains("https://one.example/empty: an article needs"), "{problem}");
        assert_eq!((&feed["articles"], &feed["failures"]), (&json!(2), &json!(0)));
    }
    // An import tells it, too, however quiet it is.
    let output = folder.run("serve --data other --import in --import-only --quiet --limit feed-entries=3");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("2 new, 0 replaced, 0 unchanged, 2 refused"), "{told}");
    assert!(
        told.contains("feed.rss: https://one.example/empty: an article needs") && told.contains("feed-entries"),
        "{told}"
    );
}

#[test]
fn entries_that_are_too_old_do_not_come_back() {
    let dated = |years: &[u16]| {
        let urls: Vec<String> = years.iter().map(|year| format!("https://one.example/{year}")).collect();
        let days: Vec<String> = years.iter().map(|year| format!("01 Mar {year} 08:00:00 GMT")).collect();
        let articles: Vec<(&str, &str)> =
            urls.iter().map(String::as_str).zip(days.iter().map(String::as_str)).collect();
        rss("one", &articles)
    };
    let shown: Arc<Mutex<String>> = Arc::default();
    let own = shown.clone();
    let web = Web::answering(move |_| ("200 OK", own.lock().unwrap().clone()));
    let folder = Folder::with(&[]);
    let polled = |service: &Asking, years: &[u16]| {
        *shown.lock().unwrap() = dated(years);
        let articles = service.follow(&web.url("/feed"))["articles"].as_u64().unwrap();
        let urls = service.articles("url");
        (articles, urls.iter().map(|url| url[url.len() - 4..].parse::<u16>().unwrap()).collect::<Vec<_>>())
    };
    {
        // The days of some years are kept; nobody knows when this test will run.
        let service = Asking::start(&folder, "--data days --allow-private --keep-days 18000");
        for years in [vec![1971, 2026, 1970, 2025], vec![2026, 1970, 2025], vec![1970]] {
            assert_eq!(polled(&service, &years), (2, vec![2025, 2026]), "{years:?}");
        }
    }
    let service = Asking::start(&folder, "--data count --allow-private --keep-count 3");
    assert_eq!(polled(&service, &[2011, 2012, 2013, 2014, 2015]), (3, vec![2013, 2014, 2015]));
    // Those that are there stay until the next round of tidying, and those that are gone stay gone.
    assert_eq!(polled(&service, &[2011, 2012, 2013, 2014, 2015, 2016]), (4, vec![2013, 2014, 2015, 2016]));
    assert_eq!(polled(&service, &[2010, 2011, 2012, 2016]), (4, vec![2013, 2014, 2015, 2016]));
}
