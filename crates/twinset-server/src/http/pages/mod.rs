//! Pages for people: made on the server, usable without a script, with a keyboard, on a phone and in the dark.

mod article;
mod compare;
mod feeds;
mod parts;
mod search;
mod status;
mod story;

use axum::Router;
use axum::extract::{Form, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde::Deserialize;

use self::parts::{Page, local};
use super::Service;
use super::failure::Failure;
use super::parameters::{Id, story_query};
use crate::Error;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/", get(search::show))
        .route("/stories/{id}", get(story::show))
        .route("/stories/{id}/read", post(mark))
        .route("/articles/{id}", get(article::show))
        .route("/compare", get(compare::show))
        .route("/verdicts", post(judge))
        .route("/feeds", get(feeds::show).post(feeds::add))
        .route("/feeds/{id}/remove", post(feeds::remove))
        .route("/feeds/{id}/poll", post(feeds::poll))
        .route("/status", get(status::show))
        .route("/login", get(async || login_page(false)).post(super::access::log_in))
        .route("/assets/style.css", get(async || asset("text/css", STYLE)))
        .route("/assets/script.js", get(async || asset("text/javascript", SCRIPT)))
}

fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=300")], text)
}

/// A failure as a page.
pub(super) struct FailurePage(Failure);

impl From<Error> for FailurePage {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}

impl From<Failure> for FailurePage {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for FailurePage {
    fn into_response(self) -> Response {
        let Self(failure) = self;
        let title = match failure.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::BAD_REQUEST => "This makes no sense",
            StatusCode::FORBIDDEN => "This is not allowed",
            StatusCode::REQUEST_TIMEOUT => "This took too long",
            _ => "This did not work",
        };
        let body = html! {
            div class="notice" role="alert" {
                h1 { (title) }
                p { (failure.error) }
                p { a href="/" { "Back to the stories" } }
            }
        };
        (failure.status, Page::new(title).show(&body)).into_response()
    }
}

type PageResult = Result<Markup, FailurePage>;

/// The page on which one logs in.
pub(super) fn login_page(failed: bool) -> Markup {
    let body = html! {
        form class="card narrow" method="post" action="/login" {
            h1 { "Log in" }
            @if failed { p role="alert" class="problem" { "This key is not known." } }
            label for="key" { "Key" }
            input id="key" name="key" type="password" autocomplete="current-password" required autofocus;
            button type="submit" { "Log in" }
        }
    };
    Page::new("Log in").show(&body)
}

/// What a reader says on a page.
#[derive(Deserialize)]
struct Judgement {
    left: i64,
    right: i64,
    /// `same`, `different`, or `undo`.
    verdict: String,
    #[serde(default)]
    back: String,
}

async fn judge(State(service): State<Service>, Form(given): Form<Judgement>) -> Result<Redirect, FailurePage> {
    let same = match given.verdict.as_str() {
        "same" => Some(true),
        "different" => Some(false),
        "undo" => None,
        _ => return Err(Error::Request("a verdict is same, different or undo".to_owned()).into()),
    };
    service.work(move |news| news.judge(given.left, given.right, same)).await?;
    Ok(Redirect::to(&local(&given.back)))
}

#[derive(Deserialize)]
struct Marking {
    read: bool,
    #[serde(default)]
    min_sim: String,
    #[serde(default)]
    min_prob: String,
    #[serde(default)]
    back: String,
}

async fn mark(
    State(service): State<Service>,
    Id(id): Id,
    Form(marking): Form<Marking>,
) -> Result<Redirect, FailurePage> {
    let query = story_query(Some(&marking.min_sim), Some(&marking.min_prob))?;
    service.work(move |news| news.mark(id, marking.read, query)).await?;
    Ok(Redirect::to(&local(&marking.back)))
}
