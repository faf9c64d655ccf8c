//! What a dedup did: how alike the records are, and the largest groups with what differs in them.

use maud::{Markup, html};

use crate::chart::{bars, histogram};
use crate::curve::Steps;
use crate::diff::word_diff;
use crate::page::{page, table};

/// Everything that the page shows.
pub struct DedupReport {
    /// What was compared.
    pub title: String,
    /// What was found, in words: a name and a number each.
    pub summary: Vec<(String, String)>,
    /// How many pairs have a value of at least the one given, and less than the next.
    pub values: Vec<(String, u64)>,
    /// How many groups have so many records.
    pub sizes: Vec<(String, u64)>,
    /// What every threshold would give.
    pub steps: Steps,
    /// The largest groups.
    pub groups: Vec<ShownGroup>,
    /// Records that were removed because they are near one of another collection, with the latter as representatives.
    pub against: Option<Against>,
    /// The options of the run, as on the command line.
    pub settings: Vec<(String, String)>,
}

/// What another collection removed.
pub struct Against {
    /// The name of the collection.
    pub name: String,
    /// How many records it removed.
    pub removed: u64,
    /// Some of its records, with what they removed.
    pub groups: Vec<ShownGroup>,
}

/// A group, of which a few records are shown.
pub struct ShownGroup {
    /// How many records it has.
    pub size: u64,
    /// The record that is kept.
    pub representative: Member,
    /// Some of the others.
    pub members: Vec<Member>,
}

/// A record of a group.
pub struct Member {
    /// Its id.
    pub id: String,
    /// How alike it is to the representative.
    pub value: String,
    /// Its text, or the beginning of it.
    pub text: String,
}

impl DedupReport {
    /// The page.
    pub fn render(&self) -> String {
        let pairs =
            |rows: &[(String, String)]| rows.iter().map(|(a, b)| vec![a.clone(), b.clone()]).collect::<Vec<_>>();
        let sizes: Vec<(&str, f64)> = self.sizes.iter().map(|(name, groups)| (name.as_str(), *groups as f64)).collect();
        let body = html! {
            (table("What was done", &["", ""], &pairs(&self.summary)))
            h2 { "What another threshold would give" }
            p { "Move the slider: nothing is computed again. Stricter thresholds than the one of this run lie to the left." }
            (self.steps.draw())
            h2 { "How alike the pairs are" }
            (histogram("Pairs by similarity", &self.values))
            h2 { "How large the groups are" }
            (bars("Groups by number of records", &sizes, sizes.len()))
            h2 { "The largest groups" }
            p { "The record that is kept stands first. In the others, what it has instead is " del { "struck out" } ", and what they have instead is " ins { "marked" } "." }
            @for group in &self.groups { (shown(group)) }
            @if self.groups.is_empty() { p { "No records of this collection form a group." } }
            @if let Some(against) = &self.against {
                h2 { "Removed because of " (against.name) }
                p { (against.removed) " records are near duplicates of a record of " (against.name) ", which stands first." }
                @for group in &against.groups { (shown(group)) }
            }
            h2 { "Settings" }
            (table("", &["option", "value"], &pairs(&self.settings)))
        };
        page(&self.title, &body)
    }
}

fn shown(group: &ShownGroup) -> Markup {
    let more = group.size.saturating_sub(1 + group.members.len() as u64);
    html! {
        details class="group" open[group.size <= 4] {
            summary { strong { (group.representative.id) } " and " (group.size - 1) " more" }
            p class="record" { (group.representative.text) }
            @for member in &group.members {
                p class="record" {
                    span class="id" { (member.id) " · " (member.value) }
                    (word_diff(&group.representative.text, &member.text))
                }
            }
            @if more > 0 { p { "and " (more) " more" } }
        }
    }
}
