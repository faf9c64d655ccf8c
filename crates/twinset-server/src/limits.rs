//! Limits of the service: requests, articles and searches over them are rejected or cut.

twinset_io::limits! {
    /// What is served at most.
    Limits, with read: twinset_io::Limits;
    /// The largest request to the service, packed and unpacked
    request: Bytes = 4 << 20, at most 1 << 30;
    /// How long a request may take, and a connection be silent or take nothing
    request_time: Seconds = 30, at most 86_400;
    /// How many connections are open at a time; others wait
    connections: Count = 1000, at most 1 << 20;
    /// How many can be logged in at a time
    sessions: Count = 1000, at most 10_000;
    /// The longest address of an article or a feed
    url: Bytes = 2000, at most 64 << 10;
    /// The longest headline of an article
    title: Bytes = 1000, at most 64 << 10;
    /// The longest source of an article
    source: Bytes = 200, at most 64 << 10;
    /// The longest text of an article
    text: Bytes = 1 << 20, at most 1 << 30;
    /// How many entities of an article are kept
    entities: Count = 100, at most 10_000;
    /// How many triples of an article are read
    triples: Count = 20_000, at most 10_000_000;
    /// How long the triples of an article may be, with all names written out
    graph: Bytes = 8 << 20, at most 1 << 30;
    /// The longest name in a context of JSON-LD
    context: Bytes = 2000, at most 64 << 10;
    /// How deep elements of a page may lie in each other if data is looked for in them
    markup_depth: Count = 256, at most 512;
    /// How many characters a search may have
    query: Count = 1000, at most 100_000;
    /// How deep brackets of a search may lie in each other
    query_depth: Count = 16, at most 100;
    /// How long a search may take
    search_time: Seconds = 10, at most 86_400;
    /// How many articles a search groups and counts
    hits: Count = 2000, at most 1_000_000;
    /// How many stories a search shows at a time
    results: Count = 50, at most 1000;
    /// How many articles or verdicts are listed at a time
    listed: Count = 200, at most 10_000;
    /// How many results can be skipped
    skipped: Count = 1000, at most 1_000_000;
    /// How many similar articles are shown
    similar: Count = 200, at most 10_000;
    /// How many articles a story has; more are not looked for
    story: Count = 200, at most 10_000;
    /// How long an extractor may take for an article
    extractor_time: Seconds = 10, at most 86_400;
    /// How much memory an extractor may take
    extractor_memory: Bytes = 2 << 30, at most 1 << 50;
    /// The longest answer of an extractor
    extractor_answer: Bytes = 1 << 20, at most 1 << 30;
    /// How many feeds are followed
    feeds: Count = 1000, at most 1_000_000;
    /// The largest feed, unpacked
    feed: Bytes = 10 << 20, at most 1 << 30;
    /// How long fetching a feed may take
    feed_time: Seconds = 30, at most 86_400;
    /// How many entries of a feed are taken in at a time; the newest come first
    feed_entries: Count = 1000, at most 1_000_000;
    /// How often the address of a feed may lead on to another
    redirects: Count = 5, at most 100;
}
