//! From files to a collection that can be joined: reads, parses and tokenises on all threads, keeping only what the
//! join needs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hashbrown::HashTable;
use twinset::{Input, Run, Seconds, Sets, Strings, TokenBlock, TokenNames, TokenOptions, TokenSets, Tokenizer};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Place;
use crate::ids::{Ids, Names};
use crate::read::{Bad, Inputs, ReadOptions, Rejects, for_each_block};
use crate::{Error, Result};

/// What is kept of the records' texts.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Their token sets.
    Sets(&'a TokenOptions),
    /// Their token sets, the names of the tokens, and the texts.
    NamedSets(&'a TokenOptions),
    /// The texts themselves.
    Texts,
}

/// One or two collections in memory.
pub struct Collection {
    /// The names of the left, or only, collection's records.
    pub left: Ids,
    /// The names of the right collection's records.
    pub right: Option<Ids>,
    /// Token sets, unless only texts were wanted.
    pub sets: Option<Sets>,
    /// The names of the tokens, if they were wanted.
    pub names: Option<TokenNames>,
    /// The texts, if they were wanted; those of the right collection after those of the left.
    pub texts: Option<Strings>,
    /// Further fields, in the order in which they were asked for; the right collection's after the left's.
    pub extra: Vec<Strings>,
    /// Bad records that were left out.
    pub rejected: u64,
    /// Files of folders that were left out, as their endings are not known.
    pub skipped_files: u64,
    /// Time for reading and tokenising.
    pub seconds: Seconds,
}

impl Collection {
    /// What the library joins.
    pub fn input(&self) -> Input<'_> {
        match (&self.sets, &self.texts) {
            (Some(Sets::InMemory(sets)), _) => Input::Sets(sets),
            (Some(Sets::Spilled(sets)), _) => Input::Spilled(sets),
            (None, Some(texts)) => Input::Texts { texts, left: self.right.as_ref().map(|_| self.left.len()) },
            (None, None) => unreachable!("a collection has sets or texts"),
        }
    }

    /// The token sets, if they are in memory.
    pub fn token_sets(&self) -> Option<&TokenSets> {
        match &self.sets {
            Some(Sets::InMemory(sets)) => Some(sets),
            _ => None,
        }
    }

    /// About how many bytes the names, texts and further fields take.
    pub fn bytes(&self) -> u64 {
        let ids = [Some(&self.left), self.right.as_ref()].into_iter().flatten().map(Ids::bytes);
        let strings = self.extra.iter().chain(&self.texts).map(Strings::bytes);
        ids.chain(strings).sum()
    }

    /// The names of the records that stand on the right of a pair.
    pub fn right_ids(&self) -> &Ids {
        self.right.as_ref().unwrap_or(&self.left)
    }
}

/// What is kept of one block.
struct LoadedBlock {
    collection: usize,
    file: String,
    /// The records' names, where any has one; an unnamed record has an empty one, and `unnamed` says so.
    names: Option<Strings>,
    unnamed: Vec<usize>,
    /// The line of the first record.
    first_line: u64,
    /// The lines of all records, unless each has one.
    lines: Vec<u64>,
    /// Positions of bad records among all of the block.
    bad: Vec<usize>,
    tokens: TokenBlock,
    texts: Strings,
    extra: Vec<Strings>,
    records: usize,
}

/// Reads one or two collections.
pub fn load(
    collections: &[Inputs],
    options: &ReadOptions,
    content: Content<'_>,
    extra: &[String],
    run: &Run,
) -> Result<Collection> {
    run.install(|| load_here(collections, options, content, extra, run))?
}

fn load_here(
    collections: &[Inputs],
    options: &ReadOptions,
    content: Content<'_>,
    extra: &[String],
    run: &Run,
) -> Result<Collection> {
    let begin = Instant::now();
    let rejects = options.rejects.as_deref().map(Rejects::create).transpose()?.map(Mutex::new);
    let (token_options, keep_texts) = match content {
        Content::Sets(options) => (Some(options), false),
        Content::NamedSets(options) => (Some(options), true),
        Content::Texts => (None, true),
    };
    let tokenizer = token_options.map(|options| Tokenizer::within(options, run)).transpose()?;
    let tokenizing = AtomicU64::new(0);
    let (mut blocks, reading) = for_each_block(collections, options, extra, rejects.as_ref(), run, |info, records| {
        let begin = Instant::now();
        let mut block = LoadedBlock {
            collection: info.collection,
            file: info.file,
            names: None,
            unnamed: Vec::new(),
            first_line: records.first().map_or(1, |record| record.line),
            lines: Vec::new(),
            bad: info.bad,
            tokens: TokenBlock::default(),
            texts: Strings::default(),
            extra: vec![Strings::default(); extra.len()],
            records: records.len(),
        };
        if records.iter().any(|record| record.id.is_some()) {
            block.names = Some(records.iter().map(|record| record.id.as_deref().unwrap_or_default()).collect());
            block.unnamed = (0..records.len()).filter(|&position| records[position].id.is_none()).collect();
            if !records.iter().zip(block.first_line..).all(|(record, line)| record.line == line) {
                block.lines = records.iter().map(|record| record.line).collect();
            }
        }
        for record in &records {
            for (column, value) in block.extra.iter_mut().zip(&record.extra) {
                column.push(value);
            }
            if keep_texts {
                block.texts.push(&record.text);
            }
        }
        if let Some(tokenizer) = &tokenizer {
            block.tokens = tokenizer.block(records.iter().map(|record| record.text.as_ref()))?;
        }
        tokenizing.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        Ok(block)
    })?;
    // Reading and tokenising share the threads; the wall time is split as their own times are.
    let passed = begin.elapsed().as_secs_f64();
    let tokenizing = tokenizing.into_inner() as f64 / 1e9;
    let read = passed * reading / (reading + tokenizing).max(f64::MIN_POSITIVE);

    let begin = Instant::now();
    let mut rejects = rejects.map(|rejects| rejects.into_inner().expect("no writer panicked"));
    let mut name = |blocks: &mut [LoadedBlock]| -> Result<Vec<Ids>> {
        (0..collections.len()).map(|collection| collection_ids(blocks, collection, rejects.as_mut())).collect()
    };
    let finish = |blocks: Vec<TokenBlock>, taken: u64| match (tokenizer, content) {
        (Some(tokenizer), Content::NamedSets(_)) => {
            tokenizer.finish_named(blocks).map(|(sets, names)| (Some(Sets::InMemory(sets)), Some(names)))
        }
        (Some(tokenizer), _) => tokenizer.finish_within(blocks, taken).map(|sets| (Some(sets), None)),
        (None, _) => Ok((None, None)),
    };
    let take_tokens = |blocks: &mut [LoadedBlock]| -> Vec<TokenBlock> {
        blocks.iter_mut().map(|block| std::mem::take(&mut block.tokens)).collect()
    };
    // A repeated name takes its record's tokens out if it is to be rejected, and is the end of everything otherwise.
    // Where memory is limited, one comes after the other, as each needs some for a while.
    let (ids, sets) = if options.rejects.is_some() || run.memory.is_some() {
        let ids = name(&mut blocks)?;
        let taken = ids.iter().map(Ids::bytes).sum();
        (Ok(ids), finish(take_tokens(&mut blocks), taken))
    } else {
        let tokens = take_tokens(&mut blocks);
        rayon::join(|| name(&mut blocks), || finish(tokens, 0))
    };
    let (mut ids, (sets, names)) = (ids?, sets?);
    let mut texts = Strings::default();
    let mut columns = vec![Strings::default(); extra.len()];
    for block in &blocks {
        texts.append(&block.texts);
        for (column, part) in columns.iter_mut().zip(&block.extra) {
            column.append(part);
        }
    }
    let rejected = rejects.map_or(Ok(0), Rejects::finish)?;
    let right = if ids.len() > 1 { ids.pop() } else { None };
    let left = ids.pop().unwrap_or(Ids::Numbered(0));
    let sets = sets.map(|sets| if right.is_some() { sets.split_at(left.len() as u32) } else { sets });
    let tokenize = passed - read + begin.elapsed().as_secs_f64();
    Ok(Collection {
        left,
        right,
        sets,
        names,
        texts: keep_texts.then_some(texts),
        extra: columns,
        rejected,
        skipped_files: collections.iter().map(|inputs| inputs.skipped).sum(),
        seconds: Seconds { read, tokenize, ..Seconds::default() },
    })
}

/// The names of a collection's records, which must differ. A repeated one is an error, or its record is rejected.
fn collection_ids(blocks: &mut [LoadedBlock], collection: usize, mut rejects: Option<&mut Rejects>) -> Result<Ids> {
    let mut own: Vec<&mut LoadedBlock> = blocks.iter_mut().filter(|block| block.collection == collection).collect();
    let total = own.iter().map(|block| (block.records + block.bad.len()) as u64).sum();
    if own.iter().all(|block| block.names.is_none()) {
        if own.iter().all(|block| block.bad.is_empty()) {
            return Ok(Ids::Numbered(total));
        }
        let mut numbers = Vec::new();
        let mut before = 0;
        for block in own {
            numbers.extend(block.numbers().map(|number| before + number));
            before += (block.records + block.bad.len()) as u64;
        }
        return Ok(Ids::Numbers(numbers));
    }
    let mut all = Names::default();
    let mut table: HashTable<u32> = HashTable::with_capacity(total as usize);
    let (mut before, mut length) = (0, 0);
    for at in 0..own.len() {
        let names = own[at].complete_names(before);
        let (mut repeated, mut kept) = (Vec::new(), 0);
        for position in 0..names.len() {
            let name = names.get(position);
            let hash = xxh3_64(name.as_bytes());
            // Names of this block are not among all names yet.
            let get = |entry: u32| match (entry as usize).checked_sub(length) {
                None => all.get(entry as usize),
                Some(own) => names.get(kept_position(own, &repeated)),
            };
            let Some(&first) = table.find(hash, |&entry| get(entry) == name) else {
                table.insert_unique(hash, (length + kept) as u32, |&entry| xxh3_64(get(entry).as_bytes()));
                kept += 1;
                continue;
            };
            let line = own[at].line(position);
            let Some(rejects) = &mut rejects else {
                return Err(used_twice(&own, name, first as usize, at, line));
            };
            let reason = format!("the id `{name}` was used before");
            rejects.write(&own[at].file, &Bad { line, column: None, reason, record: name.to_owned() })?;
            repeated.push(position);
        }
        before += (own[at].records + own[at].bad.len()) as u64;
        length += kept;
        all.push(without(names, &repeated));
        own[at].remove(&repeated);
    }
    Ok(Ids::Names(all))
}

/// The position in a block of the `kept`-th record that is not repeated.
fn kept_position(kept: usize, repeated: &[usize]) -> usize {
    repeated.iter().fold(kept, |position, &repeated| if repeated <= position { position + 1 } else { position })
}

/// The strings but for those at some positions.
fn without(strings: Strings, positions: &[usize]) -> Strings {
    if positions.is_empty() {
        return strings;
    }
    let kept = strings.iter().enumerate().filter(|(position, _)| positions.binary_search(position).is_err());
    kept.map(|(_, string)| string).collect()
}

/// The error for a record whose id is that of the collection's record at position `first`.
fn used_twice(blocks: &[&mut LoadedBlock], name: &str, mut first: usize, at: usize, line: u64) -> Error {
    let mut block = &blocks[0];
    for candidate in blocks {
        block = candidate;
        if first < block.records {
            break;
        }
        first -= block.records;
    }
    let reason = format!(
        "the id `{name}` was used before, at {}:{}; name a field whose values differ with --id \
         (--rejects FILE goes on without such records)",
        block.file,
        block.line(first),
    );
    Error::Record { place: Place { file: blocks[at].file.clone(), line, column: None }, reason }
}

impl LoadedBlock {
    /// The numbers of the good records among all of the block, from 1.
    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let all = 0..self.records + self.bad.len();
        all.filter(|position| self.bad.binary_search(position).is_err()).map(|position| position as u64 + 1)
    }

    /// The names of all records, which are their numbers where nothing names them; `before` of the collection's records
    /// come before the block's.
    fn complete_names(&mut self, before: u64) -> Strings {
        match self.names.take() {
            Some(names) if self.unnamed.is_empty() => names,
            names => {
                let named = |position: usize| {
                    names
                        .as_ref()
                        .filter(|_| self.unnamed.binary_search(&position).is_err())
                        .map(|all| all.get(position))
                };
                let name = |(position, number): (usize, u64)| {
                    named(position).map_or_else(|| (before + number).to_string(), str::to_owned)
                };
                self.numbers().enumerate().map(name).collect()
            }
        }
    }

    /// The line of a record.
    fn line(&self, position: usize) -> u64 {
        self.lines.get(position).copied().unwrap_or(self.first_line + position as u64)
    }

    /// Takes records out.
    fn remove(&mut self, positions: &[usize]) {
        if positions.is_empty() {
            return;
        }
        for strings in self.extra.iter_mut().chain([&mut self.texts]) {
            *strings = without(std::mem::take(strings), positions);
        }
        let keep = |position: usize| positions.binary_search(&position).is_err();
        self.tokens.retain(keep);
        self.records -= positions.len();
    }
}
