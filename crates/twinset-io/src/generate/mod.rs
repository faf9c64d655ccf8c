//! Makes collections up: records over a Zipf vocabulary, with planted near duplicates.

mod columns;
mod rdf;

pub use columns::{Column, Columns};
pub use rdf::Articles;

use rand::distr::Distribution;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{LogNormal, Zipf};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What to make up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct GenerateOptions {
    /// How many records
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub records: u64,
    /// The same seed gives the same collection
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", default_value_t = DEFAULTS.seed))]
    pub seed: u64,
    /// What a record is
    #[cfg_attr(feature = "clap", arg(long, value_name = "KIND", default_value_t))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<GenerateKind>()))]
    pub kind: GenerateKind,
    /// The share of records that are near duplicates of an earlier one
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", default_value_t = DEFAULTS.duplicates))]
    pub duplicates: f64,
    /// The share of a near duplicate's words that are edited: replaced, removed or added
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", default_value_t = DEFAULTS.edits))]
    pub edits: f64,
    /// How many words a record has on average
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.words))]
    pub words: u32,
    /// How many different words there are
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = DEFAULTS.vocabulary))]
    pub vocabulary: u32,
}

const DEFAULTS: GenerateOptions = GenerateOptions {
    records: 1000,
    seed: 1,
    kind: GenerateKind::Text,
    duplicates: 0.2,
    edits: 0.05,
    words: 40,
    vocabulary: 50_000,
};

impl Default for GenerateOptions {
    fn default() -> Self {
        DEFAULTS
    }
}

/// What a record is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum GenerateKind {
    /// A text.
    #[default]
    Text,
    /// An article in N-Triples that mentions people, places and organisations.
    Rdf,
    /// A column of a table. Some columns share values; a large column has several rows of up to 1000 values.
    Tables,
}

/// Makes up one record after the other.
pub struct Generator {
    options: GenerateOptions,
    random: ChaCha8Rng,
    frequency: Zipf<f64>,
    length: LogNormal<f64>,
    /// The originals that can still be copied, with their records' numbers so far.
    originals: Vec<(Vec<u32>, Vec<u64>)>,
    made: u64,
}

/// A made-up record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Its words, as numbers.
    words: Vec<u32>,
    /// The numbers, from 1, of the earlier records that are near duplicates of it.
    pub duplicates: Vec<u64>,
}

/// How many originals are remembered; a copy is of one of the latest.
const REMEMBERED: usize = 100_000;

impl Generator {
    /// Checks the options.
    pub fn new(options: &GenerateOptions) -> Result<Self> {
        check_shares(options)?;
        if options.words == 0 || options.vocabulary == 0 {
            return Err(Error::Usage("--words and --vocabulary must be at least 1".to_owned()));
        }
        let frequency = Zipf::new(f64::from(options.vocabulary), 1.0).expect("a vocabulary and an exponent above 0");
        // Lengths as in real text: most near the average, a few much longer.
        let spread = 0.5f64;
        let mean = f64::from(options.words).ln() - spread * spread / 2.0;
        let length = LogNormal::new(mean, spread).expect("a finite mean and spread");
        let random = ChaCha8Rng::seed_from_u64(options.seed);
        Ok(Self { options: options.clone(), random, frequency, length, originals: Vec::new(), made: 0 })
    }

    fn word(&mut self) -> u32 {
        self.frequency.sample(&mut self.random) as u32
    }

    fn original(&mut self) -> Vec<u32> {
        let length = (self.length.sample(&mut self.random) as usize).max(1);
        (0..length).map(|_| self.word()).collect()
    }

    /// A copy in which each word is, with some probability, replaced, removed, or followed by another.
    fn edited(&mut self, words: &[u32]) -> Vec<u32> {
        let mut edited = Vec::with_capacity(words.len() + 2);
        for &word in words {
            if !self.random.random_bool(self.options.edits) {
                edited.push(word);
                continue;
            }
            match self.random.random_range(0..3) {
                0 => edited.push(self.word()),
                1 => {}
                _ => {
                    edited.push(word);
                    edited.push(self.word());
                }
            }
        }
        edited
    }
}

fn check_shares(options: &GenerateOptions) -> Result<()> {
    for (name, value) in [("duplicates", options.duplicates), ("edits", options.edits)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::Usage(format!("--{name} is a share: give a number from 0 to 1, not {value}")));
        }
    }
    Ok(())
}

impl Iterator for Generator {
    type Item = Generated;

    fn next(&mut self) -> Option<Generated> {
        if self.made == self.options.records {
            return None;
        }
        self.made += 1;
        let is_copy = !self.originals.is_empty() && self.random.random_bool(self.options.duplicates);
        if is_copy {
            let chosen = self.random.random_range(0..self.originals.len());
            let words = self.originals[chosen].0.clone();
            let words = self.edited(&words);
            let duplicates = self.originals[chosen].1.clone();
            self.originals[chosen].1.push(self.made);
            return Some(Generated { words, duplicates });
        }
        let words = self.original();
        let generated = Generated { words: words.clone(), duplicates: Vec::new() };
        let entry = (words, vec![self.made]);
        if self.originals.len() < REMEMBERED {
            self.originals.push(entry);
        } else {
            let replaced = self.random.random_range(0..REMEMBERED);
            self.originals[replaced] = entry;
        }
        Some(generated)
    }
}

impl Generated {
    /// Its text.
    pub fn text(&self) -> String {
        self.words.iter().map(|&word| spelled_word(word)).collect::<Vec<String>>().join(" ")
    }
}

/// A word that can be pronounced: two or more syllables stand for the digits of the word's number, so that lengths are
/// as in English, and frequent words are short.
fn spelled_word(word: u32) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let base = (CONSONANTS.len() * VOWELS.len()) as u32;
    let mut text = String::new();
    let (mut number, mut syllables) = (word, 0);
    while number > 0 || syllables < 2 {
        let syllable = (number % base) as usize;
        text.push(CONSONANTS[syllable / VOWELS.len()] as char);
        text.push(VOWELS[syllable % VOWELS.len()] as char);
        number /= base;
        syllables += 1;
    }
    text
}
