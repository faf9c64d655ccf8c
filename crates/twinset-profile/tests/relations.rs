//! Relations are those of a plain computation over all values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;
use twinset::Run;
use twinset_profile::{Kind, Profile, ProfileOptions, Relation, RelationKind, profile};

type Columns = Vec<(String, Vec<String>)>;

/// Writes a table as csv.
fn write(folder: &Path, name: &str, columns: &Columns) {
    let mut text = columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..columns[0].1.len() {
        text += &columns.iter().map(|(_, values)| values[row].clone()).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    fs::write(folder.join(format!("{name}.csv")), text).unwrap();
}

fn read(folder: &Path, options: &ProfileOptions, run: &Run) -> Profile {
    profile(&[folder.display().to_string()], options, None, run).unwrap()
}

fn all() -> ProfileOptions {
    ProfileOptions { top: usize::MAX, score: 0.0, ..ProfileOptions::default() }
}

/// Columns of all kinds: many are contained in others, wholly or for the most part, and some are tiny beside what contains them.
fn made_up(random: &mut impl Rng) -> BTreeMap<String, Columns> {
    let mut tables = BTreeMap::new();
    let universe: Vec<String> = (0..30_000).map(|number| format!("v{:05}", number * 7 % 99_991)).collect();
    let numbers: Vec<String> = (1..=30_000).map(|number: u32| number.to_string()).collect();
    for table in 0..6 {
        let rows = [20, 700, 3000, 30_000][table % 4];
        let mut columns: Columns = Vec::new();
        for column in 0..5 {
            let pool = if random.random_bool(0.5) { &universe } else { &numbers };
            let distinct = [1, 7, 60, 600, 5000, 30_000][random.random_range(0..6)].min(rows);
            let start = if random.random_bool(0.5) { 0 } else { random.random_range(0..pool.len() - distinct + 1) };
            let values: Vec<&String> = pool[start..start + distinct].iter().collect();
            let foreign = random.random_range(0..3) * distinct / 12;
            let cells = (0..rows).map(|row| match random.random_range(0..20) {
                0 => String::new(),
                // Values that no other column has.
                1 if foreign > 0 => format!("x{table}{column}{}", random.random_range(0..foreign)),
                _ if row < distinct => values[row].clone(),
                _ => (*values.choose(random).unwrap()).clone(),
            });
            columns.push((format!("c{column}"), cells.collect()));
        }
        tables.insert(format!("t{table}"), columns);
    }
    tables
}

/// The different values of each column.
fn sets(tables: &BTreeMap<String, Columns>) -> BTreeMap<String, BTreeSet<String>> {
    let mut sets = BTreeMap::new();
    for (table, columns) in tables {
        for (name, values) in columns {
            let values = values.iter().filter(|value| !value.is_empty()).cloned().collect();
            sets.insert(format!("{table}.{name}"), values);
        }
    }
    sets
}

fn contained(found: &Profile) -> BTreeMap<(String, String), &Relation> {
    let of_kind = found.relations.iter().filter(|relation| relation.kind == RelationKind::Contained);
    of_kind.map(|relation| ((found.key_name(&relation.left), found.key_name(&relation.right)), relation)).collect()
}

/// Whether a relation follows from those that are listed: equal columns that are complete in their synopses are a group, whose first stands
/// for all, and each is listed against the first.
fn is_inherited(
    found: &Profile,
    sets: &BTreeMap<String, BTreeSet<String>>,
    listed: &BTreeMap<(String, String), &Relation>,
    size: u32,
    left: &str,
    right: &str,
) -> bool {
    let first = |name: &str| -> String {
        let is_equal = |other: &str| other == name || sets[name].len() <= size as usize && sets[other] == sets[name];
        found.features.iter().map(|feature| &feature.name).find(|other| is_equal(other)).unwrap().clone()
    };
    let has = |left: &str, right: &str| {
        listed.get(&(left.to_owned(), right.to_owned())).is_some_and(|row| !row.checked || row.containment >= 0.9)
    };
    let (own, others) = (first(left), first(right));
    let is_first_or_listed = |name: &str, first: &str| name == first || has(name, first);
    let stands = own == others || has(&own, &others);
    (own != left || others != right) && stands && is_first_or_listed(left, &own) && is_first_or_listed(right, &others)
}

#[test]
fn no_inclusion_is_missed_and_every_figure_is_exact() {
    for seed in 0..4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let folder = TempDir::new().unwrap();
        let tables = made_up(&mut random);
        tables.iter().for_each(|(name, columns)| write(folder.path(), name, columns));
        let sets = sets(&tables);
        // The second look in one piece and, where little memory is allowed, in many.
        for (size, memory) in [(512, None), (16, None), (64, Some(1 << 20))] {
            let run = Run { memory, ..Run::default() };
            let found = read(folder.path(), &ProfileOptions { size, ..all() }, &run);
            assert!(found.problems.is_empty(), "{:?}", found.problems);
            let listed = contained(&found);
            let mut checked = 0;
            for (left, own) in &sets {
                for (right, others) in
                    sets.iter().filter(|(right, others)| *right != left && !own.is_empty() && !others.is_empty())
                {
                    let common = own.intersection(others).count();
                    let share = common as f64 / own.len() as f64;
                    let place = format!("seed {seed}, size {size}: {left} in {right}, {common} of {}", own.len());
                    let Some(relation) = listed.get(&(left.clone(), right.clone())) else {
                        // What is contained for the most part may be missed once in ten thousand cases.
                        assert!(share < 0.9 || is_inherited(&found, &sets, &listed, size, left, right), "{place}");
                        continue;
                    };
                    assert_eq!(relation.containment, share, "{place}");
                    assert!(share >= 0.9 && relation.checked, "{place}");
                    assert_eq!(relation.orphan_values, (own.len() - common) as u64, "{place}");
                    let is_orphan = |(value, _): &(String, u64)| own.contains(value) && !others.contains(value);
                    assert!(relation.orphans.iter().all(is_orphan), "{place}: {:?}", relation.orphans);
                    assert_eq!(relation.orphans.len(), (own.len() - common).min(5), "{place}");
                    let (table, column) = left.split_once('.').unwrap();
                    let cells = &tables[table].iter().find(|(name, _)| name == column).unwrap().1;
                    for (value, rows) in &relation.orphans {
                        assert_eq!(
                            cells.iter().filter(|cell| *cell == value).count() as u64,
                            *rows,
                            "{place}: {value}"
                        );
                    }
                    checked += 1;
                }
            }
            assert!(checked > 20, "only {checked} inclusions");
            check_features(&found, &tables, &sets);
        }
    }
}

fn check_features(found: &Profile, tables: &BTreeMap<String, Columns>, sets: &BTreeMap<String, BTreeSet<String>>) {
    for feature in &found.features {
        let (table, column) = feature.name.split_once('.').unwrap();
        let cells = &tables[table].iter().find(|(name, _)| name == column).unwrap().1;
        let present: Vec<&String> = cells.iter().filter(|cell| !cell.is_empty()).collect();
        assert_eq!((feature.rows, feature.nulls), (cells.len() as u64, (cells.len() - present.len()) as u64));
        let distinct = sets[&feature.name].len();
        let is_unique = distinct == present.len() && distinct > 0;
        assert_eq!(feature.unique, Some(is_unique), "{}", feature.name);
        if feature.distinct.is_exact() {
            assert_eq!(feature.distinct.count, distinct as f64, "{}", feature.name);
        }
        for frequency in &feature.frequent {
            let count = cells.iter().filter(|cell| **cell == frequency.value).count() as u64;
            assert!(
                count == frequency.count || frequency.at_least && count > frequency.count,
                "{} {frequency:?}",
                feature.name
            );
        }
        if feature.kind == Kind::Integer {
            let numbers = present.iter().map(|cell| cell.parse::<u64>().unwrap());
            let (low, high) = (numbers.clone().min().unwrap(), numbers.max().unwrap());
            assert_eq!((feature.min.clone(), feature.max.clone()), (Some(low.to_string()), Some(high.to_string())));
        }
        assert!(feature.examples.iter().all(|example| sets[&feature.name].contains(example)));
    }
}

#[test]
fn what_is_not_checked_says_so_and_misses_nothing_either() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let folder = TempDir::new().unwrap();
    let tables = made_up(&mut random);
    tables.iter().for_each(|(name, columns)| write(folder.path(), name, columns));
    let found = read(folder.path(), &ProfileOptions { no_check: true, ..all() }, &Run::default());
    let (sets, listed) = (sets(&tables), contained(&found));
    for (left, own) in &sets {
        for (right, others) in sets.iter().filter(|(right, _)| *right != left && !own.is_empty()) {
            let is_told = || {
                listed.contains_key(&(left.clone(), right.clone()))
                    || is_inherited(&found, &sets, &listed, 512, left, right)
            };
            assert!(!own.is_subset(others) || is_told(), "{left} {right}");
        }
    }
    assert!(listed.values().all(|relation| !relation.checked && relation.orphans.is_empty()));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let folder = TempDir::new().unwrap();
    made_up(&mut random).iter().for_each(|(name, columns)| write(folder.path(), name, columns));
    let json = |threads| {
        let run = Run { threads: Some(threads), ..Run::default() };
        read(folder.path(), &all(), &run).export(twinset_profile::Export::Json)
    };
    let one = json(1);
    assert!(one.len() > 10_000 && [2, 4].into_iter().all(|threads| json(threads) == one));
}

#[test]
fn similar_columns_are_those_of_the_definition() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let folder = TempDir::new().unwrap();
    let columns: Columns = (0..12)
        .map(|column| {
            let start = random.random_range(0..200);
            (format!("c{column}"), (0..400).map(|row| (start + row).to_string()).collect())
        })
        .collect();
    write(folder.path(), "t", &columns);
    let found = read(folder.path(), &ProfileOptions { threshold: "7/10".parse().unwrap(), ..all() }, &Run::default());
    let sets = sets(&BTreeMap::from([("t".to_owned(), columns)]));
    let mut expected = BTreeMap::new();
    for (left, own) in &sets {
        for (right, others) in sets.range(left.clone()..).skip(1) {
            let similarity = own.intersection(others).count() as f64 / own.union(others).count() as f64;
            // Of equal columns the first stands for all.
            let first = |name: &String| {
                found.features.iter().map(|feature| &feature.name).find(|other| sets[*other] == sets[name]).unwrap()
            };
            let firsts = (first(left), first(right));
            let is_listed = firsts == (left, right) || firsts.0 == firsts.1 && [left, right].contains(&firsts.0);
            if similarity >= 0.7 && is_listed {
                expected.insert(BTreeSet::from([left.clone(), right.clone()]), similarity);
            }
        }
    }
    let similar = found.relations.iter().filter(|relation| relation.kind == RelationKind::Similar);
    let similar: BTreeMap<BTreeSet<String>, f64> = similar
        .map(|relation| {
            (BTreeSet::from([found.key_name(&relation.left), found.key_name(&relation.right)]), relation.similarity)
        })
        .collect();
    assert!(expected.len() > 10);
    assert_eq!(similar, expected);
}

#[test]
fn values_that_are_written_differently_are_equal() {
    let folder = TempDir::new().unwrap();
    let text = "a,b,c,d,e,f,g\n\
                1,1.0,2024-01-02,2024/01/02,true,TRUE,007\n\
                +2,2.00,2024-01-03 00:00:00,2024-01-03T00:00:00Z,FALSE,false,7\n\
                3,3,2024-01-04,2024-01-04,True,true,08\n\
                ,,,,,,\n";
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let found = read(folder.path(), &all(), &Run::default());
    let pairs: BTreeSet<(String, String)> = contained(&found).into_keys().collect();
    let pair = |left: &str, right: &str| (format!("t.{left}"), format!("t.{right}"));
    let expected = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("e", "f"), ("f", "e")];
    assert_eq!(pairs, expected.into_iter().map(|(left, right)| pair(left, right)).collect());
    let kinds: Vec<Kind> = found.features.iter().map(|feature| feature.kind).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Integer, Kind::Date, Kind::Date, Kind::Boolean, Kind::Boolean, Kind::Text]);
    // Leading zeros make a difference, unless they are not to.
    let zeros = ProfileOptions { normalize: vec![twinset_profile::Normalize::Zeros], ..all() };
    let found = read(folder.path(), &zeros, &Run::default());
    assert_eq!(found.features[6].distinct.count, 2.0);
}

#[test]
fn the_papers_first_example() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("person.csv"), "ID,Name,ZIP_Code\n1,Alice,12345\n2,Bob,54321\n").unwrap();
    let first = "<person> <ID>1</ID> <Name>Alice</Name> <homeZIP>12345</homeZIP> </person>";
    let second = "<person> <ID>2</ID> <Name>Bob</Name> <workZIP>54321</workZIP> </person>";
    fs::create_dir(folder.path().join("documents")).unwrap();
    fs::write(folder.path().join("documents/1.xml"), first).unwrap();
    fs::write(folder.path().join("documents/2.xml"), second).unwrap();
    let sources = ["person.csv", "documents"].map(|name| folder.path().join(name).display().to_string());
    let found = profile(&sources, &all(), None, &Run::default()).unwrap();
    let features: Vec<(&str, BTreeSet<&str>)> = found
        .features
        .iter()
        .map(|feature| (feature.name.as_str(), feature.examples.iter().map(String::as_str).collect()))
        .collect();
    let set = |values: &[&'static str]| values.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(
        features,
        [
            ("person.ID", set(&["1", "2"])),
            ("person.Name", set(&["Alice", "Bob"])),
            ("person.ZIP_Code", set(&["12345", "54321"])),
            ("/person/ID", set(&["1", "2"])),
            ("/person/Name", set(&["Alice", "Bob"])),
            ("/person/homeZIP", set(&["12345"])),
            ("/person/workZIP", set(&["54321"])),
        ]
    );
    // A path matches a column of a table.
    let pairs: Vec<(String, String)> = contained(&found).into_keys().collect();
    for pair in [("/person/Name", "person.Name"), ("/person/homeZIP", "person.ZIP_Code"), ("person.ID", "/person/ID")] {
        assert!(pairs.contains(&(pair.0.to_owned(), pair.1.to_owned())), "{pair:?} of {pairs:?}");
    }
}

#[test]
fn texts_are_compared_by_their_words_where_asked() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.csv"), "id,note\n1,the old bridge\n2,dry weather\n").unwrap();
    fs::write(folder.path().join("b.csv"), "id,remark\n1,Bridge of old\n2,weather: dry!\n3,the\n").unwrap();
    let options = ProfileOptions { text_columns: vec!["note".to_owned(), "b.remark".to_owned()], ..all() };
    let found = read(folder.path(), &options, &Run::default());
    let listed = contained(&found);
    let relation = listed[&("a.note".to_owned(), "b.remark".to_owned())];
    assert_eq!((relation.containment, relation.coverage, relation.checked), (1.0, 5.0 / 6.0, true));
}

#[test]
fn keys_of_two_columns_are_found_where_one_is_not_enough() {
    let folder = TempDir::new().unwrap();
    let stock: Vec<(u32, u32)> = (0..300).map(|number| (number / 10 + 1, number % 10 + 100)).collect();
    let text = |header: &str, rows: &[(u32, u32)]| {
        let rows: String = rows.iter().enumerate().map(|(row, (a, b))| format!("{a},{b},{}\n", row * 13 % 7)).collect();
        format!("{header}\n{rows}")
    };
    fs::write(folder.path().join("stock.csv"), text("part_no,shop_no,left_over", &stock)).unwrap();
    let sales: Vec<(u32, u32)> = (0..900).map(|number| stock[number * 7 % 300]).collect();
    fs::write(folder.path().join("sales.csv"), text("part_no,shop_no,amount", &sales)).unwrap();
    let found = read(folder.path(), &ProfileOptions::default(), &Run::default());
    let keys: Vec<(String, String, bool)> = found
        .relations
        .iter()
        .filter(|relation| relation.kind == RelationKind::ForeignKey)
        .map(|relation| (found.key_name(&relation.left), found.key_name(&relation.right), relation.checked))
        .collect();
    let both = ("sales.part_no + sales.shop_no".to_owned(), "stock.part_no + stock.shop_no".to_owned(), true);
    assert!(keys.contains(&both), "{keys:?}");
}
