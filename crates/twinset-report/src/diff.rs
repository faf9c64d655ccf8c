//! What differs between two texts, word by word, or letter by letter in scripts without spaces.

use std::time::Duration;

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};
use twinset::tokenize::diff_units;

/// So long it is sought what differs least; what is left then is taken for different.
const PATIENCE: Duration = Duration::from_millis(500);

/// Both texts, each with what the other one has not marked.
pub fn side_by_side(first: &str, second: &str) -> (Markup, Markup) {
    let (first, second) = (diff_units(first), diff_units(second));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&first, &second);
    let side = |own: ChangeTag| {
        html! {
            @for change in diff.iter_all_changes() {
                @match change.tag() {
                    ChangeTag::Equal => (change.value()),
                    tag if tag != own => {},
                    ChangeTag::Delete => del { (change.value()) },
                    _ => ins { (change.value()) },
                }
            }
        }
    };
    (side(ChangeTag::Delete), side(ChangeTag::Insert))
}

/// The second text, with what the first one has instead struck out and what it has in addition marked.
pub fn word_diff(first: &str, second: &str) -> Markup {
    let (first, second) = (diff_units(first), diff_units(second));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&first, &second);
    html! {
        @for change in diff.iter_all_changes() {
            @match change.tag() {
                ChangeTag::Equal => (change.value()),
                ChangeTag::Delete => del { (change.value()) },
                ChangeTag::Insert => ins { (change.value()) },
            }
        }
    }
}
