//! Joins against the plainest one: every algorithm, in parts, the best only, and in pieces.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use twinset::estimate::EstimateOptions;
use twinset::exact::SpilledSets;
use twinset::exact::{Algorithm, Collections, Input, JoinOptions, Pair, Side, count, join};
use twinset::shuffle::{Card, Meeting, SetName, Shuffle, TokenOrder};
use twinset::support::Strings;
use twinset::{Measure, Run, Threshold, TokenOptions, TokenSets};

use crate::bytes::Bytes;

/// What is joined, and how.
struct Task {
    sets: Vec<BTreeSet<u32>>,
    left: Option<usize>,
    options: JoinOptions,
}

impl Task {
    /// A small collection: sets of few tokens, many of which are others with a change.
    fn new(bytes: &mut Bytes<'_>) -> Self {
        let measure = bytes.one_of(&Measure::of_sets().collect::<Vec<_>>());
        let threshold = match measure.is_count() {
            true => Threshold::whole(bytes.below(12) as u32),
            false => Threshold::new(u64::from(bytes.short()), u64::from(bytes.short()).max(1)),
        };
        let options = JoinOptions {
            measure,
            threshold: threshold.ok(),
            max_depth: bytes.below(5) as u32,
            empty: bytes.bit(),
            ..JoinOptions::default()
        };
        let is_split = bytes.bit();
        let universe = bytes.one_of(&[3u32, 8, 30, 255]);
        let mut sets: Vec<BTreeSet<u32>> = Vec::new();
        while !bytes.is_empty() && sets.len() < 40 {
            let size = bytes.below(24);
            let mut set: BTreeSet<u32> = match (bytes.byte(), sets.len()) {
                (copied, others) if copied & 1 == 1 && others > 0 => sets[usize::from(copied / 2) % others].clone(),
                _ => bytes.take(size).iter().map(|&byte| u32::from(byte) % universe).collect(),
            };
            for _ in 0..bytes.below(4) {
                let token = bytes.below(universe as usize + 1) as u32;
                if !set.remove(&token) {
                    set.insert(token);
                }
            }
            sets.push(set);
        }
        let left = is_split.then_some(sets.len() / 2);
        Self { sets, left, options }
    }

    fn token_sets(&self) -> TokenSets {
        let sets = TokenSets::from_ids(self.sets.iter().map(|set| set.iter().copied())).expect("there are few tokens");
        match self.left {
            Some(left) => sets.split_at(left as u32),
            None => sets,
        }
    }
}

/// Every algorithm and every way to hold the sets finds what `naive` finds.
pub(crate) fn joins(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    if bytes.below(8) == 0 {
        return edits(bytes);
    }
    let run = Run { portable: bytes.bit(), ..Run::default() };
    let (memory, top) = (80 * (1 + bytes.below(200) as u64), bytes.below(8));
    let task = Task::new(&mut bytes);
    let sets = task.token_sets();
    let naive = JoinOptions { algorithm: Algorithm::Naive, ..task.options.clone() };
    let expected = pairs(Input::Sets(&sets), &naive, &run);
    for &algorithm in Algorithm::ALL {
        let options = JoinOptions { algorithm, ..task.options.clone() };
        assert_eq!(pairs(Input::Sets(&sets), &options, &run), expected, "{algorithm} {options:?}");
        let counted = count(Input::Sets(&sets), &options, &run).map(|stats| stats.pairs as usize);
        assert_eq!(counted.ok(), expected.as_ref().map(Vec::len).ok(), "a count by {algorithm}");
    }
    let little = Run { memory: Some(memory), ..run.clone() };
    let spilled = SpilledSets::new(sets.clone(), &little).expect("temporary files can be written");
    assert_eq!(pairs(Input::Spilled(&spilled), &task.options, &little), expected, "in parts: {:?}", task.options);
    // The best of all are the best of what is found.
    let best = JoinOptions { top: Some(top), ..task.options.clone() };
    if let (Ok(mut all), Ok(joined)) = (expected, join(Input::Sets(&sets), &best, &run)) {
        let measure = task.options.measure;
        all.sort_by(|a, b| measure.order(a.value, b.value).then((a.left, a.right).cmp(&(b.left, b.right))));
        all.truncate(top);
        let selected = joined.selected(&best).expect("nothing is read").expect("some were asked for");
        assert_eq!(selected, all, "the best of {:?}", task.options);
        let spilled = join(Input::Spilled(&spilled), &best, &little).expect("what can be joined can be in parts");
        assert_eq!(spilled.selected(&best).ok().flatten(), Some(all), "the best, in parts, of {:?}", task.options);
    }
}

/// Edit distance by every algorithm.
fn edits(mut bytes: Bytes<'_>) {
    let run = Run { portable: bytes.bit(), ..Run::default() };
    let options = JoinOptions {
        measure: Measure::Edit,
        threshold: Threshold::whole(bytes.below(6) as u32).ok(),
        empty: bytes.bit(),
        ..JoinOptions::default()
    };
    let is_split = bytes.bit();
    let text = String::from_utf8_lossy(bytes.rest());
    let texts: Strings = text.split('\n').take(40).map(|line| line.chars().take(200).collect::<String>()).collect();
    let input = Input::Texts { texts: &texts, left: is_split.then_some(texts.len() / 2) };
    let expected = pairs(input, &JoinOptions { algorithm: Algorithm::Naive, ..options.clone() }, &run);
    for &algorithm in Algorithm::ALL {
        let options = JoinOptions { algorithm, ..options.clone() };
        assert_eq!(pairs(input, &options, &run), expected, "{algorithm} {options:?}");
    }
}

/// All pairs, or why there are none.
fn pairs(input: Input<'_>, options: &JoinOptions, run: &Run) -> Result<Vec<Pair>, String> {
    let joined = join(input, options, run).map_err(|error| error.to_string())?;
    joined.iter().collect::<twinset::Result<_>>().map_err(|error| error.to_string())
}

/// A join in pieces finds what a join on one machine finds.
pub(crate) fn shuffles(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let (salt, frequent, parts) = (u64::from(bytes.byte()), bytes.below(40), 1 + bytes.below(4) as u32);
    let task = Task::new(&mut bytes);
    let options = JoinOptions { empty: false, ..task.options.clone() };
    let collections = if task.left.is_some() { Collections::Two } else { Collections::One };
    let made = Shuffle::new(&options, &TokenOptions::default(), &EstimateOptions::default(), collections, salt);
    let Ok(shuffle) = made else { return };
    let known: Vec<u64> = task.sets.iter().flatten().take(frequent).map(|&token| u64::from(token)).collect();
    let order = TokenOrder::new(&known, known.iter().map(|&token| (token, parts)).chain([(u64::MAX, parts)]));
    let whole = pairs(Input::Sets(&task.token_sets()), &options, &Run::default()).expect("the same options");
    let whole: BTreeSet<Row> = whole.iter().map(|pair| (pair.left, pair.right, pair.value.to_bits())).collect();
    assert_eq!(in_pieces(&task, &shuffle, &order), whole, "{options:?}");
    // Whatever else is said to be a card is one, or none.
    if let Some(card) = Card::read(data) {
        let mut meeting = Meeting::new(&shuffle);
        meeting.take(0, card);
        assert_eq!(meeting.finish().count(), 0, "a card alone meets nobody");
    }
}

/// Two records, and the bits of their value.
type Row = (u32, u32, u64);

/// The pairs by way of cards, as an engine would move them.
fn in_pieces(task: &Task, shuffle: &Shuffle, order: &TokenOrder) -> BTreeSet<Row> {
    let side = |record: usize| if task.left.is_some_and(|left| record >= left) { Side::Right } else { Side::Left };
    let mut meetings: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let (mut sets, mut members) = (HashMap::new(), HashMap::<SetName, Vec<usize>>::new());
    for (record, tokens) in task.sets.iter().enumerate().filter(|(_, tokens)| !tokens.is_empty()) {
        let text: Vec<String> = tokens.iter().map(|token| format!("t{token}")).collect();
        let mut set = shuffle.set(&text.join(" ")).expect("it is short");
        let name = Shuffle::name(&set);
        sets.insert(name, set.clone());
        members.entry(name).or_default().push(record);
        shuffle.cards(&mut set, side(record), order, |meeting, card| {
            let mut bytes = Vec::new();
            card.write(&mut bytes);
            meetings.entry(meeting).or_default().push(bytes);
        });
    }
    let (mut meeting, mut met) = (Meeting::new(shuffle), BTreeSet::new());
    for (number, cards) in &meetings {
        for card in cards {
            met.extend(meeting.take(*number, Card::read(card).expect("it was written")).into_iter().flatten());
        }
    }
    met.extend(meeting.finish());
    let mut rows = BTreeSet::new();
    let mut expand = |x: SetName, y: SetName, value: f64| {
        for (&a, &b) in members[&x].iter().flat_map(|a| members[&y].iter().map(move |b| (a, b))) {
            let row = match task.left {
                Some(left) if a < left && b >= left => Some((a, b - left)),
                Some(_) => None,
                None if shuffle.measure() == Measure::Containment => (a != b).then_some((a, b)),
                None => (a != b).then_some((a.min(b), a.max(b))),
            };
            rows.extend(row.map(|(a, b)| (a as u32, b as u32, value.to_bits())));
        }
    };
    for (x, y) in met {
        shuffle.compare(&sets[&x], &sets[&y], |is_turned, value| match is_turned {
            true => expand(y, x, value),
            false => expand(x, y, value),
        });
    }
    for (&name, set) in &sets {
        if let (true, value) = shuffle.twins(set.len() as u32) {
            expand(name, name, value);
        }
    }
    rows
}
