//! A sample collection of the project's own: a dozen invented stories, as several outlets would tell them.

use crate::article::{Moment, Origin, Submission};
use crate::news::News;
use crate::{Error, Result};

const ARTICLES: &str = include_str!("../demo/articles.jsonl");

/// Takes the sample collection in, as if its last article had come just now.
pub fn show_demo(news: &News) -> Result<u64> {
    let read = |line: &str| serde_json::from_str(line).map_err(|error| Error::storage("the sample collection", error));
    let mut articles: Vec<Submission> = ARTICLES.lines().map(read).collect::<Result<_>>()?;
    let time = |article: &Submission| article.published.as_deref().map_or(Ok(Moment::now()), Moment::parse);
    let times: Vec<Moment> = articles.iter().map(time).collect::<Result<_>>()?;
    let last = times.iter().max().copied().unwrap_or(Moment::now());
    let later = Moment::now().0 - last.0;
    for (article, time) in articles.iter_mut().zip(times) {
        article.published = Some(Moment(time.0 + later).iso());
    }
    let count = articles.len() as u64;
    for result in news.submit_all(articles, Origin::Direct)? {
        result?;
    }
    Ok(count)
}
