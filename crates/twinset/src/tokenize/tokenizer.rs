//! Turns blocks of texts into token sets, on as many threads as there are blocks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::cutter::{Cut, Cutter, Scratch as CutScratch};
use super::dictionary::{Dictionary, Key, TokenCache, TokenStore};
use super::shingles::{Numbers, ShingleStore, Shingles};
use super::{Repeats, TokenKind, TokenOptions, seeded_hash, synopsis_value};
use crate::model::{Result, Run, SpilledSets, TokenBlock, TokenSets};
use crate::sketch::{KmvSettings, MinHashSettings, MinHasher, Synopsis, SynopsisBuilder, words_of};
use crate::support::Spill;

/// Turns texts into token sets. Blocks can be tokenised on several threads; the result does not depend on how many.
///
/// ```
/// # use twinset::tokenize::Tokenizer;
/// # use twinset::TokenOptions;
/// let tokenizer = Tokenizer::new(&TokenOptions::default())?;
/// let first = tokenizer.block(["yes as soon as possible"])?;
/// let second = tokenizer.block(["as soon as possible please"])?;
/// let sets = tokenizer.finish([first, second])?;
/// assert_eq!(sets.len(), 2);
/// assert_eq!(sets.size(0), 5); // the second "as" is a token of its own
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct Tokenizer {
    cutter: Cutter,
    summary: Summary,
    dictionary: Dictionary<TokenStore>,
    /// Those of threads that are between two blocks.
    scratches: Mutex<Vec<Scratch>>,
    /// Where ids go that memory has no room for, if it is limited.
    spilling: Option<Spilling>,
}

/// What blocks hold of a record's tokens.
enum Summary {
    /// The ids of all.
    None,
    /// A sketch.
    Sketch(MinHasher, u64),
    /// A synopsis of this k, its values seeded.
    Synopsis(u32, u64),
}

/// Keeps the ids of all blocks within a limit.
struct Spilling {
    spill: Spill,
    /// With a limit of memory, which the whole must stay within.
    run: Run,
    /// Bytes of ids that stayed in memory.
    kept: AtomicU64,
}

/// Token sets, in memory or not.
///
/// See the example of [`Tokenizer`].
#[derive(Debug)]
pub enum Sets {
    /// All in memory.
    InMemory(TokenSets),
    /// In a temporary file.
    Spilled(SpilledSets),
}

impl Sets {
    /// The same records as two collections, the first `left` of them being the left one.
    pub fn split_at(self, left: u32) -> Self {
        match self {
            Self::InMemory(sets) => Self::InMemory(sets.split_at(left)),
            Self::Spilled(sets) => Self::Spilled(sets.split_at(left)),
        }
    }

    /// The left, or only, collection by itself, but only those of its records that pass.
    pub fn left_where(&self, passes: impl Fn(u32) -> bool, run: &Run) -> Result<Self> {
        Ok(match self {
            Self::InMemory(sets) => Self::InMemory(sets.left_where(passes)),
            Self::Spilled(sets) => Self::Spilled(sets.left_where(passes, run)?),
        })
    }
}

/// A scratch with a larger buffer is not kept.
const LARGE_BUFFER: usize = 1 << 20;

/// This part of the memory allowed is for ids that wait for the end of the input.
const KEPT_SHARE: u64 = 8;
/// What a join in memory takes for each token, with its index and some results.
const JOINING_BYTES: u64 = 14;
/// What making shingles takes for each word, if most occur more than once.
const SHINGLING_BYTES: u64 = 32;
/// What ranking takes for each id.
const RANKING_BYTES: u64 = 4;

/// Keys are interned when so many have been collected.
const BATCH: usize = 1 << 13;

impl Tokenizer {
    /// A tokenizer with an empty dictionary.
    pub fn new(options: &TokenOptions) -> Result<Self> {
        let cut = match options.kind() {
            TokenKind::Shingles(length) if options.reduce.is_none() && length.get() > 1 => {
                Cut::WordStream(length.get() as usize)
            }
            kind => Cut::Tokens(kind),
        };
        Ok(Self::with(Cutter::new(options, cut)?))
    }

    fn with(cutter: Cutter) -> Self {
        let dictionary = Dictionary::new(TokenStore::default, 0);
        Self { cutter, summary: Summary::None, dictionary, scratches: Mutex::default(), spilling: None }
    }

    /// The same, for [`finish_within`](Self::finish_within) the memory that the run allows.
    pub fn within(options: &TokenOptions, run: &Run) -> Result<Self> {
        let mut tokenizer = Self::new(options)?;
        if run.memory.is_some() {
            let spill = Spill::create(run.spill.as_deref())?;
            tokenizer.spilling = Some(Spilling { spill, run: run.clone(), kept: AtomicU64::new(0) });
        }
        Ok(tokenizer)
    }

    /// A tokenizer whose sets are MinHash sketches: their tokens are entries, which are equal if place and value are. A
    /// record without tokens has none.
    pub fn minhash(options: &TokenOptions, settings: MinHashSettings, run: &Run) -> Result<Self> {
        let MinHashSettings { permutations, seed } = settings;
        let mut tokenizer = Self::within(options, run)?;
        tokenizer.cutter = Cutter::of_tokens(options)?;
        tokenizer.summary = Summary::Sketch(MinHasher::new(permutations, seed, run.portable), seed);
        Ok(tokenizer)
    }

    /// A tokenizer whose blocks hold KMV synopses, for [`Synopses::of_blocks`](crate::estimate::Synopses::of_blocks).
    pub fn kmv(options: &TokenOptions, settings: KmvSettings) -> Result<Self> {
        let KmvSettings { size, seed } = settings;
        Synopsis::check_size(size)?;
        let mut tokenizer = Self::with(Cutter::of_tokens(options)?);
        tokenizer.summary = Summary::Synopsis(size, seed);
        Ok(tokenizer)
    }

    /// Padded q-grams of the texts as they stand, repeats numbered.
    pub(crate) fn padded_grams(length: u32) -> Self {
        Self::with(Cutter::padded_grams(length as usize))
    }

    /// Starts a block of records.
    pub fn start_block(&self) -> BlockTokenizer<'_> {
        let scratch = self.scratches.lock().expect("no thread panics with the scratches").pop();
        BlockTokenizer { tokenizer: self, scratch: scratch.unwrap_or_else(Scratch::new), block: TokenBlock::default() }
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
    pub fn finish(mut self, blocks: impl IntoIterator<Item = TokenBlock>) -> Result<TokenSets> {
        let spilling = self.spilling.take();
        let mut blocks = load(blocks, spilling.as_ref())?;
        let mut id_limit = self.dictionary.id_limit();
        let shingles = self.shingles();
        // The dictionary is not needed to rank the tokens, and it may be large.
        drop(self);
        if let Some(shingles) = shingles {
            (blocks, id_limit) = shingles.cut(blocks)?;
        }
        Ok(TokenSets::rank(blocks, id_limit)?.0)
    }

    /// As [`finish`](Self::finish), but what a join needs may be too much for the memory allowed, of which so many bytes
    /// are `taken` by others. Then the sets are left in a temporary file.
    pub fn finish_within(mut self, blocks: impl IntoIterator<Item = TokenBlock>, taken: u64) -> Result<Sets> {
        let Some(mut spilling) = self.spilling.take() else { return Ok(Sets::InMemory(self.finish(blocks)?)) };
        spilling.run.check_memory(taken)?;
        spilling.run.memory = Some(spilling.limit() - taken);
        let mut blocks: Vec<TokenBlock> = blocks.into_iter().collect();
        let mut id_limit = self.dictionary.id_limit();
        let tokens = |blocks: &[TokenBlock]| blocks.iter().flat_map(TokenBlock::lengths).map(u64::from).sum::<u64>();
        let shingles = self.shingles();
        drop(self);
        if let Some(mut shingles) = shingles {
            match SHINGLING_BYTES * tokens(&blocks) <= spilling.limit() {
                true => blocks = load(blocks, Some(&spilling))?,
                false => shingles.spilled = Some((&spilling.spill, &spilling.run)),
            }
            (blocks, id_limit) = shingles.cut(blocks)?;
        }
        if JOINING_BYTES * tokens(&blocks) + 8 * id_limit as u64 <= spilling.limit() {
            return Ok(Sets::InMemory(TokenSets::rank(load(blocks, Some(&spilling))?, id_limit)?.0));
        }
        spilling.run.check_memory(RANKING_BYTES * id_limit as u64)?;
        Ok(Sets::Spilled(SpilledSets::rank(blocks, &spilling.spill, id_limit, &spilling.run)?))
    }

    /// As [`finish`](Self::finish), with the names of the tokens. It takes more memory.
    pub fn finish_named(self, blocks: impl IntoIterator<Item = TokenBlock>) -> Result<(TokenSets, TokenNames)> {
        let mut blocks = load(blocks, self.spilling.as_ref())?;
        let mut id_limit = self.dictionary.id_limit();
        let mut runs = None;
        if let Some(shingles) = self.shingles() {
            let (cut, known) = shingles.cut_named(blocks)?;
            (blocks, id_limit) = (cut, known.id_limit());
            runs = Some(known);
        }
        let mut names = vec![String::new(); id_limit];
        for &id in blocks.iter().flat_map(|block| &block.ids) {
            if names[id as usize].is_empty() {
                names[id as usize] = self.name(id, runs.as_ref());
            }
        }
        let (sets, ranks) = TokenSets::rank(blocks, id_limit)?;
        let mut by_rank = vec![String::new(); sets.distinct_tokens() as usize];
        for (id, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            by_rank[ranks[id] as usize] = name;
        }
        Ok((sets, TokenNames { names: by_rank }))
    }

    /// How to make shingles of the words, or of the entries of sketches, if it is those that are wanted.
    fn shingles(&self) -> Option<Shingles<'static>> {
        let (length, numbers) = match (self.cutter.cut, self.cutter.repeats) {
            _ if matches!(self.summary, Summary::Sketch(..)) => (1, Numbers::Places),
            (Cut::WordStream(length), Repeats::Number) => (length, Numbers::Repeats),
            (Cut::WordStream(length), Repeats::Ignore) => (length, Numbers::None),
            _ => return None,
        };
        Some(Shingles { length, numbers, spilled: None })
    }

    /// What a person would call a token: its text, and `#2` for the second of its kind in a record.
    fn name(&self, id: u32, runs: Option<&Dictionary<ShingleStore>>) -> String {
        let bytes = |id| {
            self.dictionary.with_entry(id, |store, entry| {
                let (token, repeat) = store.token(entry);
                (String::from_utf8_lossy(&token).into_owned(), repeat)
            })
        };
        let (name, repeat) = match runs {
            None => bytes(id),
            Some(runs) => {
                let words = |store: &ShingleStore, entry| (store.run(entry).0.to_vec(), store.run(entry).1);
                let (words, repeat) = runs.with_entry(id, words);
                (words.into_iter().map(|word| bytes(word).0).collect::<Vec<_>>().join(" "), repeat)
            }
        };
        if repeat > 1 { format!("{name}#{repeat}") } else { name }
    }
}

/// Token sets of texts, in one call, in the caller's rayon pool. For more texts than fit in memory, see [`Tokenizer`].
///
/// ```
/// use twinset::exact::{Input, JoinOptions, join};
/// use twinset::tokenize::tokenize;
/// use twinset::{Run, TokenOptions};
///
/// let texts = ["yes as soon as possible", "as soon as possible please"];
/// let sets = tokenize(texts, &TokenOptions::default())?;
/// let joined = join(Input::Sets(&sets), &JoinOptions::at("2/3".parse()?), &Run::default())?;
/// assert_eq!(joined.len(), 1);
/// # Ok::<(), twinset::Error>(())
/// ```
pub fn tokenize<'t>(texts: impl IntoIterator<Item = &'t str>, options: &TokenOptions) -> Result<TokenSets> {
    const RECORDS: usize = 1024;
    let texts: Vec<&str> = texts.into_iter().collect();
    let tokenizer = Tokenizer::new(options)?;
    let blocks = texts.par_chunks(RECORDS).map(|block| tokenizer.block(block.iter().copied()));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    tokenizer.finish(blocks)
}

/// The blocks with all their ids in memory.
fn load(blocks: impl IntoIterator<Item = TokenBlock>, spilling: Option<&Spilling>) -> Result<Vec<TokenBlock>> {
    blocks.into_iter().map(|block| block.load(spilling.map(|spilling| &spilling.spill))).collect()
}

impl Spilling {
    /// Moves a block's ids to the file if there is no room for them.
    fn keep(&self, block: &mut TokenBlock) -> Result<()> {
        let bytes = 4 * block.ids.len() as u64;
        if self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit() / KEPT_SHARE {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
            block.spill(&self.spill, None)?;
        }
        Ok(())
    }

    fn limit(&self) -> u64 {
        self.run.memory.unwrap_or(u64::MAX)
    }
}

/// The names of tokens, for people to read.
///
/// See the example of [`Tokenizer`].
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
///
/// See the example of [`Tokenizer`].
pub struct BlockTokenizer<'t> {
    tokenizer: &'t Tokenizer,
    scratch: Scratch,
    block: TokenBlock,
}

/// What a thread needs for its work, and keeps from block to block.
struct Scratch {
    cutting: CutScratch,
    /// Of a record's tokens, for its sketch.
    hashes: Vec<u32>,
    /// For its synopsis.
    builder: Option<SynopsisBuilder>,
    cache: TokenCache,
    /// Tokens that were not in the cache, their texts, and where in the block their ids belong.
    missing: Vec<Key>,
    missing_text: Vec<u8>,
    missing_places: Vec<usize>,
    missing_ids: Vec<u32>,
}

impl Scratch {
    fn new() -> Self {
        Self {
            cutting: CutScratch::default(),
            hashes: Vec::new(),
            builder: None,
            cache: TokenCache::new(),
            missing: Vec::new(),
            missing_text: Vec::new(),
            missing_places: Vec::new(),
            missing_ids: Vec::new(),
        }
    }
}

impl BlockTokenizer<'_> {
    /// Adds a record.
    pub fn push(&mut self, text: &str) -> Result<()> {
        let before = self.block.ids.len();
        let mut cutting = std::mem::take(&mut self.scratch.cutting);
        match &self.tokenizer.summary {
            Summary::None => {
                self.tokenizer.cutter.for_each(text, &mut cutting, |buffer, key| self.look_up(buffer, key))?
            }
            Summary::Sketch(minima, seed) => {
                let hashes = &mut self.scratch.hashes;
                hashes.clear();
                self.tokenizer.cutter.for_each(text, &mut cutting, |buffer, key| {
                    hashes.push(seeded_hash(key.of(buffer), key.repeat, *seed) as u32);
                    Ok(())
                })?;
                if !hashes.is_empty() {
                    minima.append(hashes, &mut self.block.ids);
                }
            }
            &Summary::Synopsis(size, seed) => {
                let builder = match &mut self.scratch.builder {
                    Some(builder) => builder,
                    none => none.insert(SynopsisBuilder::new(size)?),
                };
                builder.clear();
                self.tokenizer.cutter.for_each(text, &mut cutting, |buffer, key| {
                    builder.insert(synopsis_value(seeded_hash(key.of(buffer), key.repeat, seed), seed));
                    Ok(())
                })?;
                self.block.ids.extend(words_of(builder.synopsis()));
            }
        }
        self.scratch.cutting = cutting;
        self.block.lengths.push((self.block.ids.len() - before) as u32);
        Ok(())
    }

    /// Adds a token's id, or leaves a place for it until the next tokens that are missing are looked up together.
    fn look_up(&mut self, buffer: &[u8], key: &Key) -> Result<()> {
        let Scratch { cache, missing, missing_text, missing_places, .. } = &mut self.scratch;
        if let Some(id) = cache.get(key) {
            self.block.ids.push(id);
            return Ok(());
        }
        missing_places.push(self.block.ids.len());
        self.block.ids.push(0);
        missing.push(Key { start: missing_text.len() as u64, ..*key });
        if !key.packed.is_whole() {
            missing_text.extend_from_slice(key.of(buffer));
        }
        if missing.len() >= BATCH { self.intern() } else { Ok(()) }
    }

    /// The block of all records added.
    pub fn finish(mut self) -> Result<TokenBlock> {
        self.intern()?;
        self.block.ids.shrink_to_fit();
        if let Some(spilling) = &self.tokenizer.spilling {
            spilling.run.check_memory(self.tokenizer.dictionary.bytes())?;
            spilling.keep(&mut self.block)?;
        }
        // A scratch that a huge record has blown up is not kept.
        if self.scratch.cutting.buffer.capacity() <= LARGE_BUFFER {
            self.tokenizer.scratches.lock().expect("no thread panics with the scratches").push(self.scratch);
        }
        Ok(self.block)
    }

    /// Looks the missing tokens up, and fills in their ids.
    fn intern(&mut self) -> Result<()> {
        let Scratch { cache, missing, missing_text, missing_places, missing_ids, .. } = &mut self.scratch;
        self.tokenizer.dictionary.intern(missing, missing_text, missing_ids)?;
        for ((key, &place), &id) in missing.iter().zip(&*missing_places).zip(&*missing_ids) {
            self.block.ids[place] = id;
            cache.put(key, id);
        }
        missing.clear();
        missing_text.clear();
        missing_places.clear();
        missing_ids.clear();
        Ok(())
    }
}
