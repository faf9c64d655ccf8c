//! The service over HTTP: an API under `/api`, and pages for people. What comes in is bounded in size, time and number.

mod access;
mod api;
mod connections;
mod failure;
mod guard;
mod metrics;
mod pages;
mod parameters;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::access::Keys;
use self::metrics::Metrics;
use crate::feeds::Feeds;
use crate::limits::Limits;
use crate::news::News;
use crate::{Error, Result};

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) news: Arc<News>,
    pub(crate) feeds: Arc<Feeds>,
    keys: Option<Arc<Keys>>,
    metrics: Arc<Metrics>,
    /// So many requests are worked on at a time; the others wait.
    turns: Arc<Semaphore>,
    /// And so many articles are taken in.
    arrivals: Arc<Semaphore>,
}

/// So many articles are understood at a time, or wait for a commit.
const ARRIVALS: usize = 64;

impl Service {
    /// For a service that asks for keys, or does not.
    pub(crate) fn new(news: Arc<News>, feeds: Arc<Feeds>, keys: Option<Keys>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            news,
            feeds,
            keys: keys.map(Arc::new),
            metrics: Arc::new(Metrics::default()),
            turns: Arc::new(Semaphore::new(cores)),
            arrivals: Arc::new(Semaphore::new(ARRIVALS)),
        }
    }

    fn limits(&self) -> &Limits {
        self.news.limits()
    }

    /// A request takes so long at most.
    fn patience(&self) -> Duration {
        Duration::from_secs(self.limits().request_time)
    }

    /// Works on something that takes a while, when it is its turn.
    async fn work<T: Send + 'static>(&self, work: impl FnOnce(&News) -> Result<T> + Send + 'static) -> Result<T> {
        self.wait(self.turns.clone(), work).await
    }

    /// Takes something in, which waits for others most of the time.
    async fn take_in<T: Send + 'static>(&self, work: impl FnOnce(&News) -> Result<T> + Send + 'static) -> Result<T> {
        self.wait(self.arrivals.clone(), work).await
    }

    async fn wait<T: Send + 'static>(
        &self,
        turns: Arc<Semaphore>,
        work: impl FnOnce(&News) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = tokio::time::timeout(self.patience(), turns.acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(Error::Busy("too many requests wait; try again later".to_owned()));
        };
        let news = self.news.clone();
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&news);
            drop(turn);
            result
        });
        done.await.map_err(|_| Error::storage("the service", "this request failed; the log tells more"))?
    }

    /// All that is served.
    pub(crate) fn router(self) -> Router {
        let (api, mut description) =
            OpenApiRouter::with_openapi(api::Description::openapi()).merge(api::routes()).split_for_parts();
        api::complete(&mut description, self.limits());
        let largest = self.limits().request as usize;
        let description = Arc::new(description.to_json().expect("the description can be written as JSON"));
        Router::new()
            .merge(api)
            .merge(pages::routes())
            .route("/api/openapi.json", get(move || api::described(description.clone())))
            .route("/metrics", get(metrics::show))
            .fallback(failure::not_found)
            .method_not_allowed_fallback(failure::not_allowed)
            .layer(axum::middleware::from_fn_with_state(self.clone(), access::check))
            .layer(DefaultBodyLimit::disable())
            .layer(RequestBodyLimitLayer::new(largest))
            .layer(RequestDecompressionLayer::new())
            .layer(RequestBodyLimitLayer::new(largest))
            .layer(axum::middleware::from_fn_with_state(self.clone(), guard::protect))
            .with_state(self)
    }
}

/// Serves until it is told to stop, and finishes what has begun.
pub(crate) async fn serve(service: Service, listener: TcpListener, stop: impl Future<Output = ()>) {
    let (patience, most) = (service.patience(), service.limits().connections as usize);
    connections::serve(listener, service.router(), most, patience, stop).await;
}
