//! A search: articles that have what is sought, as stories, and what all of them tell together.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use utoipa::ToSchema;

use crate::Result;
use crate::news::News;
use crate::search::TextQuery;
use crate::search::overview::{NameCount, name_hash};
use crate::store::Snapshot;
use crate::stories::StoryQuery;
use crate::stories::story::{CLOUD, Mention, Story, heads, is_read};

/// What is asked of a search.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What the articles have.
    pub text: TextQuery,
    /// What makes them a story.
    pub story: StoryQuery,
    /// By how many sources ran it, in place of the order of the articles.
    pub hot: bool,
    /// Leave out what was read.
    pub unread: bool,
    /// Skip so many stories.
    pub skip: usize,
    /// Show so many.
    pub count: usize,
}

/// Stories that were found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SearchResult {
    /// How many articles have what was sought.
    pub articles: u64,
    /// What of the search could not be understood.
    pub notes: Vec<String>,
    /// The stories, in the order of their best articles.
    pub stories: Vec<Story>,
    /// Whether there are more stories after these.
    pub more: bool,
    /// How many of the articles were counted for what follows: all of them, or the best of very many.
    pub counted: u64,
    /// Who and what they mention, the most frequent first.
    pub entities: Vec<Mention>,
    /// Who published them, and how many, those with most first.
    pub sources: Vec<SourceCount>,
    /// When they were published, day by day.
    pub timeline: Vec<DayCount>,
}

/// A source, and how many articles it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceCount {
    /// Who published them.
    pub source: String,
    /// How many.
    pub count: u64,
}

/// A day, and how many articles it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DayCount {
    /// The day.
    #[schema(format = Date)]
    pub day: String,
    /// How many.
    pub count: u64,
}

/// Among so many of the newest articles the hottest stories are sought.
const HOT: usize = 500;
/// So many sources of a result are shown.
const SOURCES: usize = 100;

impl News {
    /// The stories of a search.
    pub fn search(&self, search: &Search) -> Result<SearchResult> {
        let deadline = self.deadline();
        let asking = self.data.text.ask(&search.text, self.limits())?;
        let hits = asking.hits(self.limits().hits as usize, deadline)?;
        let overview = asking.overview(&hits)?;
        self.data.store.read(|snapshot| {
            let stories = self.stories(snapshot, search.story, deadline)?;
            let needed = search.skip + search.count + 1;
            // The members of each story, and those of them that were found, in order.
            let mut groups: Vec<(BTreeSet<i64>, Vec<i64>)> = Vec::new();
            let mut group_of: HashMap<i64, usize> = HashMap::new();
            for &(_, id) in hits.articles.iter().take(if search.hot { HOT } else { usize::MAX }) {
                if let Some(&group) = group_of.get(&id) {
                    // Stories that were read are left out.
                    if let Some((_, found)) = groups.get_mut(group) {
                        found.push(id);
                    }
                    continue;
                }
                if !search.hot && groups.len() >= needed {
                    continue;
                }
                let mut members = stories.of(id)?;
                members.retain(|member| !group_of.contains_key(member));
                if search.unread && is_read(snapshot, &heads(snapshot, &members)?)? {
                    group_of.extend(members.iter().map(|&member| (member, usize::MAX)));
                    continue;
                }
                group_of.extend(members.iter().map(|&member| (member, groups.len())));
                groups.push((members, vec![id]));
            }
            if search.hot {
                let mut counted = Vec::new();
                for group in groups {
                    counted.push((sources(snapshot, &group.0)?, group));
                }
                counted.sort_by_key(|(sources, _)| std::cmp::Reverse(*sources));
                groups = counted.into_iter().map(|(_, group)| group).collect();
            }
            let more = groups.len() > search.skip + search.count;
            let snippets = asking.snippets()?;
            let shown = groups.into_iter().skip(search.skip).take(search.count);
            let shown = shown.map(|(members, found)| Story::of(snapshot, &members, &found, &snippets));
            let stories = shown.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            Ok(SearchResult {
                articles: hits.total,
                notes: asking.notes.clone(),
                stories,
                more,
                counted: hits.articles.len() as u64,
                entities: self.mentioned(snapshot, &overview.entities)?,
                sources: self.published_by(snapshot, &overview.sources)?,
                timeline: overview.days.iter().map(|&(day, count)| DayCount { day: day.day(), count }).collect(),
            })
        })
    }

    /// The names of entities that were counted.
    fn mentioned(&self, snapshot: &Snapshot<'_>, counted: &[NameCount]) -> Result<Vec<Mention>> {
        let mut mentions = Vec::new();
        for own in counted.iter().take(CLOUD) {
            let read = || {
                let entities = snapshot.head(own.article)?.into_iter().flat_map(|head| head.entities);
                Ok(entities.into_iter().find(|entity| name_hash(&entity.name) == own.hash))
            };
            let entity = self.entities.of(own.hash, read)?;
            mentions.extend(entity.map(|entity| Mention { entity, count: own.count }));
        }
        Mention::sort(&mut mentions);
        Ok(mentions)
    }

    /// The names of sources that were counted.
    fn published_by(&self, snapshot: &Snapshot<'_>, counted: &[NameCount]) -> Result<Vec<SourceCount>> {
        let mut sources = Vec::new();
        for own in counted.iter().take(SOURCES) {
            let read =
                || Ok(snapshot.head(own.article)?.map(|head| head.source).filter(|name| name_hash(name) == own.hash));
            let source = self.sources.of(own.hash, read)?;
            sources.extend(source.map(|source| SourceCount { source, count: own.count }));
        }
        sources.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.source.cmp(&b.source)));
        Ok(sources)
    }
}

/// How many sources ran a story.
fn sources(snapshot: &Snapshot<'_>, members: &BTreeSet<i64>) -> Result<usize> {
    let sources: HashSet<String> = heads(snapshot, members)?.into_iter().map(|head| head.source).collect();
    Ok(sources.len())
}
