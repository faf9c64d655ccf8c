//! The tokens of one record: cut, stemmed, numbered, sampled.

use std::collections::{HashMap, HashSet};

use super::dictionary::{Key, Packed};
use super::lexicon::{self, Stemmer};
use super::repeats::RepeatCounter;
use super::script::TextForm;
use super::{Normalize, Reduce, Repeats, TokenKind, TokenOptions, reduce, text};
use crate::model::{Error, Result};

/// What is made of a text.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    /// Its tokens.
    Tokens(TokenKind),
    /// Its words, in order and with repeats, for shingles to be made of at the end: a shingle is then known by the ids of
    /// its words, which take a fraction of the memory of its text, and most shingles need not be known at all.
    WordStream(usize),
    /// All runs of so many characters of the text as it stands, padded at both ends.
    PaddedGrams(usize),
}

/// Cuts texts in one way. Shared by all threads, each of which has a [`Scratch`].
pub(crate) struct Cutter {
    pub(super) cut: Cut,
    form: TextForm,
    pub(super) repeats: Repeats,
    reduce: Option<Reduce>,
    stop_words: HashSet<Vec<u8>>,
    stemmer: Option<Stemmer>,
}

/// Stands before and after a text whose q-grams are to tell where it begins and ends. Any character will do.
const PADDING: u8 = 1;

/// So many stems are remembered.
const MOST_STEMS: usize = 1 << 16;
/// Longer words, in bytes, have no stem.
const LONGEST_WORD: usize = 256;

/// What a thread needs for its work, and keeps from record to record.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The text of the current record, in the form in which it is compared.
    pub(super) buffer: Vec<u8>,
    /// Where its tokens lie in the buffer.
    ranges: Vec<(usize, usize)>,
    /// All tokens, where a sample is to be chosen from them.
    keys: Vec<Key>,
    repeats: RepeatCounter,
    stems: HashMap<Vec<u8>, Vec<u8>>,
}

impl Cutter {
    pub(super) fn new(options: &TokenOptions, cut: Cut) -> Result<Self> {
        let has_words = matches!(options.kind(), TokenKind::Words | TokenKind::Shingles(_));
        if !has_words && (options.stem.is_some() || options.stop_words.is_some()) {
            let expected = "words or shingles, which --stem and --stop-words are for";
            return Err(Error::BadOption { text: options.kind().to_string(), expected });
        }
        let is_record = options.segmentation.is_some();
        let is_normalized = options.normalize.is_some_and(|form| form != Normalize::None);
        if is_normalized && !is_record && matches!(options.kind(), TokenKind::Lines | TokenKind::Items) {
            let expected = "words, shingles or q-grams, which --normalize is for";
            return Err(Error::BadOption { text: options.kind().to_string(), expected });
        }
        let form = options.form();
        let stop_words = options.stop_words.as_ref().map(|words| words.words()).transpose()?.unwrap_or_default();
        let stop_words = stop_words.into_iter().map(|word| form.normalize.apply(&word).to_lowercase().into_bytes());
        Ok(Self {
            cut,
            form,
            repeats: options.repeats,
            reduce: options.reduce,
            stop_words: stop_words.collect(),
            stemmer: options.stem.map(lexicon::stemmer).transpose()?,
        })
    }

    /// For tokens that are known by their texts, whatever they are.
    pub(crate) fn of_tokens(options: &TokenOptions) -> Result<Self> {
        Self::new(options, Cut::Tokens(options.kind()))
    }

    /// Padded q-grams of the texts as they stand, repeats numbered.
    pub(crate) fn padded_grams(length: usize) -> Self {
        Self {
            cut: Cut::PaddedGrams(length),
            form: TextForm::default(),
            repeats: Repeats::Number,
            reduce: None,
            stop_words: HashSet::new(),
            stemmer: None,
        }
    }

    /// Calls `each` for every token of a text, with the buffer in which it lies. From each place of that, 16 bytes can be
    /// read.
    pub(crate) fn for_each(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut each: impl FnMut(&[u8], &Key) -> Result<()>,
    ) -> Result<()> {
        scratch.buffer.clear();
        scratch.ranges.clear();
        self.cut_ranges(text, scratch);
        let Scratch { buffer, ranges, keys, repeats, .. } = scratch;
        // Room to read a packed token at any place.
        buffer.resize(buffer.len() + size_of::<Packed>(), 0);
        let count = u32::try_from(ranges.len()).map_err(|_| too_many_tokens())?;
        keys.clear();
        repeats.begin(ranges.len());
        for (place, &(start, end)) in (0..count).zip(&*ranges) {
            let mut key = Key::in_text(buffer, start, end);
            if !matches!(self.cut, Cut::WordStream(_)) {
                let token = &buffer[start..end];
                let same = |earlier: u32| buffer[ranges[earlier as usize].0..ranges[earlier as usize].1] == *token;
                let repeat = repeats.count(key.hash, place, same);
                if repeat > 1 && self.repeats == Repeats::Ignore {
                    continue;
                }
                if repeat > 1 {
                    key.number(repeat);
                }
            }
            match self.reduce {
                Some(_) => keys.push(key),
                None => each(buffer, &key)?,
            }
        }
        if let Some(how) = self.reduce {
            reduce::reduce(keys, buffer, how);
            keys.iter().try_for_each(|key| each(buffer, key))?;
        }
        Ok(())
    }

    /// Finds where the tokens lie in the buffer.
    fn cut_ranges(&self, text: &str, scratch: &mut Scratch) {
        let Scratch { buffer, ranges, stems, .. } = scratch;
        let mut push = |start, end| ranges.push((start, end));
        match self.cut {
            Cut::Tokens(TokenKind::Words) | Cut::WordStream(_) => {
                text::tokens(text, TokenKind::Words, self.form, buffer, push);
                self.choose_words(buffer, ranges, stems);
            }
            Cut::Tokens(TokenKind::Shingles(length)) => {
                text::tokens(text, TokenKind::Words, self.form, buffer, push);
                self.choose_words(buffer, ranges, stems);
                text::join_runs(length.get() as usize, buffer, ranges);
            }
            Cut::Tokens(kind) => text::tokens(text, kind, self.form, buffer, push),
            Cut::PaddedGrams(length) => {
                buffer.resize(length - 1, PADDING);
                buffer.extend_from_slice(text.as_bytes());
                buffer.resize(buffer.len() + length - 1, PADDING);
                text::grams(buffer, length, &mut push);
            }
        }
    }

    /// Drops stop words, and puts stems in the place of the others.
    fn choose_words(
        &self,
        buffer: &mut Vec<u8>,
        ranges: &mut Vec<(usize, usize)>,
        stems: &mut HashMap<Vec<u8>, Vec<u8>>,
    ) {
        if !self.stop_words.is_empty() {
            ranges.retain(|&(start, end)| !self.stop_words.contains(&buffer[start..end]));
        }
        let Some(stemmer) = &self.stemmer else { return };
        for range in ranges {
            let word = &buffer[range.0..range.1];
            // What is longer is no word of any language.
            if word.len() > LONGEST_WORD {
                continue;
            }
            if stems.len() > MOST_STEMS {
                stems.clear();
            }
            if !stems.contains_key(word) {
                let stem = stemmer.stem(&String::from_utf8_lossy(word)).into_owned().into_bytes();
                stems.insert(word.to_vec(), stem);
            }
            let stem = &stems[word];
            if stem != word {
                let start = buffer.len();
                buffer.extend_from_slice(stem);
                *range = (start, buffer.len());
            }
        }
    }
}

/// The words, q-grams, lines or items of a text, in order.
///
/// ```
/// # use twinset::tokenize::cut;
/// # use twinset::TokenOptions;
/// assert_eq!(cut("New York, NY", &TokenOptions::default()), ["new", "york", "ny"]);
/// ```
pub fn cut(text: &str, options: &TokenOptions) -> Vec<String> {
    let (mut buffer, mut ranges) = (Vec::new(), Vec::new());
    text::tokens(text, options.kind(), options.form(), &mut buffer, |start, end| ranges.push((start, end)));
    ranges.into_iter().map(|(start, end)| String::from_utf8_lossy(&buffer[start..end]).into_owned()).collect()
}

fn too_many_tokens() -> Error {
    Error::TooMany { what: "tokens in a record", limit: u64::from(u32::MAX) }
}
