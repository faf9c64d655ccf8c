//! What differs between two texts, word by word.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

/// The second text, with what the first one has instead struck out and what it has in addition marked.
pub fn word_diff(first: &str, second: &str) -> Markup {
    let diff = TextDiff::from_words(first, second);
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
