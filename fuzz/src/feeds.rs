//! Feeds and lists of feeds.

use twinset_server::probe;

use crate::bytes::Bytes;

/// RSS, Atom and JSON feeds, and OPML.
pub(crate) fn feeds(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    if bytes.bit() {
        let opml = String::from_utf8_lossy(bytes.rest()).into_owned();
        if let Ok(addresses) = probe::outlines(&opml) {
            assert!(!addresses.is_empty(), "a list without addresses is refused");
        }
        return;
    }
    let rest = bytes.rest();
    let understood = || {
        let feed = probe::feed(rest, "https://post.example/feed");
        feed.map(|(title, articles)| (title, serde_json::to_string(&articles).expect("articles can be JSON")))
    };
    // Some feeds have articles without an address, for which one is made up.
    if let (Ok((title, _)), Ok((again, _))) = (understood(), understood()) {
        assert_eq!(title, again, "a feed that is read twice");
    }
}
