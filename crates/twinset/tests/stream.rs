//! A stream keeps what first-come-first-kept keeps by definition.

use proptest::prelude::*;
use twinset::exact::{Algorithm, Input, JoinOptions, join};
use twinset::support::Strings;
use twinset::tokenize::tokenize;
use twinset::{Measure, Run, Stream, TokenOptions};

/// All pairs, whatever the direction, with the better value of the two directions.
fn pairs(texts: &[String], options: &JoinOptions, tokens: &TokenOptions) -> Vec<(usize, usize, f64)> {
    let options = JoinOptions { algorithm: Algorithm::Naive, ..options.clone() };
    let strings: Strings = texts.iter().collect();
    let sets = tokenize(texts.iter().map(String::as_str), tokens).unwrap();
    let input = match options.measure {
        Measure::Edit => Input::Texts { texts: &strings, left: None },
        _ => Input::Sets(&sets),
    };
    let joined = join(input, &options, &Run::default()).unwrap();
    let rows = joined.iter().map(Result::unwrap);
    rows.map(|pair| (pair.left.min(pair.right) as usize, pair.left.max(pair.right) as usize, pair.value)).collect()
}

proptest! {
    #[test]
    fn keeps_what_comes_first(
        texts in prop::collection::vec("([abcd ] ){0,6}", 1..40),
        (measure, threshold) in prop_oneof![
            (Just(Measure::Jaccard), Just("3/5")),
            (Just(Measure::Cosine), Just("0.7")),
            (Just(Measure::Dice), Just("3/4")),
            (Just(Measure::Overlap), Just("3")),
            (Just(Measure::Containment), Just("4/5")),
            (Just(Measure::Hamming), Just("2")),
            (Just(Measure::Hamming), Just("0")),
            (Just(Measure::Edit), Just("2")),
            (Just(Measure::Edit), Just("4")),
        ],
        tokens in prop_oneof![Just("words"), Just("shingles:2"), Just("qgrams:3")],
        empty in any::<bool>(),
        window in prop_oneof![Just(None), (0usize..6).prop_map(Some)],
    ) {
        let options = JoinOptions { measure, empty, ..JoinOptions::at(threshold.parse().unwrap()) };
        let tokens = TokenOptions { tokens: Some(tokens.parse().unwrap()), ..TokenOptions::default() };
        let pairs = pairs(&texts, &options, &tokens);
        let mut stream = Stream::new(&options, &tokens, window).unwrap();
        let mut kept: Vec<usize> = Vec::new();
        for (record, text) in texts.iter().enumerate() {
            let found = stream.arrive(text).unwrap();
            let remembered = &kept[kept.len().saturating_sub(window.unwrap_or(usize::MAX))..];
            let near = pairs.iter().filter(|&&(a, b, _)| b == record && remembered.contains(&a));
            let sign = if measure.is_distance() { -1.0 } else { 1.0 };
            let best = near.max_by(|a, b| (sign * a.2).total_cmp(&(sign * b.2)).then(b.0.cmp(&a.0)));
            prop_assert_eq!(found.map(|near| (near.record as usize, near.value)), best.map(|&(a, _, value)| (a, value)));
            // An empty record that takes no part is not remembered.
            let takes_part = empty || !text.trim().is_empty();
            if best.is_none() && takes_part {
                kept.push(record);
            }
        }
        prop_assert_eq!(stream.len(), kept.len().min(window.unwrap_or(usize::MAX)));
    }
}
