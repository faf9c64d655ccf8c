//! How long a run goes on, and what it has to show: a line of JSON for the report.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

/// When enough was killed: `TWINSET_KILLS` tells a number, `TWINSET_SECONDS` a time instead.
pub(crate) struct Enough {
    kills: u64,
    end: Option<Instant>,
}

/// As many as the test command has time for.
const KILLS: u64 = 12;

impl Enough {
    pub(crate) fn from_environment() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a whole number"));
        let end = number("TWINSET_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
        Self { kills: number("TWINSET_KILLS").unwrap_or(KILLS), end }
    }

    pub(crate) fn is_reached(&self, kills: u64) -> bool {
        self.end.map_or(kills >= self.kills, |end| Instant::now() >= end)
    }
}

/// What was done to one home, and what it made of that.
pub(crate) struct Tally {
    home: String,
    begin: Instant,
    /// Processes that were killed before they had ended.
    pub(crate) kills: u64,
    /// Changes that were reported as done, or that a reader has seen, and the records that they touched.
    pub(crate) changes: u64,
    pub(crate) records: u64,
    /// States that were read while others wrote.
    pub(crate) readings: u64,
    /// What was acknowledged and is not there.
    pub(crate) lost: u64,
    /// What was removed and is there.
    pub(crate) resurrected: u64,
    /// Changes of which a part is there.
    pub(crate) half_there: u64,
    recoveries: Vec<Duration>,
    problems: Vec<String>,
}

impl Tally {
    pub(crate) fn new(home: &str) -> Self {
        Self {
            home: home.to_owned(),
            begin: Instant::now(),
            kills: 0,
            changes: 0,
            records: 0,
            readings: 0,
            lost: 0,
            resurrected: 0,
            half_there: 0,
            recoveries: Vec::new(),
            problems: Vec::new(),
        }
    }

    pub(crate) fn recovered_after(&mut self, time: Duration) {
        self.recoveries.push(time);
    }

    pub(crate) fn complain(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    pub(crate) fn is_spotless(&self) -> bool {
        self.problems.is_empty() && self.lost + self.resurrected + self.half_there == 0
    }

    /// Writes the line, to the file that `TWINSET_REPORT` names if it does, and fails if anything was wrong.
    pub(crate) fn finish(mut self) {
        self.recoveries.sort_unstable();
        let in_milliseconds = |time: Option<&Duration>| time.map(|time| (time.as_secs_f64() * 1e4).round() / 10.0);
        let line = json!({
            "home": self.home,
            "kills": self.kills,
            "changes": self.changes,
            "records": self.records,
            "readings": self.readings,
            "lost": self.lost,
            "resurrected": self.resurrected,
            "half_there": self.half_there,
            "median_ms": in_milliseconds(self.recoveries.get(self.recoveries.len() / 2)),
            "longest_ms": in_milliseconds(self.recoveries.last()),
            "seconds": self.begin.elapsed().as_secs(),
        });
        report(&line);
        assert!(self.is_spotless(), "{line}\n{}", self.problems.join("\n"));
        assert!(self.kills > 0, "nothing was killed: {line}");
    }
}

/// Writes a line to the report.
pub(crate) fn report(line: &serde_json::Value) {
    println!("{line}");
    if let Some(path) = std::env::var_os("TWINSET_REPORT") {
        let file = std::fs::File::options().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}
