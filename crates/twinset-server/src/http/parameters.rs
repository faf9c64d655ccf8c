//! What requests ask, understood or refused with a reason in JSON.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use http_body_util::LengthLimitError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use twinset::Threshold;
use utoipa::IntoParams;

use super::failure::Failure;
use crate::article::Moment;
use crate::limits::Limits;
use crate::news::Search;
use crate::search::TextQuery;
use crate::stories::StoryQuery;
use crate::{Error, Result};

/// The parameters of an address.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Failure> {
        let text = parts.uri.query().unwrap_or_default();
        let bad = |error| Failure::new(StatusCode::BAD_REQUEST, format!("the parameters of the address: {error}"));
        serde_html_form::from_str(text).map(Self).map_err(bad)
    }
}

/// A number in an address.
pub(crate) struct Id(pub(crate) i64);

impl<S: Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> std::result::Result<Self, Failure> {
        let number = parts.uri.path().split('/').rev().find_map(|part| part.parse().ok());
        number.map(Self).ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "there is nothing here: a number is needed"))
    }
}

/// JSON that was sent.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> std::result::Result<Self, Failure> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_json = kind.and_then(|kind| kind.split(';').next()).is_some_and(|kind| {
            kind.trim().eq_ignore_ascii_case("application/json") || kind.trim().to_ascii_lowercase().ends_with("+json")
        });
        if !is_json {
            let reason = "send JSON, with the header `content-type: application/json`";
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        }
        let bytes = axum::body::Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|error| {
            // A body that grows too long while it is unpacked fails like one whose connection broke.
            let status = if is_too_long(&error) { StatusCode::PAYLOAD_TOO_LARGE } else { error.status() };
            Failure::new(status, format!("{}; send less", error.body_text()))
        })?;
        let bad = |error: serde_json::Error| {
            Failure::new(StatusCode::BAD_REQUEST, format!("the JSON that was sent: {error}"))
        };
        serde_json::from_slice(&bytes).map(Self).map_err(bad)
    }
}

/// Whether a body is longer than the limit. Decompression wraps the error that says so.
fn is_too_long(error: &(dyn std::error::Error + 'static)) -> bool {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<LengthLimitError>()
        || wrapped.is_some_and(|wrapped| is_too_long(wrapped))
        || error.source().is_some_and(is_too_long)
}

/// How alike the articles of a story are.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StoryParameters {
    /// How alike the articles of a story are, at least: a decimal number
    #[param(value_type = Option<f64>, minimum = 0.5, maximum = 1, example = 0.7)]
    pub(crate) min_sim: Option<String>,
    /// With which probability each of them is found, at least
    #[param(value_type = Option<f64>, minimum = 0.5, maximum = 0.99, example = 0.9)]
    pub(crate) min_prob: Option<String>,
}

impl StoryParameters {
    pub(crate) fn query(&self) -> Result<StoryQuery> {
        story_query(self.min_sim.as_deref(), self.min_prob.as_deref())
    }
}

pub(crate) fn story_query(min_sim: Option<&str>, min_prob: Option<&str>) -> Result<StoryQuery> {
    let given = |text: Option<&'_ str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let min_sim: Option<Threshold> = given(min_sim)
        .map(|text| text.parse().map_err(|error: twinset::Error| Error::Request(format!("min_sim: {error}"))))
        .transpose()?;
    let min_prob: Option<f64> = given(min_prob)
        .map(|text| {
            text.parse()
                .map_err(|_| Error::Request(format!("min_prob: `{}` is no number", crate::article::shortened(&text))))
        })
        .transpose()?;
    StoryQuery::new(min_sim, min_prob)
}

/// What is sought.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParameters {
    /// Words, phrases in quotes, AND, OR, NOT, `title:word`; everything, if it is left out
    #[param(example = "ferry OR harbour")]
    pub(crate) q: String,
    /// Only from this source; repeat it for several
    pub(crate) source: Vec<String>,
    /// Only articles that mention this; repeat it for several, and all must be there
    pub(crate) entity: Vec<String>,
    /// Published on this day or later
    #[param(format = Date)]
    pub(crate) from: String,
    /// Published on this day or earlier
    #[param(format = Date)]
    pub(crate) to: String,
    /// The best first, the newest first, or what most sources ran first
    #[param(inline)]
    pub(crate) sort: Sort,
    /// Leave out stories that were read
    pub(crate) unread: bool,
    /// How alike the articles of a story are, at least: a decimal number
    #[param(value_type = Option<f64>, minimum = 0.5, maximum = 1, example = 0.7)]
    pub(crate) min_sim: Option<String>,
    /// With which probability each of them is found, at least
    #[param(value_type = Option<f64>, minimum = 0.5, maximum = 0.99, example = 0.9)]
    pub(crate) min_prob: Option<String>,
    /// Skip so many stories
    #[param(value_type = Option<u32>)]
    pub(crate) offset: Option<u64>,
    /// So many stories
    #[param(value_type = Option<u32>, minimum = 1)]
    pub(crate) limit: Option<u64>,
}

/// In which order stories come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Sort {
    /// The best first.
    #[default]
    Relevance,
    /// The newest first.
    Newest,
    /// What most sources ran first.
    Hot,
}

impl Sort {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// So many stories are shown, and so much is listed, unless another number is asked for.
const STORIES: u64 = 10;
const LISTED: u64 = 50;

impl SearchParameters {
    pub(crate) fn search(&self, limits: &Limits) -> Result<Search> {
        let day = |name: &str, text: &str| -> Result<Option<Moment>> {
            let given = Some(text.trim()).filter(|text| !text.is_empty());
            given
                .map(|text| Moment::parse(text).map_err(|error| Error::Request(format!("{name}: {error}"))))
                .transpose()
        };
        let window = window(self.offset, self.limit, STORIES, limits.results, limits.skipped)?;
        // The last day is meant as a whole.
        let until =
            day("to", &self.to)?.map(|day| Moment(day.0 + if self.to.trim().len() == 10 { Moment::DAY } else { 1 }));
        let given = |texts: &[String]| texts.iter().filter(|text| !text.is_empty()).take(20).cloned().collect();
        Ok(Search {
            text: TextQuery {
                words: self.q.clone(),
                sources: given(&self.source),
                entities: given(&self.entity),
                from: day("from", &self.from)?,
                until,
                newest: self.sort != Sort::Relevance,
            },
            story: story_query(self.min_sim.as_deref(), self.min_prob.as_deref())?,
            hot: self.sort == Sort::Hot,
            unread: self.unread,
            skip: window.0,
            count: window.1,
        })
    }
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Window {
    /// Skip so many
    #[param(value_type = Option<u32>)]
    pub(crate) offset: Option<u64>,
    /// So many
    #[param(value_type = Option<u32>, minimum = 1)]
    pub(crate) limit: Option<u64>,
}

impl Window {
    pub(crate) fn range(&self, limits: &Limits) -> Result<(usize, usize)> {
        window(self.offset, self.limit, LISTED, limits.listed, limits.skipped)
    }
}

fn window(offset: Option<u64>, limit: Option<u64>, usual: u64, most: u64, farthest: u64) -> Result<(usize, usize)> {
    let (offset, limit) = (offset.unwrap_or(0), limit.unwrap_or(usual.min(most)));
    if !(1..=most).contains(&limit) {
        return Err(Error::Request(format!("limit must be between 1 and {most}")));
    }
    if offset > farthest {
        return Err(Error::Request(format!("offset must be at most {farthest}; ask for something narrower")));
    }
    Ok((offset as usize, limit as usize))
}
