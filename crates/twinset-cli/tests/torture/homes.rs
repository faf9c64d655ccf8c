//! Indexes in all their homes, changed by commands that are killed while others read.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use testbed::Server;
use twinset_index::Kind;

use super::opened::Opened;
use super::oracle::{Plan, SIZE, State, Writer};
use super::tally::{Enough, Tally};
use super::victim::{Ending, Victim};
use crate::common::Folder;

/// Where an index lies, and what can be asked of it there.
pub(crate) struct Home {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// How many may write at a time.
    pub(crate) writers: usize,
    pub(crate) server: Option<Server>,
}

impl Home {
    /// The address of an index by its name.
    fn address(&self, folder: &Folder, index: &str) -> String {
        match &self.server {
            Some(server) => format!("{}?index={index}", server.address()),
            None => folder.path(index).display().to_string(),
        }
    }

    fn made_with(&self) -> Vec<String> {
        let settings = match self.kind {
            Kind::Lsh => "--trees 8".to_owned(),
            Kind::Kmv => format!("--kind synopses --size {SIZE}"),
        };
        settings.split(' ').map(str::to_owned).collect()
    }
}

/// The server is killed in one of so many rounds, and a new index is made in one of so many.
const SERVER_KILLS: u64 = 8;
const CREATIONS: u64 = 8;

pub(crate) fn torture(home: Home) {
    let folder = Folder::with(&[]);
    let mut run = Run::new(&folder, home);
    let enough = Enough::from_environment();
    let mut round = 0;
    while !enough.is_reached(run.tally.kills) && run.is_spotless() {
        round += 1;
        if round % CREATIONS == CREATIONS - 1 {
            run.create(round);
        }
        run.round(run.home.server.is_some() && round % SERVER_KILLS == SERVER_KILLS / 2);
    }
    assert!(run.tally.records > 0, "nothing was acknowledged");
    run.tally.finish();
    if let Some(tally) = run.server_tally {
        tally.finish();
    }
}

struct Run<'a> {
    folder: &'a Folder,
    home: Home,
    address: String,
    writers: Vec<Writer>,
    random: ChaCha8Rng,
    /// How long a command takes that is left to its end, on average of late.
    usual: Duration,
    tally: Tally,
    /// The same for rounds in which the server is killed, if there is one.
    server_tally: Option<Tally>,
}

impl<'a> Run<'a> {
    fn new(folder: &'a Folder, home: Home) -> Self {
        let address = home.address(folder, "news");
        let created = Victim::start(folder, &creation(&address, &home), None).wait();
        assert!(matches!(created, Ending::Done(_)), "{created:?}");
        let server_tally = home.server.as_ref().map(|_| Tally::new(&format!("{}, the server", home.name)));
        Self {
            folder,
            writers: ('a'..).take(home.writers).map(|letter| Writer::new(home.kind, letter)).collect(),
            tally: Tally::new(home.name),
            random: ChaCha8Rng::seed_from_u64(9),
            usual: Duration::ZERO,
            home,
            address,
            server_tally,
        }
    }

    fn is_spotless(&self) -> bool {
        self.tally.is_spotless() && self.server_tally.as_ref().is_none_or(Tally::is_spotless)
    }

    /// A moment of a command, from before it begins to after it has ended; sometimes none. The first is left to its end.
    fn moment(&mut self) -> Option<Duration> {
        let is_left = self.usual.is_zero() || self.random.random_bool(0.25);
        let moment = self.usual.mul_f64(self.random.random_range(0.0..1.2));
        (!is_left).then_some(moment)
    }

    /// Writers and readers at the same time, some of which are killed, or the server instead; then everything is looked at.
    fn round(&mut self, is_server_killed: bool) {
        let plans: Vec<Plan> = self.writers.iter_mut().map(|writer| writer.plan(&mut self.random)).collect();
        let mut victims = Vec::new();
        for plan in &plans {
            if let Some(file) = plan.args.first().filter(|_| plan.command == "add") {
                std::fs::write(self.folder.path(file), &plan.input).unwrap();
            }
            let deadline = self.moment().filter(|_| !is_server_killed);
            let mut args = vec!["index", plan.command, &self.address, "-q"];
            args.extend(plan.args.iter().map(String::as_str));
            victims.push(Victim::start(self.folder, &args, deadline));
        }
        let deadline = self.moment().filter(|_| !is_server_killed);
        let args = ["index", "query", &self.address, "--like", "some words", "--threshold", "0.8", "-q"];
        victims.push(Victim::start(self.folder, &args, deadline));
        let server_dies = self.moment().filter(|_| is_server_killed);
        let seen = Mutex::new(Seen { steps: vec![0; plans.len()], readings: 0, problems: Vec::new() });
        let is_over = AtomicBool::new(false);
        let mut endings = std::thread::scope(|scope| {
            scope.spawn(|| read_on(&self.address, &plans, &seen, &is_over));
            let begin = Instant::now();
            let mut server = self.home.server.as_mut().filter(|_| is_server_killed);
            let mut endings: Vec<Option<Ending>> = victims.iter().map(|_| None).collect();
            while endings.iter().any(Option::is_none) {
                if server_dies.is_some_and(|moment| begin.elapsed() >= moment)
                    && let Some(server) = server.take()
                {
                    server.kill().unwrap();
                }
                for (victim, ending) in victims.iter_mut().zip(&mut endings).filter(|(_, ending)| ending.is_none()) {
                    *ending = victim.look();
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            if let Some(server) = server {
                server.kill().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            endings.into_iter().flatten().collect::<Vec<_>>()
        });
        let seen = seen.into_inner().unwrap();
        let tally = match &mut self.server_tally {
            Some(tally) if is_server_killed => tally,
            _ => &mut self.tally,
        };
        tally.readings += seen.readings;
        // Who is connected to a server that dies is told so.
        seen.problems.into_iter().filter(|_| !is_server_killed).for_each(|problem| tally.complain(problem));
        tally.kills += u64::from(is_server_killed);
        if endings.len() > plans.len()
            && let Some(Ending::Failed(said)) = endings.pop()
            && !is_server_killed
        {
            tally.complain(format!("a query failed: {said}"));
        }
        let begin = Instant::now();
        if let Some(server) = self.home.server.as_mut().filter(|_| is_server_killed) {
            server.restart().unwrap();
        }
        let (held, damages) = match recover(&self.address, tally, begin) {
            Ok(found) => found,
            Err(error) => return tally.complain(format!("it cannot be opened after a kill: {error}")),
        };
        damages.into_iter().for_each(|damage| tally.complain(format!("damage: {damage}")));
        for (((writer, plan), ending), seen) in self.writers.iter_mut().zip(plans).zip(endings).zip(seen.steps) {
            let known = match ending {
                Ending::Done(time) => {
                    self.usual = if self.usual.is_zero() { time } else { (7 * self.usual + time) / 8 };
                    plan.states.len() - 1
                }
                Ending::Killed => {
                    tally.kills += 1;
                    seen
                }
                Ending::Failed(said) => {
                    if !is_server_killed {
                        tally.complain(format!("{} failed: {said}", plan.command));
                    }
                    seen
                }
            };
            tally.changes += known as u64;
            tally.records += plan.touched[..known].iter().sum::<u64>();
            match plan.steps(&held) {
                Some(steps) if steps >= known => writer.accept(plan, steps),
                Some(_) => {
                    let (lost, resurrected) = plan.differences(known, &held);
                    tally.lost += lost;
                    tally.resurrected += resurrected;
                }
                None => tally.half_there += 1,
            }
        }
        if tally.is_spotless() {
            self.ask(is_server_killed);
        }
    }

    /// Records that are there are found by their ids and by what they say, and what a writer removed is not.
    fn ask(&mut self, is_server_killed: bool) {
        let tally = match &mut self.server_tally {
            Some(tally) if is_server_killed => tally,
            _ => &mut self.tally,
        };
        let mut index = Opened::open(&self.address).unwrap();
        for writer in &self.writers {
            let Some((id, set)) = writer.any(&mut self.random) else { continue };
            if !index.has(id).unwrap() || !index.same(set).unwrap().contains(id) {
                tally.complain(format!("record {id} is listed, and not found"));
            }
        }
    }

    /// Makes an index by a command that is killed: it is there and empty, or it is not there and can be made.
    fn create(&mut self, round: u64) {
        let name = format!("made{round}");
        let address = self.home.address(self.folder, &name);
        let args = creation(&address, &self.home);
        let ending = Victim::start(self.folder, &args, self.moment().map(|moment| moment / 2)).wait();
        let opened = Opened::open(&address).and_then(|mut index| Ok((index.state()?, index.damages()?)));
        match (ending, opened) {
            (_, Ok((state, damages))) if state.is_empty() && damages.is_empty() => {}
            (Ending::Killed, Err(_)) => {
                self.tally.kills += 1;
                // What was begun in a folder of synopses is removed by hand, as the message says.
                if self.home.kind == Kind::Kmv {
                    _ = std::fs::remove_dir_all(&address);
                }
                let again = Victim::start(self.folder, &args, None).wait();
                // A server may have finished what it was told last.
                if Opened::open(&address).is_err() {
                    self.tally.complain(format!("an index whose making was killed cannot be made: {again:?}"));
                }
            }
            (ending, opened) => self.tally.complain(format!("a new index, {ending:?}: {opened:?}")),
        }
    }
}

fn creation(address: &str, home: &Home) -> Vec<String> {
    ["index", "create", address, "-q"].into_iter().map(str::to_owned).chain(home.made_with()).collect()
}

/// Opens an index after a kill, changes nothing, and reads everything; and what `check` finds.
fn recover(address: &str, tally: &mut Tally, begin: Instant) -> twinset_index::Result<(State, Vec<String>)> {
    let mut index = Opened::open(address)?;
    index.settle()?;
    let held = index.state()?;
    tally.recovered_after(begin.elapsed());
    Ok((held, index.damages()?))
}

/// What readers saw while others wrote.
struct Seen {
    /// How many steps of each plan: what was seen once must stay.
    steps: Vec<usize>,
    readings: u64,
    problems: Vec<String>,
}

/// Reads state after state: each must be one that the plans lead through, and none earlier than the last.
fn read_on(address: &str, plans: &[Plan], seen: &Mutex<Seen>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let held = Opened::open(address).and_then(|mut index| index.state());
        let mut seen = seen.lock().unwrap();
        match held {
            Err(error) => seen.problems.push(format!("a reader failed: {error}")),
            Ok(held) => {
                seen.readings += 1;
                for (plan, at) in plans.iter().zip(0..) {
                    match plan.steps(&held) {
                        Some(steps) if steps >= seen.steps[at] => seen.steps[at] = steps,
                        Some(_) => seen.problems.push(format!("a reader saw an earlier state of `{}`", plan.command)),
                        None => seen.problems.push(format!("a reader saw a part of `{}`", plan.command)),
                    }
                }
            }
        }
        drop(seen);
        std::thread::sleep(Duration::from_millis(1));
    }
}
