//! Joins by sketches, labels and synopses: nothing exact to compare with, but what they say must make sense.

use std::num::NonZeroU32;

use twinset::estimate::{EstimateOptions, MinHashSettings, Synopses, SynopsisBuilder};
use twinset::exact::{Input, JoinOptions, Pair, join, verify};
use twinset::tokenize::{Tokenizer, synopsis_value, tokenize};
use twinset::{Measure, Run, Threshold, TokenOptions};

use crate::bytes::Bytes;

/// All three estimates of the same texts.
pub(crate) fn estimates(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let options = EstimateOptions {
        permutations: NonZeroU32::MIN.saturating_add(bytes.byte().into()),
        agree: bytes.bit().then(|| u32::from(bytes.byte())),
        probability: f64::from(bytes.byte()) / 255.0,
        seed: u64::from(bytes.byte()),
        size: u32::from(bytes.byte()),
        lsh: twinset::estimate::LshOptions { trees: bytes.below(40) as u32, bits: bytes.below(70) as u32 },
        ..EstimateOptions::default()
    };
    let measure = bytes.one_of(&Measure::of_sets().collect::<Vec<_>>());
    let threshold = match measure.is_count() {
        true => Threshold::whole(bytes.below(12) as u32),
        false => Threshold::new(bytes.byte().into(), 255),
    };
    let wanted = JoinOptions { measure, threshold: threshold.ok(), ..JoinOptions::default() };
    let is_split = bytes.bit();
    let text = String::from_utf8_lossy(bytes.rest()).into_owned();
    let texts: Vec<&str> = text.split('\n').take(30).collect();
    let left = is_split.then_some(texts.len() / 2);
    let run = Run::default();
    let Ok(sets) = tokenize(texts.iter().copied(), &TokenOptions::default()) else { return };
    let sets = left.map_or(sets.clone(), |left| sets.split_at(left as u32));

    // What labels find is exact: it is among all pairs, with the same value.
    if let Ok(labelled) = options.for_lsh(&wanted) {
        let (found, all) = (pairs(Input::Sets(&sets), &labelled, &run), pairs(Input::Sets(&sets), &wanted, &run));
        assert!(found.iter().all(|pair| all.contains(pair)), "labels find what is no pair: {wanted:?}");
    }
    let settings = MinHashSettings { permutations: options.permutations.get(), seed: options.seed };
    if let Ok(sketched) = options.for_minhash(&wanted)
        && let Ok(tokenizer) = Tokenizer::minhash(&TokenOptions::default(), settings, &run)
    {
        let blocks = tokenizer.block(texts.iter().copied()).expect("the texts are short");
        let sketches = tokenizer.finish_within([blocks], 0).expect("the sketches are few");
        let sketches = match left {
            Some(left) => sketches.split_at(left as u32),
            None => sketches,
        };
        if let twinset::tokenize::Sets::InMemory(sketches) = &sketches {
            let found = join(Input::Sets(sketches), &sketched, &run).expect("the options were checked");
            assert!(found.iter().flatten().all(|pair| pair.value <= f64::from(options.permutations.get())));
            if wanted.threshold.is_some() {
                let verified = verify(&found, Input::Sets(&sets), &wanted, &run).expect("the sets are in memory");
                let all = pairs(Input::Sets(&sets), &wanted, &run);
                assert!(verified.iter().flatten().all(|pair| all.contains(&pair)), "what was checked is no pair");
            }
        }
    }
    if let (Ok(estimated), Ok(mut synopses)) = (options.for_kmv(&wanted), Synopses::new(options.size)) {
        for text in &texts {
            let mut builder = SynopsisBuilder::new(options.size).expect("the size was checked");
            let hasher =
                twinset::tokenize::TokenHasher::new(&TokenOptions::default(), 0).expect("these are the defaults");
            let hashes = hasher.hashes(text).expect("the texts are short");
            hashes.iter().for_each(|&hash| builder.insert(synopsis_value(hash, options.seed)));
            synopses.push(builder.synopsis());
        }
        let synopses = left.map_or(synopses.clone(), |left| synopses.split_at(left as u32));
        for pair in pairs(Input::Synopses(&synopses), &estimated, &run) {
            assert!(pair.value.is_finite() && pair.value >= 0.0, "an estimate: {pair:?}");
        }
    }
}

fn pairs(input: Input<'_>, options: &JoinOptions, run: &Run) -> Vec<Pair> {
    let joined = join(input, options, run).map(|joined| joined.iter().collect::<twinset::Result<_>>());
    joined.and_then(|pairs| pairs).unwrap_or_default()
}
