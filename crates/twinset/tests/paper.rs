//! The examples of "Efficient Similarity Joins for Near Duplicate Detection" (Xiao, Wang, Lin, Yu 2008).
//! Examples 4 and 5, on the suffix filter, are tested beside it.

use twinset::exact::{Algorithm, Bounds, Collections, Detail, Input, JoinOptions, Side, explain, join};
use twinset::tokenize::{Tokenizer, tokenize};
use twinset::{Measure, Run, TokenOptions, TokenSets};

fn bounds(measure: Measure, threshold: &str) -> Bounds {
    Bounds::new(measure, threshold.parse().unwrap(), Collections::One).unwrap()
}

/// Records as the letters of the paper, ids in the order of its ordering O.
fn sets(order: &str, records: &[&str]) -> TokenSets {
    let id = |letter: char| order.find(letter).unwrap() as u32;
    TokenSets::from_ids(records.iter().map(|record| record.chars().map(id).collect::<Vec<_>>())).unwrap()
}

/// Example 1: "as" occurs twice in both texts, so its second occurrence is a token of its own.
#[test]
fn example_1_texts_become_records() {
    let texts = ["yes as soon as possible", "as soon as possible please"];
    let sets = tokenize(texts, &TokenOptions::default()).unwrap();
    assert_eq!((sets.size(0), sets.size(1)), (5, 5));
    // x = [A, B, C, D, E] and y = [F, B, C, D, E]: what only one has is rare, and comes first.
    assert_eq!(sets.get(0)[1..], sets.get(1)[1..]);
    assert_ne!(sets.get(0)[0], sets.get(1)[0]);
    for (measure, value) in [(Measure::Jaccard, 4.0 / 6.0), (Measure::Cosine, 0.8)] {
        // Both values are found at the threshold that they lie on.
        let threshold = if measure == Measure::Jaccard { "2/3" } else { "0.8" };
        let options = JoinOptions { measure, ..JoinOptions::at(threshold.parse().unwrap()) };
        let joined = join(Input::Sets(&sets), &options, &Run::default()).unwrap();
        let values: Vec<f64> = joined.iter().map(Result::unwrap).map(|pair| pair.value).collect();
        assert_eq!(values, [value], "{measure}");
    }
    let ignoring = TokenOptions { repeats: "ignore".parse().unwrap(), ..TokenOptions::default() };
    assert_eq!(tokenize(texts, &ignoring).unwrap().size(0), 4);
}

/// Example 2: prefixes at 0.8 are of length 2 for five tokens and 1 for three; C's list is [w, x], and size filtering
/// takes w from x's candidates.
#[test]
fn example_2_prefixes_and_size_filter() {
    let bounds = bounds(Measure::Jaccard, "0.8");
    assert_eq!(bounds.probe_prefix(5, Side::Left), 2);
    assert_eq!(bounds.probe_prefix(3, Side::Left), 1);
    assert!(!bounds.partner_sizes(5, Side::Left).contains(&3));
    assert!(bounds.partner_sizes(5, Side::Left).contains(&4));
}

/// Examples 2 and 3: All-Pairs verifies ⟨x, y⟩, which share B in their prefixes; positional filtering does not, as at
/// most 1 + min(3, 4) = 4 tokens can be common where 5 are needed.
#[test]
fn example_3_positional_filter() {
    // The frequencies of the four records give another order than the paper's, so two records are joined alone, with
    // tokens that repeat in records too short to be partners.
    let x = "BCDEF";
    let y = "ABCDE";
    let fillers = ["B", "C", "C", "D", "D", "D", "E", "E", "E", "E", "F", "F", "F", "F", "F", "F"];
    let records: Vec<&str> = [x, y].into_iter().chain(fillers).collect();
    let sets = sets("ABCDEF", &records);
    assert_eq!(bounds(Measure::Jaccard, "0.8").min_overlap(5, 5), 5);
    let candidates = |algorithm| {
        let options = JoinOptions { algorithm, ..JoinOptions::at("0.8".parse().unwrap()) };
        let joined = join(Input::Sets(&sets), &options, &Run::default()).unwrap();
        assert!(joined.iter().all(|pair| pair.unwrap().left > 1), "x and y are no pair");
        joined.stats.candidates.verified()
    };
    assert_eq!(candidates(Algorithm::AllPairs), 1);
    assert_eq!(candidates(Algorithm::PpJoin), 0);
}

/// The explanation names the filter that drops a pair.
#[test]
fn explanations_follow_the_filters() {
    let texts = ["b c d e f", "a b c d e", "b", "c c", "d d d", "e e e e", "f f f f f"];
    let tokenizer = Tokenizer::new(&TokenOptions::default()).unwrap();
    let block = tokenizer.block(texts).unwrap();
    let (sets, names) = tokenizer.finish_named([block]).unwrap();
    let record =
        |ordinal: usize| twinset::exact::NamedRecord { ordinal, id: ordinal.to_string(), text: texts[ordinal] };
    let options = JoinOptions::at("0.8".parse().unwrap());
    let detail = Detail { filters: true, elided: false };
    let tree = explain(&sets, &names, &record(0), &record(1), &options, detail, &Run::default()).unwrap();
    let verdict = serde_json::to_value(tree.get("verdict").unwrap()).unwrap();
    assert_eq!(verdict["size_filter"]["passed"], true);
    assert_eq!((&verdict["overlap"], &verdict["overlap_needed"]), (&4.into(), &5.into()));
    assert_eq!(verdict["pair"], false);
    #[cfg(feature = "diff")]
    assert_eq!(serde_json::to_value(tree.get("diff").unwrap()).unwrap(), "{+a +}b c d e[- f-]");
    assert_eq!(serde_json::to_value(tree.get("measures").unwrap().get("hamming").unwrap()).unwrap(), 2);
}
