//! The page of stories: what was sought, in groups.

use axum::extract::State;
use maud::{Markup, html};

use super::parts::{Page, address, button, cloud, count, line, piece, time, timeline};
use super::{PageResult, Service};
use crate::article::Entity;
use crate::http::parameters::{Parameters, SearchParameters, Sort};
use crate::news::SearchResult;
use crate::stories::story::Story;
use crate::stories::{LEAST, LEAST_PROBABILITY, MOST_PROBABILITY, StoryQuery};

pub(super) async fn show(
    State(service): State<Service>,
    parameters: Result<Parameters<SearchParameters>, super::Failure>,
) -> PageResult {
    let Parameters(mut parameters) = parameters?;
    // Without words there is no best.
    if parameters.q.trim().is_empty() && parameters.sort == Sort::Relevance {
        parameters.sort = Sort::Newest;
    }
    let search = parameters.search(service.limits())?;
    let query = search.story;
    let (found, total) = service.work(move |news| Ok((news.search(&search)?, news.count()?))).await?;
    let view = View { parameters: &parameters, query };
    let current = if parameters.sort == Sort::Hot { "/?sort=hot" } else { "/" };
    let title = if parameters.q.is_empty() { "Stories" } else { parameters.q.as_str() };
    Ok(Page::new(title).seeking(&parameters.q).at(current).show(&view.page(&found, total)))
}

struct View<'a> {
    parameters: &'a SearchParameters,
    query: StoryQuery,
}

impl View<'_> {
    /// This search with something changed.
    fn with(&self, changes: &[(&str, &str)]) -> String {
        let own = self.parameters;
        let (min_sim, min_prob) = (self.query.min_sim.to_string(), self.query.min_prob.to_string());
        let mut all: Vec<(&str, &str)> = vec![("q", &own.q), ("from", &own.from), ("to", &own.to)];
        all.extend(own.entity.iter().map(|entity| ("entity", entity.as_str())));
        all.extend(own.source.iter().map(|source| ("source", source.as_str())));
        let sort = if own.q.trim().is_empty() && own.sort == Sort::Newest { "" } else { own.sort.name() };
        all.extend([("sort", sort), ("unread", if own.unread { "true" } else { "" })]);
        all.extend(own.min_sim.iter().map(|_| ("min_sim", min_sim.as_str())));
        all.extend(own.min_prob.iter().map(|_| ("min_prob", min_prob.as_str())));
        for &(name, value) in changes {
            match name {
                "entity" | "source" => all.push((name, value)),
                _ => {
                    all.retain(|(own, _)| *own != name);
                    all.push((name, value));
                }
            }
        }
        address("/", &all)
    }

    /// This search without one of its filters.
    fn without(&self, name: &str, value: &str) -> String {
        let mut fewer = self.parameters.clone();
        match name {
            "entity" => fewer.entity.retain(|entity| entity != value),
            _ => fewer.source.retain(|source| source != value),
        }
        View { parameters: &fewer, query: self.query }.with(&[])
    }

    fn page(&self, found: &SearchResult, total: u64) -> Markup {
        html! {
            div class="columns" {
                aside {
                    (self.controls())
                }
                div id="results" aria-live="polite" {
                    (self.filters())
                    @for note in &found.notes { p class="problem" role="status" { (note) } }
                    @if total == 0 {
                        div class="notice" {
                            h1 { "No article yet" }
                            p { "Follow a " a href="/feeds" { "feed" } ", start the service with " code { "--import" } ", or send one: " }
                            pre { code { "curl http://localhost:8080/api/articles -H 'content-type: application/json' \\\n  -d '{\"url\": \"https://example.com/1\", \"title\": \"A title\", \"text\": \"What happened.\"}'" } }
                        }
                    } @else if found.stories.is_empty() {
                        div class="notice" {
                            h1 { "Nothing found" }
                            p { "None of " (count(total, "article", "articles")) " has all of this. Try fewer words, OR between them, or other days." }
                        }
                    } @else {
                        p class="summary" role="status" id="summary" {
                            (count(found.articles, "article", "articles")) " found, "
                            @if found.more || self.parameters.offset.unwrap_or(0) > 0 {
                                "stories " (self.parameters.offset.unwrap_or(0) + 1) " to " (self.parameters.offset.unwrap_or(0) + found.stories.len() as u64)
                            } @else { (count(found.stories.len() as u64, "story", "stories")) }
                        }
                        div class="found" {
                        div { @for story in &found.stories { (self.story(story)) } (self.pager(found)) }
                        section class="about" aria-label="About all that was found" {
                            @if found.counted < found.articles { p class="meta" { "Of the first " (found.counted) " articles:" } }
                            h2 { "Mentioned" }
                            (cloud(&found.entities, |entity: &Entity| self.with(&[("entity", &entity.name), ("offset", "")])))
                            @if found.timeline.len() > 1 { h2 { "When" } (timeline(&found.timeline)) }
                            h2 { "Sources" }
                            ul class="sources" {
                                @for source in &found.sources {
                                    li { a href=(self.with(&[("source", &source.source), ("offset", "")])) { (source.source) } " " span class="count" { (source.count) } }
                                }
                            }
                        }
                        }
                    }
                }
            }
        }
    }

    fn controls(&self) -> Markup {
        let own = self.parameters;
        let option = |sort: Sort, name: &str| {
            html! { option value=(sort.name()) selected[own.sort == sort] { (name) } }
        };
        html! {
            form id="controls" class="card" action="/" method="get" aria-label="How stories are found" {
                input type="hidden" name="q" value=(own.q);
                @for entity in &own.entity { input type="hidden" name="entity" value=(entity); }
                @for source in &own.source { input type="hidden" name="source" value=(source); }
                details open { summary { "How stories are found" } div {
                label for="min_sim" { "Alike by at least " output for="min_sim" { (format!("{:.2}", self.query.min_sim.as_f64())) } }
                input id="min_sim" name="min_sim" type="range" min=(LEAST) max="1" step="0.05" value=(self.query.min_sim.as_f64());
                label for="min_prob" { "Each copy found with probability " output for="min_prob" { (format!("{:.2}", self.query.min_prob)) } }
                input id="min_prob" name="min_prob" type="range" min=(LEAST_PROBABILITY) max=(MOST_PROBABILITY) step="0.01" value=(self.query.min_prob);
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    (option(Sort::Relevance, "best first")) (option(Sort::Newest, "newest first")) (option(Sort::Hot, "most sources first"))
                }
                label for="from" { "From" } input id="from" name="from" type="date" value=(own.from);
                label for="to" { "To" } input id="to" name="to" type="date" value=(own.to);
                label class="check" { input name="unread" type="checkbox" value="true" checked[own.unread]; " only unread" }
                button type="submit" { "Apply" }
                } }
            }
        }
    }

    fn filters(&self) -> Markup {
        let own = self.parameters;
        let filters = own
            .entity
            .iter()
            .map(|entity| ("entity", entity))
            .chain(own.source.iter().map(|source| ("source", source)));
        let filters: Vec<(&str, &String)> = filters.filter(|(_, value)| !value.is_empty()).collect();
        html! {
            @if !filters.is_empty() {
                ul class="filters" aria-label="Filters" {
                    @for (name, value) in filters {
                        li { a href=(self.without(name, value)) title="Remove this filter" { (value) " ×" } }
                    }
                }
            }
        }
    }

    fn story(&self, story: &Story) -> Markup {
        let head = &story.representative;
        let likeness = self.likeness();
        let likeness: Vec<(&str, &str)> = likeness.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let others: Vec<_> = story.articles.iter().filter(|article| article.id != head.id).collect();
        let offset = self.parameters.offset.map(|offset| offset.to_string()).unwrap_or_default();
        let back = self.with(&[("offset", &offset)]);
        let mut fields = vec![("read", if story.is_read { "false" } else { "true" }), ("back", back.as_str())];
        fields.extend(&likeness);
        html! {
            article class={ "story card" @if story.is_read { " read" } } {
                h2 { a href=(address(&format!("/stories/{}", head.id), &likeness)) { (head.title) } }
                p class="meta" {
                    (line(head))
                    @if !others.is_empty() {
                        " · " strong { (count(story.articles.len() as u64, "article", "articles")) " from " (count(story.sources, "source", "sources")) }
                    }
                    span class="reason" { " · shown: " (story.reason) }
                }
                p class="snippet" { (piece(&story.snippet)) }
                @if !others.is_empty() {
                    details {
                        summary { (count(others.len() as u64, "more article", "more articles")) }
                        ul class="others" {
                            @for other in others {
                                li {
                                    a href={ "/articles/" (other.id) } { (other.title) } " "
                                    span class="meta" { (other.source) " · " (time(other.published)) " · " a href={ "/compare?left=" (head.id) "&right=" (other.id) } { "compare" } }
                                }
                            }
                        }
                    }
                }
                (cloud(&story.entities[..story.entities.len().min(8)], |entity: &Entity| self.with(&[("entity", &entity.name), ("offset", "")])))
                (button(&format!("/stories/{}/read", head.id), &fields, if story.is_read { "Mark unread" } else { "Mark read" }))
            }
        }
    }

    fn likeness(&self) -> Vec<(&'static str, String)> {
        let own = self.parameters;
        let min_sim = own.min_sim.iter().map(|_| ("min_sim", self.query.min_sim.to_string()));
        min_sim.chain(own.min_prob.iter().map(|_| ("min_prob", self.query.min_prob.to_string()))).collect()
    }

    fn pager(&self, found: &SearchResult) -> Markup {
        let own = self.parameters;
        let (offset, limit) = (own.offset.unwrap_or(0), own.limit.unwrap_or(10));
        html! {
            @if offset > 0 || found.more {
                nav class="pager" aria-label="Pages" {
                    @if offset > 0 { a rel="prev" href=(self.with(&[("offset", &offset.saturating_sub(limit).to_string())])) { "← earlier ones" } }
                    @if found.more { a rel="next" href=(self.with(&[("offset", &(offset + limit).to_string())])) { "more stories →" } }
                }
            }
        }
    }
}
