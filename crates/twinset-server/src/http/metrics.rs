//! Figures of the service, as Prometheus reads them.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::Service;
use super::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    path: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Place {
    path: String,
}

/// Counts of requests.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Kind, Counter>,
    seconds: Family<Place, Histogram>,
    articles: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("twinset");
        let requests = Family::<Kind, Counter>::default();
        let seconds =
            Family::<Place, Histogram>::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 2.0, 14)));
        let articles = Gauge::default();
        registry.register("requests", "Requests by path and status", requests.clone());
        registry.register("request_seconds", "How long requests took", seconds.clone());
        registry.register("articles", "Articles that are kept", articles.clone());
        Self { registry, requests, seconds, articles }
    }
}

impl Metrics {
    /// Counts a request by its route.
    pub(super) fn count(&self, path: &str, status: StatusCode, seconds: f64) {
        let path = path.to_owned();
        self.requests.get_or_create(&Kind { path: path.clone(), status: status.as_u16() }).inc();
        self.seconds.get_or_create(&Place { path }).observe(seconds);
    }
}

pub(super) async fn show(State(service): State<Service>) -> Result<impl IntoResponse, Failure> {
    let count = service.work(|news| news.count()).await?;
    service.metrics.articles.set(count as i64);
    let mut text = String::new();
    encode(&mut text, &service.metrics.registry)
        .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}
