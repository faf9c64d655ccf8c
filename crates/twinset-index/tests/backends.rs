//! All backends of an LSH index keep one and the same table of promises.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use testbed::Server;
use twinset::TokenOptions;
use twinset::estimate::{Labeler, LshOptions};
use twinset_index::lsh::{Hit, LshIndex, Pair, Query};
use twinset_index::{AddCounts, Content, Error, Settings};

/// The address of an index by its name; `None` for indexes in main memory.
struct Place<'a>(Option<&'a dyn Fn(&str) -> String>);

impl Place<'_> {
    fn address(&self, name: &str) -> String {
        self.0.expect("an index in main memory has no address")(name)
    }

    fn create(&self, name: &str) -> LshIndex {
        match self.0 {
            Some(address) => LshIndex::create(&address(name), &settings()).unwrap(),
            None => LshIndex::in_memory(&settings()).unwrap(),
        }
    }
}

/// What must hold, and how that is checked.
type Check = (&'static str, fn(&Place<'_>));

/// Of all indexes.
const CHECKS: [Check; 5] = [
    ("finds what a scan over everything finds", finds_what_a_scan_finds),
    ("replaces and removes", replaces_and_removes),
    ("takes a batch whole", takes_a_batch_whole),
    ("joins with itself and another", joins),
    ("refuses what it cannot promise", refuses),
];
/// Of those that outlive the process.
const LASTING_CHECKS: [Check; 3] = [
    ("keeps everything when it is closed", keeps_everything),
    ("keeps what its records are", keeps_what_records_are),
    ("lets others read while one writes", lets_others_read),
];

fn check_all(address: &dyn Fn(&str) -> String) {
    for (what, check) in CHECKS.iter().chain(&LASTING_CHECKS) {
        println!("{what}");
        check(&Place(Some(address)));
    }
}

#[test]
fn memory() {
    for (what, check) in CHECKS {
        println!("{what}");
        check(&Place(None));
    }
}

#[test]
fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    check_all(&|name| folder.path().join(name).display().to_string());
}

#[test]
fn postgres() {
    let Some(server) = Server::postgres_if_installed() else { return };
    check_all(&|name| format!("{}?index={name}", server.address()));
    check_encryption(&server);
}

#[test]
fn mariadb() {
    let Some(server) = Server::mariadb_if_installed() else { return };
    check_all(&|name| format!("{}?index={name}", server.address()));
    check_encryption(&server);
}

/// Who the server is, is proved by its certificate, where the address asks for that.
fn check_encryption(server: &Server) {
    let address = |mode: &str| format!("{}?index=secure&sslmode={mode}", server.address());
    let verified = format!("{}&sslrootcert={}", address("verify-full"), server.certificate().display());
    let mut index = LshIndex::create(&verified, &settings()).unwrap();
    add(&mut index, &random_sets(5, 1), 0);
    assert!(!index.name().contains("sslmode"), "{}", index.name());
    for address in [address("require"), address("disable"), verified] {
        assert_eq!(LshIndex::open(&address).unwrap().len().unwrap(), 5, "{address}");
    }
    let refused = LshIndex::open(&address("verify-full")).err().unwrap().to_string();
    assert!(refused.to_lowercase().contains("certificate"), "{refused}");
    let unknown = LshIndex::open(&address("maybe")).err().unwrap();
    assert!(matches!(unknown, Error::Usage(_)), "{unknown}");
}

fn settings() -> Settings {
    Settings::lsh(LshOptions { trees: 10, bits: 32 }, TokenOptions::default(), 3)
}

/// Sets of which many are alike.
fn random_sets(count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for _ in 0..count {
        let mut set: Vec<u64> = if sets.is_empty() || random.random_bool(0.5) {
            (0..random.random_range(0..30)).map(|_| random.random()).collect()
        } else {
            let mut copy = sets[random.random_range(0..sets.len())].clone();
            copy.retain(|_| random.random_bool(0.97));
            copy.push(random.random());
            copy
        };
        set.sort_unstable();
        set.dedup();
        sets.push(set);
    }
    sets
}

fn similarity(x: &[u64], y: &[u64]) -> f64 {
    let common = x.iter().filter(|hash| y.binary_search(hash).is_ok()).count();
    common as f64 / (x.len() + y.len() - common) as f64
}

fn query(threshold: &str, probability: f64) -> Query {
    Query { threshold: threshold.parse().unwrap(), probability }
}

fn add(index: &mut LshIndex, sets: &[Vec<u64>], first: usize) -> AddCounts {
    let labeler = Labeler::new(settings().labels(), settings().seed).unwrap();
    let records = sets.iter().enumerate();
    let records = records.map(|(at, set)| LshIndex::label(&labeler, format!("r{}", first + at), set.clone()));
    index.add(records.collect()).unwrap()
}

fn keeps_what_records_are(place: &Place<'_>) {
    let address = place.address("content");
    let mut index = LshIndex::create(&address, &settings()).unwrap();
    let mut settled = settings();
    settled.content = Some(Content::Rdf(serde_json::json!({"depth": 2, "ignore_predicate": ["http://c/p"]})));
    index.set_settings(&settled).unwrap();
    add(&mut index, &random_sets(20, 4), 0);
    assert_eq!(index.settings(), &settled);
    drop(index);
    let mut index = LshIndex::open(&address).unwrap();
    assert_eq!(index.settings(), &settled);
    assert_eq!(index.len().unwrap(), 20);
    // One whose records are something else is not joined with it; an index without records fits.
    let mut other = place.create("texts");
    let mut join = || index.join_with(&mut other, &query("0.8", 0.9), |_| Ok::<_, Error>(()));
    join().unwrap();
    settled.content = Some(Content::Texts);
    other.set_settings(&settled).unwrap();
    let refused = index.join_with(&mut other, &query("0.8", 0.9), |_| Ok::<_, Error>(())).unwrap_err().to_string();
    assert!(refused.contains("RDF options"), "{refused}");
}

fn finds_what_a_scan_finds(place: &Place<'_>) {
    let mut index = place.create("scan");
    let sets = random_sets(400, 1);
    for (at, part) in sets.chunks(150).enumerate() {
        assert_eq!(add(&mut index, part, 150 * at), AddCounts { new: part.len() as u64, replaced: 0 });
    }
    let (mut expected, mut found) = (0, 0);
    for set in sets.iter().filter(|set| !set.is_empty()) {
        let hits = index.query(set, &query("0.7", 0.9)).unwrap();
        let by_scan: BTreeMap<String, f64> = sets
            .iter()
            .enumerate()
            .map(|(at, other)| (format!("r{at}"), similarity(set, other)))
            .filter(|(_, similarity)| *similarity >= 0.7)
            .collect();
        assert!(hits.iter().all(|hit| by_scan.get(&hit.id) == Some(&hit.similarity)), "only what is alike");
        let order = |hit: &Hit| (-hit.similarity, hit.number);
        assert!(hits.is_sorted_by(|a, b| order(a) <= order(b)), "most similar first");
        expected += by_scan.len();
        found += hits.len();
    }
    assert!(found * 10 >= expected * 9, "{found} of {expected}");
    assert_eq!(index.query(&[], &query("0.5", 0.9)).unwrap(), []);
    assert_eq!(index.damages().unwrap(), Vec::<String>::new());
    let stats = index.stats().unwrap();
    let with_tokens = sets.iter().filter(|set| !set.is_empty()).count() as u64;
    assert_eq!((stats.records, stats.labels), (400, 10 * with_tokens));
}

fn replaces_and_removes(place: &Place<'_>) {
    let mut index = place.create("changing");
    let (old, new) = (random_sets(50, 2), random_sets(60, 3));
    add(&mut index, &old, 0);
    assert_eq!(add(&mut index, &new, 20), AddCounts { new: 30, replaced: 30 });
    let gone: Vec<String> = (0..10).map(|at| format!("r{at}")).chain(["nobody".to_owned()]).collect();
    assert_eq!(index.remove(&gone).unwrap(), 10);
    let mut now: Vec<(String, &Vec<u64>)> = (10..20).map(|at| (format!("r{at}"), &old[at])).collect();
    now.extend((20..80).map(|at| (format!("r{at}"), &new[at - 20])));
    // An index that was changed is one that was made so.
    let mut fresh = LshIndex::in_memory(&settings()).unwrap();
    let labeler = Labeler::new(settings().labels(), settings().seed).unwrap();
    fresh.add(now.iter().map(|(id, set)| LshIndex::label(&labeler, id.clone(), (*set).clone())).collect()).unwrap();
    let answers = |index: &mut LshIndex| {
        let answer = |set: &Vec<u64>| {
            let hits = index.query(set, &query("0.5", 0.8)).unwrap().into_iter();
            let mut hits: Vec<(String, f64)> = hits.map(|hit| (hit.id, hit.similarity)).collect();
            hits.sort_by(|a, b| a.0.cmp(&b.0));
            hits
        };
        old.iter().chain(&new).map(answer).collect::<Vec<_>>()
    };
    assert_eq!(answers(&mut index), answers(&mut fresh));
    assert_eq!((index.len().unwrap(), index.damages().unwrap()), (70, Vec::new()));
    assert_eq!(index.find("r3").unwrap(), None);
    assert_eq!(index.find("r25").unwrap().unwrap().hashes, new[5]);
    // Of two with the same id the last counts; ids are told apart to the last bit.
    let twice = vec![
        LshIndex::label(&labeler, "r25".to_owned(), vec![1]),
        LshIndex::label(&labeler, "r25".to_owned(), vec![2]),
    ];
    assert_eq!(index.add(twice).unwrap(), AddCounts { new: 0, replaced: 2 });
    assert_eq!(index.find("r25").unwrap().unwrap().hashes, [2]);
    let ids = ["A", "a", "a ", "ä", "a\u{308}", "'; DROP TABLE x; --", "日本\n\t\"", ""];
    let records = ids.iter().map(|id| LshIndex::label(&labeler, (*id).to_owned(), vec![7, 8, 9])).collect();
    assert_eq!(index.add(records).unwrap(), AddCounts { new: ids.len() as u64, replaced: 0 });
    let found: Vec<String> = index.query(&[7, 8, 9], &query("1", 0.9)).unwrap().into_iter().map(|hit| hit.id).collect();
    assert_eq!(found, ids);
    assert_eq!(index.remove(&ids.map(str::to_owned)).unwrap(), ids.len() as u64);
}

fn keeps_everything(place: &Place<'_>) {
    let address = place.address("kept");
    let sets = random_sets(30, 4);
    let mut index = LshIndex::create(&address, &settings()).unwrap();
    add(&mut index, &sets, 0);
    drop(index);
    assert!(LshIndex::create(&address, &settings()).is_err(), "what exists is not overwritten");
    let mut index = LshIndex::open(&address).unwrap();
    assert_eq!((index.settings().clone(), index.len().unwrap()), (settings(), 30));
    let mut read = Vec::new();
    index
        .for_each(|record| {
            read.push(record.hashes.clone());
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(read, sets);
    drop(index);
    assert!(LshIndex::open(&place.address("absent")).is_err());
}

fn takes_a_batch_whole(place: &Place<'_>) {
    let mut index = place.create("whole");
    let labeler = Labeler::new(settings().labels(), settings().seed).unwrap();
    let fine = LshIndex::label(&labeler, "fine".to_owned(), vec![1, 2]);
    let long = LshIndex::label(&labeler, "x".repeat(2001), vec![1, 2]);
    let message = index.add(vec![fine.clone(), long]).unwrap_err().to_string();
    assert!(message.contains("at most 2000"), "{message}");
    let nul = LshIndex::label(&labeler, "a\0b".to_owned(), vec![1, 2]);
    let message = index.add(vec![fine.clone(), nul]).unwrap_err().to_string();
    assert!(message.contains("NUL"), "{message}");
    assert_eq!(index.len().unwrap(), 0);
    // The longest id, and a set whose hashes take most of a megabyte.
    let longest = LshIndex::label(&labeler, "x".repeat(2000), (0..100_000).collect());
    index.add(vec![fine, longest]).unwrap();
    assert_eq!(index.find(&"x".repeat(2000)).unwrap().unwrap().hashes.len(), 100_000);
}

fn joins(place: &Place<'_>) {
    let sets = random_sets(120, 5);
    let mut index = place.create("left");
    add(&mut index, &sets, 0);
    let mut other = place.create("right");
    add(&mut other, &sets[..60], 1000);
    let at = query("0.8", 0.95);
    let (mut own, mut across) = (Vec::new(), Vec::new());
    index
        .join(&at, |pair| {
            own.push(pair);
            Ok::<_, Error>(())
        })
        .unwrap();
    index
        .join_with(&mut other, &at, |pair| {
            across.push(pair);
            Ok::<_, Error>(())
        })
        .unwrap();
    // Whoever has seen enough leaves the index as it was.
    let enough = index.join(&at, |_| Err(Error::Usage("enough".to_owned())));
    assert!(enough.is_err());
    add(&mut index, &sets[..1], 0);
    let mut expected = 0;
    for left in 0..120 {
        for right in left + 1..120 {
            let pair = Pair {
                left: format!("r{left}"),
                right: format!("r{right}"),
                similarity: similarity(&sets[left], &sets[right]),
            };
            expected += usize::from(pair.similarity >= 0.8);
            assert!(pair.similarity >= 0.8 || !own.contains(&pair));
        }
    }
    assert!(own.len() * 100 >= expected * 85 && own.len() <= expected, "{} of {expected}", own.len());
    let equal = (0..60).filter(|&at| !sets[at].is_empty());
    assert!(
        equal.clone().all(|at| across
            .iter()
            .any(|pair| pair.left == format!("r{at}") && pair.right == format!("r{}", 1000 + at)))
    );
}

fn refuses(place: &Place<'_>) {
    let mut index = place.create("promise");
    let message = index.query(&[1], &query("0.01", 0.99999)).unwrap_err().to_string();
    assert!(message.contains("10 trees cannot") && message.contains("it takes 17"), "{message}");
    assert!(index.query(&[1], &query("0.8", 1.0)).is_err());
    assert!(index.query(&[1], &query("3", 0.9)).is_err());
    let other = TokenOptions { tokens: Some("qgrams:3".parse().unwrap()), ..TokenOptions::default() };
    assert!(index.settings().check_tokens(&other, "x").is_err());
    assert!(index.settings().check_tokens(&TokenOptions::default(), "x").is_ok());
}

fn lets_others_read(place: &Place<'_>) {
    let address = place.address("shared");
    LshIndex::create(&address, &settings()).unwrap();
    let sets = random_sets(600, 6);
    // Two writers and two readers: a batch is there wholly or not at all, and no writer loses what another added.
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (address, sets) = (&address, &sets);
            scope.spawn(move || {
                let mut index = LshIndex::open(address).unwrap();
                for (at, batch) in sets[300 * writer..300 * (writer + 1)].chunks(20).enumerate() {
                    add(&mut index, batch, 300 * writer + 20 * at);
                }
            });
        }
        for _ in 0..2 {
            let address = &address;
            scope.spawn(move || {
                let mut index = LshIndex::open(address).unwrap();
                while index.len().unwrap() < 600 {
                    assert_eq!(index.len().unwrap() % 20, 0);
                }
            });
        }
    });
    let mut index = LshIndex::open(&address).unwrap();
    assert_eq!((index.len().unwrap(), index.damages().unwrap()), (600, Vec::new()));
}
