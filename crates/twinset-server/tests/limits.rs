//! Limits of the service at their edges: so much is taken, and one more is refused, or left out.

use serde_json::{Value, json};
use tempfile::TempDir;
use twinset_io::LimitSet;
use twinset_server::{
    Error, ImportSummary, Limits, News, Search, ServeOptions, StoryQuery, Submission, TextQuery, import,
};

/// A service with other limits, in a folder of its own.
struct Limited {
    news: News,
    folder: TempDir,
}

impl Limited {
    fn to(settings: &[&str]) -> Self {
        Self::with(settings, ServeOptions::default())
    }

    fn with(settings: &[&str], options: ServeOptions) -> Self {
        let mut limits = Limits::default();
        settings.iter().for_each(|setting| limits.set(setting).unwrap());
        let folder = TempDir::new().unwrap();
        let news = News::open(&folder.path().join("news"), &ServeOptions { limits, ..options }).unwrap();
        Self { news, folder }
    }

    fn submit(&self, submission: Submission) -> Result<i64, String> {
        match self.news.submit(submission) {
            Ok(receipt) => Ok(receipt.id),
            Err(Error::Request(reason)) => Err(reason),
            Err(other) => panic!("{other}"),
        }
    }

    /// The names of what a new article mentions.
    fn entities(&self, submission: Submission) -> usize {
        self.news.article(self.submit(submission).unwrap()).unwrap().entities.len()
    }

    fn search(&self, words: &str) -> Result<twinset_server::SearchResult, String> {
        let text = TextQuery { words: words.to_owned(), ..TextQuery::default() };
        let search = Search { text, story: StoryQuery::of_links(), count: 1000, ..Search::default() };
        self.news.search(&search).map_err(|error| error.to_string())
    }

    fn import(&self, name: &str, content: &[u8]) -> ImportSummary {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        import(&self.news, &path, |_| {}).unwrap()
    }
}

fn article(url: &str) -> Submission {
    Submission { url: url.to_owned(), text: Some("Some text".to_owned()), ..Submission::default() }
}

const URL: &str = "https://a.example/1";

#[test]
fn parts_of_articles() {
    let limited = Limited::to(&["url=30", "title=10", "source=12", "text=20"]);
    let taken_and_refused = |name: &str, longest: usize, submission: &dyn Fn(String) -> Submission| {
        limited.submit(submission("x".repeat(longest))).unwrap();
        let reason = limited.submit(submission("x".repeat(longest + 1))).unwrap_err();
        assert!(reason.contains(name) && reason.contains(&format!("{longest}")), "{reason}");
    };
    let with_url = |url: String| article(&format!("https://a.example/{url}")[..18 + url.len()]);
    limited.submit(with_url("x".repeat(12))).unwrap();
    assert!(limited.submit(with_url("x".repeat(13))).unwrap_err().contains("longer than 30 bytes"));
    taken_and_refused("title", 10, &|title| Submission { title: Some(title), ..article(URL) });
    taken_and_refused("source", 12, &|source| Submission { source: Some(source), ..article(URL) });
    taken_and_refused("text", 20, &|text| Submission { text: Some(text), ..article(URL) });
}

#[test]
fn entities() {
    let limited = Limited::to(&["entities=3"]);
    let named = |count: usize| {
        let mentions: Vec<Value> =
            (0..count).map(|number| json!({ "@type": "Person", "name": format!("P{number}") })).collect();
        let graph = json!({ "@context": "https://schema.org", "@type": "NewsArticle", "mentions": mentions });
        Submission { json_ld: Some(graph), ..article(URL) }
    };
    assert_eq!([2, 3, 4].map(|count| limited.entities(named(count))), [2, 3, 3]);
}

#[test]
fn triples() {
    // Each mention has three triples.
    let turtle = |mentions: usize| {
        let mention = |number| {
            format!(
                "<> <http://schema.org/mentions> [ a <http://schema.org/Person> ; <http://schema.org/name> \"P{number}\" ] .\n"
            )
        };
        let turtle = (0..mentions).map(mention).collect::<String>();
        Submission { turtle: Some(turtle), ..article(URL) }
    };
    let limited = Limited::to(&["triples=9"]);
    assert_eq!([2, 3, 4].map(|mentions| limited.entities(turtle(mentions))), [2, 3, 3]);
}

#[test]
fn length_of_triples() {
    // As written out: <https://a.example/1>, http://p.example/p and a text with its quotes.
    let turtle = |length: usize| {
        let turtle = format!("<> <http://p.example/p> \"{}\" .", "x".repeat(length - 21 - 18 - 2));
        Submission { turtle: Some(turtle), ..article(URL) }
    };
    let limited = Limited::to(&["graph=100"]);
    limited.submit(turtle(100)).unwrap();
    assert!(limited.submit(turtle(101)).unwrap_err().contains("longer than 100 bytes in all"));
}

#[test]
fn names_in_contexts() {
    let json_ld = |length: usize| {
        let context = json!({ "p": "http://p.example/".to_owned() + &"x".repeat(length - 17) });
        Submission { json_ld: Some(json!({ "@context": context, "p": "text" })), ..article(URL) }
    };
    let limited = Limited::to(&["context=40"]);
    limited.submit(json_ld(40)).unwrap();
    assert!(limited.submit(json_ld(41)).unwrap_err().contains("more than 40 bytes"));
}

#[test]
fn attributes_and_depth_of_pages() {
    let page = |html: String| Submission { html: Some(html), text: None, ..article(URL) };
    let limited = Limited::to(&["attributes=4", "page-depth=6"]);
    // Whatever separates them, and whatever stands in their values.
    for attribute in [" aN=1", "/aN", "\naN = 'x > y'", " aN=\"/>\"", "aN='1'", "\t/aN"] {
        let html = |count: usize| {
            let attributes: String = (0..count).map(|number| attribute.replace('N', &number.to_string())).collect();
            format!("<p {attributes}>Some text that is long enough to be read.</p>")
        };
        limited.submit(page(html(4))).unwrap_or_else(|reason| panic!("{attribute}: {reason}"));
        let refused = limited.submit(page(html(5))).unwrap_err();
        assert!(refused.contains("more than 4 attributes"), "{attribute}: {refused}");
    }
    // Of a feed an entry is taken in without such a text.
    let feed = |attributes: usize| {
        let attributes: String = (0..attributes).map(|number| format!("/a{number}")).collect();
        format!(
            "<rss version=\"2.0\"><channel><title>F</title><item><title>T</title><link>https://f.example/1</link>\
             <description>&lt;p{attributes}&gt;Some text.&lt;/p&gt;</description></item></channel></rss>"
        )
    };
    for (attributes, text) in [(4, "Some text."), (5, "T")] {
        limited.import("feed.rss", feed(attributes).as_bytes());
        let id = limited.search("source:f").unwrap().stories[0].representative.id;
        assert_eq!(limited.news.article(id).unwrap().text, text);
    }
    // The outermost elements are html and body.
    let deep = |depth: usize, content: &str| {
        page("<div>".repeat(depth - 2) + content + "Some text" + &"</div>".repeat(depth - 2))
    };
    limited.submit(deep(6, "")).unwrap();
    assert!(limited.submit(deep(7, "")).unwrap_err().contains("more than 6 deep"));
    // Data is looked for less deep, and the text is read all the same.
    let limited = Limited::to(&["markup-depth=6"]);
    let data = "<script type='application/ld+json'>{\"@context\": \"https://schema.org\", \"@type\": \"NewsArticle\", \
                \"mentions\": {\"@type\": \"Person\", \"name\": \"Ada\"}}</script>";
    assert_eq!([6, 7].map(|depth| limited.entities(deep(depth - 1, data))), [1, 0]);
}

#[test]
fn searches() {
    let limited = Limited::to(&["query=12", "query-depth=2"]);
    limited.submit(article(URL)).unwrap();
    assert!(limited.search(&"x".repeat(12)).is_ok());
    assert!(limited.search(&"x".repeat(13)).unwrap_err().contains("12 characters"));
    assert_eq!(limited.search("((text))").unwrap().notes, Vec::<String>::new());
    assert!(limited.search("(((text)))").unwrap().notes[0].contains("more than 2 deep"));
}

/// Copies of one text from many places.
fn copies(limited: &Limited, count: usize) -> Vec<i64> {
    let text =
        "A ferry with ninety passengers ran aground near the old lighthouse on Sunday morning, and nobody was hurt.";
    let copy = |number| Submission { text: Some(text.to_owned()), ..article(&format!("https://a.example/{number}")) };
    (0..count).map(|number| limited.submit(copy(number)).unwrap()).collect()
}

#[test]
fn articles_of_a_story_and_similar_ones() {
    let limited = Limited::to(&["story=4", "similar=3"]);
    let ids = copies(&limited, 4);
    let shown = || {
        let story = limited.news.story(ids[0], StoryQuery::of_links()).unwrap();
        (story.articles.len(), limited.news.similar_to(ids[0], StoryQuery::of_links()).unwrap().len())
    };
    assert_eq!(shown(), (4, 3));
    copies(&limited, 6);
    assert_eq!(shown(), (4, 3));
}

#[test]
fn articles_that_a_search_looks_at() {
    let stories = |hits: &str| {
        let limited = Limited::to(&[hits]);
        for number in 0..4 {
            let text = format!("common {}", format!("word{number} ").repeat(20));
            limited.submit(Submission { text: Some(text), ..article(&format!("https://a.example/{number}")) }).unwrap();
        }
        let found = limited.search("common").unwrap();
        // The others are counted, and not looked at.
        assert_eq!((found.articles, found.sources[0].count), (4, found.counted));
        (found.stories.len(), found.counted)
    };
    assert_eq!([stories("hits=4"), stories("hits=3")], [(4, 4), (3, 3)]);
}

#[test]
fn time_of_a_search() {
    let limited = Limited::to(&["search-time=60"]);
    copies(&limited, 3);
    assert_eq!(limited.search("ferry").unwrap().stories.len(), 1);
    // No search takes no time at all.
    let limits = Limits { search_time: 0, ..Limits::default() };
    let folder = TempDir::new().unwrap();
    let news = News::open(folder.path(), &ServeOptions { limits, ..ServeOptions::default() }).unwrap();
    let limited = Limited { news, folder };
    copies(&limited, 1);
    assert!(limited.search("ferry").unwrap_err().contains("this search takes too long"));
    assert!(limited.news.story(1, StoryQuery::of_links()).unwrap_err().to_string().contains("takes too long"));
}

#[test]
fn extractors() {
    let extractor = |settings: &[&str], command: &str| {
        let options = ServeOptions { extractor: Some(command.to_owned()), ..ServeOptions::default() };
        let limited = Limited::with(settings, options);
        // Where the program fails, the built-in extractor is asked, and finds nothing in this text. Two articles are alike in that.
        let [one, two] = [URL, "https://a.example/2"].map(|url| {
            let entities = limited.news.article(limited.submit(article(url)).unwrap()).unwrap().entities;
            entities.first().map(|entity| entity.name.clone())
        });
        assert_eq!(one, two);
        one
    };
    let answer = r#"{"entities":[{"name":"Ada"}]}"#;
    let echo = format!("while read line; do echo '{answer}'; done");
    let length = answer.len();
    assert_eq!(extractor(&[&format!("extractor-answer={length}")], &echo).as_deref(), Some("Ada"));
    assert_eq!(extractor(&[&format!("extractor-answer={}", length - 1)], &echo), None);
    let slow = |seconds: f64| format!("while read line; do sleep {seconds}; echo '{answer}'; done");
    assert_eq!(extractor(&["extractor-time=2"], &slow(0.1)).as_deref(), Some("Ada"));
    assert_eq!(extractor(&["extractor-time=1"], &slow(1.5)), None);
    if testbed::program("python3").is_none() {
        return;
    }
    let python = format!(
        "python3 -c 'import sys\nfor line in sys.stdin: x = bytes(300 << 20); print(\"\"\"{answer}\"\"\", flush=True)'"
    );
    assert_eq!(extractor(&["extractor-memory=2G"], &python).as_deref(), Some("Ada"));
    assert_eq!(extractor(&["extractor-memory=256M"], &python), None);
}

#[test]
fn imported_articles_and_entries_of_feeds() {
    let limited = Limited::to(&["record=200", "feed-entries=2"]);
    let line = |number: usize, length: usize| {
        let start = format!("{{\"url\": \"https://a.example/{number}\", \"text\": \"");
        let text = "x".repeat(length - start.len() - 2);
        format!("{start}{text}\"}}\n")
    };
    let lines = line(1, 200) + &line(2, 201) + &line(3, 100);
    let imported = limited.import("articles.jsonl", lines.as_bytes());
    // A line that is too long does not hide those after it.
    assert_eq!((imported.new, imported.refused), (2, 1));
    assert!(imported.problems[0].contains("line 2") && imported.problems[0].contains("--max-record"), "{imported:?}");
    assert_eq!(limited.import("edge.txt", "x".repeat(200).as_bytes()).new, 1);
    // What is too long is not cut in silence.
    assert_eq!(limited.import("over.txt", "x".repeat(201).as_bytes()).refused, 1);
    let feed = |entries: usize| {
        let item = |number| format!("<item><title>T</title><link>https://f.example/{entries}/{number}</link></item>");
        let items: String = (0..entries).map(item).collect();
        format!("<rss version=\"2.0\"><channel><title>F</title>{items}</channel></rss>")
    };
    let limited = Limited::to(&["feed-entries=2"]);
    let imported = [1, 2, 3].map(|entries| limited.import("feed.rss", feed(entries).as_bytes()));
    assert_eq!(imported.each_ref().map(|imported| (imported.new, imported.refused)), [(1, 0), (2, 0), (2, 1)]);
    assert!(imported[2].problems[0].contains("only the first 2"), "{imported:?}");
}
