//! What a search returns: stories in their order, page by page, and what the whole result tells.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use twinset_server::probe::Wire;
use twinset_server::{
    Compare, Error, Moment, News, Search, SearchResult, ServeOptions, StoryQuery, Submission, TextQuery,
};

/// A text of so many words, of which no other text has any.
fn words(of: &str, count: usize) -> String {
    (0..count).map(|number| format!("{of}{number}")).collect::<Vec<_>>().join(" ")
}

/// An article of a source and a day that mentions these.
fn article(source: &str, day: u32, title: &str, text: &str, mentions: &[&str]) -> Submission {
    let mentions: Vec<Value> = mentions.iter().map(|name| json!({ "@type": "Person", "name": name })).collect();
    Submission {
        url: format!("https://{source}.example/{title}").replace(' ', "-"),
        title: Some(title.to_owned()),
        text: Some(text.to_owned()),
        published: Some(format!("2026-03-{day:02}T12:00:00Z")),
        source: Some(source.to_owned()),
        json_ld: Some(json!({ "@context": "https://schema.org", "@type": "NewsArticle", "mentions": mentions })),
        ..Submission::default()
    }
}

fn service(options: ServeOptions) -> (TempDir, News) {
    let folder = TempDir::new().unwrap();
    let news = News::open(folder.path(), &options).unwrap();
    (folder, news)
}

fn add(news: &News, article: Submission) -> i64 {
    news.submit(article).unwrap().id
}

fn search(words: &str) -> Search {
    Search { text: TextQuery { words: words.to_owned(), ..TextQuery::default() }, count: 50, ..Search::default() }
}

/// The numbers of each story's articles, in the order of the stories.
fn stories(found: &SearchResult) -> Vec<Vec<i64>> {
    let ids = |story: &twinset_server::Story| {
        let mut ids: Vec<i64> = story.articles.iter().map(|article| article.id).collect();
        ids.sort();
        ids
    };
    found.stories.iter().map(ids).collect()
}

#[test]
fn stories_come_best_newest_or_hottest_first() {
    let (_folder, news) = service(ServeOptions::default());
    let copied = format!("harbour {}", words("copied", 80));
    let hot: Vec<i64> = ["one", "two", "three"]
        .iter()
        .zip(1..)
        .map(|(source, day)| add(&news, article(source, day, &format!("Copy {day}"), &copied, &[])))
        .collect();
    let best = add(&news, article("four", 4, "Harbour", &format!("harbour harbour {}", words("best", 20)), &[]));
    let newest = add(&news, article("five", 5, "Five", &format!("harbour {}", words("newest", 80)), &[]));
    let twice = add(&news, article("four", 3, "Twice", &format!("harbour {}", words("twice", 80)), &[]));
    add(&news, article("six", 9, "Another", &words("another", 80), &[]));
    let in_order = |newest: bool, hot: bool| {
        let mut search = search("harbour");
        (search.text.newest, search.hot) = (newest, hot);
        stories(&news.search(&search).unwrap())
    };
    assert_eq!(in_order(false, false)[0], [best]);
    assert_eq!(in_order(true, false), [vec![newest], vec![best], hot.clone(), vec![twice]]);
    assert_eq!(in_order(true, true), [hot, vec![newest], vec![best], vec![twice]]);
}

#[test]
fn pages_follow_each_other_and_tell_of_the_whole_result() {
    let (_folder, news) = service(ServeOptions::default());
    for number in 0..7u32 {
        let mentions: &[&str] = match number {
            0..2 => &["Ada Moss", "Bo Lind"],
            2..6 => &["Ada Moss"],
            _ => &["ada moss", "Cy Orr"],
        };
        let source = if number < 5 { "Harbour Times" } else { "Evening Post" };
        let text = format!("harbour {}", words(&format!("story{number}x"), 60));
        add(&news, article(source, 1 + number / 3, &format!("Title {number}"), &text, mentions));
    }
    // What is not found is not counted.
    add(&news, article("Elsewhere", 20, "Nothing", &words("nothing", 60), &["Dee Fox"]));
    let page = |skip: usize| news.search(&Search { skip, count: 3, ..search("harbour") }).unwrap();
    let all = stories(&news.search(&search("harbour")).unwrap());
    assert_eq!(all.len(), 7);
    for (skip, more) in [(0, true), (3, true), (6, false), (9, false)] {
        let found = page(skip);
        assert_eq!(stories(&found), all[skip.min(7)..(skip + 3).min(7)], "{skip}");
        assert_eq!((found.more, found.articles, found.counted), (more, 7, 7), "{skip}");
        let entities: Vec<(&str, u64)> =
            found.entities.iter().map(|mention| (mention.entity.name.as_str(), mention.count)).collect();
        assert_eq!(entities, [("Ada Moss", 7), ("Bo Lind", 2), ("Cy Orr", 1)], "{skip}");
        let sources: Vec<(&str, u64)> = found.sources.iter().map(|own| (own.source.as_str(), own.count)).collect();
        assert_eq!(sources, [("Harbour Times", 5), ("Evening Post", 2)], "{skip}");
        let days: Vec<(&str, u64)> = found.timeline.iter().map(|own| (own.day.as_str(), own.count)).collect();
        assert_eq!(days, [("2026-03-01", 3), ("2026-03-02", 3), ("2026-03-03", 1)], "{skip}");
    }
    // The cloud of a story is its own.
    let story = &page(6).stories[0];
    assert!(story.entities.len() <= 2 && story.entities.iter().all(|mention| mention.count == 1), "{story:?}");
}

#[test]
fn what_changed_is_counted_as_it_is_now() {
    let (_folder, news) = service(ServeOptions::default());
    let of = |mentions: &[&str]| article("one", 1, "Title", &words("same", 60), mentions);
    add(&news, of(&["Ada Moss"]));
    let other = add(&news, article("two", 2, "Other", &words("other", 60), &["Ada Moss"]));
    let counts = || {
        let found = news.search(&search("")).unwrap();
        let entities = found.entities.iter().map(|mention| (mention.entity.name.clone(), mention.count));
        (entities.collect::<Vec<_>>(), found.sources.len())
    };
    assert_eq!(counts(), (vec![("Ada Moss".to_owned(), 2)], 2));
    add(&news, of(&["Bo Lind"]));
    assert_eq!(counts(), (vec![("Ada Moss".to_owned(), 1), ("Bo Lind".to_owned(), 1)], 2));
    news.remove(other).unwrap();
    assert_eq!(counts(), (vec![("Bo Lind".to_owned(), 1)], 1));
}

#[test]
fn entities_sources_and_days_are_filters() {
    let (_folder, news) = service(ServeOptions::default());
    let one = add(&news, article("Harbour Times", 1, "One", &words("one", 60), &["Ada Moss", "Bo Lind"]));
    let two = add(&news, article("Evening Post", 2, "Two", &words("two", 60), &["Ada Moss"]));
    let three = add(&news, article("Evening Post", 3, "Three", &words("three", 60), &["Cy Orr"]));
    let found = |text: TextQuery| {
        let mut found = stories(&news.search(&Search { text, count: 50, ..Search::default() }).unwrap()).concat();
        found.sort();
        found
    };
    let mentioning = |names: &[&str]| {
        found(TextQuery { entities: names.iter().map(|&name| name.to_owned()).collect(), ..TextQuery::default() })
    };
    assert_eq!(mentioning(&["Ada Moss"]), [one, two]);
    assert_eq!(mentioning(&["ADA MOSS", "bo lind"]), [one]);
    assert_eq!(found(TextQuery { sources: vec!["evening post".to_owned()], ..TextQuery::default() }), [two, three]);
    let day = |text: &str| Some(Moment::parse(text).unwrap());
    assert_eq!(found(TextQuery { from: day("2026-03-02"), ..TextQuery::default() }), [two, three]);
    assert_eq!(found(TextQuery { until: day("2026-03-02"), ..TextQuery::default() }), [one]);
    // Over HTTP the last day is meant as a whole.
    let wire = Wire::new(Arc::new(news), None).unwrap();
    let asked = |parameters: &str| {
        let request = format!("GET /api/search?{parameters} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = String::from_utf8(wire.answer(request.as_bytes())).unwrap();
        let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        let stories = body["stories"].as_array().unwrap().clone();
        stories.iter().map(|story| story["representative"]["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(asked("from=2026-03-02&to=2026-03-02"), [two]);
    assert_eq!(asked("to=2026-03-02&sort=newest"), [two, one]);
    assert_eq!(asked("to=2026-03-02T11:59:59Z"), [one]);
    assert_eq!(asked("entity=Ada+Moss&entity=Bo+Lind"), [one]);
    assert_eq!(asked("sort=newest&limit=1&offset=1"), [two]);
}

#[test]
fn what_is_compared_decides_what_is_a_story() {
    let with = |compare: Compare| {
        let (folder, news) = service(ServeOptions { compare: Some(compare), ..ServeOptions::default() });
        let people = ["Ada Moss", "Bo Lind", "Cy Orr", "Dee Fox"];
        let one = add(&news, article("one", 1, "Title", &words("text", 60), &people));
        let same_people = add(&news, article("two", 1, "Another", &words("else", 60), &people));
        let same_text = add(&news, article("three", 1, "Title", &words("text", 60), &["Eve Gray", "Flo Hart"]));
        let found = news.search(&Search { text: TextQuery { newest: true, ..TextQuery::default() }, ..search("") });
        let mut found = stories(&found.unwrap());
        found.sort();
        // A folder stays with what it began with.
        drop(news);
        let other = if compare == Compare::Text { Compare::Entities } else { Compare::Text };
        let refused = News::open(folder.path(), &ServeOptions { compare: Some(other), ..ServeOptions::default() });
        assert!(
            matches!(refused.err(), Some(Error::Usage(reason)) if reason.contains(&format!("compared by {compare}")))
        );
        (found, [one, same_people, same_text])
    };
    let (found, [one, same_people, same_text]) = with(Compare::Entities);
    assert_eq!(found, [vec![one, same_people], vec![same_text]]);
    let (found, [one, same_people, same_text]) = with(Compare::Text);
    assert_eq!(found, [vec![one, same_text], vec![same_people]]);
}

#[test]
fn a_higher_probability_asks_the_label_index() {
    let (folder, news) = service(ServeOptions::default());
    let text = words("text", 60);
    let one = add(&news, article("one", 1, "Title", &text, &[]));
    let two = add(&news, article("two", 1, "Title", &format!("{text} more"), &[]));
    let at = |min_prob: f64| {
        let asked = StoryQuery::new(None, Some(min_prob)).unwrap();
        stories(&news.search(&Search { story: asked, ..search("text1") }).unwrap())
    };
    assert_eq!([at(0.5), at(0.9), at(0.99)], [(); 3].map(|()| vec![vec![one, two]]));
    // Up to 0.9 the links that are kept answer.
    let connection = rusqlite::Connection::open(folder.path().join("news.sqlite")).unwrap();
    assert_eq!(connection.execute("DELETE FROM links", []).unwrap(), 2);
    assert_eq!([at(0.9).len(), at(0.91).len(), at(0.99).len()], [2, 1, 1]);
    for too_much in [0.49, 0.995, f64::NAN] {
        assert!(matches!(StoryQuery::new(None, Some(too_much)), Err(Error::Request(_))), "{too_much}");
    }
}
