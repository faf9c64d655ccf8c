//! Which threshold to choose: how many pairs there are at each, and what they look like.

use maud::html;

use crate::chart::{Chart, Line};
use crate::diff::word_diff;
use crate::page::{page, table};

/// Everything that the page shows.
pub struct TuneReport {
    /// What was compared.
    pub title: String,
    /// The names of the table's columns.
    pub header: Vec<String>,
    /// A row for each threshold.
    pub rows: Vec<Vec<String>>,
    /// The threshold as a number, and how many pairs reach it.
    pub pairs: Vec<(f64, f64)>,
    /// The same for precision and recall, if they are known.
    pub quality: Vec<(&'static str, Vec<(f64, f64)>)>,
    /// A pair of each step: its heading, and the two texts.
    pub samples: Vec<(String, String, String)>,
}

impl TuneReport {
    /// The page.
    pub fn render(&self) -> String {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let lines = |lines: Vec<(&str, Vec<(f64, f64)>)>| -> Vec<Line> {
            lines.into_iter().map(|(name, points)| Line { name: name.to_owned(), points }).collect()
        };
        let pairs = Chart {
            title: "Pairs at each threshold".to_owned(),
            x: "threshold",
            y: "pairs",
            logarithmic: true,
            lines: lines(vec![("pairs", self.pairs.iter().filter(|point| point.1 > 0.0).copied().collect())]),
        };
        let quality = Chart {
            title: "Precision and recall at each threshold".to_owned(),
            x: "threshold",
            y: "share",
            logarithmic: false,
            lines: lines(self.quality.clone()),
        };
        let body = html! {
            div class="charts" {
                @if self.pairs.iter().any(|point| point.1 > 0.0) { (pairs.draw()) }
                @if !self.quality.is_empty() { (quality.draw()) }
            }
            (table("At each threshold", &header, &self.rows))
            h2 { "What pairs look like" }
            p { "Of each step, the pair that lies closest to the threshold. What only the first text has is " del { "struck out" } ", what only the second has is " ins { "marked" } "." }
            @for (heading, left, right) in &self.samples {
                p class="record" { span class="id" { (heading) } (word_diff(left, right)) }
            }
        };
        page(&self.title, &body)
    }
}
