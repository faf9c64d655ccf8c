//! The news service while its disk fails: what it acknowledged is there when it is started again, and who only reads is answered.

use std::fs::File;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use reqwest::blocking::Client;
use serde_json::{Value, json};
use testbed::disk::{Disk, Ended, Fault, Running, Strike};

use super::place::Place;
use super::trial::{Counts, picked};

/// A service on a disk that may fail.
struct Service<'a> {
    place: &'a Place,
    running: Running,
    address: String,
    client: Client,
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl<'a> Service<'a> {
    /// Starts it; an error is how it ended instead.
    fn start(place: &'a Place, strike: Option<Strike>) -> Result<Self, Box<Ended>> {
        _ = rustls::crypto::ring::default_provider().install_default();
        let mut command = place.command("serve --data disk/news --listen 127.0.0.1:0");
        command.stderr(File::create(place.path("log")).unwrap());
        let running = Disk::of(&place.path("disk")).and_then(|disk| disk.start(command, strike)).unwrap();
        let begin = Instant::now();
        loop {
            let log = std::fs::read_to_string(place.path("log")).unwrap();
            let address =
                log.lines().find_map(|line| Some(line.split_once(" at http://")?.1.split_once(' ')?.0.to_owned()));
            if let Some(address) = address {
                let client = Client::builder().timeout(PATIENCE).no_proxy().build().unwrap();
                return Ok(Self { place, running, address, client });
            }
            if running.has_ended() {
                return Err(Box::new(running.wait().unwrap()));
            }
            assert!(begin.elapsed() < PATIENCE, "the service does not start: {log}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// `None` if it is gone.
    fn get(&self, path: &str) -> Option<(StatusCode, Value)> {
        let response = self.client.get(self.url(path)).send().ok()?;
        Some((response.status(), response.json().ok()?))
    }

    fn post(&self, path: &str, body: &Value) -> Option<(StatusCode, Value)> {
        let response = self.client.post(self.url(path)).json(body).send().ok()?;
        Some((response.status(), response.json().ok()?))
    }

    /// How many articles have a word.
    fn count(&self, word: &str) -> Option<(StatusCode, Value)> {
        self.get(&format!("/api/search?q={word}")).map(|(status, found)| (status, found["articles"].clone()))
    }

    /// Ends it, and tells how that went.
    fn stop(self) -> Ended {
        self.running.stop();
        self.running.wait().unwrap()
    }
}

fn article(word: &str) -> Value {
    let own = (0..30).map(|at| format!("{word}of{at}")).collect::<Vec<_>>().join(" ");
    json!({ "url": format!("https://a.example/{word}"), "title": word, "text": format!("lighthouse {word} {own}") })
}

/// What is posted before, and while the disk fails.
const BEFORE: [&str; 2] = ["alpha", "beta"];
const POSTED: [&str; 4] = ["gamma", "delta", "epsilon", "zeta"];

#[test]
fn what_was_acknowledged_is_there_after_a_fault() {
    let before = Place::new();
    let service = started(&before);
    for word in BEFORE {
        assert_eq!(service.post("/api/articles", &article(word)).unwrap().0, StatusCode::OK);
    }
    assert!(service.stop().status.success());
    let clean = before.copy();
    let service = started(&clean);
    POSTED.iter().for_each(|word| assert_eq!(service.post("/api/articles", &article(word)).unwrap().0, StatusCode::OK));
    let mut counts = Counts { calls: service.stop().calls, ..Counts::default() };
    let faults = [Fault::Fail, Fault::Full, Fault::Gone, Fault::Tear, Fault::Power, Fault::Reorder(7)];
    for (seed, fault) in (10..).zip(faults) {
        for call in picked(counts.calls, 3, 24, seed) {
            try_one(&before, (call, fault), &mut counts);
        }
    }
    counts.report("service: post");
}

fn started(place: &Place) -> Service<'_> {
    Service::start(place, None).unwrap_or_else(|_| panic!("{}", std::fs::read_to_string(place.path("log")).unwrap()))
}

fn try_one(before: &Place, strike: Strike, counts: &mut Counts) {
    let place = before.copy();
    let mut acknowledged = BEFORE.to_vec();
    let mut refused = Vec::new();
    let ended = Service::start(&place, Some(strike)).map_or_else(
        |ended| *ended,
        |service| {
            for word in POSTED {
                let Some((status, told)) = service.post("/api/articles", &article(word)) else { break };
                match status {
                    StatusCode::OK => acknowledged.push(word),
                    _ => refused.push((status, told)),
                }
                // Who only reads is answered, if it lives.
                if let Some(answer) = service.count(BEFORE[0]) {
                    assert_eq!(answer, (StatusCode::OK, json!(1)), "{strike:?}");
                }
            }
            service.stop()
        },
    );
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let Some(struck) = ended.struck else { return };
    let about = format!("service, {strike:?} at {struck}: {refused:?}\n{log}");
    assert!(!log.contains("panicked"), "{about}");
    counts.faults += 1;
    counts.refused += u64::from(!refused.is_empty());
    counts.killed += u64::from(ended.status.code().is_none());
    match ended.status.code() {
        // It could not start, and says why.
        Some(1) => assert!(log.lines().any(|line| line.starts_with("error: ")), "{about}"),
        Some(0) => {}
        code => {
            assert!(code.is_none() && matches!(strike.1, Fault::Tear | Fault::Power | Fault::Reorder(_)), "{about}")
        }
    }
    for (status, told) in &refused {
        assert!(status.is_server_error(), "{about}");
        let told = told["error"].as_str().unwrap_or_default();
        let tells_room = ["make room", "No space left"].iter().any(|words| told.contains(words));
        assert!(strike.1 != Fault::Full || tells_room, "{about}");
    }
    // What failed once can be done again.
    assert!(strike.1 != Fault::Fail || refused.len() <= 1, "{about}");
    if ended.status.success() {
        ended.disk.lose_power(None).unwrap();
    }
    let service = Service::start(&place, None);
    let service =
        service.unwrap_or_else(|_| panic!("{about}: {}", std::fs::read_to_string(place.path("log")).unwrap()));
    for word in &acknowledged {
        assert_eq!(service.count(word), Some((StatusCode::OK, json!(1))), "{about}: {word} is lost");
        let mut asked = article(word);
        asked["min_sim"] = json!(1);
        asked.as_object_mut().unwrap().remove("url");
        let (_, similar) = service.post("/api/similar", &asked).unwrap();
        assert_eq!(similar.as_array().map(Vec::len), Some(1), "{about}: {word} is not similar to itself: {similar}");
    }
    // What was not acknowledged is whole, or not there.
    let all = service.get("/api/health").unwrap().1["articles"].clone();
    assert_eq!(service.count("lighthouse"), Some((StatusCode::OK, all.clone())), "{about}");
    match all.as_u64().unwrap() as usize - BEFORE.len() {
        0 => counts.old += 1,
        new if new == POSTED.len() => counts.new += 1,
        _ => counts.between += 1,
    }
    assert_eq!(
        service.post("/api/articles", &article("omega")).map(|(status, _)| status),
        Some(StatusCode::OK),
        "{about}"
    );
    assert!(service.place.path("disk/news").is_dir() && service.stop().status.success(), "{about}");
}
