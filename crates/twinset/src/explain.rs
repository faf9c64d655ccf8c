//! Why two records are, or are not, a pair.

use serde_json::Value;

use crate::join::{JoinOptions, choose, suffix_filter};
use crate::model::{Bounds, Collections, Explanation, Measure, Result, Run, Side, TokenSets};
use crate::tokenize::{TokenNames, is_blank};

/// A record to be explained.
#[derive(Debug, Clone)]
pub struct NamedRecord<'a> {
    /// Its position in the collection.
    pub ordinal: usize,
    /// Its name.
    pub id: String,
    /// Its text.
    pub text: &'a str,
}

/// Compares two records of one collection: sizes, tokens, every measure, the filters at the threshold and,
/// with the feature `diff`, a word diff.
pub fn explain(
    sets: &TokenSets,
    names: &TokenNames,
    left: &NamedRecord<'_>,
    right: &NamedRecord<'_>,
    options: &JoinOptions,
    run: &Run,
) -> Result<Explanation> {
    let (x, y) = (sets.get(left.ordinal), sets.get(right.ordinal));
    let named = |keep: &dyn Fn(u32) -> bool, set: &[u32]| -> Explanation {
        Explanation::leaf(
            set.iter().filter(|&&token| keep(token)).map(|&token| names.get(token).into()).collect::<Vec<Value>>(),
        )
    };
    let in_x = |token: u32| x.binary_search(&token).is_ok();
    let in_y = |token: u32| y.binary_search(&token).is_ok();
    let overlap = x.iter().filter(|&&token| in_y(token)).count() as u32;

    let mut tree = Explanation::branch();
    for (side, record, set) in [("left", left, x), ("right", right, y)] {
        let mut branch = Explanation::branch();
        branch.add("id", Explanation::leaf(record.id.clone()));
        branch.add("text", Explanation::leaf(record.text));
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
        let bounds = Bounds::new(options.measure, threshold, Collections::One)?;
        let mut verdict = Explanation::branch();
        verdict.add("measure", Explanation::leaf(options.measure.name()));
        verdict.add("threshold", Explanation::leaf(threshold.to_string()));
        if options.measure != Measure::Edit {
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
            filters(&mut verdict, &bounds, x, y, options.max_depth, names);
        }
        tree.add("verdict", verdict);
    }
    #[cfg(feature = "diff")]
    tree.add("diff", Explanation::leaf(word_diff(left.text, right.text)));
    Ok(tree)
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
    left: &[u32],
    right: &[u32],
    max_depth: u32,
    names: &TokenNames,
) {
    // The longer set probes, the other one is in the index.
    let (x, y) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let (size_x, size_y) = (x.len() as u32, y.len() as u32);
    let mut filter = |name: &str, passed: bool, why: String| {
        let mut branch = Explanation::branch();
        branch.add("passed", Explanation::leaf(passed));
        branch.add("why", Explanation::leaf(why));
        verdict.add(name, branch);
        passed
    };
    let overlap = x.iter().filter(|&token| y.binary_search(token).is_ok()).count() as u32;
    let needed = bounds.min_overlap(size_x, size_y);
    let partner = bounds.partner_sizes(size_x, Side::Left);
    let why = match partner.end() {
        &u32::MAX => format!("a partner of {size_x} tokens has at least {}, this one {size_y}", partner.start()),
        end => format!("a partner of {size_x} tokens has {} to {end}, this one {size_y}", partner.start()),
    };
    filter("size_filter", partner.contains(&size_y), why);

    let (prefix_x, prefix_y) = (bounds.probe_prefix(size_x, Side::Left), bounds.index_prefix(size_y, Side::Left));
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
                let limit = bounds.max_hamming(size_x, size_y).map_or(-1, i64::from) - i64::from(i + j);
                let least = suffix_filter(&x[i as usize + 1..], &y[j as usize + 1..], limit, max_depth);
                let why = format!("the rests differ in at least {least} tokens, {limit} are allowed");
                filter("suffix_filter", least <= limit, why);
            }
        }
    }
    verdict.add("overlap", Explanation::leaf(overlap));
    verdict.add("overlap_needed", Explanation::leaf(needed));
    verdict.add("pair", Explanation::leaf(overlap >= needed));
}

#[cfg(feature = "diff")]
/// The texts in one, with [-removed-] and {+added+} words, or letters in scripts without spaces.
fn word_diff(left: &str, right: &str) -> String {
    use similar::{ChangeTag, TextDiff};

    let (left, right) = (crate::tokenize::diff_units(left), crate::tokenize::diff_units(right));
    // After that long, what is left is shown as replaced.
    let diff = TextDiff::configure().timeout(std::time::Duration::from_secs(3)).diff_slices(&left, &right);
    let mut text = String::new();
    for op in diff.ops() {
        let (mut removed, mut added) = (String::new(), String::new());
        for change in diff.iter_changes(op) {
            match change.tag() {
                ChangeTag::Equal => text.push_str(change.value()),
                ChangeTag::Delete => removed.push_str(change.value()),
                ChangeTag::Insert => added.push_str(change.value()),
            }
        }
        for (part, open, close) in [(removed, "[-", "-]"), (added, "{+", "+}")] {
            if !part.is_empty() {
                text.push_str(&format!("{open}{part}{close}"));
            }
        }
    }
    text
}
