//! From what was submitted to what is kept: checked, cleaned, with its entities.

use url::Url;

use crate::article::{Entity, Moment, Origin, Submission, shortened};
use crate::ingest::extract::graph::{self, Metadata};
use crate::ingest::extract::{Extractor, markup, tidy};
use crate::limits::Limits;
use crate::store::NewArticle;
use crate::{Error, Result};

/// Understands a submission.
pub(crate) fn article(
    submission: Submission,
    origin: Origin<'_>,
    extractor: &Extractor,
    limits: &Limits,
) -> Result<NewArticle> {
    let Submission { url, title, text, published, source, turtle, json_ld, html } = submission;
    let url = address(&url, limits)?;
    let page = html.map(|html| markup::understand(&html, &url, limits)).transpose()?;
    let mut triples = Vec::new();
    if let Some(turtle) = turtle {
        triples.extend(graph::turtle(&turtle, &url, limits)?);
    }
    if let Some(json_ld) = json_ld {
        triples.extend(graph::json_ld(&json_ld, &url, limits)?);
    }
    let told = graph::told(&triples);
    let (page_title, page_text, of_page) =
        page.map_or((None, None, Metadata::default()), |page| (Some(page.title), Some(page.text), page.told));
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let title = given(title).or(given(told.title)).or(given(of_page.title)).or(given(page_title));
    let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default();
    let title: String = title.chars().filter(|c| !c.is_control()).collect();
    let text = given(text).or(given(page_text)).map(|text| clean(&text)).unwrap_or_default();
    if text.is_empty() {
        return Err(Error::Request("an article needs a `text`, or an `html` page that has one".to_owned()));
    }
    let source = given(source).or(given(told.source)).or(given(of_page.source));
    let source = source.map_or_else(|| host(&url), |source| source.trim().to_owned());
    for (name, part, longest) in
        [("title", &title, limits.title), ("source", &source, limits.source), ("text", &text, limits.text)]
    {
        if part.len() as u64 > longest {
            return Err(Error::Request(format!("`{name}` has {} bytes, and at most {longest} are kept", part.len())));
        }
    }
    let published = match (published, told.published.or(of_page.published)) {
        (Some(asked), _) => Some(Moment::parse(asked.trim())?),
        // What a page says of its time may be written in any way.
        (None, told) => told.and_then(|told| Moment::parse(told.trim()).ok()),
    };
    let entities: Vec<Entity> = told.entities.into_iter().chain(of_page.entities).collect();
    let entities =
        if entities.is_empty() { extractor.entities(&title, &text)? } else { tidy(entities, limits.entities) };
    let feed = match origin {
        Origin::Direct => None,
        Origin::Feed(address) => Some(address.to_owned()),
    };
    Ok(NewArticle { url, title, text, published, source, entities, feed })
}

/// An address as it is kept. What stands behind `#` stays: some pages tell their articles apart by it alone.
pub(crate) fn address(text: &str, limits: &Limits) -> Result<String> {
    let broken = |reason: String| Error::Request(format!("`url`: `{}` is {reason}", shortened(text)));
    if text.len() as u64 > limits.url {
        return Err(broken(format!("longer than {} bytes", limits.url)));
    }
    let mut url = Url::parse(text.trim()).map_err(|error| broken(format!("no address: {error}")))?;
    if url.fragment() == Some("") {
        url.set_fragment(None);
    }
    Ok(url.to_string())
}

fn host(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.map_or_else(|| "unknown".to_owned(), |host| host.trim_start_matches("www.").to_owned())
}

/// Without spaces at the ends of lines, and with one empty line between paragraphs.
fn clean(text: &str) -> String {
    let visible = |c: &char| !c.is_control() || *c == '\n';
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut cleaned = String::with_capacity(text.len());
    for line in lines {
        if line.is_empty() && (cleaned.is_empty() || cleaned.ends_with("\n\n")) {
            continue;
        }
        cleaned.extend(line.chars().filter(visible));
        cleaned.push('\n');
    }
    cleaned.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extractor() -> Extractor {
        Extractor::new(None, &Limits::default()).unwrap()
    }

    fn submission(url: &str, text: &str) -> Submission {
        Submission { url: url.to_owned(), text: Some(text.to_owned()), ..Submission::default() }
    }

    #[test]
    fn an_article_is_cleaned() {
        let mut given = submission("https://www.Post.example/a#", "  One \t two\r\n\r\n\r\n\r\nthree\u{7} ");
        given.title = Some(" A\n title ".to_owned());
        given.published = Some("2026-03-01".to_owned());
        let article = article(given, Origin::Direct, &extractor(), &Limits::default()).unwrap();
        assert_eq!(article.url, "https://www.post.example/a");
        assert_eq!((article.title.as_str(), article.text.as_str()), ("A title", "One two\n\nthree"));
        assert_eq!(
            (article.source.as_str(), article.published.unwrap().iso().as_str()),
            ("post.example", "2026-03-01T00:00:00Z")
        );
    }

    #[test]
    fn an_address_says_which_article_of_a_page_is_meant() {
        let kept = |url: &str| address(url, &Limits::default()).unwrap();
        assert_eq!(kept("https://Post.example/news#a"), "https://post.example/news#a");
        assert_eq!(kept(" https://post.example/news?utm_source=x#"), "https://post.example/news?utm_source=x");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_reason() {
        let limits = Limits::default();
        let refused = |submission: Submission| {
            article(submission, Origin::Direct, &extractor(), &limits).unwrap_err().to_string()
        };
        assert!(refused(submission("not an address", "x")).contains("is no address"));
        assert!(refused(submission("https://a.example", " ")).contains("needs a `text`"));
        let mut late = submission("https://a.example", "x");
        late.published = Some("yesterday".to_owned());
        assert!(refused(late).contains("is no date"));
        let long = submission("https://a.example", &"x ".repeat(limits.text as usize));
        assert!(refused(long).contains("at most"));
    }
}
