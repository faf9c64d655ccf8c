//! The articles of a feed, in RSS, Atom or JSON: what it tells, and what is taken in of it.

use std::io::Cursor;

use twinset_io::read::{PageText, text_of_page};
use url::Url;

use crate::article::{Moment, Origin, Submission, shortened};
use crate::limits::Limits;
use crate::news::News;
use crate::summary::ImportSummary;

/// What a feed tells.
pub(crate) struct ParsedFeed {
    /// What it calls itself.
    pub(crate) title: String,
    pub(crate) articles: Vec<Submission>,
    /// How many more it has than are taken in at a time.
    more: u64,
}

/// What was taken in of a feed.
pub(crate) struct FeedImport {
    /// What it calls itself.
    pub(crate) title: String,
    pub(crate) imported: ImportSummary,
}

/// What a feed calls itself is cut after so many characters.
const LONGEST_TITLE: usize = 60;
/// Of so many articles that were refused it is told why.
const TOLD: usize = 3;

impl FeedImport {
    /// What was not taken in, and why.
    pub(crate) fn problem(&self) -> Option<String> {
        let ImportSummary { refused, problems, .. } = &self.imported;
        let reasons = problems.iter().take(TOLD).map(|problem| format!(". {problem}")).collect::<String>();
        (*refused > 0).then(|| format!("entries that were refused: {refused}{reasons}"))
    }
}

/// Takes the articles of a feed in, but for those that are older than is to be kept.
pub(crate) fn take_in(news: &News, bytes: &[u8], address: &str) -> Result<FeedImport, String> {
    let limits = news.limits();
    let ParsedFeed { title, articles, more } = understand(bytes, address, limits)?;
    let mut imported = ImportSummary::default();
    if more > 0 {
        let reason = format!("only the first {} are taken in; --limit feed-entries=N allows more", limits.feed_entries);
        imported.refuse(more, reason);
    }
    // What could not be kept must come again.
    let failed = |error: crate::Error| error.to_string();
    let (articles, outdated) = news.without_outdated(articles).map_err(failed)?;
    imported.outdated = outdated;
    let batch = articles.into_iter().map(|article| (shortened(&article.url), article)).collect();
    imported.take(news, batch, Origin::Feed(address), &mut |_| {}).map_err(failed)?;
    Ok(FeedImport { title, imported })
}

/// What a feed tells.
pub(crate) fn understand(bytes: &[u8], address: &str, limits: &Limits) -> Result<ParsedFeed, String> {
    let plain = |html: &str| plain(html, limits);
    let parsed = twinset_io::guarded(|| {
        feed_rs::parser::Builder::new().base_uri(Some(address)).build().parse(Cursor::new(bytes))
    });
    let feed = parsed
        .ok_or_else(|| "it cannot be understood".to_owned())?
        .map_err(|error| format!("it is no RSS or Atom feed: {error}"))?;
    let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let title = feed.title.map(|title| plain(&title.content)).filter(|title| !title.is_empty()).unwrap_or(host);
    let title = short_title(&title);
    let submission = |entry: feed_rs::model::Entry| {
        let content = entry.content.and_then(|content| content.body);
        let text =
            [content, entry.summary.map(|summary| summary.content)].into_iter().flatten().map(|html| plain(&html));
        // What says more is the article, and the other a summary.
        let text = text.max_by_key(String::len).unwrap_or_default();
        let headline = entry.title.map(|title| plain(&title.content));
        let url = entry.links.into_iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
        let url = url.map_or(entry.id, |link| link.href);
        let text = if text.is_empty() { headline.clone().unwrap_or_default() } else { text };
        let published = entry.published.or(entry.updated).map(|moment| Moment(moment.timestamp()).iso());
        Submission {
            url,
            title: headline,
            text: Some(text),
            published,
            source: Some(title.clone()),
            ..Submission::default()
        }
    };
    let more = (feed.entries.len() as u64).saturating_sub(limits.feed_entries);
    let articles = feed.entries.into_iter().take(limits.feed_entries as usize).map(submission).collect();
    Ok(ParsedFeed { title, articles, more })
}

/// What a feed is called, where there is little room.
pub(crate) fn short_title(title: &str) -> String {
    title.trim().chars().take(LONGEST_TITLE).collect()
}

/// HTML as text.
fn plain(html: &str, limits: &Limits) -> String {
    if !html.contains(['<', '&']) {
        return html.trim().to_owned();
    }
    text_of_page(html, PageText::Text, &limits.read).map(|(_, text)| text.trim().to_owned()).unwrap_or_default()
}
