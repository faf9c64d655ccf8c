//! Limits at their edges: so much is read or served, and one more is refused. Those of articles and searches are tested beside the service.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{Folder, Service};
use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::blocking::Client;
use serde_json::{Value, json};
use twinset_io::LimitSet;
use twinset_server::Limits;

/// A file with so much in it, and how it is read.
type Input = fn(u64) -> (&'static str, Vec<u8>, &'static str);

/// Reads a file that has as much as the limit allows, and one that has more.
fn holds(limit: &str, value: u64, input: Input, refused: &str) {
    for amount in [value, value + 1] {
        let (name, content, command) = input(amount);
        let folder = Folder::with(&[(name, &content)]);
        let output = folder.run(&format!("{command} --limit {limit}={value}"));
        let told = String::from_utf8_lossy(&output.stderr);
        match amount == value {
            true => assert!(output.status.success(), "{limit}={value}: {told}"),
            false => {
                assert_eq!(output.status.code(), Some(1), "{limit}={value}: {told}");
                assert!(told.contains(name) && told.contains(refused), "{limit}={value}: {told}");
            }
        }
    }
}

fn times(text: &str, amount: u64) -> String {
    text.repeat(amount as usize)
}

#[test]
fn records() {
    holds("record", 100, |amount| ("a.txt", times("x", amount).into(), "join a.txt --threshold 1"), "longer than");
    let csv: Input = |amount| ("a.csv", format!("text\n{}\n", times("x", amount)).into(), "join a.csv --threshold 1");
    holds("record", 100, csv, "longer than");
    let tsv: Input = |amount| ("a.tsv", format!("text\n{}\n", times("x", amount)).into(), "join a.tsv --threshold 1");
    holds("record", 100, tsv, "longer than");
    let jsonl: Input = |amount| {
        let line = format!("{{\"text\":\"{}\"}}\n", times("x", amount - "{\"text\":\"\"}".len() as u64));
        ("a.jsonl", line.into(), "join a.jsonl --threshold 1")
    };
    holds("record", 100, jsonl, "longer than");
    let page: Input = |amount| ("a.html", format!("<p>{}", times("x", amount - 3)).into(), "join a.html --threshold 1");
    holds("record", 100, page, "longer than");
    let triple: Input = |amount| {
        let triple = format!("<http://s.example> <http://p.example> \"{}\" .\n", times("x", amount - 43));
        ("a.nt", triple.into(), "join a.nt --threshold 1")
    };
    holds("record", 100, triple, "longer than");
    let element: Input = |amount| ("a.xml", format!("<a>{}</a>", times("x", amount)).into(), "profile a.xml");
    holds("record", 100, element, "--max-record");
    let text: Input = |amount| {
        let rows = format!("CREATE TABLE texts (text); INSERT INTO texts VALUES ('{}')", times("x", amount));
        ("a.sqlite", database(&rows), "profile a.sqlite")
    };
    holds("record", 10_000, text, "--max-record");
    // Columns that are computed may be of any length, in a file of a few kilobytes.
    let rows = "CREATE TABLE rooms (id, room BLOB AS (zeroblob(900000000))); INSERT INTO rooms VALUES (1)";
    let folder = Folder::with(&[("a.sqlite", &database(rows))]);
    let told = folder.run("profile a.sqlite").stderr;
    assert!(String::from_utf8_lossy(&told).contains("--max-record"), "{}", String::from_utf8_lossy(&told));
}

/// The bytes of a SQLite file.
fn database(statements: &str) -> Vec<u8> {
    let folder = Folder::with(&[]);
    let path = folder.path("made.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(statements).unwrap();
    connection.close().unwrap();
    std::fs::read(path).unwrap()
}

/// A page in a web archive, with a header of so many bytes.
fn archived(header: u64, page: &str) -> Vec<u8> {
    const KNOWN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: ";
    let header = format!("{KNOWN}{}\r\n\r\n", times("x", header - KNOWN.len() as u64 - 4));
    let (what, length) = ("WARC-Type: response\r\nContent-Type: application/http", header.len() + page.len());
    format!("WARC/1.0\r\n{what}\r\nContent-Length: {length}\r\n\r\n{header}{page}\r\n\r\n").into()
}

#[test]
fn headers_of_pages() {
    let input: Input = |amount| ("a.warc", archived(amount, "<p>text</p>"), "join a.warc --threshold 1");
    holds("page-header", 100, input, "--limit page-header");
    holds("page-header", 64 << 10, input, "--limit page-header");
    // What is not read is told, and the others are.
    let both = [archived(200, "<p>one</p>"), archived(100, "<p>two</p>"), archived(100, "<p>two</p>")].concat();
    let folder = Folder::with(&[("a.warc", &both)]);
    let command = "join a.warc --threshold 1 --limit page-header=100 --rejects r.csv --count";
    assert_eq!(folder.stdout(command).trim(), "1");
    assert!(std::fs::read_to_string(folder.path("r.csv")).unwrap().contains("longer than 100 bytes"));
}

#[test]
fn unpacked_files() {
    let packed: Input = |amount| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(times("x\n", amount / 2).as_bytes()).unwrap();
        encoder.write_all(times("\n", amount % 2).as_bytes()).unwrap();
        ("a.txt.gz", encoder.finish().unwrap(), "join a.txt.gz --threshold 1 --count")
    };
    holds("unpacked", 10_000, packed, "--max-unpacked");
    let packed: Input = |amount| {
        let packed = zstd::encode_all(times("x", amount).as_bytes(), 0).unwrap();
        ("a.txt.zst", packed, "join a.txt.zst --threshold 1 --count")
    };
    holds("unpacked", 10_000, packed, "--max-unpacked");
}

#[test]
fn depth_of_pages() {
    let nested: Input = |amount| {
        // The outermost are html and body.
        let page = times("<div>", amount - 2) + "text" + &times("</div>", amount - 2);
        ("a.html", page.into(), "join a.html --threshold 1")
    };
    holds("page-depth", 10, nested, "--limit page-depth");
    // The deepest that can be allowed does not end the program.
    holds("page-depth", largest("page_depth"), nested, "deep in each other");
}

#[test]
fn attributes_of_pages() {
    let many: Input = |amount| {
        let attributes: String = (0..amount).map(|number| format!("/a{number}")).collect();
        ("a.html", format!("<p{attributes}>text</p>").into(), "join a.html --threshold 1")
    };
    holds("attributes", 10, many, "--limit attributes");
}

fn largest(name: &str) -> u64 {
    Limits::all().into_iter().find(|limit| limit.name == name).unwrap().largest
}

#[test]
fn depth_of_json() {
    let nested: Input = |amount| {
        let objects = times("{\"http://p.example/p\":", amount - 1) + "{}" + &times("}", amount - 1);
        ("a.jsonld", objects.into(), "join a.jsonld --resources all --threshold 1")
    };
    holds("json-depth", 10, nested, "more than 10 deep");
    holds("json-depth", largest("json_depth"), nested, "deep in each other");
}

#[test]
fn xml_documents() {
    let nested: Input = |amount| {
        let document = times("<a>", amount) + "1" + &times("</a>", amount);
        ("a.xml", document.into(), "profile a.xml")
    };
    holds("xml-depth", 10, nested, "--limit xml-depth");
    let wide: Input = |amount| {
        let elements: String = (1..amount).map(|number| format!("<e{number}>1</e{number}>")).collect();
        ("a.xml", format!("<r>{elements}</r>").into(), "profile a.xml")
    };
    holds("xml-paths", 20, wide, "--limit xml-paths");
    let long: Input = |amount| {
        let name = times("x", amount - 1);
        ("a.xml", format!("<{name}>1</{name}>").into(), "profile a.xml")
    };
    holds("xml-path", 50, long, "--limit xml-path");
}

#[test]
fn entities() {
    let entity: Input = |amount| {
        let value = times("x", amount);
        let rdf = "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:p=\"http://p.example/\"";
        let document = format!(
            "<!DOCTYPE r [<!ENTITY e \"{value}\">]><rdf:RDF {rdf}><rdf:Description rdf:about=\"http://a.example/\">\
             <p:p>&e;</p:p></rdf:Description></rdf:RDF>"
        );
        ("a.rdf", document.into(), "join a.rdf --allow-entities --threshold 1")
    };
    holds("entity", 30, entity, "--limit entity");
}

#[test]
fn levels_of_blank_nodes() {
    // The nodes below the two resources differ at the second level.
    let resource = |name: &str| {
        format!(
            "<http://{name}.example/> <http://p.example/p> [ <http://p.example/q> [ <http://p.example/r> \"{name}\" ] ] .\n"
        )
    };
    let folder = Folder::with(&[("a.ttl", (resource("a") + &resource("b")).as_bytes())]);
    let pairs = |levels: u64| {
        folder.stdout(&format!("join a.ttl --threshold 0.2 --count --quiet --limit blank-levels={levels}"))
    };
    assert_eq!([pairs(1), pairs(2)].map(|count| count.trim().to_owned()), ["1", "0"]);
}

#[test]
fn what_is_no_limit_is_refused() {
    let folder = Folder::with(&[("a.txt", b"x")]);
    for (given, told) in [
        ("--limit record", "NAME=VALUE"),
        ("--limit recrod=5", "no limit `recrod`; limits are: record, unpacked"),
        ("--limit sessions=3", "no limit `sessions`; limits are: record, unpacked"),
        ("--limit record=0", "not a size"),
        ("--limit xml-depth=0", "at least 1"),
        ("--limit xml-depth=-1", "no whole number"),
        ("--limit json-depth=1000", "128 at most"),
        ("--max-record nonsense", "--max-record nonsense"),
    ] {
        let output = folder.run(&format!("join a.txt --threshold 1 {given}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(told), "{given}: {stderr}");
    }
}

/// A service with these limits, and how it answers.
struct Asked {
    service: Service,
    client: Client,
    _folder: Folder,
}

impl Asked {
    fn with(args: &str) -> Self {
        _ = rustls::crypto::ring::default_provider().install_default();
        let folder = Folder::with(&[]);
        let client = Client::builder().no_proxy().build().unwrap();
        Self { service: Service::start(&folder, &format!("--data news {args}")), client, _folder: folder }
    }

    fn get(&self, path: &str) -> u16 {
        self.client.get(format!("{}{path}", self.service.address)).send().unwrap().status().as_u16()
    }

    fn post(&self, path: &str, body: impl Into<reqwest::blocking::Body>) -> (u16, Value) {
        let request = self.client.post(format!("{}{path}", self.service.address)).body(body.into());
        let response = request.header("content-type", "application/json").send().unwrap();
        (response.status().as_u16(), response.json().unwrap_or_default())
    }

    /// Opens a connection and says so much.
    fn connect(&self, said: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.service.address.trim_start_matches("http://")).unwrap();
        stream.write_all(said.as_bytes()).unwrap();
        stream
    }
}

#[test]
fn requests() {
    let service = Asked::with("--limit request=1000 --limit results=3 --limit listed=4 --limit skipped=5");
    let article = |length: usize| {
        let start = "{\"url\": \"https://a.example/1\", \"text\": \"";
        format!("{start}{}\"}}", "x".repeat(length - start.len() - 2))
    };
    assert_eq!([1000, 1001].map(|length| service.post("/api/articles", article(length)).0), [200, 413]);
    for (path, most) in [("search?limit", 3), ("articles?limit", 4), ("verdicts?limit", 4), ("search?offset", 5)] {
        let answers = [most, most + 1].map(|number| service.get(&format!("/api/{path}={number}")));
        assert_eq!(answers, [200, 400], "{path}");
    }
    // The description of the API tells these limits.
    let description = service.client.get(format!("{}/api/openapi.json", service.service.address)).send().unwrap();
    let description: Value = description.json().unwrap();
    let parameters = description["paths"]["/api/search"]["get"]["parameters"].as_array().unwrap();
    let most = |name: &str| parameters.iter().find(|own| own["name"] == name).unwrap()["schema"]["maximum"].clone();
    assert_eq!([most("limit"), most("offset")], [json!(3), json!(5)]);
}

#[test]
fn time_of_requests_and_number_of_connections() {
    // One connection says nothing, for longer than is waited here; the second is answered all the same.
    let patient = Asked::with("--limit request-time=60 --limit connections=2");
    let _silent = patient.connect("GET /api/health HTTP/1.1\r\n");
    let mut second = patient.connect("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    second.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = String::new();
    second.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let service = Asked::with("--limit request-time=1 --limit connections=2");
    // Two connections say nothing; the third waits until they are ended, and is answered then.
    let begin = Instant::now();
    let mut silent = [service.connect("GET /api/health HTTP/1.1\r\n"), service.connect("GET /api/health HTTP/1.1\r\n")];
    let mut third = service.connect("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(begin.elapsed() >= Duration::from_millis(900), "{:?}", begin.elapsed());
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    // A body that does not come is waited for as long.
    let mut slow = service.connect(
        "POST /api/articles HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    );
    slow.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut first = [0; 12];
    slow.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 408");
}

#[test]
fn who_asks_and_does_not_read_is_not_waited_for() {
    let service = Asked::with("--limit request-time=1 --limit connections=2");
    // Both places are taken by those who ask on and on, until no answer fits in between, and read none of them.
    let asking = "GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    let deaf = [service.connect(&asking), service.connect(&asking)];
    let mut third = service.connect("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(deaf);
}

/// Serves feeds on loopback: `/N` leads on N times, `/bytes/N` has N bytes, `/slow/N` takes N tenths of a second.
fn feeds() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split_whitespace().nth(1).unwrap_or("/0");
            let number = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
            let feed = "<rss version=\"2.0\"><channel><title>Feed</title></channel></rss>";
            let (head, body) = match path.split('/').nth(1) {
                Some("bytes") => ("200 OK".to_owned(), format!("{feed:number$}")),
                Some("slow") => {
                    std::thread::sleep(Duration::from_millis(100 * number as u64));
                    ("200 OK".to_owned(), feed.to_owned())
                }
                _ if number > 0 => (format!("302 Found\r\nLocation: /{}", number - 1), String::new()),
                _ => ("200 OK".to_owned(), feed.to_owned()),
            };
            let length = body.len();
            _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    address
}

#[test]
fn feeds_that_are_followed() {
    let address = feeds();
    let settings = "--limit redirects=2 --limit feed=500 --limit feed-time=1 --limit feeds=6";
    let service = Asked::with(&format!("--allow-private {settings}"));
    let problem = |path: &str| {
        let (status, feeds) =
            service.post("/api/feeds", json!({ "address": format!("http://{address}{path}") }).to_string());
        assert_eq!(status, 200, "{path}: {feeds}");
        feeds[0]["problem"].as_str().map(str::to_owned)
    };
    for (taken, refused, told) in [
        ("/2", "/3", "more than 2 times"),
        ("/bytes/500", "/bytes/501", "500 bytes"),
        ("/slow/1", "/slow/15", "1 seconds"),
    ] {
        assert_eq!(problem(taken), None, "{taken}");
        assert!(problem(refused).unwrap().contains(told), "{refused}");
    }
    // One that is followed already is no new one, and the seventh is one too many.
    assert_eq!(problem("/2"), None);
    let (status, answer) = service.post("/api/feeds", json!({ "address": format!("http://{address}/0") }).to_string());
    assert!(status == 400 && answer["error"].as_str().unwrap().contains("6 feeds are followed"), "{answer}");
}

#[test]
fn addresses_of_feeds() {
    let address = feeds();
    let start = format!("http://{address}/bytes/");
    let service = Asked::with(&format!("--allow-private --limit url={}", start.len() + 3));
    let follow =
        |number: &str| service.post("/api/feeds", json!({ "address": format!("{start}{number}") }).to_string());
    let (status, feeds) = follow("100");
    assert!(status == 200 && feeds[0]["problem"].is_null(), "{feeds}");
    let (status, answer) = follow("0100");
    let reason = format!("longer than {} bytes", start.len() + 3);
    assert!(status == 400 && answer["error"].as_str().unwrap().contains(&reason), "{answer}");
}

/// The table of the documentation tells what the code says, and which test holds each limit.
#[test]
fn the_documentation_lists_all_limits() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/limits.md")).unwrap();
    for limit in Limits::all() {
        let name = limit.name.replace('_', "-");
        let (usual, largest) = (limit.written(limit.usual), limit.written(limit.largest));
        let row = format!("| `{name}` | {usual} | {largest} |{} | ", limit.what);
        let found = text.lines().find_map(|line| line.strip_prefix(row.as_str()));
        let held = found.unwrap_or_else(|| panic!("docs/limits.md has no row\n{row}"));
        assert!(held.contains("::"), "{name}: which test holds it?");
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), Limits::all().len());
}
