//! Around every request: a limit of time, failures told in the same way, headers that keep browsers strict, and counts.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Service;
use super::failure::{Failure, is_for_programs};
use super::pages::FailurePage;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Ends what takes too long, and answers every failure in the same way.
pub(super) async fn protect(State(service): State<Service>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route =
        request.extensions().get::<MatchedPath>().map_or("unknown".to_owned(), |route| route.as_str().to_owned());
    let answer = tokio::time::timeout(service.patience(), next.run(request)).await;
    let mut response = match answer {
        Ok(response) => response,
        Err(_) => {
            let reason = "this took too long; send it faster, or ask for less (an article may be kept nevertheless)";
            Failure::new(StatusCode::REQUEST_TIMEOUT, reason).into_response()
        }
    };
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        response = told(response, &path, service.limits().request);
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Other sites are told nothing; with less than this, forms of these pages would not say where they come from.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let seconds = begin.elapsed().as_secs_f64();
    service.metrics.count(&route, response.status(), seconds);
    tracing::info!(%method, path, status = response.status().as_u16(), milliseconds = (seconds * 1e3).round(), "request");
    response
}

/// A failure as JSON, or as a page where people look.
fn told(response: Response, path: &str, largest: u64) -> Response {
    let status = response.status();
    let failure = response.extensions().get::<Failure>().cloned();
    let is = |kind: &str| {
        response.headers().get(header::CONTENT_TYPE).is_some_and(|own| own.as_bytes().starts_with(kind.as_bytes()))
    };
    let is_for_programs = is_for_programs(path);
    if is("text/html") || is_for_programs && failure.is_some() {
        return response;
    }
    // Layers below answer in plain text.
    let reason = || match status {
        StatusCode::PAYLOAD_TOO_LARGE => format!("a request may have {largest} bytes; send less"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_for_programs => {
            "send JSON, with the header `content-type: application/json`".to_owned()
        }
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY => {
            "what was sent cannot be understood; go back, and try again".to_owned()
        }
        _ => status.canonical_reason().unwrap_or("failed").to_owned(),
    };
    let failure = failure.unwrap_or_else(|| Failure::new(status, reason()));
    let mut told = match is_for_programs {
        true => failure.into_response(),
        false => FailurePage::from(failure).into_response(),
    };
    // What could be done instead.
    if let Some(allowed) = response.headers().get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    told
}
