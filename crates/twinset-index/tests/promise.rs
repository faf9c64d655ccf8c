//! A query finds each near duplicate with the probability that it asks for, and nothing else.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use twinset::TokenOptions;
use twinset::estimate::{Labeler, LshOptions};
use twinset_index::Settings;
use twinset_index::lsh::{LshIndex, Query};

const QUERIES: usize = 1000;

#[test]
fn every_promise_is_kept_for_pairs_right_on_the_threshold() {
    let settings = Settings::lsh(LshOptions::default(), TokenOptions::default(), 0);
    let labeler = Labeler::new(settings.labels(), settings.seed).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut found_in_all, mut promised_in_all) = (0.0, 0.0);
    for (threshold, common) in [("0.5", 20), ("0.6", 24), ("0.7", 28), ("0.8", 32), ("0.9", 36)] {
        let mut index = LshIndex::in_memory(&settings).unwrap();
        let mut queries = Vec::new();
        let mut records = Vec::new();
        for number in 0..QUERIES {
            // 40 tokens in all, so many of them in both.
            let all: Vec<u64> = (0..40).map(|_| random.random()).collect();
            let half = common + (40 - common) / 2;
            let (mut query, mut other) = (all[..half].to_vec(), [&all[..common], &all[half..]].concat());
            query.sort_unstable();
            other.sort_unstable();
            queries.push(query);
            records.push(LshIndex::label(&labeler, number.to_string(), other));
        }
        index.add(records).unwrap();
        for probability in [0.5, 0.8, 0.9, 0.95, 0.98] {
            let asked = Query { threshold: threshold.parse().unwrap(), probability };
            let mut found = 0;
            for (number, query) in queries.iter().enumerate() {
                let hits = index.query(query, &asked).unwrap();
                assert!(hits.iter().all(|hit| hit.id == number.to_string()), "nothing else is alike");
                found += hits.len();
            }
            let recall = found as f64 / QUERIES as f64;
            let error = (probability * (1.0 - probability) / QUERIES as f64).sqrt();
            assert!(recall >= probability - 3.0 * error, "{threshold}, {probability}: {recall}");
            found_in_all += recall;
            promised_in_all += probability;
        }
    }
    assert!(found_in_all >= promised_in_all, "{found_in_all} of {promised_in_all}");
}
