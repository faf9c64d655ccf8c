//! Two articles side by side, with what differs marked.

use axum::extract::State;
use maud::{Markup, html};
use twinset_report::side_by_side;

use super::parts::{Page, button, count, original, time};
use super::{PageResult, Service};
use crate::article::Article;
use crate::http::api::ArticlePair;
use crate::http::parameters::Parameters;

pub(super) async fn show(
    State(service): State<Service>,
    two: Result<Parameters<ArticlePair>, super::Failure>,
) -> PageResult {
    let Parameters(ArticlePair { left, right }) = two?;
    let (comparison, texts) = service
        .work(move |news| {
            let comparison = news.compare(left, right)?;
            let texts = side_by_side(&comparison.left.text, &comparison.right.text);
            Ok((comparison, texts))
        })
        .await?;
    let own = format!("/compare?left={left}&right={right}");
    let side = |article: &Article, text: &Markup| {
        html! {
            article class="card side" {
                h2 { a href={ "/articles/" (article.id) } { (article.title) } }
                p class="meta" { (article.source) " · " (time(article.published)) " · " (original(&article.url)) }
                div class="text pre" { (text) }
            }
        }
    };
    let ids = (left.to_string(), right.to_string());
    let say = |verdict: &str, name: &str| {
        button("/verdicts", &[("left", &ids.0), ("right", &ids.1), ("verdict", verdict), ("back", &own)], name)
    };
    let body = html! {
        h1 { "Two articles" }
        p class="summary" {
            "Alike by " strong id="similarity" { (format!("{:.2}", comparison.similarity)) } ": they share "
            (count(comparison.shared, "term", "terms"))
            @if !comparison.common_entities.is_empty() {
                " and mention " (comparison.common_entities.iter().map(|entity| entity.name.as_str()).collect::<Vec<_>>().join(", "))
            }
            "."
        }
        div class="verdict" role="status" {
            @match comparison.verdict {
                None => { (say("same", "Same story")) (say("different", "Not the same story")) }
                Some(true) => { "You said: the same story. " (say("undo", "Undo")) }
                Some(false) => { "You said: not the same story. " (say("undo", "Undo")) }
            }
        }
        div class="sides" {
            (side(&comparison.left, &texts.0))
            (side(&comparison.right, &texts.1))
        }
    };
    Ok(Page::new("Two articles").show(&body))
}
