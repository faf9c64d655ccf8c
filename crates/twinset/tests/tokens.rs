//! Equal tokens, and only they, get equal ids: token sets overlap as sets of (text, number) do, for every kind of token.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use twinset::tokenize::{Repeats, Tokenizer};
use twinset::{TokenKind, TokenOptions};
use unicode_normalization::UnicodeNormalization;

/// The tokens of a text by definition.
fn tokens(text: &str, kind: TokenKind) -> Vec<String> {
    let lower = text.nfkc().collect::<String>().to_lowercase();
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_' && !is_mark(c))
        .map(|word| word.trim_start_matches(is_mark))
        .filter(|word| !word.is_empty())
        .collect();
    let runs = |parts: &[String], length: usize, glue: &str| -> Vec<String> {
        match parts.len() {
            0 => Vec::new(),
            count if count < length => vec![parts.join(glue)],
            _ => parts.windows(length).map(|run| run.join(glue)).collect(),
        }
    };
    match kind {
        TokenKind::Words => words.into_iter().map(str::to_owned).collect(),
        TokenKind::Shingles(k) => {
            runs(&words.into_iter().map(str::to_owned).collect::<Vec<_>>(), k.get() as usize, " ")
        }
        TokenKind::QGrams(q) => {
            let mut spaced = String::new();
            for c in lower.chars() {
                match c.is_whitespace() {
                    true if spaced.ends_with(' ') => {}
                    true => spaced.push(' '),
                    false => spaced.push(c),
                }
            }
            runs(&spaced.chars().map(String::from).collect::<Vec<_>>(), q.get() as usize, "")
        }
        TokenKind::Lines => text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        TokenKind::Items => text.split_whitespace().map(str::to_owned).collect(),
    }
}

fn set(text: &str, options: &TokenOptions) -> BTreeSet<(String, u32)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let numbered = tokens(text, options.kind()).into_iter().map(|token| {
        let count = counts.entry(token.clone()).or_default();
        *count += u32::from(*count == 0 || options.repeats == Repeats::Number);
        (token, *count)
    });
    numbered.collect()
}

/// Few short words, so that they repeat; long ones that differ at their ends; other scripts, marks, zero bytes.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        4 => "[ab]{1,2}",
        2 => "[aB]{14,17}",
        1 => "(x|y)(long){5}(x|y)",
        1 => "[éÉßσΣİ_1\u{301}]{1,3}",
        1 => Just("\0".to_owned()),
    ];
    let glue = prop_oneof![4 => Just(" "), 1 => Just("\n"), 1 => Just(", "), 1 => Just("\t \u{2003}"), 1 => Just("")];
    let text = prop::collection::vec((word, glue), 0..60)
        .prop_map(|parts| parts.into_iter().map(|(word, glue)| word + glue).collect::<String>());
    prop::collection::vec(text, 1..12)
}

proptest! {
    #[test]
    fn token_sets_overlap_as_their_tokens_do(texts in texts(), blocks in 1..4usize) {
        for kind in ["words", "qgrams:1", "qgrams:3", "qgrams:16", "shingles:1", "shingles:2", "shingles:5", "lines", "items"] {
            for repeats in [Repeats::Number, Repeats::Ignore] {
                let options = TokenOptions { tokens: Some(kind.parse().unwrap()), repeats, ..TokenOptions::default() };
                let tokenizer = Tokenizer::new(&options).unwrap();
                let parts = texts.chunks(texts.len().div_ceil(blocks));
                let parts: Vec<_> = parts.map(|part| tokenizer.block(part.iter().map(String::as_str)).unwrap()).collect();
                let sets = tokenizer.finish(parts).unwrap();
                let expected: Vec<_> = texts.iter().map(|text| set(text, &options)).collect();
                let distinct: BTreeSet<_> = expected.iter().flatten().collect();
                prop_assert_eq!(sets.distinct_tokens() as usize, distinct.len(), "{}", kind);
                for x in 0..texts.len() {
                    prop_assert!(sets.get(x).is_sorted_by(|a, b| a < b), "{}: unique and sorted", kind);
                    for y in 0..texts.len() {
                        let common = sets.get(x).iter().filter(|token| sets.get(y).contains(token)).count();
                        prop_assert_eq!(common, expected[x].intersection(&expected[y]).count(), "{} {:?}", kind, repeats);
                    }
                }
            }
        }
    }

    /// A sample depends on the token alone: what two records share is kept in both or in neither.
    #[test]
    fn samples_agree_between_records(texts in texts(), modulus in 2..5u32) {
        let whole = TokenOptions { tokens: Some("shingles:2".parse().unwrap()), ..TokenOptions::default() };
        let reduced = TokenOptions { reduce: Some(format!("mod:{modulus}").parse().unwrap()), ..whole.clone() };
        let named = |options: &TokenOptions| {
            let tokenizer = Tokenizer::new(options).unwrap();
            let block = tokenizer.block(texts.iter().map(String::as_str)).unwrap();
            let (sets, names) = tokenizer.finish_named([block]).unwrap();
            let named = |record: usize| sets.get(record).iter().map(|&token| names.get(token).to_owned()).collect::<BTreeSet<_>>();
            (0..sets.len()).map(named).collect::<Vec<_>>()
        };
        let (whole, reduced) = (named(&whole), named(&reduced));
        let kept: BTreeSet<_> = reduced.iter().flatten().collect();
        for (all, sample) in whole.iter().zip(&reduced) {
            let expected: BTreeSet<_> = all.iter().filter(|token| kept.contains(token)).cloned().collect();
            prop_assert_eq!(sample, &expected);
        }
        let smallest = TokenOptions { reduce: Some("minwise:3".parse().unwrap()), ..TokenOptions::default() };
        let sets = twinset::tokenize::tokenize(texts.iter().map(String::as_str), &smallest).unwrap();
        let all = twinset::tokenize::tokenize(texts.iter().map(String::as_str), &TokenOptions::default()).unwrap();
        for record in 0..sets.len() {
            prop_assert_eq!(sets.size(record), all.size(record).min(3));
        }
    }
}

#[cfg(feature = "languages")]
#[test]
fn words_can_be_stemmed_and_left_out() {
    let names = |json: &str, text: &str| {
        let options: TokenOptions = serde_json::from_str(json).unwrap();
        let tokenizer = Tokenizer::new(&options).unwrap();
        let block = tokenizer.block([text]).unwrap();
        let (sets, names) = tokenizer.finish_named([block]).unwrap();
        let mut names: Vec<String> = sets.get(0).iter().map(|&token| names.get(token).to_owned()).collect();
        names.sort();
        names.join(", ")
    };
    let text = "The runners are running and run, running";
    assert_eq!(names(r#"{"stem": "english"}"#, text), "and, are, run, run#2, run#3, runner, the");
    assert_eq!(names(r#"{"stem": "en", "stop_words": "english"}"#, text), "run, run#2, run#3, runner");
    assert_eq!(names(r#"{"stop_words": ["RUN", "the"]}"#, text), "and, are, runners, running, running#2");
    assert_eq!(
        names(r#"{"tokens": "shingles:2", "stop_words": "en", "stem": "en"}"#, text),
        "run run, run run#2, runner run"
    );
    let sampled = r#"{"tokens": "shingles:2", "stop_words": "en", "stem": "en", "reduce": "minwise:9"}"#;
    assert_eq!(names(sampled, text), "run run, run run#2, runner run");
    let refused: TokenOptions = serde_json::from_str(r#"{"tokens": "qgrams:3", "stem": "en"}"#).unwrap();
    assert!(Tokenizer::new(&refused).is_err_and(|error| error.to_string().contains("words or shingles")));
    assert!(serde_json::from_str::<TokenOptions>(r#"{"stem": "klingon"}"#).is_err());
}

#[cfg(not(feature = "languages"))]
#[test]
fn languages_need_their_feature() {
    for options in [r#"{"stem": "english"}"#, r#"{"stop_words": "en"}"#] {
        let options: TokenOptions = serde_json::from_str(options).unwrap();
        assert!(
            Tokenizer::new(&options).is_err_and(|error| error.to_string().contains("the cargo feature `languages`"))
        );
    }
    let words: TokenOptions = serde_json::from_str(r#"{"stop_words": ["the"]}"#).unwrap();
    assert!(Tokenizer::new(&words).is_ok());
}
