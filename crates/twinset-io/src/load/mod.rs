//! From files to a collection that can be joined: reads, parses and tokenises on all threads, keeping only what the
//! join needs.

mod block;
mod names;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use twinset::estimate::{KmvSettings, MinHashSettings, Synopses};
use twinset::exact::Seconds;
use twinset::exact::{Plan, Representation};
use twinset::support::Strings;
use twinset::tokenize::TokenBlock;
use twinset::tokenize::{Sets, Tokenizer};
use twinset::{Run, TokenKind, TokenOptions};

use block::{LoadedBlock, without};
use names::collection_ids;

use crate::Result;
use crate::collection::{Collection, Copies, FileLayout};
use crate::ids::Ids;
use crate::read::{BadRecords, Format, Inputs, ReadOptions, Rejects, for_each_block, format_of};
use crate::uniques::Uniques;

/// What is kept of the records' texts.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Their token sets.
    Sets(&'a TokenOptions),
    /// MinHash sketches of their token sets.
    Sketches(&'a TokenOptions, MinHashSettings),
    /// The same sketches as they are, and not as sets.
    RawSketches(&'a TokenOptions, MinHashSettings),
    /// KMV synopses of their token sets.
    Synopses(&'a TokenOptions, KmvSettings),
    /// Their token sets, the names of the tokens, and the texts.
    NamedSets(&'a TokenOptions),
    /// The texts themselves.
    Texts,
}

impl<'a> From<&'a Plan> for Content<'a> {
    fn from(plan: &'a Plan) -> Self {
        match plan.representation() {
            Representation::Texts => Self::Texts,
            Representation::Sets => Self::Sets(plan.tokens()),
            Representation::Sketches(settings) => Self::Sketches(plan.tokens(), settings),
            Representation::Synopses(settings) => Self::Synopses(plan.tokens(), settings),
        }
    }
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

/// Whether a collection is one of RDF. Its files are all of it, or none.
pub fn are_rdf(inputs: &Inputs, options: &ReadOptions) -> Result<bool> {
    let first = inputs.files.first().map(|file| format_of(file, options)).transpose()?;
    Ok(first.is_some_and(Format::is_rdf))
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
        Content::Sketches(tokens, settings) => (Some(Tokenizer::minhash(&told(tokens)?, settings, run)?), false),
        Content::RawSketches(tokens, settings) => {
            (Some(Tokenizer::minhash(&told(tokens)?, settings, &Run { memory: None, ..run.clone() })?), false)
        }
        Content::Synopses(tokens, settings) => (Some(Tokenizer::kmv(&told(tokens)?, settings)?), false),
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
        (Some(_), Content::Synopses(_, KmvSettings { size, .. })) => {
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
    let layout = layout(&blocks, collections);
    let rows = |ids: Ids, side: usize| match collections.get(side).is_some_and(Inputs::are_table) {
        true => ids.of_rows(&layout[side][0].left_out),
        false => ids,
    };
    let tokenize = passed - read + begin.elapsed().as_secs_f64();
    Ok(Collection {
        left: rows(left, 0),
        right: right.map(|right| rows(right, 1)),
        sets,
        sketches,
        synopses,
        names,
        texts: keep_texts.then_some(texts),
        extra: columns,
        copies,
        lengths: blocks.iter().flat_map(|block| &block.lengths).copied().collect(),
        layout,
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
