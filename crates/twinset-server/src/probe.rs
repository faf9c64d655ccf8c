//! The service for whoever brings bytes of their own: what is understood of them, and requests without a socket.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

use crate::article::Submission;
use crate::feeds::Feeds;
use crate::feeds::entries;
use crate::feeds::fetch::Network;
use crate::feeds::opml;
use crate::http::{Keys, Service};
use crate::ingest::extract::markup;
use crate::limits::Limits;
use crate::news::News;
use crate::{Error, Result};

/// The articles of a feed, and what it calls itself.
pub fn feed(bytes: &[u8], address: &str) -> Result<(String, Vec<Submission>), String> {
    let understood = entries::understand(bytes, address, &Limits::default())?;
    Ok((understood.title, understood.articles))
}

/// The addresses of an OPML list.
pub fn outlines(opml: &str) -> Result<Vec<String>> {
    Ok(opml::outlines(opml)?.into_iter().map(|outline| outline.address).collect())
}

/// The title and the text of a page, and the names of what its markup mentions.
pub fn page(html: &str, url: &str) -> Result<(String, String, Vec<String>)> {
    let page = markup::understand(html, url, &Limits::default())?;
    Ok((page.title, page.text, page.told.entities.into_iter().map(|entity| entity.name).collect()))
}

/// A service that is connected with nobody, and asks nobody.
pub struct Wire {
    runtime: Runtime,
    router: Router,
}

/// So many bytes are on their way at a time.
const BUFFER: usize = 1 << 16;

impl Wire {
    /// For a service that asks for the keys of a file, if there is one.
    pub fn new(news: Arc<News>, key_file: Option<&Path>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::storage("the service", error))?;
        let feeds = Arc::new(Feeds::new(news.clone(), 15, Network::Nobody)?);
        let most = news.limits().sessions as usize;
        let keys = key_file.map(|path| Keys::read(path, most)).transpose()?;
        Ok(Self { runtime, router: Service::new(news, feeds, keys).router() })
    }

    /// What the service answers to all that a connection brings.
    pub fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        self.runtime.block_on(async {
            let (near, far) = tokio::io::duplex(BUFFER);
            let (mut from, mut to) = tokio::io::split(near);
            let router = TowerToHyperService::new(self.router.clone());
            let connection = http1::Builder::new().half_close(true).serve_connection(TokioIo::new(far), router);
            let mut answer = Vec::new();
            let asking = async {
                // One that is closed early has said why in its answer.
                _ = to.write_all(bytes).await;
                _ = to.shutdown().await;
            };
            // The far end is closed once this is over.
            let serving = async move { _ = connection.await };
            _ = tokio::join!(serving, asking, from.read_to_end(&mut answer));
            answer
        })
    }
}
