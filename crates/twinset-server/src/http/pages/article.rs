//! The page of an article: what it says, as text.

use axum::extract::State;
use maud::html;

use super::parts::{Page, address, cloud, line, original, time};
use super::{PageResult, Service};
use crate::article::Entity;
use crate::http::parameters::Id;
use crate::stories::StoryQuery;
use crate::stories::story::Mention;

pub(super) async fn show(State(service): State<Service>, id: Result<Id, super::Failure>) -> PageResult {
    let Id(id) = id?;
    let (article, similar) =
        service.work(move |news| Ok((news.article(id)?, news.similar_to(id, StoryQuery::of_links())?))).await?;
    let mentions: Vec<Mention> =
        article.entities.iter().map(|entity| Mention { entity: entity.clone(), count: 1 }).collect();
    let body = html! {
        article class="whole" {
            h1 { (article.title) }
            p class="meta" {
                a href=(address("/", &[("source", &article.source)])) { (article.source) } " · " (time(article.published))
                " · " (original(&article.url)) " · " a href={ "/stories/" (article.id) } { "its story" }
            }
            div class="text" { @for paragraph in article.text.split("\n\n") { p { (paragraph) } } }
            @if !mentions.is_empty() {
                h2 { "Mentioned" }
                (cloud(&mentions, |entity: &Entity| address("/", &[("entity", &entity.name)])))
            }
            @if !similar.is_empty() {
                h2 { "Similar articles" }
                ul class="others" {
                    @for found in &similar {
                        li {
                            a href={ "/articles/" (found.article.id) } { (found.article.title) } " "
                            span class="meta" { (line(&found.article)) " · alike by " (format!("{:.2}", found.similarity)) " · " a href={ "/compare?left=" (article.id) "&right=" (found.article.id) } { "compare" } }
                        }
                    }
                }
            }
        }
    };
    Ok(Page::new(&article.title).show(&body))
}
