//! Connections: how many there may be, how long they may say nothing, and how they end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// Serves until it is told to stop, and finishes what has begun. So many connections are open at a time; others wait until one of
/// them ends. Who does not begin a request, does not finish its headers, or takes nothing of its answers is waited for as long as
/// `patience` says.
pub(super) async fn serve(
    mut listener: TcpListener,
    router: Router,
    most: usize,
    patience: Duration,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience);
    let (places, open) = (Arc::new(Semaphore::new(most)), GracefulShutdown::new());
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, Listener::accept(&mut listener).await.0)
        };
        let (place, stream) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        // Answers are written whole, so there is nothing to wait for.
        _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(patience));
        let stream = TokioIo::new(Box::pin(stream));
        let connection = http.serve_connection(stream, TowerToHyperService::new(router.clone()));
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // One that breaks is of no interest to the others.
            _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    // Who does not finish a request is not waited for.
    _ = tokio::time::timeout(patience, open.shutdown()).await;
}
