//! Texts of any kind as tokens, as a stream, and explained.

use std::num::NonZeroU32;

use twinset::exact::{Detail, Input, JoinOptions, NamedRecord, explain, join};
use twinset::tokenize::{Language, Normalize, Reduce, Repeats, TokenHasher, Tokenizer, tokenize};
use twinset::{Run, Stream, TokenKind, TokenOptions};

use crate::bytes::Bytes;

/// The lines of a text: tokenised by blocks and one by one, joined, streamed and explained.
pub(crate) fn texts(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let number = NonZeroU32::new(1 + bytes.below(6) as u32).expect("it is not zero");
    let kinds =
        [TokenKind::Words, TokenKind::QGrams(number), TokenKind::Shingles(number), TokenKind::Lines, TokenKind::Items];
    let languages: Vec<Language> = ["english", "german", "french", "russian", "turkish", "arabic"]
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    let options = TokenOptions {
        tokens: Some(bytes.one_of(&kinds)),
        repeats: bytes.one_of(&[Repeats::Number, Repeats::Ignore]),
        stem: bytes.bit().then(|| bytes.one_of(&languages)),
        stop_words: bytes.bit().then(|| "english".parse().expect("it is known")),
        reduce: bytes.one_of(&[None, None, Some(Reduce::MinWise(number)), Some(Reduce::Mod(number))]),
        normalize: bytes.one_of(&[None, None, Some(Normalize::Nfc), Some(Normalize::None)]),
        segmentation: None,
    };
    let join_options = JoinOptions::at("0.6".parse().expect("it is a threshold"));
    let text = String::from_utf8_lossy(bytes.rest());
    let lines: Vec<&str> = text.split('\n').take(30).collect();
    let Ok(sets) = tokenize(lines.iter().copied(), &options) else { return };
    let hasher = TokenHasher::new(&options, 0).expect("the options were accepted");
    for (at, line) in lines.iter().enumerate() {
        let hashes = hasher.hashes(line).expect("the texts are short");
        assert!(hashes.is_sorted_by(|a, b| a < b), "hashes are in order");
        assert_eq!(hashes.len(), sets.get(at).len(), "as many hashes as tokens: {line:?}");
    }
    let run = Run::default();
    let joined = join(Input::Sets(&sets), &join_options, &run).expect("the options are plain");
    // A stream keeps what has no near duplicate among what it kept before.
    if let Ok(mut stream) = Stream::new(&join_options, &options, None) {
        let mut kept: Vec<u32> = Vec::new();
        let pairs: Vec<(u32, u32)> = joined.iter().flatten().map(|pair| (pair.left, pair.right)).collect();
        for (at, line) in (0..).zip(&lines) {
            let is_near = stream.arrive(line).expect("the texts are short").is_some();
            assert_eq!(is_near, kept.iter().any(|&left| pairs.contains(&(left, at))), "record {at} of a stream");
            if !is_near {
                kept.push(at);
            }
        }
    }
    let tokenizer = Tokenizer::new(&options).expect("the options were accepted");
    let named = tokenizer.block(lines.iter().copied()).and_then(|block| tokenizer.finish_named([block]));
    if let Ok((named, names)) = named {
        let record = |ordinal: usize| NamedRecord { ordinal, id: ordinal.to_string(), text: lines[ordinal] };
        let (left, right) = (record(0), record(lines.len() - 1));
        let detail = Detail { filters: true, elided: true };
        explain(&named, &names, &left, &right, &join_options, detail, &run).expect("the options are plain");
    }
}
