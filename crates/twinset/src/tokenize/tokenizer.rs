//! Turns blocks of texts into token sets, on as many threads as there are blocks.

use rayon::prelude::*;

use super::dictionary::{ByteStore, Dictionary, Key, REPEAT_BITS, RunStore, Words};
use super::repeats::RepeatFinder;
use super::{Repeats, TokenKind, TokenOptions, reduce, text, token_hash};
use crate::model::{Error, Result, TokenSets};

/// Turns texts into token sets. Blocks can be tokenised on several threads; the result does not depend on how many.
///
/// ```
/// # use twinset::{TokenOptions, Tokenizer};
/// let tokenizer = Tokenizer::new(&TokenOptions::default());
/// let first = tokenizer.block(["yes as soon as possible"])?;
/// let second = tokenizer.block(["as soon as possible please"])?;
/// let sets = tokenizer.finish([first, second])?;
/// assert_eq!(sets.len(), 2);
/// assert_eq!(sets.size(0), 5); // the second "as" is a token of its own
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct Tokenizer {
    options: TokenOptions,
    cut: Cut,
    dictionary: Dictionary<ByteStore>,
}

/// What the first pass makes of a text.
#[derive(Clone, Copy)]
enum Cut {
    /// Its tokens.
    Tokens(TokenKind),
    /// Its words, in order and with repeats, for shingles to be made of at the end: a shingle is then known by where
    /// its words stand, which takes a fraction of the memory of its text.
    WordStream(usize),
    /// All runs of so many characters of the text as it stands, padded at both ends.
    PaddedGrams(usize),
}

/// Stands before and after a text whose q-grams are to tell where it begins and ends. Any character will do.
const PADDING: u8 = 1;

/// Pads a short text's words to a whole shingle.
const NO_WORD: u32 = u32::MAX;

/// Keys are interned when so many have been collected.
const BATCH: usize = 1 << 15;

impl Tokenizer {
    /// A tokenizer with an empty dictionary.
    pub fn new(options: &TokenOptions) -> Self {
        let cut = match options.tokens {
            TokenKind::Shingles(length) if options.reduce.is_none() && length.get() > 1 => {
                Cut::WordStream(length.get() as usize)
            }
            kind => Cut::Tokens(kind),
        };
        Self { options: options.clone(), cut, dictionary: Dictionary::new() }
    }

    /// Padded q-grams of the texts as they stand, repeats numbered.
    pub(crate) fn padded_grams(length: u32) -> Self {
        let cut = Cut::PaddedGrams(length as usize);
        Self { options: TokenOptions::default(), cut, dictionary: Dictionary::new() }
    }

    /// Starts a block of records.
    pub fn start_block(&self) -> BlockTokenizer<'_> {
        BlockTokenizer {
            tokenizer: self,
            buffer: Vec::new(),
            keys: Vec::new(),
            repeats: RepeatFinder::default(),
            block: TokenBlock::default(),
        }
    }

    /// Tokenises a block of records at once.
    pub fn block<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Result<TokenBlock> {
        let mut block = self.start_block();
        for text in texts {
            block.push(text)?;
        }
        block.finish()
    }

    /// The token sets of all blocks, in the order given.
    pub fn finish(self, blocks: impl IntoIterator<Item = TokenBlock>) -> Result<TokenSets> {
        let cut = self.cut_blocks(blocks)?;
        // The dictionaries are not needed to rank the tokens, and they may be large.
        drop(self);
        let Tokens { offsets, ids, id_limit, .. } = cut.without_names();
        Ok(TokenSets::rank(offsets, ids, id_limit)?.0)
    }

    /// As [`finish`](Self::finish), with the names of the tokens. It takes more memory.
    pub fn finish_named(self, blocks: impl IntoIterator<Item = TokenBlock>) -> Result<(TokenSets, TokenNames)> {
        let Tokens { offsets, ids, id_limit, runs } = self.cut_blocks(blocks)?;
        let mut names = vec![String::new(); id_limit];
        for &id in &ids {
            if names[id as usize].is_empty() {
                names[id as usize] = self.name(id, runs.as_ref());
            }
        }
        let (sets, ranks) = TokenSets::rank(offsets, ids, id_limit)?;
        let mut by_rank = vec![String::new(); sets.distinct_tokens() as usize];
        for (id, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            by_rank[ranks[id] as usize] = name;
        }
        Ok((sets, TokenNames { names: by_rank }))
    }

    /// The tokens of all blocks, with ids that mean nothing yet.
    fn cut_blocks(&self, blocks: impl IntoIterator<Item = TokenBlock>) -> Result<Tokens> {
        let blocks = blocks.into_iter().collect();
        let Cut::WordStream(length) = self.cut else {
            let (lengths, ids) = concatenate(blocks, 0);
            return Ok(Tokens { offsets: offsets(&lengths), ids, id_limit: self.dictionary.id_limit(), runs: None });
        };
        let (lengths, stream) = concatenate(blocks, length);
        let words = Words { stream, length };
        let runs = Dictionary::new();
        let blocks = shingles(&words, &lengths, self.options.repeats, &runs)?;
        let (lengths, ids) = concatenate(blocks, 0);
        Ok(Tokens { offsets: offsets(&lengths), ids, id_limit: runs.id_limit(), runs: Some((words, runs)) })
    }

    /// What a person would call a token: its text, and `#2` for the second of its kind in a record.
    fn name(&self, id: u32, runs: Option<&(Words, Dictionary<RunStore>)>) -> String {
        let bytes = |id| {
            self.dictionary.with_entry(id, |store, entry| {
                let (token, repeat) = store.token(entry);
                (String::from_utf8_lossy(token).into_owned(), repeat)
            })
        };
        let (name, repeat) = match runs {
            None => bytes(id),
            Some((words, runs)) => {
                let (start, repeat) = runs.with_entry(id, RunStore::run);
                let run = words.run(start).iter().filter(|&&word| word != NO_WORD);
                (run.map(|&word| bytes(word).0).collect::<Vec<_>>().join(" "), repeat)
            }
        };
        if repeat > 1 { format!("{name}#{repeat}") } else { name }
    }
}

/// The tokens of all records, one after the other.
struct Tokens {
    offsets: Vec<u64>,
    ids: Vec<u32>,
    id_limit: usize,
    /// What shingles are known by.
    runs: Option<(Words, Dictionary<RunStore>)>,
}

impl Tokens {
    fn without_names(self) -> Self {
        Self { runs: None, ..self }
    }
}

/// The names of tokens, for people to read.
pub struct TokenNames {
    names: Vec<String>,
}

impl TokenNames {
    /// A token's text, followed by `#2` if it is the second of its kind in its record.
    pub fn get(&self, token: u32) -> &str {
        &self.names[token as usize]
    }
}

/// Tokenises the records of one block, one after the other.
pub struct BlockTokenizer<'t> {
    tokenizer: &'t Tokenizer,
    /// The texts of the tokens that wait to be interned.
    buffer: Vec<u8>,
    keys: Vec<Key>,
    repeats: RepeatFinder,
    block: TokenBlock,
}

/// A block of tokenised records, to be handed to [`Tokenizer::finish`].
#[derive(Debug, Default)]
pub struct TokenBlock {
    /// How many ids each record has.
    lengths: Vec<u32>,
    ids: Vec<u32>,
}

impl TokenBlock {
    /// Keeps only the records whose positions in the block pass.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (mut lengths, mut ids, mut start) = (Vec::new(), Vec::new(), 0);
        for (position, &length) in self.lengths.iter().enumerate() {
            let end = start + length as usize;
            if keep(position) {
                lengths.push(length);
                ids.extend_from_slice(&self.ids[start..end]);
            }
            start = end;
        }
        (self.lengths, self.ids) = (lengths, ids);
    }
}

impl BlockTokenizer<'_> {
    /// Adds a record.
    pub fn push(&mut self, text: &str) -> Result<()> {
        let from = self.keys.len();
        let Self { tokenizer, buffer, keys, .. } = self;
        match tokenizer.cut {
            Cut::Tokens(kind) => text::tokens(text, kind, buffer, |start, end| keys.push(range(start, end))),
            Cut::WordStream(_) => {
                text::tokens(text, TokenKind::Words, buffer, |start, end| keys.push(range(start, end)));
            }
            Cut::PaddedGrams(length) => {
                let start = buffer.len();
                buffer.resize(start + length - 1, PADDING);
                buffer.extend_from_slice(text.as_bytes());
                buffer.resize(buffer.len() + length - 1, PADDING);
                // With fewer characters than a gram there is only padding, and that is no gram.
                if buffer.len() - start >= length {
                    text::grams(&buffer[start..], length, |from, to| keys.push(range(start + from, start + to)));
                }
            }
        }
        for key in &mut keys[from..] {
            key.hash = token_hash(key.bytes(buffer), key.repeat);
        }
        if !matches!(self.tokenizer.cut, Cut::WordStream(_)) {
            let buffer = &self.buffer;
            self.repeats.settle(
                &mut self.keys,
                from,
                self.tokenizer.options.repeats,
                |a, b| a.bytes(buffer) == b.bytes(buffer),
                |key| token_hash(key.bytes(buffer), key.repeat),
            );
            if let Some(how) = self.tokenizer.options.reduce {
                reduce::reduce(&mut self.keys, from, how);
            }
        }
        let length = u32::try_from(self.keys.len() - from).map_err(|_| too_many_tokens())?;
        self.block.lengths.push(length);
        if self.keys.len() >= BATCH {
            self.intern()?;
        }
        Ok(())
    }

    /// The block of all records added.
    pub fn finish(mut self) -> Result<TokenBlock> {
        self.intern()?;
        self.block.ids.shrink_to_fit();
        Ok(self.block)
    }

    fn intern(&mut self) -> Result<()> {
        self.tokenizer.dictionary.intern(&self.keys, &self.buffer, &mut self.block.ids)?;
        self.keys.clear();
        self.buffer.clear();
        Ok(())
    }
}

fn range(start: usize, end: usize) -> Key {
    Key { hash: 0, start: start as u64, len: (end - start) as u32, repeat: 1 }
}

fn too_many_tokens() -> Error {
    Error::TooMany { what: "tokens in a record", limit: u64::from(u32::MAX) }
}

/// One list of lengths and one of ids, where a record that has any has at least `least` of them. Blocks are freed as
/// they are copied.
fn concatenate(blocks: Vec<TokenBlock>, least: usize) -> (Vec<u32>, Vec<u32>) {
    let padded = |length: u32| if length == 0 { 0 } else { (length as usize).max(least) };
    let all = || blocks.iter().flat_map(|block| &block.lengths);
    let mut lengths = Vec::with_capacity(all().count());
    let mut ids = Vec::with_capacity(all().map(|&length| padded(length)).sum());
    for block in blocks {
        let mut rest = block.ids.as_slice();
        for &length in &block.lengths {
            let (own, others) = rest.split_at(length as usize);
            rest = others;
            ids.extend_from_slice(own);
            ids.resize(ids.len() + padded(length) - own.len(), NO_WORD);
            lengths.push(padded(length) as u32);
        }
    }
    (lengths, ids)
}

fn offsets(lengths: &[u32]) -> Vec<u64> {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lengths.iter().map(|&length| {
        end += u64::from(length);
        end
    }));
    offsets
}

/// The shingles of records whose words stand one after the other in `words.stream`.
fn shingles(words: &Words, lengths: &[u32], how: Repeats, runs: &Dictionary<RunStore>) -> Result<Vec<TokenBlock>> {
    const RECORDS: usize = 512;
    let starts = offsets(lengths);
    starts[..lengths.len()]
        .par_chunks(RECORDS)
        .zip(lengths.par_chunks(RECORDS))
        .map(|(starts, lengths)| {
            let (mut keys, mut repeats, mut block) = (Vec::new(), RepeatFinder::default(), TokenBlock::default());
            for (&start, &length) in starts.iter().zip(lengths) {
                if length >= 1 << REPEAT_BITS {
                    return Err(Error::TooMany { what: "words in a record", limit: 1 << REPEAT_BITS });
                }
                let from = keys.len();
                for first in start..(start + u64::from(length) + 1).saturating_sub(words.length as u64) {
                    keys.push(Key { hash: words.hash(first, 1), start: first, len: 0, repeat: 1 });
                }
                repeats.settle(
                    &mut keys,
                    from,
                    how,
                    |a, b| words.run(a.start) == words.run(b.start),
                    |key| words.hash(key.start, key.repeat),
                );
                block.lengths.push((keys.len() - from) as u32);
            }
            runs.intern(&keys, words, &mut block.ids)?;
            Ok(block)
        })
        .collect()
}
