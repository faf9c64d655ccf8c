//! The news service under load: clients post, replace, remove and judge while others search, and it is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::tally::{Enough, Tally};
use super::victim::{Ending, Victim};
use crate::common::Folder;
use crate::common::asking::{Asking, words};

/// How many clients change articles, and how many search.
const WRITING: u64 = 4;
const SEARCHING: u64 = 2;
/// How many articles of each client there are at a time.
const ARTICLES: usize = 10;
/// For so long there is load, at most.
const LOAD: Duration = Duration::from_millis(800);
/// How long a client waits between two searches, so that others have their turn.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn torture() {
    let folder = Folder::with(&[]);
    let (enough, mut tally) = (Enough::from_environment(), Tally::new("service"));
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut clients: Vec<Client> = (0..WRITING).map(Client::new).collect();
    // The first start, which makes everything, takes about so long.
    let mut usual = Duration::from_millis(150);
    // Only those under load are counted up to what was asked for.
    let mut under_load = 0;
    while !enough.is_reached(under_load) && tally.is_spotless() {
        // It may also be killed while it starts on what was left.
        if under_load == 0 || random.random_bool(0.25) {
            let args = ["serve", "--data", "news", "--listen", "127.0.0.1:0", "--quiet"];
            let moment = usual.mul_f64(random.random_range(0.0..1.2));
            match Victim::start(&folder, &args, Some(moment)).wait() {
                Ending::Killed => tally.kills += 1,
                ending => tally.complain(format!("the service did not start: {ending:?}")),
            }
        }
        let begin = Instant::now();
        let service = Asking::start(&folder, "--data news");
        let (status, health) = service.get("/api/health");
        usual = begin.elapsed();
        tally.recovered_after(usual);
        if status != StatusCode::OK {
            tally.complain(format!("the service is not well: {status} {health}"));
        }
        check(&service, &mut clients, &mut tally);
        let searches = load(service, &mut clients, LOAD.mul_f64(random.random_range(0.05..1.0)), &mut tally);
        tally.readings += searches;
        tally.kills += 1;
        under_load += 1;
    }
    let service = Asking::start(&folder, "--data news");
    check(&service, &mut clients, &mut tally);
    assert!(tally.records > 0, "nothing was acknowledged");
    tally.finish();
}

/// What a client asks the service to change.
#[derive(Debug, Clone)]
enum Request {
    /// An article with this word, new or in the place of the last one of its address.
    Post {
        url: String,
        word: String,
    },
    Remove {
        url: String,
        id: i64,
    },
    /// Two articles tell the same story.
    Judge(i64, i64),
    TakeBack(i64, i64),
}

/// Someone who changes articles of his own.
struct Client {
    number: u64,
    random: ChaCha8Rng,
    words: u64,
    /// What was acknowledged: articles by their addresses, each with its number and its word.
    articles: BTreeMap<String, (i64, String)>,
    verdicts: BTreeSet<(i64, i64)>,
    /// Words that no article has any more.
    gone: Vec<String>,
    /// What was asked and not answered.
    unsure: Option<Request>,
    acknowledged: u64,
}

impl Client {
    fn new(number: u64) -> Self {
        Self {
            number,
            random: ChaCha8Rng::seed_from_u64(number),
            words: 0,
            articles: BTreeMap::new(),
            verdicts: BTreeSet::new(),
            gone: Vec::new(),
            unsure: None,
            acknowledged: 0,
        }
    }

    fn request(&mut self) -> Request {
        let urls: Vec<String> = self.articles.keys().cloned().collect();
        let id = |url: &String| self.articles[url].0;
        let any = |random: &mut ChaCha8Rng| urls[random.random_range(0..urls.len())].clone();
        let choice = self.random.random_range(0..10);
        if urls.len() >= 2 && choice < 2 {
            let (left, right) = (id(&any(&mut self.random)), id(&any(&mut self.random)));
            match self.verdicts.iter().next() {
                Some(&(left, right)) if choice == 0 => return Request::TakeBack(left, right),
                _ if left != right => return Request::Judge(left.min(right), left.max(right)),
                _ => {}
            }
        }
        if urls.len() >= ARTICLES {
            let url = any(&mut self.random);
            return Request::Remove { id: id(&url), url };
        }
        self.words += 1;
        let word = format!("w{}x{}", self.number, self.words);
        let is_new = urls.is_empty() || choice < 7;
        let url = if is_new { format!("https://a.example/{word}") } else { any(&mut self.random) };
        Request::Post { url, word }
    }

    /// From now on this is known to be done.
    fn accept(&mut self, request: Request, receipt: i64) {
        match request {
            Request::Post { url, word } => {
                let replaced = self.articles.insert(url, (receipt, word));
                self.gone.extend(replaced.map(|(_, word)| word));
            }
            Request::Remove { url, id } => {
                self.gone.extend(self.articles.remove(&url).map(|(_, word)| word));
                self.verdicts.retain(|&(left, right)| left != id && right != id);
            }
            Request::Judge(left, right) => _ = self.verdicts.insert((left, right)),
            Request::TakeBack(left, right) => _ = self.verdicts.remove(&(left, right)),
        }
    }

    /// Asks until the service is gone. Returns what it should not have answered.
    fn work(&mut self, service: &Asking) -> Result<(), String> {
        loop {
            let request = self.request();
            let (method, path, body) = match &request {
                Request::Post { url, word } => {
                    let article = json!({ "url": url, "title": word, "text": words(word) });
                    (Method::POST, "/api/articles".to_owned(), Some(article))
                }
                Request::Remove { id, .. } => (Method::DELETE, format!("/api/articles/{id}"), None),
                Request::Judge(left, right) => {
                    let verdict = json!({ "left": left, "right": right, "same": true });
                    (Method::PUT, "/api/verdicts".to_owned(), Some(verdict))
                }
                Request::TakeBack(left, right) => {
                    (Method::DELETE, format!("/api/verdicts?left={left}&right={right}"), None)
                }
            };
            match service.ask(method, &path, body.as_ref()) {
                Ok((status, answer)) if status.is_success() => {
                    self.acknowledged += 1;
                    self.accept(request, answer["id"].as_i64().unwrap_or_default());
                }
                Ok((status, answer)) => return Err(format!("{request:?}: {status} {answer}")),
                Err(_) => {
                    self.unsure = Some(request);
                    return Ok(());
                }
            }
        }
    }

    /// Finds out whether what was not answered is done.
    fn resolve(&mut self, service: &Asking) {
        let Some(request) = self.unsure.take() else { return };
        let done = match &request {
            Request::Post { word, .. } => found_by_word(service, word).first().copied(),
            Request::Remove { id, .. } => {
                let (status, _) = service.get(&format!("/api/articles/{id}"));
                (status == StatusCode::NOT_FOUND).then_some(0)
            }
            Request::Judge(left, right) => verdicts(service).contains(&(*left, *right)).then_some(0),
            Request::TakeBack(left, right) => (!verdicts(service).contains(&(*left, *right))).then_some(0),
        };
        match (done, request) {
            (Some(receipt), request) => self.accept(request, receipt),
            (None, Request::Post { word, .. }) => self.gone.push(word),
            (None, _) => {}
        }
    }
}

/// Lets all clients work at once, and kills the service in the middle. Returns how many searches were answered.
fn load(service: Asking, clients: &mut [Client], time: Duration, tally: &mut Tally) -> u64 {
    let known: Vec<String> =
        clients.iter().flat_map(|client| client.articles.values()).map(|own| own.1.clone()).collect();
    std::thread::scope(|scope| {
        let service = &service;
        let writing: Vec<_> = clients.iter_mut().map(|client| scope.spawn(move || client.work(service))).collect();
        let known = &known;
        let searching: Vec<_> =
            (0..SEARCHING).map(|number| scope.spawn(move || search(service, known, number))).collect();
        std::thread::sleep(time);
        // It has no chance to do anything.
        service.service.tell("KILL");
        for problem in writing.into_iter().filter_map(|client| client.join().unwrap().err()) {
            tally.complain(problem);
        }
        let mut searches = 0;
        for answered in searching {
            match answered.join().unwrap() {
                Ok(count) => searches += count,
                Err(problem) => tally.complain(problem),
            }
        }
        searches
    })
}

/// Searches until the service is gone: a word belongs to one article at most.
fn search(service: &Asking, words: &[String], number: u64) -> Result<u64, String> {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    for count in 0.. {
        let word = words.get(random.random_range(0..words.len().max(1))).map_or("lighthouse", String::as_str);
        match service.ask(Method::GET, &format!("/api/search?q={word}"), None) {
            Err(_) => return Ok(count),
            Ok((StatusCode::OK, found)) if word == "lighthouse" || found["articles"].as_u64() <= Some(1) => {}
            Ok((status, answer)) => return Err(format!("{word}: {status} {answer}")),
        }
        std::thread::sleep(PAUSE);
    }
    Ok(0)
}

/// The numbers of the articles in which a word is found.
fn found_by_word(service: &Asking, word: &str) -> Vec<i64> {
    let (_, found) = service.get(&format!("/api/search?q={word}"));
    let stories = found["stories"].as_array().into_iter().flatten();
    let articles = stories.flat_map(|story| story["articles"].as_array().into_iter().flatten());
    // A story also has articles that were judged to be the same.
    articles.filter(|article| article["title"] == word).filter_map(|article| article["id"].as_i64()).collect()
}

fn verdicts(service: &Asking) -> BTreeSet<(i64, i64)> {
    let (_, verdicts) = service.get("/api/verdicts?limit=200");
    let two = |verdict: &Value| Some((verdict["left"].as_i64()?, verdict["right"].as_i64()?));
    verdicts.as_array().into_iter().flatten().filter_map(two).collect()
}

/// Looks for everything that was acknowledged, and for what should not be there.
fn check(service: &Asking, clients: &mut [Client], tally: &mut Tally) {
    for client in &mut *clients {
        client.resolve(service);
        let answered = std::mem::take(&mut client.acknowledged);
        tally.changes += answered;
        tally.records += answered;
        for (url, (id, word)) in &client.articles {
            let (status, article) = service.get(&format!("/api/articles/{id}"));
            let is_whole = article["url"] == **url && article["title"] == **word && article["text"] == *words(word);
            let asked = json!({ "title": word, "text": words(word), "min_sim": 1 });
            let (_, similar) = service.send("/api/similar", &asked);
            let is_similar = similar.as_array().is_some_and(|similar| similar.iter().any(|found| found["id"] == *id));
            let is_found = found_by_word(service, word) == [*id];
            if !is_whole || !is_similar || !is_found {
                let what = format!("{word}, {status}: whole {is_whole}, similar {is_similar}, found {is_found}");
                match is_whole || is_similar || is_found {
                    true => tally.half_there += 1,
                    false => tally.lost += 1,
                }
                tally.complain(what);
            }
        }
        for word in client.gone.drain(..) {
            if !found_by_word(service, &word).is_empty() {
                tally.resurrected += 1;
                tally.complain(format!("{word} is back"));
            }
        }
        for (left, right) in &client.verdicts {
            let (_, story) = service.get(&format!("/api/groups/{left}"));
            let articles = story["articles"].as_array();
            if !articles.is_some_and(|articles| articles.iter().any(|article| article["id"] == *right)) {
                tally.lost += 1;
                tally.complain(format!("the verdict on {left} and {right} is not respected: {story}"));
            }
        }
    }
    let given: BTreeSet<(i64, i64)> = clients.iter().flat_map(|client| client.verdicts.iter().copied()).collect();
    if verdicts(service) != given {
        tally.complain("the verdicts are others than those that were acknowledged");
    }
    // What no client knows of is there in no way.
    let known = clients.iter().map(|client| client.articles.len() as u64).sum::<u64>();
    let counted = service.get("/api/health").1["articles"].as_u64();
    let searched = service.get("/api/search?q=lighthouse").1["articles"].as_u64();
    if counted != Some(known) || searched != Some(known) {
        tally.half_there += 1;
        tally.complain(format!("{known} articles are known, {counted:?} counted, {searched:?} found"));
    }
}
