//! Options in messages, as Python writes them: `threshold=0.8` for `--threshold 0.8`, and `verify=` for `--verify`.

use std::collections::{BTreeMap, BTreeSet};

/// The settings of all functions, with the values that have names.
pub(crate) type Settings = BTreeMap<String, BTreeSet<String>>;

/// The same text with options as keyword arguments. What only looks like an option stays.
pub(crate) fn in_python(text: &str, settings: &Settings) -> String {
    let mut rest = text;
    let mut python = String::new();
    while let Some(at) = rest.find("--") {
        let (before, after) = rest.split_at(at);
        python += before;
        let name_end =
            after[2..].find(|c: char| !c.is_ascii_lowercase() && c != '-').map_or(after.len(), |end| end + 2);
        let name = after[2..name_end].replace('-', "_");
        rest = &after[name_end..];
        let Some(choices) =
            settings.get(&name).filter(|_| !before.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
        else {
            python += &after[..name_end];
            continue;
        };
        python += &name;
        python.push('=');
        let value = rest.strip_prefix(' ').map(|rest| {
            // A stop at the end is one of the sentence.
            let end = rest.find(|c: char| !c.is_alphanumeric() && !"._:/+".contains(c)).unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', ':'])
        });
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        if value.starts_with(|c: char| c.is_ascii_digit()) || value.chars().all(|c| c.is_ascii_uppercase()) {
            python += value;
        } else if choices.contains(value) {
            python += &format!("\"{value}\"");
        } else {
            continue;
        }
        rest = &rest[1 + value.len()..];
    }
    python + rest
}
