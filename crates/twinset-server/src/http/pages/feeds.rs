//! The page of feeds: what is followed, and how it goes.

use axum::extract::{Form, State};
use axum::response::Redirect;
use maud::html;
use serde::Deserialize;

use super::parts::{Page, button, count, time};
use super::{FailurePage, PageResult, Service};
use crate::http::parameters::Id;

pub(super) async fn show(State(service): State<Service>) -> PageResult {
    let feeds = service.feeds.clone();
    let list = service.work(move |_| feeds.list()).await?;
    let body = html! {
        h1 { "Feeds" }
        form class="card" method="post" action="/feeds" {
            label for="address" { "Address of an RSS or Atom feed" }
            div class="row" {
                input id="address" name="address" type="url" required placeholder="https://…" maxlength="2000";
                button type="submit" { "Follow" }
            }
        }
        form class="card" method="post" action="/feeds" {
            label for="opml" { "Or a list of feeds in OPML, as other readers export it" }
            textarea id="opml" name="opml" rows="3" required {}
            button type="submit" { "Follow all" }
        }
        @if list.is_empty() { p class="notice" { "No feed is followed yet." } }
        @else {
            div class="scroll" {
                table {
                    thead { tr { th { "Feed" } th { "Articles" } th { "StoryQuery" } th { "Next" } th { "" } } }
                    tbody {
                        @for feed in &list {
                            tr {
                                td {
                                    strong { (if feed.title.is_empty() { &feed.address } else { &feed.title }) }
                                    br; span class="meta" { (feed.address) }
                                    @if let Some(problem) = &feed.problem {
                                        p class="problem" {
                                            (problem)
                                            @if feed.failures > 0 { " (" (count(u64::from(feed.failures), "failure", "failures")) ")" }
                                        }
                                    }
                                }
                                td { (feed.articles) }
                                td { @match feed.polled { Some(polled) => (time(polled)), None => "not yet" } }
                                td { (time(feed.next)) }
                                td {
                                    (button(&format!("/feeds/{}/poll", feed.id), &[], "Ask now"))
                                    (button(&format!("/feeds/{}/remove", feed.id), &[], "Remove"))
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(Page::new("Feeds").at("/feeds").show(&body))
}

#[derive(Deserialize)]
pub(super) struct NewFeedForm {
    #[serde(default)]
    address: String,
    #[serde(default)]
    opml: String,
}

pub(super) async fn add(State(service): State<Service>, Form(new): Form<NewFeedForm>) -> Result<Redirect, FailurePage> {
    let feeds = service.feeds.clone();
    if new.opml.trim().is_empty() {
        let feed = service.work(move |_| feeds.add(&new.address)).await?;
        service.feeds.poll_now(feed.id).await?;
    } else {
        service.work(move |_| feeds.add_list(&new.opml)).await?;
    }
    Ok(Redirect::to("/feeds"))
}

pub(super) async fn remove(State(service): State<Service>, Id(id): Id) -> Result<Redirect, FailurePage> {
    let feeds = service.feeds.clone();
    service.work(move |_| feeds.remove(id)).await?;
    Ok(Redirect::to("/feeds"))
}

pub(super) async fn poll(State(service): State<Service>, Id(id): Id) -> Result<Redirect, FailurePage> {
    service.feeds.poll_now(id).await?;
    Ok(Redirect::to("/feeds"))
}
