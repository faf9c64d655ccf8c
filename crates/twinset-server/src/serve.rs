//! Starting, running and stopping the service.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::feeds::entries;
use crate::feeds::fetch::Network;
use crate::feeds::opml;
use crate::feeds::{self, Feeds};
use crate::http::{self, Keys, Service};
use crate::import;
use crate::news::News;
use crate::options::ServeOptions;
use crate::{Error, Result};

/// How often it is looked whether articles are too old.
const TIDY: Duration = Duration::from_secs(600);

/// Runs the service on a folder until `stop` is done. `ready` is told where it listens.
pub fn serve(
    news: News,
    options: &ServeOptions,
    stop: impl Future<Output = ()> + Send + 'static,
    ready: impl FnOnce(std::net::SocketAddr),
) -> Result<()> {
    let sessions = options.limits.sessions as usize;
    let keys = options.key_file.as_deref().map(|path| Keys::read(path, sessions)).transpose()?;
    if keys.is_none() && !options.listen.ip().is_loopback() {
        let reason = format!(
            "--listen {}: others could read and write everything; name a --key-file, or listen on 127.0.0.1",
            options.listen
        );
        return Err(Error::Usage(reason));
    }
    let news = Arc::new(news);
    let reach = if options.allow_private { Network::All } else { Network::Public };
    let feeds = Arc::new(Feeds::new(news.clone(), options.poll_minutes, reach)?);
    for feed in &options.feed {
        add_feed(&news, &feeds, feed)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_start(give_way)
        .build()
        .map_err(|error| Error::storage("the service", error))?;
    let failed = |error: std::io::Error| Error::Usage(format!("--listen {}: {error}", options.listen));
    let listener = runtime.block_on(TcpListener::bind(options.listen)).map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    runtime.block_on(async {
        let following = tokio::spawn(follow(feeds.clone()));
        let tidying = tokio::spawn(tidy(news.clone()));
        http::serve(Service::new(news.clone(), feeds, keys), listener, stop).await;
        following.abort();
        tidying.abort();
    });
    // What has reached the writer is finished. Who is not so far is refused, and not waited for.
    runtime.shutdown_background();
    news.close();
    Ok(())
}

/// Threads that answer requests leave the processor to the one that writes: it does little, and waits for the disk so often that
/// it would otherwise stand behind all readers each time.
fn give_way() {
    // Elsewhere that is a matter of the whole process.
    if cfg!(target_os = "linux") {
        _ = rustix::process::nice(5);
    }
}

/// Asks feeds as long as the service runs, also after a panic.
async fn follow(feeds: Arc<Feeds>) {
    loop {
        if let Err(failure) = tokio::spawn(feeds.clone().follow()).await {
            tracing::error!(%failure, "feeds could not be followed, and are again");
        }
        tokio::time::sleep(feeds::PAUSE).await;
    }
}

/// Takes out what is too old, from time to time.
async fn tidy(news: Arc<News>) {
    loop {
        let own = news.clone();
        match tokio::task::spawn_blocking(move || own.expire()).await {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(removed)) => tracing::info!(removed, "old articles were removed"),
            Ok(Err(error)) => tracing::error!(%error, "old articles could not be removed"),
        }
        tokio::time::sleep(TIDY).await;
    }
}

/// A feed at an address is followed, one in a file is taken in; a file may also be a list of feeds.
fn add_feed(news: &News, feeds: &Feeds, feed: &str) -> Result<()> {
    if feed.contains("://") {
        feeds.begin(feed)?;
        return Ok(());
    }
    let fail = |reason: String| Error::Usage(format!("--feed {feed}: {reason}"));
    let path = Path::new(feed);
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let problem = if opml::is_list(&text) {
        feeds::follow_all(news, &text)?.problem()
    } else {
        let address = import::address(path).map_err(fail)?;
        entries::take_in(news, &bytes, &address).map_err(fail)?.problem()
    };
    if let Some(problem) = problem {
        tracing::error!(feed, problem, "not everything was taken in");
    }
    Ok(())
}
