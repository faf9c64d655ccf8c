//! From files to a collection that can be joined: reads, parses and tokenises on all threads, keeping only what the
//! join needs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hashbrown::HashTable;
use twinset::{
    Input, Run, Seconds, Sets, Strings, Synopses, TokenBlock, TokenKind, TokenNames, TokenOptions, TokenSets,
    Tokenizer, salted_hash,
};

use crate::error::Place;
use crate::ids::{Ids, Names};
use crate::read::{Bad, BadRecords, Format, Inputs, ReadOptions, Record, Rejects, for_each_block, format_of};
use crate::sketches::{SketchFile, SketchSettings};
use crate::uniques::Uniques;
use crate::{Error, Result};

/// What is kept of the records' texts.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Their token sets.
    Sets(&'a TokenOptions),
    /// Sketches of their token sets: how many entries they have, and the seed of the permutations.
    Sketches(&'a TokenOptions, (u32, u64)),
    /// The same sketches as they are, and not as sets.
    RawSketches(&'a TokenOptions, (u32, u64)),
    /// Synopses of their token sets: how many values they have, and their seed.
    Synopses(&'a TokenOptions, (u32, u64)),
    /// Their token sets, the names of the tokens, and the texts.
    NamedSets(&'a TokenOptions),
    /// The texts themselves.
    Texts,
}

/// What is kept of the records.
#[derive(Debug, Clone, Copy)]
pub struct Keeping<'a> {
    /// Of their texts.
    pub content: Content<'a>,
    /// Further fields.
    pub extra: &'a [String],
    /// Whether equal texts of a collection are kept once; see [`Collection::copies`].
    pub once: bool,
    /// Which of the further fields tells equal texts apart, if one does.
    pub apart: Option<usize>,
    /// Whether it is kept how long the texts are.
    pub lengths: bool,
    /// Whether the same was read before: bad records are known, and left out without a word.
    pub again: bool,
}

impl<'a> Keeping<'a> {
    /// The content of every record, and nothing else.
    pub fn all(content: Content<'a>) -> Self {
        Self { content, extra: &[], once: false, apart: None, lengths: false, again: false }
    }
}

/// Which records have equal texts.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    /// For each record, which of the texts, or sets, of its collection is its own; those of the right collection after
    /// those of the left.
    pub originals: Vec<u32>,
    /// How many different texts the left, or only, collection has.
    pub left: usize,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileLayout {
    /// How many records there are, bad ones included.
    pub(crate) records: u64,
    /// Those that were left out, as positions among all.
    pub(crate) left_out: Vec<u64>,
}

/// One or two collections in memory.
pub struct Collection {
    /// The names of the left, or only, collection's records.
    pub left: Ids,
    /// The names of the right collection's records.
    pub right: Option<Ids>,
    /// Token sets, unless only texts were wanted.
    pub sets: Option<Sets>,
    /// Sketches, if these were wanted as they are.
    pub sketches: Vec<TokenBlock>,
    /// Synopses, if these were wanted.
    pub synopses: Option<Synopses>,
    /// The names of the tokens, if they were wanted.
    pub names: Option<TokenNames>,
    /// The texts, if they were wanted; those of the right collection after those of the left.
    pub texts: Option<Strings>,
    /// Further fields, in the order in which they were asked for; the right collection's after the left's.
    pub extra: Vec<Strings>,
    /// Which records have equal texts, if these are kept once.
    pub copies: Option<Copies>,
    /// How many characters the text of each record has, if that is kept.
    pub lengths: Vec<u32>,
    /// The files of each collection, in their order.
    pub(crate) layout: Vec<Vec<FileLayout>>,
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
        if let Some(synopses) = &self.synopses {
            return Input::Synopses(synopses);
        }
        match (&self.sets, &self.texts) {
            (Some(Sets::InMemory(sets)), _) => Input::Sets(sets),
            (Some(Sets::Spilled(sets)), _) => Input::Spilled(sets),
            (None, Some(texts)) => Input::Texts { texts, left: self.right.as_ref().map(|_| self.left_held()) },
            (None, None) => panic!("a collection of raw sketches cannot be joined"),
        }
    }

    /// A collection of sketches, or two, that files hold.
    pub fn of_sketches(mut files: Vec<SketchFile>, run: &Run) -> Result<(Self, SketchSettings)> {
        let right = (files.len() > 1).then(|| files.pop()).flatten();
        let left = files.pop().ok_or_else(|| Error::Usage("there is no file of sketches".to_owned()))?;
        let ids = (left.ids.clone(), right.as_ref().map(|file| file.ids.clone()));
        let (sets, settings) = left.into_sets(right, run)?;
        let collection = Self {
            left: ids.0,
            right: ids.1,
            sets: Some(sets),
            sketches: Vec::new(),
            synopses: None,
            names: None,
            texts: None,
            extra: Vec::new(),
            copies: None,
            lengths: Vec::new(),
            layout: Vec::new(),
            rejected: 0,
            skipped_files: 0,
            seconds: Seconds::default(),
        };
        Ok((collection, settings))
    }

    /// The token sets, if they are in memory.
    pub fn token_sets(&self) -> Option<&TokenSets> {
        match &self.sets {
            Some(Sets::InMemory(sets)) => Some(sets),
            _ => None,
        }
    }

    /// The sets or texts of the left collection by themselves, but only those that pass.
    pub fn left_where(&self, passes: impl Fn(u32) -> bool, run: &Run) -> Result<Held> {
        if let Some(synopses) = &self.synopses {
            return Ok(Held::Synopses(synopses.left_where(passes)));
        }
        Ok(match (&self.sets, &self.texts) {
            (Some(sets), _) => Held::Sets(sets.left_where(passes, run)?),
            (None, Some(texts)) => {
                Held::Texts((0..self.left_held()).filter(|&at| passes(at as u32)).map(|at| texts.get(at)).collect())
            }
            (None, None) => unreachable!("a collection has sets or texts"),
        })
    }

    /// How many sets, or texts, of the left collection there are.
    pub fn left_held(&self) -> usize {
        self.copies.as_ref().map_or(self.left.len(), |copies| copies.left)
    }

    /// About how many bytes the names, texts and further fields take.
    pub fn bytes(&self) -> u64 {
        let ids = [Some(&self.left), self.right.as_ref()].into_iter().flatten().map(Ids::bytes);
        let strings = self.extra.iter().chain(&self.texts).map(Strings::bytes);
        let copies = self.copies.as_ref().map(|copies| 8 * copies.originals.len() as u64);
        ids.chain(strings).chain(copies).sum()
    }

    /// The names of the records that stand on the right of a pair.
    pub fn right_ids(&self) -> &Ids {
        self.right.as_ref().unwrap_or(&self.left)
    }
}

/// Part of a collection.
pub enum Held {
    /// Token sets.
    Sets(Sets),
    /// Texts.
    Texts(Strings),
    /// Synopses.
    Synopses(Synopses),
}

impl Held {
    /// What the library joins.
    pub fn input(&self) -> Input<'_> {
        match self {
            Self::Sets(Sets::InMemory(sets)) => Input::Sets(sets),
            Self::Sets(Sets::Spilled(sets)) => Input::Spilled(sets),
            Self::Texts(texts) => Input::Texts { texts, left: None },
            Self::Synopses(synopses) => Input::Synopses(synopses),
        }
    }
}

/// What is kept of one block.
struct LoadedBlock {
    collection: usize,
    /// The position of its file in the collection, and the file's name.
    file_at: usize,
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
    /// Positions of good records that were taken out later.
    removed: Vec<usize>,
    /// What is kept of the texts: of each record, or of each new text.
    tokens: TokenBlock,
    texts: Strings,
    /// The number of each record's text, and which of these are new here, if texts are kept once.
    numbers: Vec<u32>,
    new: Vec<u32>,
    /// How long each record's text is, if that is kept.
    lengths: Vec<u32>,
    extra: Vec<Strings>,
    records: usize,
}

/// Whether a collection is one of RDF. Its files are all of it, or none.
pub fn are_rdf(inputs: &Inputs, options: &ReadOptions) -> Result<bool> {
    let first = inputs.files.first().map(|file| format_of(file, options)).transpose()?;
    Ok(first.and_then(Format::syntax).is_some())
}

/// What tokens are, where the user does not say it: lines if the left, or only, collection is one of RDF resources, whose terms these
/// are, or of token lists; otherwise words.
pub fn tokens_for(collections: &[Inputs], options: &ReadOptions, tokens: &TokenOptions) -> Result<TokenOptions> {
    let are_resources = collections.first().map(|inputs| are_rdf(inputs, options)).transpose()?;
    let has_lists = collections.first().is_some_and(|inputs| inputs.have_token_lists(options));
    let are_lines = are_resources == Some(true) && options.text.is_empty() || has_lists;
    let kind = if are_lines { TokenKind::Lines } else { TokenKind::Words };
    Ok(TokenOptions { tokens: tokens.tokens.or(Some(kind)), ..tokens.clone() })
}

/// Reads one or two collections.
pub fn load(collections: &[Inputs], options: &ReadOptions, keeping: Keeping<'_>, run: &Run) -> Result<Collection> {
    run.install(|| load_here(collections, options, keeping, run))?
}

fn load_here(collections: &[Inputs], options: &ReadOptions, keeping: Keeping<'_>, run: &Run) -> Result<Collection> {
    let Keeping { content, extra, once, apart, lengths, again } = keeping;
    let begin = Instant::now();
    let rejects = options.rejects.as_deref().filter(|_| !again);
    let rejects = rejects.map(Rejects::create).transpose()?.map(Mutex::new);
    let told = |tokens: &TokenOptions| tokens_for(collections, options, tokens);
    let (tokenizer, keep_texts) = match content {
        Content::Sets(tokens) => (Some(Tokenizer::within(&told(tokens)?, run)?), false),
        Content::Sketches(tokens, entries) => (Some(Tokenizer::sketching(&told(tokens)?, entries, run)?), false),
        Content::RawSketches(tokens, entries) => {
            (Some(Tokenizer::sketching(&told(tokens)?, entries, &Run { memory: None, ..run.clone() })?), false)
        }
        Content::Synopses(tokens, how) => (Some(Tokenizer::synopsizing(&told(tokens)?, how)?), false),
        Content::NamedSets(tokens) => (Some(Tokenizer::within(&told(tokens)?, run)?), true),
        Content::Texts => (None, true),
    };
    let otherwise = if again { BadRecords::Skipped } else { BadRecords::Refused };
    let bad_records = rejects.as_ref().map_or(otherwise, BadRecords::Written);
    let tokenizing = AtomicU64::new(0);
    let uniques = once.then(Uniques::new);
    let (mut blocks, reading) = for_each_block(collections, options, extra, bad_records, run, |info, records| {
        let begin = Instant::now();
        let mut block = LoadedBlock {
            collection: info.collection,
            file_at: info.file_at,
            file: info.file,
            names: None,
            unnamed: Vec::new(),
            first_line: records.first().map_or(1, |record| record.line),
            lines: Vec::new(),
            bad: info.bad,
            removed: Vec::new(),
            tokens: TokenBlock::default(),
            texts: Strings::default(),
            numbers: Vec::new(),
            new: Vec::new(),
            lengths: Vec::new(),
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
        }
        if lengths {
            block.lengths = records.iter().map(|record| record.text.chars().count() as u32).collect();
        }
        let is_kept: Option<Vec<bool>> = uniques.as_ref().map(|uniques| block.number_texts(&records, uniques, apart));
        let kept = |position: usize| is_kept.as_ref().is_none_or(|kept| kept[position]);
        let texts = || (0..records.len()).filter(|&at| kept(at)).map(|at| records[at].text.as_ref());
        if keep_texts {
            block.texts = texts().collect();
        }
        if let Some(tokenizer) = &tokenizer {
            block.tokens = tokenizer.block(texts())?;
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
        (0..collections.len()).map(|collection| collection_ids(blocks, collection, rejects.as_mut(), again)).collect()
    };
    let (mut sketches, mut synopses) = (Vec::new(), None);
    let finish = |blocks: Vec<TokenBlock>, taken: u64| match (tokenizer, content) {
        (Some(_), Content::RawSketches(..)) => {
            sketches = blocks;
            Ok((None, None))
        }
        (Some(_), Content::Synopses(_, (size, _))) => {
            synopses = Some(Synopses::of_blocks(blocks, size)?);
            Ok((None, None))
        }
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
    let (ids, sets, copies) = if options.rejects.is_some() || again || run.memory.is_some() {
        let ids = name(&mut blocks)?;
        let copies = uniques.map(|uniques| copies_of(&mut blocks, uniques.len()));
        let taken = ids.iter().map(Ids::bytes).sum();
        (Ok(ids), finish(take_tokens(&mut blocks), taken), copies)
    } else {
        let copies = uniques.map(|uniques| copies_of(&mut blocks, uniques.len()));
        let tokens = take_tokens(&mut blocks);
        let (ids, sets) = rayon::join(|| name(&mut blocks), || finish(tokens, 0));
        (ids, sets, copies)
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
    let left_held = copies.as_ref().map_or(left.len(), |copies| copies.left);
    let sets = sets.map(|sets| if right.is_some() { sets.split_at(left_held as u32) } else { sets });
    let synopses =
        synopses.map(|synopses| if right.is_some() { synopses.split_at(left_held as u32) } else { synopses });
    let tokenize = passed - read + begin.elapsed().as_secs_f64();
    Ok(Collection {
        left,
        right,
        sets,
        sketches,
        synopses,
        names,
        texts: keep_texts.then_some(texts),
        extra: columns,
        copies,
        lengths: blocks.iter().flat_map(|block| &block.lengths).copied().collect(),
        layout: layout(&blocks, collections),
        rejected,
        skipped_files: collections.iter().map(|inputs| inputs.skipped).sum(),
        seconds: Seconds { read, tokenize, ..Seconds::default() },
    })
}

/// Numbers the different texts in the order in which blocks hold them, and drops those that no record has any more. Which of
/// two blocks holds a text that both have depends on the threads; nothing that is written does.
fn copies_of(blocks: &mut [LoadedBlock], texts: usize) -> Copies {
    let mut is_used = vec![false; texts];
    blocks.iter().flat_map(|block| &block.numbers).for_each(|&number| is_used[number as usize] = true);
    let (mut final_numbers, mut next, mut left) = (vec![u32::MAX; texts], 0, 0);
    for block in &mut *blocks {
        let new = std::mem::take(&mut block.new);
        for &number in new.iter().filter(|&&number| is_used[number as usize]) {
            final_numbers[number as usize] = next;
            next += 1;
            left += usize::from(block.collection == 0);
        }
        if !new.iter().all(|&number| is_used[number as usize]) {
            block.tokens.retain(|position| is_used[new[position] as usize]);
            let unused: Vec<usize> = (0..new.len()).filter(|&at| !is_used[new[at] as usize]).collect();
            block.texts = without(std::mem::take(&mut block.texts), &unused);
        }
    }
    let numbers = blocks.iter().flat_map(|block| &block.numbers);
    let originals = numbers.map(|&number| final_numbers[number as usize]).collect();
    Copies { originals, left }
}

/// What was read of each file of each collection.
fn layout(blocks: &[LoadedBlock], collections: &[Inputs]) -> Vec<Vec<FileLayout>> {
    let mut layout: Vec<Vec<FileLayout>> =
        collections.iter().map(|inputs| vec![FileLayout::default(); inputs.files.len()]).collect();
    for block in blocks {
        let file = &mut layout[block.collection][block.file_at];
        let good = block.records + block.removed.len();
        let total = good + block.bad.len();
        let mut removed = block.removed.iter().peekable();
        let (mut bad, mut number) = (block.bad.iter().peekable(), 0);
        for position in 0..total {
            let is_bad = bad.next_if(|&&bad| bad == position).is_some();
            let is_removed = !is_bad && removed.next_if(|&&removed| removed == number).is_some();
            number += usize::from(!is_bad);
            if is_bad || is_removed {
                file.left_out.push(file.records + position as u64);
            }
        }
        file.records += total as u64;
    }
    layout
}

/// The names of a collection's records, which must differ. A repeated one is an error, or its record is rejected.
fn collection_ids(
    blocks: &mut [LoadedBlock],
    collection: usize,
    mut rejects: Option<&mut Rejects>,
    again: bool,
) -> Result<Ids> {
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
            let hash = salted_hash(name.as_bytes());
            // Names of this block are not among all names yet.
            let get = |entry: u32| match (entry as usize).checked_sub(length) {
                None => all.get(entry as usize),
                Some(own) => names.get(kept_position(own, &repeated)),
            };
            let Some(&first) = table.find(hash, |&entry| get(entry) == name) else {
                table.insert_unique(hash, (length + kept) as u32, |&entry| salted_hash(get(entry).as_bytes()));
                kept += 1;
                continue;
            };
            let line = own[at].line(position);
            if again {
                repeated.push(position);
                continue;
            }
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
    /// Numbers the texts of all records, and tells which of them are new.
    fn number_texts(&mut self, records: &[Record<'_>], uniques: &Uniques, apart: Option<usize>) -> Vec<bool> {
        let is_new = records.iter().map(|record| {
            let field = apart.map_or("", |at| record.extra[at].as_ref());
            let (number, is_new) = uniques.number(self.collection, &record.text, field);
            self.numbers.push(number);
            if is_new {
                self.new.push(number);
            }
            is_new
        });
        is_new.collect()
    }

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
        let keep = |position: usize| positions.binary_search(&position).is_err();
        for strings in &mut self.extra {
            *strings = without(std::mem::take(strings), positions);
        }
        if self.numbers.is_empty() {
            self.texts = without(std::mem::take(&mut self.texts), positions);
            self.tokens.retain(keep);
        }
        for numbers in [&mut self.numbers, &mut self.lengths] {
            let mut at = 0..;
            numbers.retain(|_| at.next().is_some_and(keep));
        }
        self.removed.extend(positions);
        self.records -= positions.len();
    }
}
