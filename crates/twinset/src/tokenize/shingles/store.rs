//! Runs of word ids, told apart by the words themselves.

use crate::support::prefetch;
use crate::tokenize::dictionary::{Key, NO_WORD, Slots, Store};

/// The runs of a dictionary, one after the other: of each its repeat number, then its words, padded to the same length.
pub(crate) struct ShingleStore {
    length: usize,
    numbers: Vec<u32>,
}

impl ShingleStore {
    /// For runs of at most so many words.
    pub(crate) fn new(length: usize) -> Self {
        Self { length, numbers: Vec::new() }
    }

    /// How many bytes one run takes at most, with its share of the dictionary's slots; both may have doubled just now.
    pub(crate) fn bytes_per_run(length: usize) -> u64 {
        2 * (4 * (length as u64 + 1) + Slots::BYTES_PER_ENTRY)
    }

    /// The words of a run, and its repeat number.
    pub(crate) fn run(&self, entry: u32) -> (&[u32], u32) {
        let numbers = &self.numbers[entry as usize * (self.length + 1)..][..=self.length];
        let words = &numbers[1..];
        let end = words.iter().position(|&word| word == NO_WORD).unwrap_or(self.length);
        (&words[..end], numbers[0])
    }
}

impl Store for ShingleStore {
    type Source = [u32];

    fn len(&self) -> usize {
        self.numbers.len() / (self.length + 1)
    }

    fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>()
    }

    fn add(&mut self, key: &Key, words: &[u32]) {
        let end = self.numbers.len() + self.length + 1;
        self.numbers.push(key.repeat);
        self.numbers.extend_from_slice(key.of(words));
        self.numbers.resize(end, NO_WORD);
    }

    fn holds(&self, entry: u32, key: &Key, words: &[u32]) -> bool {
        self.run(entry) == (key.of(words), key.repeat)
    }

    fn fetch(&self, entry: u32) {
        prefetch(&self.numbers[entry as usize * (self.length + 1)..]);
    }
}
