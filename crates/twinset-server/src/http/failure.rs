//! What a failure looks like over HTTP: always the same JSON, or a page for people.

use axum::Json;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::Error;

/// Why a request failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Failure {
    /// What went wrong, and what to do.
    pub(crate) error: String,
    #[serde(skip)]
    pub(crate) status: StatusCode,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { error: error.into(), status }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Request(_) | Error::Usage(_) => StatusCode::BAD_REQUEST,
            Error::Missing(_) => StatusCode::NOT_FOUND,
            Error::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            error if error.is_full() => StatusCode::INSUFFICIENT_STORAGE,
            Error::Index(twinset_index::Error::Usage(_) | twinset_index::Error::Library(_)) => StatusCode::BAD_REQUEST,
            Error::Storage { .. } | Error::Full { .. } | Error::Index(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(%error, "a request failed");
        }
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(&self)).into_response();
        // Whoever shows it to people makes a page of it.
        response.extensions_mut().insert(self);
        response
    }
}

/// Whether a path is for programs, which are answered in JSON, and not for people.
pub(super) fn is_for_programs(path: &str) -> bool {
    path == "/metrics" || path == "/api" || path.starts_with("/api/")
}

fn described(reason: &str, path: &str) -> String {
    let more = if is_for_programs(path) { "; the API is described at /api/openapi.json" } else { "" };
    format!("{reason}{more}")
}

pub(super) async fn not_found(address: Uri) -> Failure {
    Failure::new(StatusCode::NOT_FOUND, described("there is nothing here", address.path()))
}

pub(super) async fn not_allowed(address: Uri) -> Failure {
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, described("this cannot be done here", address.path()))
}
