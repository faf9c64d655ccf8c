//! What an index must hold: every state that a command leads through, batch by batch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use twinset::TokenOptions;
use twinset::estimate::SynopsisBuilder;
use twinset::tokenize::{TokenHasher, synopsis_value};
use twinset_index::Kind;

/// The records of an index by their ids, each with what is kept of it: its hashes, or the values of its synopsis.
pub(crate) type State = BTreeMap<String, Vec<u64>>;

/// How many values a synopsis has: a text fits, and some that were merged do not.
pub(crate) const SIZE: u32 = 16;
pub(crate) const BATCH: usize = 20;
const BATCHES: usize = 4;

/// Someone who changes records of his own, by one command after the other.
pub(crate) struct Writer {
    kind: Kind,
    hasher: TokenHasher,
    /// What the ids of his records begin with.
    letter: char,
    /// How many texts he has written.
    texts: u64,
    /// The whole sets of the records that are there.
    records: BTreeMap<String, BTreeSet<u64>>,
}

/// A command, and what the index holds of its writer's records after each of its steps, the first state being that before it.
pub(crate) struct Plan {
    /// What the command is called, and what comes after the index.
    pub(crate) command: &'static str,
    pub(crate) args: Vec<String>,
    /// The lines of its input, if it reads any.
    pub(crate) input: String,
    pub(crate) states: Vec<State>,
    /// How many records each step touches.
    pub(crate) touched: Vec<u64>,
    sets: Vec<BTreeMap<String, BTreeSet<u64>>>,
    letter: char,
}

impl Writer {
    pub(crate) fn new(kind: Kind, letter: char) -> Self {
        let hasher = TokenHasher::new(&TokenOptions::default(), 0).unwrap();
        Self { kind, hasher, letter, texts: 0, records: BTreeMap::new() }
    }

    /// What he does next: about as much is removed as is added.
    pub(crate) fn plan(&mut self, random: &mut ChaCha8Rng) -> Plan {
        match random.random_range(0..10) {
            0..3 if !self.records.is_empty() => self.removal(random),
            3..6 if self.kind == Kind::Kmv => self.addition(random, true),
            _ => self.addition(random, false),
        }
    }

    /// Some batches in some order, each with new texts for all its records, whether they are there or not.
    fn addition(&mut self, random: &mut ChaCha8Rng, is_merged: bool) -> Plan {
        let mut batches: Vec<usize> = (0..BATCHES).collect();
        batches.shuffle(random);
        batches.truncate(random.random_range(1..=BATCHES));
        let (mut sets, mut input) = (vec![self.records.clone()], String::new());
        for batch in &batches {
            let mut next = sets[sets.len() - 1].clone();
            for at in 0..BATCH {
                let id = format!("{}{batch}-{at}", self.letter);
                self.texts += 1;
                let own: Vec<String> = (0..8).map(|_| format!("w{:04}", random.random_range(0..5000))).collect();
                let text = format!("{id} v{} {}", self.texts, own.join(" "));
                writeln!(input, "{}", serde_json::json!({ "id": id, "text": text })).unwrap();
                let set: BTreeSet<u64> = self.hasher.hashes(&text).unwrap().into_iter().collect();
                match is_merged {
                    true => next.entry(id).or_default().extend(&set),
                    false => drop(next.insert(id, set)),
                }
            }
            sets.push(next);
        }
        let file = format!("{}.jsonl", self.letter);
        let mut args = vec![file, "--batch".to_owned(), BATCH.to_string()];
        args.extend(is_merged.then(|| "--merge".to_owned()));
        let touched = vec![BATCH as u64; batches.len()];
        self.planned("add", args, input, sets, touched)
    }

    fn removal(&self, random: &mut ChaCha8Rng) -> Plan {
        let share = random.random_range(0.1..0.9);
        let mut ids: Vec<String> = self.records.keys().filter(|_| random.random_bool(share)).cloned().collect();
        if ids.is_empty() {
            ids.extend(self.records.keys().next().cloned());
        }
        let mut after = self.records.clone();
        after.retain(|id, _| !ids.contains(id));
        let touched = vec![ids.len() as u64];
        self.planned("remove", ids, String::new(), vec![self.records.clone(), after], touched)
    }

    fn planned(
        &self,
        command: &'static str,
        args: Vec<String>,
        input: String,
        sets: Vec<BTreeMap<String, BTreeSet<u64>>>,
        touched: Vec<u64>,
    ) -> Plan {
        let kept = |sets: &BTreeMap<String, BTreeSet<u64>>| {
            sets.iter().map(|(id, set)| (id.clone(), self.kept(set))).collect::<State>()
        };
        let states = sets.iter().map(kept).collect();
        Plan { command, args, input, states, touched, sets, letter: self.letter }
    }

    /// What an index keeps of a set.
    fn kept(&self, set: &BTreeSet<u64>) -> Vec<u64> {
        match self.kind {
            Kind::Lsh => set.iter().copied().collect(),
            Kind::Kmv => {
                let mut synopsis = SynopsisBuilder::new(SIZE).unwrap();
                set.iter().for_each(|&hash| synopsis.insert(synopsis_value(hash, 0)));
                synopsis.synopsis().values().to_vec()
            }
        }
    }

    /// From now on so many steps of the plan are known to be there.
    pub(crate) fn accept(&mut self, plan: Plan, steps: usize) {
        let mut sets = plan.sets;
        self.records = sets.swap_remove(steps);
    }

    /// A record that is there, with its whole set.
    pub(crate) fn any(&self, random: &mut ChaCha8Rng) -> Option<(&String, &BTreeSet<u64>)> {
        let at = random.random_range(0..self.records.len().max(1));
        self.records.iter().nth(at)
    }
}

impl Plan {
    /// After how many steps the index holds what it does. `None` if a step is there in part.
    pub(crate) fn steps(&self, held: &State) -> Option<usize> {
        let own = self.own(held);
        self.states.iter().rposition(|state| *state == own)
    }

    /// How many records of this state are missing or others, and how many are there that should not be.
    pub(crate) fn differences(&self, steps: usize, held: &State) -> (u64, u64) {
        let (expected, own) = (&self.states[steps], self.own(held));
        let lost = expected.iter().filter(|(id, kept)| own.get(*id) != Some(kept)).count();
        let resurrected = own.keys().filter(|id| !expected.contains_key(*id)).count();
        (lost as u64, resurrected as u64)
    }

    fn own(&self, held: &State) -> State {
        let own = held.iter().filter(|(id, _)| id.starts_with(self.letter));
        own.map(|(id, kept)| (id.clone(), kept.clone())).collect()
    }
}
