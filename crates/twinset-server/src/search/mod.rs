//! Full text: which articles have these words. It is made from the store, and says up to which change it has heard.

pub(crate) mod deadline;
pub(crate) mod overview;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tantivy::collector::{Count, TopDocs};
use tantivy::directory::Directory;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::query::{AllQuery, BooleanQuery, ConstScoreQuery, Occur, Query, QueryParser, RangeQuery, TermQuery};
use tantivy::query_grammar::{UserInputAst, UserInputLeaf, parse_query_lenient};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::snippet::SnippetGenerator;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer,
};
use tantivy::{
    DocAddress, Index, IndexReader, IndexWriter, Order, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};
use twinset_index::TantivyFolder;

use crate::article::Moment;
use crate::limits::Limits;
use crate::search::deadline::WithDeadline;
use crate::search::overview::{ENTITIES, Overview, SOURCES, name_hash};
use crate::store::Change;
use crate::{Error, Result};

/// The words of all articles.
pub(crate) struct TextIndex {
    index: Index,
    fields: Fields,
    reader: IndexReader,
    /// `None` after a failure.
    writer: Mutex<Option<IndexWriter>>,
    /// The last change that it has heard of.
    last: AtomicI64,
}

#[derive(Clone, Copy)]
struct Fields {
    id: Field,
    title: Field,
    text: Field,
    source: Field,
    entity: Field,
    published: Field,
    entity_hashes: Field,
    source_hash: Field,
}

/// What is sought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextQuery {
    /// Words, phrases in quotes, AND, OR, NOT, `title:…`; everything, if it is empty.
    pub words: String,
    /// Who published it: one of these.
    pub sources: Vec<String>,
    /// Who and what it mentions: all of these.
    pub entities: Vec<String>,
    /// The first moment.
    pub from: Option<Moment>,
    /// The moment after the last one.
    pub until: Option<Moment>,
    /// The newest first, in place of the best.
    pub newest: bool,
}

/// What was found: the best first.
pub(crate) struct TextHits {
    pub(crate) total: u64,
    /// Where articles lie in the index, and their numbers.
    pub(crate) articles: Vec<(DocAddress, i64)>,
}

/// A piece of a text, and where it has the words that were sought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    pub(crate) marked: Vec<Range<usize>>,
}

const ANALYZER: &str = "news";
/// What the writer may hold before a segment is written.
const MEMORY: usize = 32 << 20;
/// Segments with fewer articles are alike to the merging.
const SMALL: u32 = 64;
/// A service that is about to end, or a process that it has just started, may hold the lock for a moment.
const PATIENCE: Duration = Duration::from_secs(2);
/// A snippet has so many characters.
const SNIPPET: usize = 220;

impl TextIndex {
    /// Opens the index of a folder, or makes an empty one where there is none that can be used.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let (schema, fields) = schema();
        let opened =
            TantivyFolder::open_index(folder).map_err(Error::from).and_then(|index| match index.schema() == schema {
                true => Self::of(index, fields),
                false => Err(Error::storage("the full-text index", "it is of another version")),
            });
        match opened {
            Err(Error::Storage { reason, .. }) => {
                // It can be made again.
                if folder.exists() {
                    tracing::warn!(reason, "the full-text index cannot be used, and is made again");
                    std::fs::remove_dir_all(folder).map_err(|error| unusable(folder, &error))?;
                }
                std::fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
                Self::of(TantivyFolder::create_index(folder, schema)?, fields)
            }
            opened => opened,
        }
    }

    fn of(index: Index, fields: Fields) -> Result<Self> {
        let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(RemoveLongFilter::limit(40))
            .filter(LowerCaser)
            .filter(AsciiFoldingFilter)
            .filter(Stemmer::new(Language::English))
            .build();
        index.tokenizers().register(ANALYZER, analyzer);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let writer = writer(&index)?;
        let last = index.load_metas()?.payload.and_then(|payload| payload.parse().ok()).unwrap_or(0);
        Ok(Self { index, fields, reader, writer: Mutex::new(Some(writer)), last: AtomicI64::new(last) })
    }

    /// The last change that it has heard of.
    pub(crate) fn last_change(&self) -> i64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Hears of changes, in their order, all or none.
    pub(crate) fn apply(&self, changes: &[Change]) -> Result<()> {
        let Some(last) = changes.last() else { return Ok(()) };
        let mut place = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // One that failed is not used again, and what it had not committed is gone with it.
        let mut own = match place.take() {
            Some(writer) => writer,
            None => writer(&self.index)?,
        };
        self.write(&mut own, changes, last.number)?;
        *place = Some(own);
        Ok(())
    }

    fn write(&self, writer: &mut IndexWriter, changes: &[Change], last: i64) -> Result<()> {
        for change in changes {
            writer.delete_term(Term::from_field_i64(self.fields.id, change.id));
            let Some(article) = &change.article else { continue };
            let mut document = TantivyDocument::new();
            document.add_i64(self.fields.id, article.id);
            document.add_text(self.fields.title, &article.title);
            // What is in the title counts twice. No phrase goes on from one of these to the next.
            for part in [&article.title, &article.title, &article.text] {
                document.add_text(self.fields.text, part);
            }
            document.add_text(self.fields.source, article.source.to_lowercase());
            document.add_u64(self.fields.source_hash, name_hash(&article.source));
            document.add_i64(self.fields.published, article.published.0);
            for entity in &article.entities {
                document.add_text(self.fields.entity, entity.name.to_lowercase());
                document.add_u64(self.fields.entity_hashes, name_hash(&entity.name));
            }
            writer.add_document(document)?;
        }
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&last.to_string());
        commit.commit()?;
        // The store forgets what this has heard of.
        let unsynced = |error| Error::io("the full-text index", &error);
        self.index.directory().sync_directory().map_err(unsynced)?;
        self.reader.reload()?;
        self.last.store(last, Ordering::Relaxed);
        Ok(())
    }

    /// Understands what is sought.
    pub(crate) fn ask(&self, query: &TextQuery, limits: &Limits) -> Result<TextSearch> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let parsed = (!query.words.trim().is_empty()).then(|| self.parse(&query.words, limits)).transpose()?;
        let (words, notes) = parsed.map_or((None, Vec::new()), |(words, notes)| (Some(words), notes));
        if let Some(words) = &words {
            clauses.push((Occur::Must, words.box_clone()));
        }
        let has = |field: Field, text: &str| -> Box<dyn Query> {
            let term = Term::from_field_text(field, &text.to_lowercase());
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        };
        // Filters do not change what is best.
        let filter = |query: Box<dyn Query>| -> (Occur, Box<dyn Query>) {
            (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)))
        };
        if !query.sources.is_empty() {
            let any = query.sources.iter().map(|source| (Occur::Should, has(self.fields.source, source)));
            clauses.push(filter(Box::new(BooleanQuery::new(any.collect()))));
        }
        clauses.extend(query.entities.iter().map(|entity| filter(has(self.fields.entity, entity))));
        if query.from.is_some() || query.until.is_some() {
            let term = |moment: Moment| Term::from_field_i64(self.fields.published, moment.0);
            let from = query.from.map_or(Bound::Unbounded, |from| Bound::Included(term(from)));
            let until = query.until.map_or(Bound::Unbounded, |until| Bound::Excluded(term(until)));
            clauses.push(filter(Box::new(RangeQuery::new(from, until))));
        }
        let query_of: Box<dyn Query> = match clauses.len() {
            0 => Box::new(AllQuery),
            1 => clauses.remove(0).1,
            _ => Box::new(BooleanQuery::new(clauses)),
        };
        let by_score = words.is_some() && !query.newest;
        Ok(TextSearch {
            searcher: self.reader.searcher(),
            fields: self.fields,
            query: query_of,
            words,
            by_score,
            notes,
        })
    }

    /// Understands as much of the words as can be, and tells what cannot.
    fn parse(&self, words: &str, limits: &Limits) -> Result<(Box<dyn Query>, Vec<String>)> {
        if words.chars().count() as u64 > limits.query {
            return Err(Error::Request(format!("a search may have {} characters; leave some words out", limits.query)));
        }
        let (mut depth, mut deepest) = (0u64, 0);
        for byte in words.bytes() {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        let mut notes = Vec::new();
        let plain = (deepest > limits.query_depth).then(|| words.replace(['(', ')'], " "));
        if plain.is_some() {
            notes.push(format!("brackets lie more than {} deep in each other, and were left out", limits.query_depth));
        }
        let mut parser = QueryParser::for_index(&self.index, vec![self.fields.text]);
        parser.set_conjunction_by_default();
        let (sought, problems) = parse_query_lenient(&with_minus(plain.as_deref().unwrap_or(words)));
        if self.has_range_of_words(&sought) {
            let reason = "words from one to another cannot be sought; name the words, with OR between them";
            return Err(Error::Request(reason.to_owned()));
        }
        let problems = problems.into_iter().map(|problem| format!("{} at position {}", problem.message, problem.pos));
        let (query, others) = parser.build_query_from_user_input_ast_lenient(sought);
        let problems: Vec<String> = problems.chain(others.iter().map(ToString::to_string)).collect();
        if !problems.is_empty() {
            let what = &problems[..problems.len().min(3)];
            let hint = "put quotes around a phrase, and around words that have : or brackets in them";
            notes.push(format!("a part of this was left out: {}; {hint}", what.join("; ")));
        }
        Ok((query, notes))
    }

    /// Whether all words between two others are sought somewhere: nobody means that, and it reads most of the index.
    fn has_range_of_words(&self, sought: &UserInputAst) -> bool {
        match sought {
            UserInputAst::Clause(parts) => parts.iter().any(|(_, part)| self.has_range_of_words(part)),
            UserInputAst::Boost(part, _) => self.has_range_of_words(part),
            UserInputAst::Leaf(leaf) => match &**leaf {
                UserInputLeaf::Range { field: Some(field), .. } => {
                    let schema = self.index.schema();
                    schema.get_field(field).is_ok_and(|field| schema.get_field_entry(field).field_type().is_str())
                }
                _ => false,
            },
        }
    }
}

/// The query with `-word` for `NOT word` and `AND NOT word`, outside of quotes: the parser takes the latter for nothing.
fn with_minus(words: &str) -> String {
    let rewrite = |(number, part): (usize, &str)| match number % 2 {
        0 => {
            format!(" {part}").replace(" AND NOT ", " -").replace(" NOT ", " -").replace("(NOT ", "(-")[1..].to_owned()
        }
        _ => part.to_owned(),
    };
    words.split('"').enumerate().map(rewrite).collect::<Vec<_>>().join("\"")
}

/// A query of one state of the index.
pub(crate) struct TextSearch {
    searcher: Searcher,
    fields: Fields,
    query: Box<dyn Query>,
    words: Option<Box<dyn Query>>,
    by_score: bool,
    /// What could not be understood.
    pub(crate) notes: Vec<String>,
}

impl TextSearch {
    /// The best articles that have what is sought, and how many there are.
    pub(crate) fn hits(&self, most: usize, deadline: Instant) -> Result<TextHits> {
        let top = TopDocs::with_limit(most.min(self.searcher.num_docs() as usize).max(1));
        // Where an article lies depends on when segments were merged, so the earlier of two that are as good comes first.
        let mut hits: Vec<(f64, DocAddress)> = Vec::new();
        let total = if self.by_score {
            let collector = WithDeadline { collector: (top.order_by_score(), Count), deadline };
            let (best, total) = self.searcher.search(&self.query, &collector)?;
            hits.extend(best.into_iter().map(|(score, address)| (f64::from(score), address)));
            total
        } else {
            let newest = top.order_by_fast_field::<i64>("published", Order::Desc);
            let collector = WithDeadline { collector: (newest, Count), deadline };
            let (newest, total) = self.searcher.search(&self.query, &collector)?;
            hits.extend(newest.into_iter().map(|(time, address)| (time.unwrap_or(0) as f64, address)));
            total
        };
        let mut columns = HashMap::new();
        let mut found: Vec<(f64, i64, DocAddress)> = Vec::with_capacity(hits.len());
        for (value, address) in hits {
            let column = match columns.entry(address.segment_ord) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let segment = self.searcher.segment_reader(address.segment_ord);
                    new.insert(segment.fast_fields().i64("id")?)
                }
            };
            found.extend(column.first(address.doc_id).map(|id| (value, id, address)));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let articles = found.into_iter().map(|(_, id, address)| (address, id)).collect();
        Ok(TextHits { total: total as u64, articles })
    }

    /// What articles that were found tell together.
    pub(crate) fn overview(&self, hits: &TextHits) -> Result<Overview> {
        Overview::of(&self.searcher, &hits.articles)
    }

    /// What makes snippets of texts.
    pub(crate) fn snippets(&self) -> Result<Snippets> {
        let generator = match &self.words {
            None => None,
            Some(words) => {
                let mut generator = SnippetGenerator::create(&self.searcher, &**words, self.fields.text)?;
                generator.set_max_num_chars(SNIPPET);
                Some(generator)
            }
        };
        Ok(Snippets { generator })
    }
}

/// Makes snippets of texts.
pub(crate) struct Snippets {
    generator: Option<SnippetGenerator>,
}

impl Snippets {
    /// For texts in which nothing was sought.
    pub(crate) fn none() -> Self {
        Self { generator: None }
    }

    /// The part of a text that has most of what was sought, or its beginning.
    pub(crate) fn of(&self, text: &str) -> Snippet {
        if let Some(generator) = &self.generator {
            let found = generator.snippet(text);
            if !found.is_empty() {
                let range = found.fragment_range();
                let (before, after) =
                    (if range.start > 0 { "…" } else { "" }, if range.end < text.len() { "…" } else { "" });
                let marked = tantivy::snippet::collapse_overlapped_ranges(found.highlighted());
                let marked = marked.into_iter().map(|range| range.start + before.len()..range.end + before.len());
                let text = format!("{before}{}{after}", found.fragment().replace('\n', " "));
                return Snippet { text, marked: marked.collect() };
            }
        }
        let end = text
            .char_indices()
            .nth(SNIPPET)
            .map_or(text.len(), |(end, _)| text[..end].rfind(char::is_whitespace).unwrap_or(end));
        let more = if end < text.len() { "…" } else { "" };
        Snippet { text: format!("{}{more}", &text[..end]), marked: Vec::new() }
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> Error {
    Error::storage(&folder.display().to_string(), error)
}

fn writer(index: &Index) -> Result<IndexWriter> {
    let until = Instant::now() + PATIENCE;
    let writer: IndexWriter = loop {
        match index.writer_with_num_threads(1, MEMORY) {
            Err(TantivyError::LockFailure(..)) if Instant::now() < until => std::thread::sleep(PATIENCE / 100),
            made => break made?,
        }
    };
    // Most commits bring a few articles. Small segments are merged with small ones, not with one that was merged just before.
    let mut policy = LogMergePolicy::default();
    policy.set_min_layer_size(SMALL);
    writer.set_merge_policy(Box::new(policy));
    // What a process left that was killed could have a name that is needed now.
    writer.garbage_collect_files().wait()?;
    Ok(writer)
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqsAndPositions),
    );
    let fields = Fields {
        id: schema.add_i64_field("id", INDEXED | FAST),
        title: schema.add_text_field("title", words.clone()),
        text: schema.add_text_field("text", words),
        source: schema.add_text_field("source", STRING),
        entity: schema.add_text_field("entity", STRING),
        published: schema.add_i64_field("published", INDEXED | FAST),
        entity_hashes: schema.add_u64_field(ENTITIES, FAST),
        source_hash: schema.add_u64_field(SOURCES, FAST),
    };
    (schema.build(), fields)
}
