//! The service without HTTP: what arrives is found, copies are one story, a reader's word counts, nothing is lost.

use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use twinset_server::{
    Error, News, Outcome, Search, SearchResult, ServeOptions, StoryQuery, Submission, TextQuery, back_up, import,
    show_demo,
};

const STORY: &str = "A ferry with ninety passengers ran aground near the old lighthouse on Sunday morning. The coastguard brought \
    everyone ashore within two hours, and two people were treated for bruises. The captain told investigators that the steering \
    had failed without warning. Services on the route are suspended until the vessel has been inspected by the authority.";
const OTHER: &str = "The town library reopens next week after a renovation that took three years. Its snapshot room has been given \
    a glass roof, and a collection of maps can be seen for the first time. Entrance is free during the first month, and schools \
    are invited to book a visit. The council paid for most of the work from a legacy left by a retired printer.";

fn submission(url: &str, title: &str, text: &str) -> Submission {
    Submission {
        url: url.to_owned(),
        title: Some(title.to_owned()),
        text: Some(text.to_owned()),
        published: Some("2026-03-01".to_owned()),
        ..Submission::default()
    }
}

fn open(folder: &Path) -> News {
    News::open(folder, &ServeOptions::default()).unwrap()
}

fn add(news: &News, url: &str, title: &str, text: &str) -> i64 {
    news.submit(submission(&format!("https://{url}"), title, text)).unwrap().id
}

fn find(news: &News, words: &str, asked: StoryQuery) -> SearchResult {
    let text = TextQuery { words: words.to_owned(), ..TextQuery::default() };
    news.search(&Search { text, story: asked, count: 50, ..Search::default() }).unwrap()
}

/// The stories of a search, each as the numbers of its articles.
fn stories(news: &News, words: &str) -> Vec<Vec<i64>> {
    stories_at(news, words, None)
}

fn stories_at(news: &News, words: &str, min_sim: Option<&str>) -> Vec<Vec<i64>> {
    let asked = StoryQuery::new(min_sim.map(|text| text.parse().unwrap()), None).unwrap();
    let found = find(news, words, asked);
    let ids = |story: &twinset_server::Story| {
        let mut ids: Vec<i64> = story.articles.iter().map(|article| article.id).collect();
        ids.sort();
        ids
    };
    found.stories.iter().map(ids).collect()
}

/// A light edit: some words are others, a sentence is gone.
fn edited(text: &str) -> String {
    text.replace("ninety", "about ninety").replace("brought", "took").replace(" within two hours", "")
}

#[test]
fn what_arrives_is_found_and_copies_are_one_story() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let first = add(&news, "a.example/1", "Ferry aground", STORY);
    assert_eq!(stories(&news, "lighthouse"), [[first]]);
    let copy = add(&news, "b.example/7", "Ninety brought ashore", &edited(STORY));
    assert_eq!(stories(&news, "lighthouse"), [[first, copy]]);
    // The same title does not make a story.
    let namesake = add(&news, "c.example/3", "Ferry aground", OTHER);
    assert_eq!(stories(&news, "lighthouse"), [[first, copy]]);
    assert_eq!(stories(&news, "title:aground").len(), 2);
    assert_eq!(stories(&news, "library"), [[namesake]]);
    // Phrases, and words that must or must not be there.
    assert_eq!(stories(&news, "\"old lighthouse\""), [[first, copy]]);
    assert_eq!(stories(&news, "\"lighthouse old\"").len(), 0);
    assert_eq!(stories(&news, "\"ferry aground\"").len(), 2);
    // No phrase goes on from the title to itself, or to the text.
    assert_eq!(stories(&news, "\"aground ferry\"").len(), 0);
    assert_eq!(stories(&news, "\"aground a ferry\"").len(), 0);
    assert_eq!(stories(&news, "lighthouse OR library").len(), 2);
    assert_eq!(stories(&news, "aground AND NOT library"), [[first, copy]]);
    assert_eq!(stories(&news, "aground NOT \"glass roof\""), [[first, copy]]);
    assert_eq!(stories(&news, "aground -library"), [[first, copy]]);
    // By source and by what is mentioned.
    let of = |sources: &[&str], entities: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let text = TextQuery { sources: owned(sources), entities: owned(entities), ..TextQuery::default() };
        news.search(&Search { text, count: 50, ..Search::default() }).unwrap().articles
    };
    assert_eq!((of(&["a.example"], &[]), of(&["a.example", "c.example"], &[]), of(&["x.example"], &[])), (1, 2, 0));
    assert_eq!((of(&[], &["nobody"]), of(&[], &[])), (0, 3));
    // The stricter, the fewer are alike.
    assert_eq!(stories_at(&news, "lighthouse", Some("1")), [[first], [copy]]);
    assert_eq!(stories_at(&news, "lighthouse", Some("0.5")), [[first, copy]]);
}

#[test]
fn an_article_from_the_same_address_takes_the_place_of_the_first() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let given = submission("https://a.example/1", "Ferry aground", STORY);
    let first = news.submit(given.clone()).unwrap();
    assert_eq!(first.outcome, Outcome::New);
    assert_eq!(news.submit(given).unwrap().outcome, Outcome::Unchanged);
    let copy = add(&news, "b.example/2", "Ferry aground", &edited(STORY));
    let replaced = news.submit(submission("https://a.example/1", "The library", OTHER)).unwrap();
    assert_eq!((replaced.id, replaced.outcome), (first.id, Outcome::Replaced));
    assert_eq!(stories(&news, "lighthouse"), [[copy]]);
    assert_eq!(stories(&news, "library"), [[first.id]]);
    news.remove(first.id).unwrap();
    assert!(stories(&news, "library").is_empty());
    assert!(matches!(news.article(first.id), Err(Error::Missing(_))));
    assert!(matches!(news.remove(first.id), Err(Error::Missing(_))));
    assert_eq!(news.count().unwrap(), 1);
}

#[test]
fn another_source_replaces_an_article_only_with_more_text() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let send = |source: &str, text: &str| {
        let mut given = submission("https://a.example/1", &format!("By {source}"), text);
        given.source = Some(source.to_owned());
        let receipt = news.submit(given).unwrap();
        let kept = news.article(receipt.id).unwrap();
        assert_eq!(kept.title, format!("By {}", kept.source));
        (receipt.outcome, kept.source, kept.text)
    };
    let kept = |outcome: Outcome, source: &str, text: &str| (outcome, source.to_owned(), text.to_owned());
    let (longer, shorter) = (format!("{STORY} More."), &STORY[..60]);
    assert_eq!(send("Atom", STORY), kept(Outcome::New, "Atom", STORY));
    assert_eq!(send("RSS", "Two words"), kept(Outcome::Ignored, "Atom", STORY));
    assert_eq!(stories(&news, "lighthouse").len(), 1);
    // As much text is not more, so that two feeds do not replace each other's articles for ever.
    assert_eq!(send("RSS", &STORY.replace("ferry", "barge")), kept(Outcome::Ignored, "Atom", STORY));
    assert_eq!(send("Atom", STORY), kept(Outcome::Unchanged, "Atom", STORY));
    // The same source may change its article, also to less text; then that is what others are compared with.
    assert_eq!(send("Atom", shorter), kept(Outcome::Replaced, "Atom", shorter));
    assert_eq!(send("RSS", STORY), kept(Outcome::Replaced, "RSS", STORY));
    assert_eq!(send("Atom", shorter), kept(Outcome::Ignored, "RSS", STORY));
    assert_eq!(send("Atom", &longer), kept(Outcome::Replaced, "Atom", &longer));
    // Characters count, not bytes.
    assert_eq!(send("RSS", &"ä".repeat(longer.len() - 1)), kept(Outcome::Ignored, "Atom", &longer));
}

/// Takes in a feed of one article from a file, as often as it is changed.
fn take_feed(news: &News, file: &Path, title: &str, text: &str) -> String {
    let feed = format!(
        "<rss version='2.0'><channel><title>{title}</title><item><title>Ferry</title><link>https://a.example/1</link>\
         <description>{text}</description></item></channel></rss>"
    );
    std::fs::write(file, feed).unwrap();
    let imported = import(news, file, |_| {}).unwrap();
    assert!(imported.problems.is_empty(), "{imported:?}");
    let found = news.newest(0, 10).unwrap();
    assert_eq!(found.len(), 1);
    news.article(found[0].id).unwrap().text
}

#[test]
fn an_entry_shortens_only_what_came_from_its_own_feed() {
    let (longer, longest) = (format!("{STORY} More."), format!("{STORY} Even more."));
    let folder = TempDir::new().unwrap();
    let [first, second] = ["first.rss", "second.rss"].map(|name| folder.path().join(name));
    let post = |news: &News, source: &str, text: &str| {
        let mut given = submission("https://a.example/1", "Ferry", text);
        (given.source, given.published) = (Some(source.to_owned()), None);
        news.submit(given).unwrap().outcome
    };
    // Two feeds of one title.
    let news = open(&folder.path().join("titles"));
    assert_eq!(take_feed(&news, &first, "News", STORY), STORY);
    assert_eq!(take_feed(&news, &second, "News", "a teaser"), STORY);
    // A feed may shorten what is its own, whatever it is called by then.
    assert_eq!(take_feed(&news, &first, "Other news", &STORY[..60]), &STORY[..60]);
    // What two have written is shortened by neither.
    assert_eq!(take_feed(&news, &second, "News", STORY), STORY);
    assert_eq!(take_feed(&news, &second, "News", "a teaser"), STORY);
    assert_eq!(take_feed(&news, &first, "Other news", "a teaser"), STORY);
    // What was posted, even if a feed had more after that.
    let news = open(&folder.path().join("posted"));
    assert_eq!(post(&news, "News", STORY), Outcome::New);
    assert_eq!(take_feed(&news, &first, "News", &longer), longer);
    assert_eq!(take_feed(&news, &first, "News", "a teaser"), longer);
    assert_eq!(post(&news, "News", &longest), Outcome::Replaced);
    assert_eq!(take_feed(&news, &first, "News", STORY), longest);
    // What was posted after the feed had it.
    for text in [STORY, &longer] {
        let news = open(&folder.path().join(text.len().to_string()));
        assert_eq!(take_feed(&news, &first, "News", STORY), STORY);
        assert!([Outcome::Unchanged, Outcome::Replaced].contains(&post(&news, "News", text)));
        assert_eq!(take_feed(&news, &first, "News", "a teaser"), text);
    }
}

#[test]
fn a_verdict_is_kept_respected_and_undone() {
    let folder = TempDir::new().unwrap();
    let (one, two, other) = {
        let news = open(folder.path());
        let one = add(&news, "a.example/1", "Ferry aground", STORY);
        let two = add(&news, "b.example/1", "Ferry", &edited(STORY));
        let other = add(&news, "c.example/1", "Library", OTHER);
        news.judge(one, two, Some(false)).unwrap();
        news.judge(one, other, Some(true)).unwrap();
        (one, two, other)
    };
    let news = open(folder.path());
    assert_eq!(stories(&news, "lighthouse OR library").len(), 2);
    assert_eq!(stories(&news, "library"), [[one, other]]);
    assert_eq!(news.compare(two, one).unwrap().verdict, Some(false));
    assert_eq!(news.verdicts(0, 10).unwrap().len(), 2);
    news.judge(two, one, None).unwrap();
    news.judge(one, other, None).unwrap();
    assert_eq!(stories(&news, "lighthouse"), [[one, two]]);
    assert_eq!(stories(&news, "library"), [[other]]);
    assert!(matches!(news.judge(one, one, Some(true)), Err(Error::Request(_))));
    assert!(matches!(news.judge(one, 99, Some(true)), Err(Error::Missing(_))));
}

#[test]
fn a_story_that_was_read_stays_read_when_another_copy_comes() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let one = add(&news, "a.example/1", "Ferry aground", STORY);
    assert_eq!(news.mark(one, true, StoryQuery::of_links()).unwrap(), 1);
    add(&news, "b.example/1", "Ferry", &edited(STORY));
    let found = find(&news, "", StoryQuery::of_links());
    assert_eq!(found.stories.len(), 1);
    assert!(found.stories[0].is_read);
    assert_eq!(news.mark(one, false, StoryQuery::of_links()).unwrap(), 2);
    assert!(!find(&news, "", StoryQuery::of_links()).stories[0].is_read);
}

/// News: the same words as before, and so many others.
fn updated(text: &str, words: usize) -> String {
    let others = (0..words).map(|number| format!("update{number}"));
    format!("{text} {}", others.collect::<Vec<_>>().join(" "))
}

#[test]
fn news_in_a_story_that_was_read_makes_it_unread() {
    let folder = TempDir::new().unwrap();
    let mut news = open(folder.path());
    let is_read = |news: &News| {
        let found = find(news, "lighthouse", StoryQuery::of_links());
        assert_eq!(found.stories.len(), 1);
        let search = Search { unread: true, count: 50, ..Search::default() };
        let is_left_out = news.search(&search).unwrap().stories.is_empty();
        assert_eq!(found.stories[0].is_read, is_left_out);
        is_left_out
    };
    let reopened = |news: News| {
        drop(news);
        open(folder.path())
    };
    let one = add(&news, "a.example/1", "Ferry aground", STORY);
    news.mark(one, true, StoryQuery::of_links()).unwrap();
    let copy = add(&news, "b.example/1", "Ferry", &edited(STORY));
    assert!(is_read(&news));
    // 57 terms and 15 others: alike by 0.79, which is enough for a story, and too little for a copy.
    let update = add(&news, "c.example/1", "Ferry aground", &updated(STORY, 15));
    assert_eq!(stories(&news, "lighthouse"), [[one, copy, update]]);
    assert!(!is_read(&news));
    news = reopened(news);
    assert!(!is_read(&news));
    assert_eq!(news.mark(copy, true, StoryQuery::of_links()).unwrap(), 3);
    assert!(is_read(&news));
    // A copy of the news has none.
    add(&news, "d.example/1", "Ferry aground", &updated(STORY, 16));
    assert!(is_read(&news));
    // An article that changes, too: at once,
    let other = |step: usize| {
        let words = (0..12).map(|number| format!("{}{number}", if number < 2 * step { "new" } else { "other" }));
        format!("{STORY} {}", words.collect::<Vec<_>>().join(" "))
    };
    add(&news, "c.example/1", "Ferry aground", &other(0));
    assert!(!is_read(&news));
    news.mark(one, true, StoryQuery::of_links()).unwrap();
    // or little by little, each time less than would make it something else.
    for step in 1..=4 {
        add(&news, "c.example/1", "Ferry aground", &other(step));
        news = reopened(news);
        assert_eq!(is_read(&news), step < 3, "{step}");
    }
    // A typing error that was corrected is no news.
    news.mark(one, true, StoryQuery::of_links()).unwrap();
    add(&news, "a.example/1", "Ferry aground", &STORY.replace("bruises", "bruise"));
    assert!(is_read(&news));
}

#[test]
fn a_story_stays_read_when_the_article_that_was_read_goes() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let one = add(&news, "a.example/1", "Ferry aground", STORY);
    news.mark(one, true, StoryQuery::of_links()).unwrap();
    let copy = add(&news, "b.example/1", "Ferry", &edited(STORY));
    let other = add(&news, "c.example/1", "Ferry aground", &STORY.replace("two hours", "an hour"));
    news.judge(one, other, Some(false)).unwrap();
    news.remove(one).unwrap();
    let is_read =
        |id: i64| news.article(id).map(|_| news.newest(0, 9).unwrap().iter().any(|head| head.id == id && head.is_read));
    // What a reader has said to be another story was not read with this one.
    assert_eq!((is_read(copy).unwrap(), is_read(other).unwrap()), (true, false));
}

#[test]
fn copies_that_lie_too_far_apart_are_no_story() {
    let folder = TempDir::new().unwrap();
    let options = ServeOptions { window_days: Some(2), ..ServeOptions::default() };
    let news = News::open(folder.path(), &options).unwrap();
    let mut ids = Vec::new();
    for (number, day) in ["2026-03-01", "2026-03-03", "2026-03-08"].iter().enumerate() {
        let mut given = submission(&format!("https://{number}.example/"), "Ferry", STORY);
        given.published = Some((*day).to_owned());
        ids.push(news.submit(given).unwrap().id);
    }
    assert_eq!(stories(&news, "lighthouse").len(), 2);
    assert!(stories(&news, "lighthouse").contains(&vec![ids[0], ids[1]]));
}

#[test]
fn what_follows_from_the_articles_is_made_again() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    show_demo(&news).unwrap();
    news.remove(3).unwrap();
    let expected = (stories(&news, ""), stories(&news, "ferry"), stories_at(&news, "ferry", Some("0.6")));
    assert!(expected.0.iter().any(|story| story.len() > 3) && !expected.1.is_empty());
    drop(news);
    for lost in [vec!["text"], vec!["labels"], vec!["text", "labels"]] {
        for part in &lost {
            std::fs::remove_dir_all(folder.path().join(part)).unwrap();
        }
        let news = open(folder.path());
        let found = (stories(&news, ""), stories(&news, "ferry"), stories_at(&news, "ferry", Some("0.6")));
        assert_eq!(found, expected, "without {lost:?}");
    }
    // A backup holds everything.
    let copy = TempDir::new().unwrap();
    back_up(folder.path(), &copy.path().join("news.sqlite")).unwrap();
    assert_eq!(stories(&open(copy.path()), ""), expected.0);
    assert!(matches!(back_up(folder.path(), &copy.path().join("news.sqlite")), Err(Error::Usage(_))));
}

#[test]
fn a_full_text_index_of_another_version_is_made_again() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let one = add(&news, "a.example/1", "Ferry aground", STORY);
    drop(news);
    let text = folder.path().join("text");
    std::fs::remove_dir_all(&text).unwrap();
    std::fs::create_dir(&text).unwrap();
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("text", tantivy::schema::TEXT);
    tantivy::Index::create_in_dir(&text, schema.build()).unwrap();
    assert_eq!(stories(&open(folder.path()), "lighthouse"), [[one]]);
}

#[test]
fn articles_of_a_newer_version_are_refused() {
    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    let connection = rusqlite::Connection::open(folder.path().join("news.sqlite")).unwrap();
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    connection.pragma_update(None, "user_version", version + 1).unwrap();
    drop(connection);
    let refused = News::open(folder.path(), &ServeOptions::default()).err().unwrap();
    assert!(matches!(&refused, Error::Storage { reason, .. } if reason.contains("newer version")), "{refused}");
}

#[test]
fn a_label_index_that_was_not_finished_is_told_everything_again() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    let one = add(&news, "a.example/1", "Ferry aground", STORY);
    drop(news);
    // It was made, and the service ended before it heard of anything.
    std::fs::remove_dir_all(folder.path().join("labels")).unwrap();
    let other = TempDir::new().unwrap();
    drop(open(other.path()));
    std::fs::rename(other.path().join("labels"), folder.path().join("labels")).unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("news.sqlite")).unwrap();
    connection.execute("DELETE FROM settings WHERE name = 'labelled'", []).unwrap();
    drop(connection);
    let news = open(folder.path());
    let two = add(&news, "b.example/1", "Ferry", &edited(STORY));
    assert_eq!(stories(&news, "lighthouse"), [[one, two]]);
}

/// The files of a folder, without those in folders.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn a_damaged_label_index_is_made_again() {
    let folder = TempDir::new().unwrap();
    let options = ServeOptions { trees: Some(50), seed: Some(7), ..ServeOptions::default() };
    let news = News::open(folder.path(), &options).unwrap();
    show_demo(&news).unwrap();
    drop(news);
    let labels = folder.path().join("labels");
    let whole: Vec<_> = files(&labels).into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect();
    let ask = |news: &News| {
        let wide = StoryQuery::new(Some("0.5".parse().unwrap()), Some(0.99)).unwrap();
        let ids = (1..=news.count().unwrap() as i64).filter(|&id| news.article(id).is_ok());
        let similar =
            ids.map(|id| news.similar_to(id, wide).unwrap().iter().map(|one| one.article.id).collect::<Vec<_>>());
        (stories(news, ""), stories_at(news, "", Some("0.6")), similar.collect::<Vec<_>>())
    };
    let expected = ask(&open(folder.path()));
    assert!(expected.2.iter().any(|similar| similar.len() > 3));
    let sqlite = labels.join("labels.sqlite");
    let content = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(&sqlite).unwrap();
        change(&mut bytes);
        std::fs::write(&sqlite, bytes).unwrap();
    };
    let statement = |sql: &str| _ = rusqlite::Connection::open(&sqlite).unwrap().execute(sql, []).unwrap();
    let middle = std::fs::metadata(&sqlite).unwrap().len() as usize / 2;
    let damages: [(&str, &dyn Fn()); 16] = [
        ("empty", &|| content(&|bytes| bytes.clear())),
        ("cut in the header", &|| content(&|bytes| bytes.truncate(50))),
        ("cut in the middle", &|| content(&|bytes| bytes.truncate(middle))),
        ("another file", &|| content(&|bytes| *bytes = b"no database at all".repeat(1000))),
        ("zeros", &|| content(&|bytes| bytes[middle..][..4096].fill(0))),
        ("flipped bytes all over", &|| content(&|bytes| bytes.iter_mut().step_by(997).for_each(|byte| *byte ^= 0x10))),
        ("flipped in the header", &|| content(&|bytes| bytes[18] ^= 0xFF)),
        ("missing file", &|| std::fs::remove_file(&sqlite).unwrap()),
        ("newer version", &|| statement("UPDATE settings SET json = json_set(json, '$.version', 99)")),
        ("no settings", &|| statement("DELETE FROM settings")),
        ("a record without a checksum", &|| statement("UPDATE records SET tokens = zeroblob(24) WHERE number = 3")),
        ("older than its watermark", &|| statement("PRAGMA user_version = 1")),
        ("no labels", &|| statement("DROP TABLE labels")),
        ("no records", &|| statement("DROP TABLE records")),
        ("labels of other records", &|| {
            // As many labels as before, and each belongs to a record.
            let sql = "CREATE TABLE wrong AS SELECT tree, label,
                           (SELECT number FROM records ORDER BY number <= record, number LIMIT 1) AS record FROM labels;
                       DELETE FROM labels; INSERT INTO labels SELECT * FROM wrong; DROP TABLE wrong";
            rusqlite::Connection::open(&sqlite).unwrap().execute_batch(sql).unwrap();
        }),
        ("records of other articles", &|| {
            // Their terms and labels fit each other.
            let sql = "CREATE TEMP TABLE own AS SELECT number, id, row_number() OVER (ORDER BY number) AS place,
                           row_number() OVER (ORDER BY number DESC) AS other FROM records;
                       UPDATE records SET id = '-' || id;
                       UPDATE records SET id = (SELECT b.id FROM own a JOIN own b ON a.place = b.other
                                                WHERE a.number = records.number)";
            rusqlite::Connection::open(&sqlite).unwrap().execute_batch(sql).unwrap();
        }),
    ];
    for (name, damage) in damages {
        std::fs::remove_dir_all(&labels).unwrap();
        std::fs::create_dir(&labels).unwrap();
        whole.iter().for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
        damage();
        for round in 0..2 {
            // With the settings that it had, which nobody names again.
            assert_eq!(ask(&open(folder.path())), expected, "{name}, round {round}");
        }
    }
    // Entries of the similarity index, and articles, that are missing.
    for sql in [
        "DELETE FROM labels WHERE record = 2",
        "DELETE FROM records WHERE number > 5; DELETE FROM labels WHERE record > 5",
    ] {
        rusqlite::Connection::open(&sqlite).unwrap().execute_batch(sql).unwrap();
        assert_eq!(ask(&open(folder.path())), expected, "{sql}");
    }
    // What is no index at all is not removed.
    std::fs::remove_dir_all(&labels).unwrap();
    for (text, is_folder) in [("is not a folder", false), ("holds other files", true)] {
        if is_folder {
            std::fs::remove_file(&labels).unwrap();
            std::fs::create_dir(&labels).unwrap();
        }
        let file = if is_folder { labels.join("notes.txt") } else { labels.clone() };
        std::fs::write(&file, b"something of value").unwrap();
        let refused = News::open(folder.path(), &ServeOptions::default()).err().unwrap().to_string();
        assert!(refused.contains(text) && refused.contains("move it away"), "{refused}");
        assert!(!refused.contains("index create"), "{refused}");
        assert_eq!(std::fs::read(file).unwrap(), b"something of value");
    }
    std::fs::remove_dir_all(&labels).unwrap();
    assert_eq!(ask(&open(folder.path())), expected);
    // The articles follow from nothing.
    let store = folder.path().join("news.sqlite");
    files(folder.path()).iter().filter(|file| **file != store).for_each(|file| std::fs::remove_file(file).unwrap());
    std::fs::write(&store, b"no database at all".repeat(1000)).unwrap();
    let refused = News::open(folder.path(), &ServeOptions::default()).err().unwrap().to_string();
    assert!(refused.contains("the articles") && refused.contains("restore it from a backup"), "{refused}");
}

#[test]
fn a_damaged_label_index_elsewhere_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let index = folder.path().join("elsewhere");
    let options = ServeOptions { index: Some(index.display().to_string()), ..ServeOptions::default() };
    let data = folder.path().join("news");
    drop(News::open(&data, &options).unwrap());
    std::fs::write(index.join("labels.sqlite"), b"something of value").unwrap();
    let refused = News::open(&data, &options).err().unwrap().to_string();
    assert!(refused.contains("; remove it, or name another with --index") && !refused.contains("restore"), "{refused}");
    assert_eq!(std::fs::read(index.join("labels.sqlite")).unwrap(), b"something of value");
    // What is no index is told as it is.
    let file = folder.path().join("file");
    std::fs::write(&file, b"something of value").unwrap();
    let options = ServeOptions { index: Some(file.display().to_string()), ..ServeOptions::default() };
    let refused = News::open(&data, &options).err().unwrap().to_string();
    assert!(refused.contains("this is a file") && !refused.contains("index create"), "{refused}");
}

#[test]
fn a_seed_changes_labels_and_no_story() {
    let without = TempDir::new().unwrap();
    let plain = open(without.path());
    show_demo(&plain).unwrap();
    let folder = TempDir::new().unwrap();
    let with = |seed| News::open(folder.path(), &ServeOptions { seed, ..ServeOptions::default() });
    show_demo(&with(Some(7)).unwrap()).unwrap();
    // It is kept.
    for seed in [None, Some(7)] {
        assert_eq!(stories(&with(seed).unwrap(), ""), stories(&plain, ""));
    }
    assert!(matches!(with(Some(8)), Err(Error::Usage(reason)) if reason.contains("another --seed")));
    // The hashes of terms depend on it, not only labels.
    let terms = |folder: &TempDir| -> Vec<u8> {
        let connection = rusqlite::Connection::open(folder.path().join("labels/labels.sqlite")).unwrap();
        connection.query_row("SELECT tokens FROM records WHERE id = '1'", [], |row| row.get(0)).unwrap()
    };
    let (one, other) = (terms(&without), terms(&folder));
    assert!(one.len() > 100 && one.len().abs_diff(other.len()) < one.len() / 5 && one != other);
    // It is kept with the articles too: labels that are made again have it, unless another one is asked for.
    for (seed, is_kept) in [(None, true), (Some(8), false), (None, false)] {
        std::fs::remove_dir_all(folder.path().join("labels")).unwrap();
        assert_eq!(stories(&with(seed).unwrap(), ""), stories(&plain, ""));
        assert_eq!(terms(&folder) == other, is_kept, "{seed:?}");
    }
}

#[test]
fn the_label_index_may_lie_in_a_database() {
    let Some(postgres) = testbed::Server::postgres_if_installed() else { return };
    let Some(mariadb) = testbed::Server::mariadb_if_installed() else { return };
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    show_demo(&news).unwrap();
    let expected = (stories(&news, ""), stories_at(&news, "", Some("0.6")));
    for server in [&postgres, &mariadb] {
        let folder = TempDir::new().unwrap();
        let options =
            ServeOptions { index: Some(format!("{}?index=news", server.address())), ..ServeOptions::default() };
        let news = News::open(folder.path(), &options).unwrap();
        show_demo(&news).unwrap();
        assert_eq!((stories(&news, ""), stories_at(&news, "", Some("0.6"))), expected);
    }
}

#[test]
fn old_articles_go_and_the_newest_stay() {
    let folder = TempDir::new().unwrap();
    let options = ServeOptions { keep_count: Some(3), ..ServeOptions::default() };
    let news = News::open(folder.path(), &options).unwrap();
    for day in 1..=9 {
        let mut given = submission(&format!("https://a.example/{day}"), "A title", &format!("{STORY} number{day}"));
        given.published = Some(format!("2026-03-0{day}"));
        news.submit(given).unwrap();
    }
    assert_eq!(news.expire().unwrap(), 6);
    assert_eq!(news.count().unwrap(), 3);
    assert_eq!(stories(&news, "number9 OR number1"), stories(&news, "number7"));
    assert_eq!(news.newest(0, 10).unwrap().len(), 3);
    drop(news);
    let options = ServeOptions { keep_days: Some(10_000), ..ServeOptions::default() };
    assert_eq!(News::open(folder.path(), &options).unwrap().expire().unwrap(), 0);
}

#[test]
fn many_articles_at_once_share_commits_and_are_all_found() {
    let folder = TempDir::new().unwrap();
    let news = open(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let news = &news;
            scope.spawn(move || {
                for number in 0..10 {
                    let word = format!("word{thread}x{number}");
                    let id = add(news, &format!("a.example/{word}"), &word, &format!("{STORY} {word}"));
                    let found = stories(news, &word);
                    assert!(found.len() == 1 && found[0].contains(&id), "{word}: {found:?}");
                }
            });
        }
    });
    assert_eq!(stories(&news, "lighthouse").len(), 1);
    assert_eq!(stories(&news, "lighthouse")[0].len(), 80);
}

#[test]
fn who_has_not_reached_the_writer_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let slow = "while read line; do sleep 5; echo '{\"entities\": []}'; done";
    let options = ServeOptions { extractor: Some(slow.to_owned()), ..ServeOptions::default() };
    let news = News::open(folder.path(), &options).unwrap();
    std::thread::scope(|scope| {
        let posting = scope.spawn(|| news.submit(submission("https://a.example/1", "Ferry aground", STORY)));
        std::thread::sleep(Duration::from_millis(500));
        let begin = Instant::now();
        news.close();
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        assert!(matches!(posting.join().unwrap(), Err(Error::Busy(reason)) if reason.contains("stopping")));
    });
    assert_eq!(news.count().unwrap(), 0);
}
