//! The front door finds what the engines find, whatever it is given.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use twinset::exact::{Input, JoinOptions, join};
use twinset::tokenize::tokenize;
use twinset::{
    Keep, Link, Measure, Method, Representative, Run, Search, SimilarPair, TokenKind, TokenLists, TokenOptions,
};

const TEXTS: [&str; 6] = ["a b c d", "a b c e", "", "A b, c d!", "x y", "a b c d e"];

fn all(pairs: twinset::Result<twinset::Pairs<'_>>) -> Vec<SimilarPair> {
    pairs.unwrap().iter().map(Result::unwrap).collect()
}

fn places(pairs: &[SimilarPair]) -> Vec<(usize, usize)> {
    pairs.iter().map(|pair| (pair.left, pair.right)).collect()
}

proptest! {
    #[test]
    fn texts_token_lists_and_sets_give_the_same_pairs(
        records in prop::collection::vec(prop::collection::vec(0..6u8, 0..6), 0..9),
        left in any::<prop::sample::Index>(),
        threshold in prop::sample::select(vec!["0.5", "2/3", "1"]),
    ) {
        let lists: Vec<Vec<String>> =
            records.iter().map(|record| record.iter().map(|token| format!("t{token}")).collect()).collect();
        let texts: Vec<String> = lists.iter().map(|list| list.join(" ")).collect();
        let search = Search::at(threshold).unwrap().tokens(TokenKind::Items);
        let sets = tokenize(texts.iter().map(String::as_str), &search.tokens).unwrap();
        let options = JoinOptions::at(threshold.parse().unwrap());
        let expected: Vec<(usize, usize, f64)> = join(Input::Sets(&sets), &options, &Run::default())
            .unwrap()
            .iter()
            .map(|pair| pair.map(|pair| (pair.left as usize, pair.right as usize, pair.value)).unwrap())
            .collect();
        for found in [all(search.join(&texts)), all(search.join(TokenLists(&lists))), all(search.join(&sets))] {
            let found: Vec<_> = found.iter().map(|pair| (pair.left, pair.right, pair.similarity)).collect();
            prop_assert_eq!(&found, &expected);
        }
        prop_assert_eq!(search.count(&texts).unwrap(), expected.len() as u64);
        // Two collections: the pairs across, by whatever method finds all of them.
        let left = left.index(records.len() + 1);
        let across: BTreeSet<(usize, usize)> = (expected.iter())
            .filter(|(x, y, _)| *x < left && *y >= left)
            .map(|(x, y, _)| (*x, y - left))
            .collect();
        let found = all(search.join_two(&texts[..left], &texts[left..]));
        prop_assert_eq!(places(&found).into_iter().collect::<BTreeSet<_>>(), across.clone());
        let kmv = all(search.clone().method(Method::Kmv).join_two(&texts[..left], &texts[left..]));
        prop_assert_eq!(places(&kmv).into_iter().collect::<BTreeSet<_>>(), across);
    }
}

#[test]
fn every_method_reports_similarities_with_their_intervals() {
    let words: Vec<String> = (0..300).map(|word| format!("w{word}")).collect();
    let texts = [words.join(" "), words[15..].join(" "), words[200..].join(" ")];
    let exact = all(Search::at(0.8).unwrap().join(&texts));
    assert_eq!(places(&exact), [(0, 1)]);
    assert_eq!((exact[0].similarity, exact[0].low, exact[0].high), (0.95, 0.95, 0.95));
    for method in [Method::MinHash, Method::Lsh, Method::Kmv] {
        let search = Search::at(0.8).unwrap().method(method).probability(0.999).seed(3);
        let found = all(search.join(&texts));
        assert_eq!(places(&found), [(0, 1)], "{method}");
        let SimilarPair { similarity, low, high, .. } = found[0];
        assert!(low <= similarity && similarity <= high && low <= 0.95 && 0.95 <= high, "{method}: {found:?}");
        assert_eq!(low < high, method != Method::Lsh, "{method}");
        if method != Method::Lsh {
            assert_eq!(all(search.verify().join(&texts)), exact, "{method}");
        }
    }
}

#[test]
fn the_record_that_is_kept_is_the_one_asked_for() {
    let kept =
        |keep: Keep| -> Vec<usize> { Search::at("0.7").unwrap().keep(keep).dedup(TEXTS).unwrap().kept().collect() };
    assert_eq!(kept(Keep::First), [0, 2, 4]);
    assert_eq!(kept(Keep::Longest), [2, 3, 4]);
    assert_eq!(kept(Keep::Ranked(vec![3, 5, 4, 2, 1, 0])), [2, 3, 4]);
    assert_eq!(kept(Keep::Central), [2, 4, 5]);
    let ranks = Search::at("0.7").unwrap().keep(Keep::Ranked(vec![0, 0])).dedup(TEXTS);
    assert!(ranks.err().unwrap().to_string().contains("position of each record once"));
    let groups = Search::at("0.7").unwrap().link(Link::Representative).dedup(TEXTS).unwrap();
    assert_eq!(groups.removed().collect::<Vec<_>>(), [3, 5]);
    assert_eq!(groups.of_records()[3].similarity, 1.0);
}

#[test]
fn records_near_another_collection_are_removed_first() {
    for method in [Method::Exact, Method::MinHash, Method::Kmv] {
        let search = Search::at("0.7").unwrap().method(method);
        let search = if method == Method::Exact { search } else { search.probability(0.999) };
        let groups = search.dedup_against(TEXTS, ["unrelated", "x y"]).unwrap();
        assert_eq!(groups.kept().collect::<Vec<_>>(), [0, 2], "{method}");
        assert_eq!(groups.of_records()[4].representative, Representative::Other(1), "{method}");
        assert_eq!(groups.of_records()[4].similarity, 1.0, "{method}");
    }
    let nearest = Search::at("0.7").unwrap().nearest(["a b c", "q"], ["z", "a b c d", "c b a"]).unwrap();
    assert_eq!(nearest[0].map(|pair| (pair.right, pair.similarity)), Some((2, 1.0)));
    assert_eq!(nearest[1], None);
}

#[test]
fn token_lists_may_contain_anything() {
    let lists = [vec!["a\nb", ""], vec!["a", "b", ""], vec!["", "a\nb"], vec!["a\\nb", ""], vec![" "], vec![" "]];
    let search = Search::at(1).unwrap();
    assert_eq!(places(&all(search.join(TokenLists(&lists)))), [(0, 2), (4, 5)]);
    // A repeated token is another token, unless repeats are ignored.
    let repeated = [["a", "a"], ["a", "b"]];
    assert_eq!(all(Search::at("0.5").unwrap().join(TokenLists(&repeated))).len(), 0);
    let ignoring = TokenOptions { repeats: twinset::tokenize::Repeats::Ignore, ..TokenOptions::default() };
    assert_eq!(all(Search::at("0.5").unwrap().tokens(ignoring).join(TokenLists(&repeated))).len(), 1);
}

#[test]
fn classes_and_selections_hold() {
    let search = Search::at("0.6").unwrap();
    assert_eq!(places(&all(search.clone().within([0, 1, 0, 1, 0, 1]).join(TEXTS))), [(1, 3), (1, 5), (3, 5)]);
    assert!(search.clone().within([0]).join(TEXTS).is_err());
    assert_eq!(search.clone().best().count(TEXTS).unwrap(), 2);
    assert_eq!(places(&all(Search::top(1).join(TEXTS))), [(0, 3)]);
    let edit = Search::at(1).unwrap().measure(Measure::Edit);
    assert_eq!(places(&all(edit.join(TEXTS))), [(0, 1)]);
    assert!(edit.join(TokenLists([["a"]])).is_err());
    assert!(Search::default().join(TEXTS).is_err());
    assert!(search.clone().method(Method::MinHash).permutations(0).join(TEXTS).is_err());
    let sets = tokenize(TEXTS, &TokenOptions::default()).unwrap();
    assert!(search.method(Method::MinHash).join(&sets).is_err());
}

#[test]
fn options_are_read_and_written() {
    let search: Search = serde_json::from_str(
        r#"{"tokens": {"tokens": "qgrams:3"}, "join": {"threshold": 0.8}, "estimate": {"method": "sketch"}, "keep": "longest"}"#,
    )
    .unwrap();
    assert_eq!((search.estimate.method, &search.keep), (Method::MinHash, &Keep::Longest));
    let written = serde_json::to_string(&search).unwrap();
    assert!(written.contains("\"minhash\""), "{written}");
    assert_eq!(serde_json::to_string(&serde_json::from_str::<Search>(&written).unwrap()).unwrap(), written);
    assert!(serde_json::from_str::<Search>(r#"{"threshold": 0.8}"#).is_err());
}

#[test]
fn explanations_and_streams_follow_the_search() {
    let search = Search::at("0.6").unwrap();
    let tree = serde_json::to_value(search.explain("a b c d", "a b c e").unwrap()).unwrap();
    assert_eq!(tree["measures"]["jaccard"], 0.6);
    assert_eq!(tree["verdict"]["pair"], true);
    let mut stream = search.stream().unwrap();
    assert!(stream.arrive("a b c d").unwrap().is_none() && stream.arrive("a b c e").unwrap().is_some());
    assert!(search.method(Method::Kmv).stream().is_err());
}

/// What each program prints, and that the README shows it.
#[test]
fn the_programs_run_and_are_those_of_the_readme() {
    const PROGRAMS: [(&str, &str); 7] = [
        ("self_join", "0.875: Efficient"),
        ("two_collections", "Bo Ek, Lund = Ek, Bo (Lund)"),
        ("dedup_longest", "1 of 3 removed"),
        ("minhash", "0, 1: 0.9"),
        ("lsh_index", "a: 0.78\nc: 0.60\n"),
        ("stream", "drop  disk full on node 9"),
        ("custom_tokenizer", "12:01 GET /index 200 = 12:02 GET /index 200\n"),
    ];
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(package.join("README.md")).unwrap();
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap().join("examples");
    for (name, expected) in PROGRAMS {
        let source = std::fs::read_to_string(package.join(format!("examples/{name}.rs"))).unwrap();
        assert!(source.lines().count() <= 25, "{name}");
        let (_, code) = source.split_once("\n\n").unwrap();
        assert!(readme.contains(code), "the README shows another {name}.rs");
        let output = Command::new(built.join(name)).output().expect("`cargo test` builds the examples");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && printed.contains(expected), "{name}: {printed}");
    }
}
