//! How alike the names of columns and tables are, whatever the convention.

/// The words of a name: `customer_id`, `CustomerID` and `customerId` are all `customer`, `id`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    let characters: Vec<char> = name.chars().collect();
    for (at, &c) in characters.iter().enumerate() {
        if !c.is_alphanumeric() {
            before = None;
            continue;
        }
        let next_is_small = characters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = match before {
            None => true,
            Some(last) if last.is_lowercase() && c.is_uppercase() => true,
            // The last of several capitals begins a word: XMLPath.
            Some(last) if last.is_uppercase() && c.is_uppercase() => next_is_small,
            Some(last) => last.is_numeric() != c.is_numeric(),
        };
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words
}

/// A word in the singular, as far as English goes.
fn singular(word: &str) -> &str {
    match word {
        _ if word.len() < 4 => word,
        _ if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word,
        _ => {
            let ending = ["sses", "shes", "ches", "xes"].iter().find(|ending| word.ends_with(**ending));
            match ending {
                Some(_) => &word[..word.len() - 2],
                None => word.strip_suffix('s').unwrap_or(word),
            }
        }
    }
}

/// Words that say that something is a key, and nothing about of what.
const KEY_WORDS: [&str; 12] = ["id", "key", "code", "no", "nr", "num", "number", "pk", "fk", "ref", "uuid", "guid"];

/// Endings that say the same, where words are written together.
const KEY_ENDINGS: [&str; 5] = ["id", "key", "code", "no", "nr"];

/// Whether a name ends in a word for a key.
pub(crate) fn is_key_like(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    KEY_WORDS.contains(&last.as_str())
        || KEY_ENDINGS.iter().any(|ending| last.len() >= ending.len() + 3 && last.ends_with(ending))
}

/// A name without what says only that it is a key, in one piece and in the singular.
fn stem(words: &[String]) -> String {
    let mut kept: Vec<&str> = words.iter().map(String::as_str).collect();
    while kept.len() > 1 && kept.last().is_some_and(|word| KEY_WORDS.contains(word)) {
        kept.pop();
    }
    while kept.len() > 1 && kept.first().is_some_and(|word| matches!(*word, "fk" | "pk" | "id")) {
        kept.remove(0);
    }
    let joined = kept.concat();
    let ending = KEY_ENDINGS.iter().find(|ending| joined.len() >= ending.len() + 3 && joined.ends_with(**ending));
    // `custkey` is one word, and `id` alone is the whole name.
    let joined = ending.map_or(joined.as_str(), |ending| &joined[..joined.len() - ending.len()]);
    joined_singular(joined)
}

fn joined_singular(text: &str) -> String {
    match text.strip_suffix("ies") {
        Some(rest) if rest.len() > 2 => format!("{rest}y"),
        _ => singular(text).to_owned(),
    }
}

/// How alike two pieces of text are, by their pairs of letters.
fn likeness(left: &str, right: &str) -> f64 {
    if left.is_empty() || right.is_empty() {
        return 0.0;
    }
    if left == right {
        return 1.0;
    }
    let pairs = |text: &str| -> Vec<(char, char)> {
        let characters: Vec<char> = text.chars().collect();
        characters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (left, mut right) = (pairs(left), pairs(right));
    let total = left.len() + right.len();
    let common = left
        .iter()
        .filter(|pair| right.iter().position(|other| other == *pair).map(|at| right.swap_remove(at)).is_some());
    if total == 0 { 0.0 } else { 2.0 * common.count() as f64 / total as f64 }
}

/// Whether one is a part of the other at its beginning or its end, and long enough to mean something.
fn is_part(part: &str, whole: &str) -> bool {
    part.len() >= 3 && part.len() < whole.len() && (whole.ends_with(part) || whole.starts_with(part))
}

/// How well the name of a column says that it refers to a column of a table, from 0 to 1.
///
/// `left` and `right` are the columns' words.
pub(crate) fn refers(left: &[String], right: &[String], right_table: &str) -> f64 {
    let table_words = words(last_part(right_table));
    let table = joined_singular(&table_words.concat());
    let last_of_table = table_words.last().map(|word| joined_singular(word)).unwrap_or_default();
    let (own, right_stem) = (stem(left), stem(right));
    if is_generic(&own) {
        return if is_generic(&right_stem) { 0.1 } else { 0.0 };
    }
    // `id` alone says nothing; then the table's name says it all.
    let right_stem = Some(right_stem).filter(|stem| !is_generic(stem));
    let mut best: f64 = 0.0;
    if let Some(right) = &right_stem {
        if own == *right {
            // The same name; better still if it is the table's.
            let is_tables = *right == table
                || is_part(right, &table)
                || is_part(&table, right)
                || table.starts_with(right.as_str());
            best = best.max(if is_tables { 1.0 } else { 0.85 });
        } else if own.ends_with(right.as_str()) && right.len() >= 3 {
            best = best.max(0.8);
        } else if is_part(&own, right) || is_part(right, &own) {
            best = best.max(0.5);
        }
    }
    for (target, whole) in [(&table, 1.0), (&last_of_table, 0.9)].into_iter().filter(|(target, _)| target.len() > 1) {
        if own == *target {
            best = best.max(whole);
        } else if own.ends_with(target.as_str()) && target.len() >= 3 {
            // `billing_address` and `address`.
            best = best.max(0.9);
        } else if is_part(&own, target) {
            best = best.max(0.75);
        } else if is_part(target, &own) {
            // `exon_rank` says something about an exon, but not which.
            best = best.max(0.4);
        }
    }
    // `cid` for the key of `character`.
    if right_stem.is_none() && own.len() <= 4 {
        let short = own.strip_suffix("id").unwrap_or(&own);
        let initials: String = table_words.iter().filter_map(|word| word.chars().next()).collect();
        if !short.is_empty() && (table.starts_with(short) || initials == short) {
            best = best.max(0.6);
        }
    }
    let fuzzy = likeness(&own, &table).max(right_stem.map_or(0.0, |right| likeness(&own, &right)));
    best.max(0.7 * fuzzy)
}

fn is_generic(stem: &str) -> bool {
    stem.is_empty() || KEY_WORDS.contains(&stem)
}

/// Whether a name says only that it is a key.
pub(crate) fn says_nothing(words: &[String]) -> bool {
    is_generic(&stem(words))
}

/// Whether the name of one table has that of another in it, as `hop_children` and `hop`.
pub(crate) fn belongs(table: &str, other: &str) -> bool {
    let (own, other) = (words(last_part(table)), words(last_part(other)));
    let singulars = |words: &[String]| words.iter().map(|word| joined_singular(word)).collect::<Vec<_>>();
    let (own, other) = (singulars(&own), singulars(&other));
    own.len() > other.len() && own.windows(other.len().max(1)).any(|part| part == other)
}

/// Words for a row of the same table.
const KIN: [&str; 18] = [
    "parent",
    "child",
    "manager",
    "mgr",
    "boss",
    "reports",
    "supervisor",
    "previous",
    "prev",
    "next",
    "super",
    "root",
    "original",
    "reply",
    "replaces",
    "replaced",
    "successor",
    "predecessor",
];

/// Whether a name speaks of another row of the same table.
pub(crate) fn is_kin(words: &[String]) -> bool {
    words.iter().any(|word| KIN.contains(&word.as_str()))
}

/// A file's name without its folders.
fn last_part(table: &str) -> &str {
    table.rsplit('/').next().unwrap_or(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(left: &str, right: &str, table: &str) -> f64 {
        refers(&words(left), &words(right), table)
    }

    #[test]
    fn names_are_cut_into_words() {
        for name in ["customer_id", "CustomerId", "customerID", "CUSTOMER-ID", "Customer Id"] {
            assert_eq!(words(name), ["customer", "id"], "{name}");
        }
        assert_eq!(words("XMLPath2"), ["xml", "path", "2"]);
        assert_eq!(words("CUSTOMERID"), ["customerid"]);
    }

    #[test]
    fn a_column_refers_to_the_table_that_it_names() {
        for (left, right, table) in [
            ("customer_id", "id", "customers"),
            ("CustomerId", "CustomerId", "Customer"),
            ("city", "id", "cities"),
            ("billing_address_id", "address_id", "address"),
            ("category", "category_id", "categories"),
            ("fk_box", "pk", "boxes"),
            ("custkey", "custkey", "customer"),
            ("knr", "knr", "kunden"),
        ] {
            let others = score(left, "invoice_id", "invoices");
            assert!(
                score(left, right, table) >= 0.7 && score(left, right, table) > others + 0.3,
                "{left} {right} {table}"
            );
        }
        assert!(score("quantity", "id", "customers") < 0.4);
        assert!(score("id", "id", "customers") < 0.2);
    }
}
