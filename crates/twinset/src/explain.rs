//! Why two records are, or are not, a pair.

use serde_json::Value;

use crate::join::{JoinOptions, choose, suffix_filter};
use crate::model::{Bounds, Collections, Explanation, Measure, Result, Run, Side, TokenSets};
use crate::tokenize::{TokenNames, is_blank};

/// A record to be explained.
///
/// See the example of [`Search::explain`](crate::Search::explain).
#[derive(Debug, Clone)]
pub struct NamedRecord<'a> {
    /// Its position in the collection.
    pub ordinal: usize,
    /// Its name.
    pub id: String,
    /// Its text.
    pub text: &'a str,
}

/// How much an explanation shows.
///
/// See the example of [`Search::explain`](crate::Search::explain).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detail {
    /// Show which algorithm a join of the collection takes, and which of its filters the pair passes.
    pub filters: bool,
    /// Leave out the middle of long texts, of long lists of tokens, and of what is equal between differences.
    pub elided: bool,
}

/// Compares two records of one collection, or of two: sizes, tokens, every measure, the verdict at the threshold and,
/// with the feature `diff`, a word diff.
///
/// See the example of [`Search::explain`](crate::Search::explain).
pub fn explain(
    sets: &TokenSets,
    names: &TokenNames,
    left: &NamedRecord<'_>,
    right: &NamedRecord<'_>,
    options: &JoinOptions,
    detail: Detail,
    run: &Run,
) -> Result<Explanation> {
    let (x, y) = (sets.get(left.ordinal), sets.get(right.ordinal));
    let named = |keep: &dyn Fn(u32) -> bool, set: &[u32]| -> Explanation {
        let mut tokens: Vec<Value> =
            set.iter().filter(|&&token| keep(token)).map(|&token| names.get(token).into()).collect();
        if detail.elided && tokens.len() > MOST_TOKENS {
            let more = tokens.len() - MOST_TOKENS;
            tokens.truncate(MOST_TOKENS);
            tokens.push(format!("… and {more} more").into());
        }
        Explanation::leaf(tokens)
    };
    let in_x = |token: u32| x.binary_search(&token).is_ok();
    let in_y = |token: u32| y.binary_search(&token).is_ok();
    let overlap = x.iter().filter(|&&token| in_y(token)).count() as u32;

    let mut tree = Explanation::branch();
    for (side, record, set) in [("left", left, x), ("right", right, y)] {
        let mut branch = Explanation::branch();
        branch.add("id", Explanation::leaf(record.id.clone()));
        let text = if detail.elided { elided(record.text, LONGEST_TEXT) } else { record.text.into() };
        branch.add("text", Explanation::leaf(text));
        branch.add("size", Explanation::leaf(set.len()));
        tree.add(side, branch);
    }
    let mut tokens = Explanation::branch();
    tokens.add("common", named(&in_y, x));
    tokens.add("only_left", named(&|token| !in_y(token), x));
    tokens.add("only_right", named(&|token| !in_x(token), y));
    tree.add("tokens", tokens);

    tree.add("measures", measures(x.len() as u32, y.len() as u32, overlap, left.text, right.text));
    if let Some(threshold) = options.threshold {
        let collections = if sets.left_len() == sets.len() { Collections::One } else { Collections::Two };
        let bounds = Bounds::new(options.measure, threshold, collections)?;
        let mut verdict = Explanation::branch();
        verdict.add("measure", Explanation::leaf(options.measure.name()));
        verdict.add("threshold", Explanation::leaf(threshold.to_string()));
        if detail.filters && options.measure != Measure::Edit {
            let (algorithm, reason) = run.install(|| choose(sets, &bounds, options, run))?;
            verdict.add("algorithm", Explanation::leaf(algorithm.name()));
            if let Some(reason) = reason {
                verdict.add("chosen_because", Explanation::leaf(reason));
            }
        }
        let is_edit = options.measure == Measure::Edit;
        let is_empty =
            |record: &NamedRecord<'_>, set: &[u32]| if is_edit { is_blank(record.text) } else { set.is_empty() };
        if !options.empty && (is_empty(left, x) || is_empty(right, y)) {
            verdict.add("empty", Explanation::leaf("empty records take no part (--empty lets them)"));
            verdict.add("pair", Explanation::leaf(false));
        } else if is_edit {
            edit_verdict(&mut verdict, &bounds, left.text, right.text);
        } else {
            if detail.filters {
                filters(&mut verdict, &bounds, collections, x, y, options.max_depth, names);
            }
            let needed = bounds.min_overlap(x.len() as u32, y.len() as u32);
            verdict.add("overlap", Explanation::leaf(overlap));
            verdict.add("overlap_needed", Explanation::leaf(needed));
            verdict.add("pair", Explanation::leaf(overlap >= needed));
        }
        tree.add("verdict", verdict);
    }
    #[cfg(feature = "diff")]
    tree.add("diff", Explanation::leaf(word_diff(left.text, right.text, detail)));
    Ok(tree)
}

/// Longer texts are shown in part, in characters.
const LONGEST_TEXT: usize = 400;
/// As many tokens of a long list are shown.
const MOST_TOKENS: usize = 60;
/// As many characters are shown before and after a difference.
#[cfg(feature = "diff")]
const CONTEXT: usize = 60;

/// The beginning and the end of a text, if it is longer than so many characters.
fn elided(text: &str, longest: usize) -> String {
    let left_out = text.chars().count().saturating_sub(longest);
    if left_out == 0 {
        return text.to_owned();
    }
    let from = longest - longest / 2;
    let part = |skip: usize, take: usize| text.chars().skip(skip).take(take).collect::<String>();
    format!("{} … {}", part(0, from), part(from + left_out, longest / 2))
}

/// The value of every measure.
fn measures(x: u32, y: u32, overlap: u32, left: &str, right: &str) -> Explanation {
    let mut branch = Explanation::branch();
    for &measure in Measure::ALL {
        let value = match measure {
            Measure::Edit => {
                distance(left, right).map_or(Value::from("not computed, the texts are too long"), Value::from)
            }
            _ if measure.is_count() => Value::from(measure.value(x, y, overlap) as u64),
            _ => Value::from(measure.value(x, y, overlap)),
        };
        branch.add(measure.name(), Explanation::Leaf(value));
        if measure == Measure::Containment {
            branch.add("containment_right_in_left", Explanation::leaf(measure.value(y, x, overlap)));
        }
    }
    branch
}

/// The edit distance, unless it would take too long.
fn distance(left: &str, right: &str) -> Option<usize> {
    const LARGEST_TABLE: usize = 40_000_000_000;
    let table = left.chars().count().saturating_mul(right.chars().count());
    (table <= LARGEST_TABLE).then(|| rapidfuzz::distance::levenshtein::distance(left.chars(), right.chars()))
}

fn edit_verdict(verdict: &mut Explanation, bounds: &Bounds, left: &str, right: &str) {
    let allowed = bounds.count() as usize;
    // With a limit the distance of long texts is no trouble either.
    let args = rapidfuzz::distance::levenshtein::Args::default().score_cutoff(allowed);
    let within = rapidfuzz::distance::levenshtein::distance_with_args(left.chars(), right.chars(), &args);
    verdict.add("allowed", Explanation::leaf(allowed));
    verdict.add("distance", Explanation::leaf(within.map_or("more than that".into(), Value::from)));
    verdict.add("pair", Explanation::leaf(within.is_some()));
}

/// The filters in the order in which ppjoin+ applies them. Each tells whether the pair passes, and what it saw.
fn filters(
    verdict: &mut Explanation,
    bounds: &Bounds,
    collections: Collections,
    left: &[u32],
    right: &[u32],
    max_depth: u32,
    names: &TokenNames,
) {
    // The longer set probes, the other one is in the index. Within one collection both are on the left.
    let other = if collections == Collections::Two { Side::Right } else { Side::Left };
    let (x, y, side_x, side_y) = match left.len() < right.len() {
        true => (right, left, other, Side::Left),
        false => (left, right, Side::Left, other),
    };
    let (size_x, size_y) = (x.len() as u32, y.len() as u32);
    let mut filter = |name: &str, passed: bool, why: String| {
        let mut branch = Explanation::branch();
        branch.add("passed", Explanation::leaf(passed));
        branch.add("why", Explanation::leaf(why));
        verdict.add(name, branch);
        passed
    };
    let needed = bounds.min_overlap_of(size_x, side_x, size_y);
    let partner = bounds.partner_sizes(size_x, side_x);
    let why = match partner.end() {
        &u32::MAX => format!("a partner of {size_x} tokens has at least {}, this one {size_y}", partner.start()),
        end => format!("a partner of {size_x} tokens has {} to {end}, this one {size_y}", partner.start()),
    };
    filter("size_filter", partner.contains(&size_y), why);

    let (prefix_x, prefix_y) = (bounds.probe_prefix(size_x, side_x), bounds.index_prefix(size_y, side_y));
    let first = (x[..prefix_x as usize].iter().enumerate())
        .find_map(|(i, token)| y[..prefix_y as usize].binary_search(token).ok().map(|j| (i as u32, j as u32)));
    match first {
        None if needed == 0 => {
            filter("prefix_filter", true, "sets of these sizes need no common token".to_owned());
        }
        None => {
            let why = format!("the {prefix_x} and {prefix_y} rarest tokens have none in common");
            filter("prefix_filter", false, why);
        }
        Some((i, j)) => {
            let token = names.get(x[i as usize]);
            let why = format!("the {prefix_x} and {prefix_y} rarest tokens have `{token}` in common");
            filter("prefix_filter", true, why);
            let bound = (size_x - i).min(size_y - j);
            let why =
                format!("at places {} and {}, so at most {bound} can be common, {needed} are needed", i + 1, j + 1);
            if filter("positional_filter", bound >= needed, why) {
                let limit = bounds.max_hamming(left.len() as u32, right.len() as u32).map_or(-1, i64::from);
                let limit = limit - i64::from(i + j);
                let least = suffix_filter(&x[i as usize + 1..], &y[j as usize + 1..], limit, max_depth);
                let why = format!("the rests differ in at least {least} tokens, {limit} are allowed");
                filter("suffix_filter", least <= limit, why);
            }
        }
    }
}

/// The texts in one, with [-removed-] and {+added+} words, or letters in scripts without spaces.
#[cfg(feature = "diff")]
fn word_diff(left: &str, right: &str, detail: Detail) -> String {
    use similar::{ChangeTag, TextDiff};

    let context = if detail.elided { CONTEXT } else { usize::MAX };
    let (left, right) = (crate::tokenize::diff_units(left), crate::tokenize::diff_units(right));
    // After that long, what is left is shown as replaced.
    let diff = TextDiff::configure().timeout(std::time::Duration::from_secs(3)).diff_slices(&left, &right);
    let mut text = String::new();
    for op in diff.ops() {
        let (mut equal, mut removed, mut added) = (String::new(), String::new(), String::new());
        for change in diff.iter_changes(op) {
            match change.tag() {
                ChangeTag::Equal => equal.push_str(change.value()),
                ChangeTag::Delete => removed.push_str(change.value()),
                ChangeTag::Insert => added.push_str(change.value()),
            }
        }
        text.push_str(&elided(&equal, context.saturating_mul(2)));
        for (part, open, close) in [(removed, "[-", "-]"), (added, "{+", "+}")] {
            if !part.is_empty() {
                text.push_str(&format!("{open}{part}{close}"));
            }
        }
    }
    text
}
