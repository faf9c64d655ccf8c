//! Indexes whose files were changed by chance: an error, a damage that is told, or the right answer.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::Map;
use twinset::estimate::{Condition, Labeler, LshOptions};
use twinset::{Measure, TokenOptions};
use twinset_index::Settings;
use twinset_index::kmv::{CandidateStrategy, Entry, KmvIndex, Query};
use twinset_index::lsh::LshIndex;
use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::Bytes;
use crate::scratch;

/// Names and bytes of files.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// The files of an index, and what it answers.
struct Kept {
    files: Files,
    answers: String,
}

/// The LSH index in SQLite.
pub(crate) fn labels(data: &[u8]) {
    thread_local! {
        static KEPT: OnceCell<Kept> = const { OnceCell::new() };
    }
    KEPT.with(|kept| {
        let kept = kept.get_or_init(|| {
            let folder = scratch::folder_of("made", &[]);
            let settings = Settings::lsh(LshOptions { trees: 5, bits: 16 }, TokenOptions::default(), 3);
            let labeler = Labeler::new(settings.labels(), settings.seed).expect("the settings are plain");
            let mut index = LshIndex::create(&folder.display().to_string(), &settings).expect("an index can be made");
            let records = (0..20).map(|at| LshIndex::label(&labeler, format!("r{at}"), hashes(at)));
            index.add(records.collect()).expect("records can be added");
            drop(index);
            let (answers, damages) = ask_labels(&folder).expect("a whole index answers");
            assert!(damages.is_empty(), "a whole index has no damages: {damages:?}");
            Kept { files: scratch::files_of(&folder), answers }
        });
        let mut changed = kept.files.clone();
        change(&mut changed, &mut Bytes::new(data));
        let folder = scratch::folder_of("changed", &changed);
        check(kept, ask_labels(&folder));
    });
}

/// The synopsis index.
pub(crate) fn synopses(data: &[u8]) {
    thread_local! {
        static KEPT: OnceCell<Kept> = const { OnceCell::new() };
    }
    KEPT.with(|kept| {
        let kept = kept.get_or_init(|| {
            let folder = scratch::folder_of("made", &[]);
            let settings = Settings::kmv(8, TokenOptions::default(), 0);
            let mut index = KmvIndex::create(&folder, &settings).expect("an index can be made").with_threads(1);
            for some in [0..12u64, 12..20] {
                let entry = |at: u64| {
                    let synopsis = index.synopsis_of(&hashes(at)).expect("the size is plain");
                    Entry { id: format!("r{at}"), synopsis, bytes: 10, extra: Map::new() }
                };
                let entries = some.map(entry).collect();
                index.add(entries, false).expect("records can be added");
            }
            index.remove(&["r3".to_owned()]).expect("records can be removed");
            index.finish().expect("nothing is left to do");
            drop(index);
            let (answers, damages) = ask_synopses(&folder).expect("a whole index answers");
            assert!(damages.is_empty(), "a whole index has no damages: {damages:?}");
            Kept { files: scratch::files_of(&folder), answers }
        });
        let mut changed = kept.files.clone();
        change(&mut changed, &mut Bytes::new(data));
        let folder = scratch::folder_of("changed", &changed);
        check(kept, ask_synopses(&folder));
    });
}

/// Sets of which many are alike.
fn hashes(record: u64) -> Vec<u64> {
    let common = (0..10).map(|token| (record / 4, token));
    let own = (0..record % 4).map(|token| (1000 + record, token));
    let mut hashes: Vec<u64> = common.chain(own).map(|token| xxh3_64(format!("{token:?}").as_bytes())).collect();
    hashes.sort_unstable();
    hashes
}

/// What an index says, and what it finds wrong with itself.
type Answers = Result<(String, Vec<String>), twinset_index::Error>;

fn ask_labels(folder: &Path) -> Answers {
    let mut index = LshIndex::open(&folder.display().to_string())?;
    let mut answers = Vec::new();
    let query = twinset_index::lsh::Query { threshold: "0.6".parse()?, probability: 0.9 };
    for record in 0..20 {
        answers.push(format!("{:?}", index.query(&hashes(record), &query)?));
        answers.push(format!("{:?}", index.find(&format!("r{record}"))?));
    }
    index.for_each::<twinset_index::Error>(|record| {
        answers.push(format!("{record:?}"));
        Ok(())
    })?;
    index.join::<twinset_index::Error>(&query, |pair| {
        answers.push(format!("{pair:?}"));
        Ok(())
    })?;
    answers.push(index.stats()?.records.to_string());
    Ok((answers.join("\n"), index.damages()?))
}

fn ask_synopses(folder: &Path) -> Answers {
    let index = KmvIndex::open(folder)?;
    let damages = index.damages()?;
    if !damages.is_empty() {
        return Ok((String::new(), damages));
    }
    let mut answers = Vec::new();
    let snapshot = index.snapshot()?;
    let condition = Condition::new(Measure::Jaccard, "0.6".parse()?, 0)?;
    for record in 0..20 {
        for &strategy in CandidateStrategy::ALL {
            let query = Query { condition, strategy, size: None };
            let hits = snapshot.query(index.synopsis_of(&hashes(record))?.synopsis(), &query)?;
            for hit in hits {
                answers.push(format!("{:?} {} {}", snapshot.stored(&hit)?, hit.number, hit.similarity));
            }
        }
        answers.push(format!("{:?}", snapshot.find(&format!("r{record}"))?));
    }
    snapshot.for_each_stored::<twinset_index::Error>(|id, extra, synopsis| {
        answers.push(format!("{id} {extra:?} {:?}", synopsis.values()));
        Ok(())
    })?;
    answers.push(index.stats()?.records.to_string());
    Ok((answers.join("\n"), damages))
}

fn check(kept: &Kept, answers: Answers) {
    if let Ok((answers, damages)) = answers {
        let differing = answers.lines().zip(kept.answers.lines()).find(|(now, before)| now != before);
        let is_right = answers == kept.answers;
        assert!(is_right || !damages.is_empty(), "a wrong answer, and no damage: {differing:?}");
    }
}

/// Changes bytes of the files, cuts them, and takes them away.
fn change(files: &mut Files, bytes: &mut Bytes<'_>) {
    for _ in 0..16 {
        if bytes.is_empty() || files.is_empty() {
            return;
        }
        let (what, file) = (bytes.below(16), bytes.below(files.len()));
        let content = &mut files[file].1;
        let place = usize::from(bytes.short()) * content.len().div_ceil(1 << 16).max(1) + bytes.below(4);
        let place = place % content.len().max(1);
        let value = bytes.byte();
        match what {
            0 => content.truncate(place),
            1 => _ = content.drain(place..content.len().min(place + usize::from(value))),
            2 => content.iter_mut().skip(place).take(usize::from(value)).for_each(|byte| *byte = 0),
            3 => content.extend_from_within(place..),
            4 if value == 0 => _ = files.remove(file),
            5..=9 => content.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << (value % 8)),
            _ => content.iter_mut().skip(place).take(1).for_each(|byte| *byte = value),
        }
    }
}
