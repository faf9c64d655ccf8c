//! The page that tells how the service is.

use axum::extract::State;
use maud::html;

use super::parts::Page;
use super::{PageResult, Service};
use crate::stories::StoryQuery;

pub(super) async fn show(State(service): State<Service>) -> PageResult {
    let feeds = service.feeds.clone();
    let (articles, verdicts, feeds) =
        service.work(move |news| Ok((news.count()?, news.verdicts(0, 200)?.len(), feeds.list()?))).await?;
    let failing = feeds.iter().filter(|feed| feed.failures > 0).count();
    let links = StoryQuery::of_links();
    let rows = [
        ("Articles", articles.to_string()),
        ("Feeds", format!("{} followed, {failing} failing", feeds.len())),
        ("Verdicts", if verdicts == 200 { "200 or more".to_owned() } else { verdicts.to_string() }),
        (
            "Links between near duplicates",
            format!(
                "kept from a similarity of {} on, each found with a probability of at least {}",
                links.min_sim, links.min_prob
            ),
        ),
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let body = html! {
        h1 { "Status" }
        div class="scroll" { table { tbody { @for (name, value) in &rows { tr { th scope="row" { (name) } td { (value) } } } } } }
        p { a href="/api/openapi.json" { "The API" } " · " a href="/metrics" { "Metrics" } " · " a href="/api/health" { "Health" } }
    };
    Ok(Page::new("Status").at("/status").show(&body))
}
