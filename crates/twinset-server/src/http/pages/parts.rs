//! What pages are made of.

use maud::{DOCTYPE, Markup, html};
use url::Url;

use crate::article::{Entity, Head, Moment};
use crate::news::DayCount;
use crate::stories::story::{Mention, Piece};

/// A page with a title, and with what stands in its search box.
pub(super) struct Page<'a> {
    title: &'a str,
    words: &'a str,
    current: &'a str,
}

impl<'a> Page<'a> {
    pub(super) fn new(title: &'a str) -> Self {
        Self { title, words: "", current: "" }
    }

    pub(super) fn at(self, current: &'a str) -> Self {
        Self { current, ..self }
    }

    pub(super) fn seeking(self, words: &'a str) -> Self {
        Self { words, ..self }
    }

    pub(super) fn show(self, body: &Markup) -> Markup {
        let link = |address: &str, name: &str| {
            html! { a href=(address) aria-current=[(self.current == address).then_some("page")] { (name) } }
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · twinset" }
                    link rel="stylesheet" href="/assets/style.css";
                    script src="/assets/script.js" defer {}
                }
                body {
                    a class="skip" href="#main" { "Skip to the content" }
                    header {
                        a class="brand" href="/" { "twinset" }
                        form role="search" action="/" method="get" {
                            label class="hidden" for="q" { "Search" }
                            input id="q" name="q" type="search" value=(self.words) placeholder="Search stories" maxlength="1000";
                            button type="submit" { "Search" }
                        }
                        nav aria-label="Main" {
                            (link("/", "Stories")) (link("/?sort=hot", "Hot")) (link("/feeds", "Feeds")) (link("/status", "Status"))
                        }
                    }
                    main id="main" { (body) }
                }
            }
        }
    }
}

/// Where to go back to: only within this service.
pub(super) fn local(back: &str) -> String {
    let is_local =
        back.starts_with('/') && !back.starts_with("//") && !back.contains(|c: char| c.is_control() || c == '\\');
    if is_local { back.to_owned() } else { "/".to_owned() }
}

/// An address with parameters.
pub(super) fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// A moment, which programs can read, too.
pub(super) fn time(moment: Moment) -> Markup {
    html! { time datetime=(moment.iso()) { (moment.words()) } }
}

/// A piece of a text with what was sought marked.
pub(super) fn piece(piece: &Piece) -> Markup {
    let mut at = 0;
    let parts = piece.marked.iter().map(|&[start, end]| {
        let plain = piece.text.get(at..start).unwrap_or_default();
        at = end;
        (plain, piece.text.get(start..end).unwrap_or_default())
    });
    let parts: Vec<(&str, &str)> = parts.collect();
    html! {
        @for (plain, marked) in &parts { (plain) mark { (marked) } }
        (piece.text.get(at..).unwrap_or_default())
    }
}

/// Where an article was published, as a link if a browser may follow it.
pub(super) fn original(head_url: &str) -> Markup {
    let is_link = Url::parse(head_url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    html! {
        @if is_link { a class="original" href=(head_url) rel="noopener noreferrer nofollow" { "Original" } }
        @else { span class="original" { (head_url) } }
    }
}

/// Entities, the more frequent the larger; each leads to what mentions it.
pub(super) fn cloud(mentions: &[Mention], to: impl Fn(&Entity) -> String) -> Markup {
    let most = mentions.iter().map(|mention| mention.count).max().unwrap_or(1).max(1);
    let mut shown: Vec<&Mention> = mentions.iter().collect();
    shown.sort_by_key(|mention| mention.entity.name.to_lowercase());
    let size = |count: u64| 1 + 4 * (count - 1) / most.max(2).saturating_sub(1).max(1);
    html! {
        ul class="cloud" {
            @for mention in shown {
                li {
                    a class={ "s" (size(mention.count).min(5)) " " (mention.entity.kind.name()) } href=(to(&mention.entity))
                        title={ (mention.entity.kind.name()) ", in " (mention.count) (if mention.count == 1 { " article" } else { " articles" }) } {
                        (mention.entity.name)
                    }
                }
            }
        }
    }
}

/// How many articles each day has.
pub(super) fn timeline(days: &[DayCount]) -> Markup {
    let most = days.iter().map(|day| day.count).max().unwrap_or(1).max(1);
    let width = 100.0 / days.len().max(1) as f64;
    html! {
        @if days.len() > 1 {
            figure class="timeline" {
                svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label="Articles by day" {
                    @for (number, day) in days.iter().enumerate() {
                        @let height = 28.0 * day.count as f64 / most as f64;
                        rect x=(format!("{:.2}", number as f64 * width + 0.1 * width)) y=(format!("{:.2}", 30.0 - height))
                            width=(format!("{:.2}", 0.8 * width)) height=(format!("{height:.2}")) {
                            title { (day.day) ": " (day.count) }
                        }
                    }
                }
                figcaption {
                    span { (days.first().map_or("", |day| &day.day)) }
                    span { (days.last().map_or("", |day| &day.day)) }
                }
            }
        }
    }
}

/// One line about an article.
pub(super) fn line(head: &Head) -> Markup {
    html! { span class="source" { (head.source) } " · " (time(head.published)) }
}

/// A number with what it counts.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A button that sends a form.
pub(super) fn button(action: &str, fields: &[(&str, &str)], name: &str) -> Markup {
    html! {
        form class="inline" method="post" action=(action) {
            @for (field, value) in fields { input type="hidden" name=(field) value=(value); }
            button type="submit" { (name) }
        }
    }
}
