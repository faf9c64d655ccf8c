//! Requests to the news service, as bytes that came over a connection.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use twinset_server::probe::Wire;
use twinset_server::{News, ServeOptions, show_demo};

use crate::scratch;

/// A service with the sample collection.
struct Served {
    news: Arc<News>,
    open: Wire,
    /// The same, for those who have a key.
    locked: Wire,
}

/// What comes first where a service is asked that has keys; no request begins with it.
const LOCKED: u8 = 0;
const KEYS: &[u8] = b"read reading-reading-reading\nwrite writing-writing-writing\n";

/// With more articles the service is begun anew, so that it does not grow for ever.
const MOST: u64 = 200;

thread_local! {
    static SERVED: RefCell<Option<Served>> = const { RefCell::new(None) };
}

impl Served {
    fn new() -> Self {
        let folder = scratch::folder_of("news", &[]);
        let news = Arc::new(News::open(&folder, &ServeOptions::default()).expect("a service can be begun"));
        show_demo(&news).expect("the sample collection can be taken in");
        let wire = |keys: Option<&Path>| Wire::new(news.clone(), keys).expect("a service can be connected");
        let (open, locked) = (wire(None), wire(Some(&scratch::file("keys", KEYS))));
        Self { news, open, locked }
    }
}

/// Whatever is asked, the service answers, and has not failed itself.
pub(crate) fn requests(data: &[u8]) {
    SERVED.with_borrow_mut(|served| {
        if served.as_ref().is_some_and(|served| served.news.count().is_ok_and(|count| count > MOST)) {
            served.take().expect("it is there").news.close();
        }
        let served = served.get_or_insert_with(Served::new);
        let answer = match data.split_first() {
            Some((&LOCKED, rest)) => served.locked.answer(rest),
            _ => served.open.answer(data),
        };
        for status in statuses(&answer) {
            assert!(!status.starts_with(b"5"), "status {}", String::from_utf8_lossy(&status));
        }
        let health = served.open.answer(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(statuses(&health), [b"200".to_vec()], "the service lives on");
    });
}

/// The status of each answer.
fn statuses(answers: &[u8]) -> Vec<Vec<u8>> {
    const VERSIONS: [&[u8]; 2] = [b"HTTP/1.1 ", b"HTTP/1.0 "];
    let length = VERSIONS[0].len();
    let begins = answers.windows(length).enumerate().filter(|(_, window)| VERSIONS.contains(window));
    begins.filter_map(|(at, _)| answers.get(at + length..at + length + 3)).map(<[u8]>::to_vec).collect()
}
