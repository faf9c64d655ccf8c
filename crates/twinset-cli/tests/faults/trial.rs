//! One operation under every fault.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use testbed::disk::{Fault, Strike};

use super::place::{Place, Ran};

/// An operation, and where it is tried.
pub(crate) struct Trial<'a> {
    pub(crate) name: &'a str,
    /// The folder as it is before.
    pub(crate) before: &'a Place,
    /// The words of the command.
    pub(crate) command: &'a str,
    /// A command that opens what was written, if there is one.
    pub(crate) reopen: Option<&'a str>,
}

/// How a run ended under a fault.
pub(crate) enum Ending {
    Done,
    /// With exit code 1 and this message.
    Refused(String),
    Killed,
}

/// A run that is to be judged.
pub(crate) struct Case<'a> {
    pub(crate) place: &'a Place,
    pub(crate) ending: Ending,
    /// Whether the power failed after the end.
    pub(crate) is_dark: bool,
    pub(crate) strike: Strike,
    /// The call that was struck.
    pub(crate) struck: String,
    /// What to say if something is wrong.
    pub(crate) about: String,
}

/// What is there afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Old,
    New,
    /// Some of several changes, each wholly.
    Between,
}

/// How often each came up.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) faults: u64,
    pub(crate) again: u64,
    pub(crate) refused: u64,
    pub(crate) killed: u64,
    pub(crate) old: u64,
    pub(crate) new: u64,
    pub(crate) between: u64,
}

/// Whether every call is struck.
pub(crate) fn is_full() -> bool {
    std::env::var_os("TWINSET_FULL").is_some()
}

/// So many calls are struck by each fault, unless all are.
const PICKED: u64 = 3;
/// After one of so many kills there is a second fault, while what was written is opened again.
const TWICE: usize = 8;

impl Trial<'_> {
    /// Tries every fault. `judge` panics if something is there that must not be, and otherwise says what is there.
    pub(crate) fn run(&self, judge: impl Fn(&Case<'_>) -> Outcome) {
        let clean = self.before.copy();
        let ran = clean.strike(self.command, None);
        assert!(ran.status.success(), "{}: {}", self.name, ran.stderr);
        let mut counts = Counts { calls: ran.calls, ..Counts::default() };
        // What was acknowledged stays, even if the power fails right after the end.
        ran.disk.lose_power(None).unwrap();
        let ended = (ran.calls + 1, Fault::Power);
        let about = format!("{}, power lost after the end", self.name);
        judge(&Case {
            place: &clean,
            ending: Ending::Done,
            is_dark: true,
            strike: ended,
            struck: String::new(),
            about,
        });
        let faults = [Fault::Fail, Fault::Full, Fault::Gone, Fault::Tear, Fault::Power, Fault::Reorder(0)];
        for (seed, fault) in (0..).zip(faults) {
            for (at, call) in picked(ran.calls, PICKED, u64::MAX, seed).into_iter().enumerate() {
                let fault = if let Fault::Reorder(_) = fault { Fault::Reorder(call) } else { fault };
                self.try_one((call, fault), at % TWICE == 1, &judge, &mut counts);
            }
        }
        assert!(ran.calls == 0 || counts.faults > 0, "{}: no fault struck", self.name);
        counts.report(self.name);
    }

    /// One fault, and if it killed the program and there is to be a second one, that too.
    fn try_one(&self, strike: Strike, is_twice: bool, judge: &impl Fn(&Case<'_>) -> Outcome, counts: &mut Counts) {
        let place = self.before.copy();
        let ran = place.strike(self.command, Some(strike));
        // Threads differ in how many calls they need.
        let Some(struck) = ran.struck.clone() else { return };
        counts.faults += 1;
        let about = format!("{}, {strike:?} at {struck}", self.name);
        let ending = ran.ending(&about);
        // What is there after a failure, a power failure does not change either.
        let is_dark = match &ending {
            Ending::Done => true,
            Ending::Refused(_) => {
                counts.refused += 1;
                strike.0.is_multiple_of(2)
            }
            Ending::Killed => {
                counts.killed += 1;
                false
            }
        };
        if is_dark {
            ran.disk.lose_power(None).unwrap();
        }
        let killed = (is_twice && matches!(ending, Ending::Killed)).then(|| place.copy());
        let outcome = judge(&Case { place: &place, ending, is_dark, strike, struck, about: about.clone() });
        match outcome {
            Outcome::Old => counts.old += 1,
            Outcome::New => counts.new += 1,
            Outcome::Between => counts.between += 1,
        }
        let Some((command, killed)) = self.reopen.zip(killed) else { return };
        let calls = killed.copy().strike(command, None).calls;
        for fault in [Fault::Fail, Fault::Tear, Fault::Power] {
            for call in picked(calls, 1, 2, strike.0) {
                let place = killed.copy();
                let ran = place.strike(command, Some((call, fault)));
                let Some(struck) = ran.struck.clone() else { continue };
                let about = format!("{about}, and then {:?} at {struck}", (call, fault));
                ran.ending(&about);
                counts.again += 1;
                let (ending, is_dark) = (Ending::Killed, false);
                let case = Case { place: &place, ending, is_dark, strike, struck, about: about.clone() };
                assert_eq!(judge(&case), outcome, "{about}: opening it changed it");
            }
        }
    }
}

impl Ran {
    /// How it ended; nothing but success, a message or the kill that was asked for will do.
    fn ending(&self, about: &str) -> Ending {
        let told = &self.stderr;
        assert!(!told.contains("panicked"), "{about}: {told}");
        match (self.status.code(), self.status.signal()) {
            (Some(0), _) => Ending::Done,
            (Some(1), _) => Ending::Refused(told.clone()),
            (_, Some(9)) => Ending::Killed,
            _ => panic!("{about}: it ended with {}: {told}", self.status),
        }
    }
}

/// So many of the calls, one from each part of the run; where every call is asked for, so many at most.
pub(crate) fn picked(calls: u64, few: u64, many: u64, seed: u64) -> Vec<u64> {
    let count = if is_full() { many } else { few };
    if calls <= count {
        return (1..=calls).collect();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|part| random.random_range(part * calls / count..(part + 1) * calls / count) + 1).collect()
}

impl Counts {
    pub(crate) fn report(&self, name: &str) {
        let Self { calls, faults, again, refused, killed, old, new, between } = self;
        println!(
            "{name}: {calls} calls, {faults} faults and {again} while it was opened again; \
             {refused} ended with a message, {killed} were killed; {old} old, {new} new, {between} between"
        );
        let Some(path) = std::env::var_os("TWINSET_REPORT") else { return };
        let line = json!({
            "operation": name, "calls": calls, "faults": faults, "again": again, "refused": refused, "killed": killed,
            "old": old, "new": new, "between": between,
        });
        let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}
