//! The API: everything that the pages can do, in JSON.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use utoipa::Number;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder, Schema};
use utoipa::{IntoParams, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Service;
use super::failure::Failure;
use super::parameters::{Id, JsonBody, Parameters, SearchParameters, StoryParameters, Window, story_query};
use crate::article::{Article, Head, Submission};
use crate::feeds::Feed;
use crate::ingest::writer::Receipt;
use crate::limits::Limits;
use crate::news::{Comparison, SearchResult, Similar};
use crate::store::Verdict;
use crate::stories::story::Story;

type Answer<T> = Result<Json<T>, Failure>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "twinset serve",
        description = "Articles in, stories out: near duplicates of an article are one story."
    ),
    components(schemas(Failure))
)]
pub(super) struct Description;

pub(super) fn routes() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(post_article, list_articles))
        .routes(routes!(get_article, delete_article))
        .routes(routes!(similar_to_article))
        .routes(routes!(similar_to_text))
        .routes(routes!(search))
        .routes(routes!(group))
        .routes(routes!(mark))
        .routes(routes!(compare))
        .routes(routes!(list_verdicts, give_verdict, take_verdict_back))
        .routes(routes!(list_feeds, add_feed))
        .routes(routes!(remove_feed))
        .routes(routes!(poll_feed))
        .routes(routes!(health))
}

/// Adds to every operation what can go wrong with it, and how much can be asked for.
pub(super) fn complete(description: &mut utoipa::openapi::OpenApi, limits: &Limits) {
    const FAILURES: [(&str, &str); 12] = [
        ("400", "The request makes no sense"),
        ("401", "A key is needed"),
        ("403", "The key does not allow this"),
        ("404", "There is no such thing"),
        ("405", "This cannot be done here"),
        ("408", "It took too long"),
        ("413", "It is too large"),
        ("415", "It is not JSON"),
        ("431", "The headers are too large"),
        ("500", "What is kept cannot be read or written"),
        ("503", "Try again later"),
        ("507", "The disk is full"),
    ];
    for (path, item) in &mut description.paths.paths {
        let most = if path == "/api/search" { limits.results } else { limits.listed };
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            for parameter in operation.parameters.iter_mut().flatten() {
                let RefOr::T(Parameter { name, schema: Some(RefOr::T(Schema::Object(schema))), .. }) = parameter else {
                    continue;
                };
                match name.as_str() {
                    "limit" => schema.maximum = Some(Number::UInt(most as usize)),
                    "offset" => schema.maximum = Some(Number::UInt(limits.skipped as usize)),
                    "q" => schema.max_length = Some(limits.query as usize),
                    _ => {}
                }
            }
            for (status, text) in FAILURES {
                let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Failure"))).build();
                let response = ResponseBuilder::new().description(text).content("application/json", content).build();
                operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response));
            }
        }
    }
}

pub(super) async fn described(description: Arc<String>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], description.as_str().to_owned())
}

/// Takes an article in; when this answers, it is found by search and by similarity
///
/// An article from the same `url` is replaced (`outcome`: `replaced`). If another `source` sent that one, it is only replaced by an
/// article with more characters of text; otherwise it stays, and the new one is ignored (`ignored`). To replace it nevertheless,
/// delete it first.
#[utoipa::path(post, path = "/api/articles", tag = "articles", request_body = Submission,
    responses((status = 200, body = Receipt)))]
async fn post_article(State(service): State<Service>, JsonBody(submission): JsonBody<Submission>) -> Answer<Receipt> {
    Ok(Json(service.take_in(|news| news.submit(submission)).await?))
}

/// Articles, the newest first
#[utoipa::path(get, path = "/api/articles", tag = "articles", params(Window), responses((status = 200, body = [Head])))]
async fn list_articles(State(service): State<Service>, Parameters(window): Parameters<Window>) -> Answer<Vec<Head>> {
    let (skip, count) = window.range(service.limits())?;
    Ok(Json(service.work(move |news| news.newest(skip, count)).await?))
}

/// An article
#[utoipa::path(get, path = "/api/articles/{id}", tag = "articles", params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = Article)))]
async fn get_article(State(service): State<Service>, Id(id): Id) -> Answer<Article> {
    Ok(Json(service.work(move |news| news.article(id)).await?))
}

/// Takes an article out
#[utoipa::path(delete, path = "/api/articles/{id}", tag = "articles", params(("id" = i64, Path, description = "Its number")),
    responses((status = 204)))]
async fn delete_article(State(service): State<Service>, Id(id): Id) -> Result<StatusCode, Failure> {
    service.take_in(move |news| news.remove(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What is similar to an article, the most similar first
#[utoipa::path(get, path = "/api/articles/{id}/similar", tag = "stories",
    params(("id" = i64, Path, description = "Its number"), StoryParameters), responses((status = 200, body = [Similar])))]
async fn similar_to_article(
    State(service): State<Service>,
    Id(id): Id,
    Parameters(likeness): Parameters<StoryParameters>,
) -> Answer<Vec<Similar>> {
    let query = likeness.query()?;
    Ok(Json(service.work(move |news| news.similar_to(id, query)).await?))
}

/// A text that is not kept.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    /// Its headline.
    #[serde(default)]
    title: String,
    /// What it says.
    text: String,
    /// How alike articles must be, at least.
    #[serde(default)]
    #[schema(minimum = 0.5, maximum = 1)]
    min_sim: Option<f64>,
    /// With which probability each of them is to be found, at least.
    #[serde(default)]
    #[schema(minimum = 0.5, maximum = 0.99)]
    min_prob: Option<f64>,
}

/// What is similar to a text that is not kept, the most similar first
#[utoipa::path(post, path = "/api/similar", tag = "stories", request_body = Text, responses((status = 200, body = [Similar])))]
async fn similar_to_text(State(service): State<Service>, JsonBody(text): JsonBody<Text>) -> Answer<Vec<Similar>> {
    // The shortest decimal that means this number is meant.
    let told = |number: Option<f64>| number.map(|number| number.to_string());
    let query = story_query(told(text.min_sim).as_deref(), told(text.min_prob).as_deref())?;
    Ok(Json(service.work(move |news| news.similar(&text.title, &text.text, query)).await?))
}

/// The stories that have what is sought, in the order of their best articles
#[utoipa::path(get, path = "/api/search", tag = "stories", params(SearchParameters), responses((status = 200, body = SearchResult)))]
async fn search(
    State(service): State<Service>,
    Parameters(parameters): Parameters<SearchParameters>,
) -> Answer<SearchResult> {
    let search = parameters.search(service.limits())?;
    Ok(Json(service.work(move |news| news.search(&search)).await?))
}

/// The story of an article
#[utoipa::path(get, path = "/api/groups/{id}", tag = "stories",
    params(("id" = i64, Path, description = "The number of one of its articles"), StoryParameters), responses((status = 200, body = Story)))]
async fn group(
    State(service): State<Service>,
    Id(id): Id,
    Parameters(likeness): Parameters<StoryParameters>,
) -> Answer<Story> {
    let query = likeness.query()?;
    Ok(Json(service.work(move |news| news.story(id, query)).await?))
}

/// Whether a story was read.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadMark {
    /// Whether it was read.
    read: bool,
}

/// How many articles were marked.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct MarkResult {
    /// How many.
    articles: u64,
}

/// Marks a story read, or not: all its articles
#[utoipa::path(put, path = "/api/groups/{id}/read", tag = "stories", request_body = ReadMark,
    params(("id" = i64, Path, description = "The number of one of its articles"), StoryParameters), responses((status = 200, body = MarkResult)))]
async fn mark(
    State(service): State<Service>,
    Id(id): Id,
    Parameters(likeness): Parameters<StoryParameters>,
    JsonBody(mark): JsonBody<ReadMark>,
) -> Answer<MarkResult> {
    let query = likeness.query()?;
    Ok(Json(MarkResult { articles: service.work(move |news| news.mark(id, mark.read, query)).await? }))
}

/// Two articles.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ArticlePair {
    /// The number of the one
    pub(super) left: i64,
    /// The number of the other
    pub(super) right: i64,
}

/// Two articles beside each other
#[utoipa::path(get, path = "/api/compare", tag = "stories", params(ArticlePair), responses((status = 200, body = Comparison)))]
async fn compare(
    State(service): State<Service>,
    Parameters(ArticlePair { left, right }): Parameters<ArticlePair>,
) -> Answer<Comparison> {
    Ok(Json(service.work(move |news| news.compare(left, right)).await?))
}

/// What a reader says of two articles.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewVerdict {
    /// The number of the one.
    left: i64,
    /// The number of the other.
    right: i64,
    /// Whether they tell the same story.
    same: bool,
}

/// What readers said, the latest first
#[utoipa::path(get, path = "/api/verdicts", tag = "verdicts", params(Window), responses((status = 200, body = [Verdict])))]
async fn list_verdicts(State(service): State<Service>, Parameters(window): Parameters<Window>) -> Answer<Vec<Verdict>> {
    let (skip, count) = window.range(service.limits())?;
    Ok(Json(service.work(move |news| news.verdicts(skip, count)).await?))
}

/// Says whether two articles tell the same story
#[utoipa::path(put, path = "/api/verdicts", tag = "verdicts", request_body = NewVerdict, responses((status = 204)))]
async fn give_verdict(
    State(service): State<Service>,
    JsonBody(given): JsonBody<NewVerdict>,
) -> Result<StatusCode, Failure> {
    service.work(move |news| news.judge(given.left, given.right, Some(given.same))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes back what was said of two articles
#[utoipa::path(delete, path = "/api/verdicts", tag = "verdicts", params(ArticlePair), responses((status = 204)))]
async fn take_verdict_back(
    State(service): State<Service>,
    Parameters(ArticlePair { left, right }): Parameters<ArticlePair>,
) -> Result<StatusCode, Failure> {
    service.work(move |news| news.judge(left, right, None)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A feed that is to be followed, or a list of them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewFeed {
    /// Where it is.
    #[serde(default)]
    #[schema(example = "https://harbour-times.example/feed")]
    address: Option<String>,
    /// A list of feeds in OPML.
    #[serde(default)]
    opml: Option<String>,
}

/// The feeds that are followed
#[utoipa::path(get, path = "/api/feeds", tag = "feeds", responses((status = 200, body = [Feed])))]
async fn list_feeds(State(service): State<Service>) -> Answer<Vec<Feed>> {
    let feeds = service.feeds.clone();
    Ok(Json(service.work(move |_| feeds.list()).await?))
}

/// Follows a feed, or a list of them, and asks the feed at once
#[utoipa::path(post, path = "/api/feeds", tag = "feeds", request_body = NewFeed, responses((status = 200, body = [Feed])))]
async fn add_feed(State(service): State<Service>, JsonBody(new): JsonBody<NewFeed>) -> Answer<Vec<Feed>> {
    let feeds = service.feeds.clone();
    match (new.address, new.opml) {
        (Some(address), None) => {
            let feed = service.work(move |_| feeds.add(&address)).await?;
            Ok(Json(vec![service.feeds.poll_now(feed.id).await?]))
        }
        (None, Some(opml)) => Ok(Json(
            service
                .work(move |_| {
                    feeds.add_list(&opml)?;
                    feeds.list()
                })
                .await?,
        )),
        _ => Err(Failure::new(StatusCode::BAD_REQUEST, "send either `address` or `opml`")),
    }
}

/// Follows a feed no more; its articles stay
#[utoipa::path(delete, path = "/api/feeds/{id}", tag = "feeds", params(("id" = i64, Path, description = "Its number")),
    responses((status = 204)))]
async fn remove_feed(State(service): State<Service>, Id(id): Id) -> Result<StatusCode, Failure> {
    let feeds = service.feeds.clone();
    service.work(move |_| feeds.remove(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Asks a feed now
#[utoipa::path(post, path = "/api/feeds/{id}/poll", tag = "feeds", params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = Feed)))]
async fn poll_feed(State(service): State<Service>, Id(id): Id) -> Answer<Feed> {
    Ok(Json(service.feeds.poll_now(id).await?))
}

/// How the service is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`.
    status: &'static str,
    /// How many articles there are.
    articles: u64,
}

/// Whether the service can answer
#[utoipa::path(get, path = "/api/health", tag = "operation", responses((status = 200, body = Health)))]
async fn health(State(service): State<Service>) -> Answer<Health> {
    Ok(Json(Health { status: "ok", articles: service.take_in(|news| news.count()).await? }))
}
