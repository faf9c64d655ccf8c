//! A story as it is shown: the article that stands for it, who ran it, and what it mentions.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use utoipa::ToSchema;

use crate::Result;
use crate::article::{Entity, Head};
use crate::search::{Snippet, Snippets};
use crate::store::Snapshot;

/// A story: what is shown of it, and who ran it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Story {
    /// The article that stands for it.
    pub representative: Head,
    /// Why it does.
    pub reason: String,
    /// A piece of it.
    pub snippet: Piece,
    /// All its articles, in the order in which they were published.
    pub articles: Vec<Head>,
    /// How many sources ran it.
    pub sources: u64,
    /// Whether each of its articles was marked read, or is a copy of one that was.
    pub is_read: bool,
    /// Who and what its articles mention, the most frequent first.
    pub entities: Vec<Mention>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Piece {
    /// The piece.
    pub text: String,
    /// Where it has the words that were sought: beginnings and ends, in bytes.
    pub marked: Vec<[usize; 2]>,
}

/// An entity, and in how many articles it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Mention {
    /// Who or what it is.
    #[serde(flatten)]
    pub entity: Entity,
    /// In how many articles.
    pub count: u64,
}

impl Mention {
    /// The most frequent first.
    pub(crate) fn sort(mentions: &mut [Self]) {
        mentions.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.entity.name.cmp(&b.entity.name)));
    }
}

/// So many entities are shown.
pub(crate) const CLOUD: usize = 40;

impl Story {
    /// What is shown of a story: of the articles that were found, the one that was published first stands for it.
    pub(crate) fn of(
        snapshot: &Snapshot<'_>,
        members: &BTreeSet<i64>,
        found: &[i64],
        snippets: &Snippets,
    ) -> Result<Option<Self>> {
        let mut articles = heads(snapshot, members)?;
        articles.sort_by_key(|head| (head.published, std::cmp::Reverse(head.length), head.id));
        let is_found = |head: &&Head| found.contains(&head.id);
        let Some(representative) = articles.iter().find(is_found).or(articles.first()).cloned() else {
            return Ok(None);
        };
        let matching = articles.iter().filter(is_found).count();
        let reason = match (articles.len(), matching) {
            (1, _) => "the only one".to_owned(),
            (all, matching) if all == matching => format!("published first of {all}"),
            (_, 1) => "the only one that matches".to_owned(),
            (all, matching) => format!("published first of the {matching} that match, of {all}"),
        };
        let text = snapshot.text(representative.id)?.unwrap_or_default();
        let sources: HashSet<&str> = articles.iter().map(|head| head.source.as_str()).collect();
        Ok(Some(Self {
            reason,
            snippet: snippets.of(&text).into(),
            sources: sources.len() as u64,
            is_read: is_read(snapshot, &articles)?,
            entities: mentions(&articles),
            representative,
            articles,
        }))
    }
}

/// What lists show of some articles.
pub(crate) fn heads(snapshot: &Snapshot<'_>, members: &BTreeSet<i64>) -> Result<Vec<Head>> {
    let mut heads = Vec::with_capacity(members.len());
    for &id in members {
        heads.extend(snapshot.head(id)?);
    }
    Ok(heads)
}

/// Whether a story has nothing new for its reader: each of its articles was marked read, or is a copy of one that was.
pub(crate) fn is_read(snapshot: &Snapshot<'_>, articles: &[Head]) -> Result<bool> {
    let (read, unread): (Vec<&Head>, Vec<&Head>) = articles.iter().partition(|head| head.is_read);
    let is_in_story = |id: &i64| read.iter().any(|head| head.id == *id);
    for head in unread {
        if read.is_empty() || !snapshot.read_copies(head.id)?.iter().any(is_in_story) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl From<Snippet> for Piece {
    fn from(snippet: Snippet) -> Self {
        Self { text: snippet.text, marked: snippet.marked.into_iter().map(|range| [range.start, range.end]).collect() }
    }
}

/// How often each entity occurs in some articles, the most frequent first.
fn mentions(heads: &[Head]) -> Vec<Mention> {
    let mut counts: HashMap<&str, (&Entity, u64)> = HashMap::new();
    for entity in heads.iter().flat_map(|head| &head.entities) {
        counts.entry(&entity.name).or_insert((entity, 0)).1 += 1;
    }
    let mention = |(entity, count): (&Entity, u64)| Mention { entity: entity.clone(), count };
    let mut mentions: Vec<Mention> = counts.into_values().map(mention).collect();
    Mention::sort(&mut mentions);
    mentions.truncate(CLOUD);
    mentions
}
