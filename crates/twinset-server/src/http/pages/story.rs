//! The page of a story: who ran it, when, and what differs.

use axum::extract::State;
use maud::html;

use super::parts::{Page, address, button, cloud, count, original, piece, time, timeline};
use super::{PageResult, Service};
use crate::article::Entity;
use crate::http::parameters::{Id, Parameters, StoryParameters};
use crate::news::DayCount;

pub(super) async fn show(
    State(service): State<Service>,
    id: Result<Id, super::Failure>,
    likeness: Result<Parameters<StoryParameters>, super::Failure>,
) -> PageResult {
    let (Id(id), Parameters(likeness)) = (id?, likeness?);
    let query = likeness.query()?;
    let (story, similar) = service
        .work(move |news| {
            let story = news.story(id, query)?;
            let similar = news.similar_to(story.representative.id, query)?;
            Ok((story, similar))
        })
        .await?;
    let head = &story.representative;
    let likeness: Vec<(&str, &str)> = [("min_sim", &likeness.min_sim), ("min_prob", &likeness.min_prob)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .collect();
    let own = address(&format!("/stories/{id}"), &likeness);
    let mut days: Vec<DayCount> = Vec::new();
    for article in &story.articles {
        let day = article.published.day();
        match days.last_mut().filter(|last| last.day == day) {
            Some(last) => last.count += 1,
            None => days.push(DayCount { day, count: 1 }),
        }
    }
    let likeness_of = |other: i64| similar.iter().find(|found| found.article.id == other).map(|found| found.similarity);
    let mut fields = vec![("read", if story.is_read { "false" } else { "true" }), ("back", own.as_str())];
    fields.extend(&likeness);
    let body = html! {
        article class="whole" {
            h1 { (head.title) }
            p class="meta" {
                (count(story.articles.len() as u64, "article", "articles")) " from " (count(story.sources, "source", "sources"))
                " · shown: " (story.reason) " · alike by at least " (query.min_sim)
            }
            p class="snippet" { (piece(&story.snippet)) }
            p { a href={ "/articles/" (head.id) } { "Read it" } " · " (original(&head.url)) }
            (button(&format!("/stories/{}/read", head.id), &fields, if story.is_read { "Mark unread" } else { "Mark read" }))
            h2 { "Who ran it" }
            div class="scroll" {
                table {
                    thead { tr { th { "Published" } th { "Source" } th { "Title" } th { "Alike" } th { "" } } }
                    tbody {
                        @for article in &story.articles {
                            tr class=[article.is_read.then_some("read")] {
                                td { (time(article.published)) }
                                td { (article.source) }
                                td { a href={ "/articles/" (article.id) } { (article.title) } }
                                @if article.id == head.id { td { "—" } td { "the one shown" } }
                                @else {
                                    td { @match likeness_of(article.id) { Some(similarity) => (format!("{similarity:.2}")), None => "by way of others" } }
                                    td {
                                        a href={ "/compare?left=" (head.id) "&right=" (article.id) } { "compare" } " "
                                        (button("/verdicts", &[("left", &head.id.to_string()), ("right", &article.id.to_string()), ("verdict", "different"), ("back", &own)], "Not the same story"))
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if days.len() > 1 { h2 { "When" } (timeline(&days)) }
            h2 { "Mentioned" }
            (cloud(&story.entities, |entity: &Entity| address("/", &[("entity", &entity.name)])))
        }
    };
    Ok(Page::new(&head.title).show(&body))
}
