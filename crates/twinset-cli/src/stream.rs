//! `twinset dedup --stream`: decides on each record as it arrives.

use std::io::Write;
use std::path::{Path, PathBuf};

use twinset::Stream;
use twinset_io::read::{Arrival, Inputs, for_each_arrival};
use twinset_io::write::check_outputs;
use twinset_io::{Output, Target};

use crate::dedup::Dedup;
use crate::join::empty_note;
use crate::session::{Session, count};

impl Dedup {
    /// Copies each record that is kept to the output before the next one is read.
    pub(crate) fn run_stream(
        &self,
        session: &Session,
        inputs: &Inputs,
        stop_words: Option<PathBuf>,
    ) -> anyhow::Result<()> {
        self.check_stream(session)?;
        let removed = self.removed.as_ref().map(|removed| removed.path().unwrap_or(Path::new("-")));
        let others = [removed, self.read.rejects.as_deref()].into_iter().flatten();
        let paths: Vec<PathBuf> = inputs.paths().chain(&stop_words).cloned().collect();
        check_outputs(self.output.path(), others, &paths)?;
        let mut stream = Stream::new(&self.join, &self.tokens, self.window.map(|window| window as usize))?;
        // Files have their names from the beginning: a stream may never end.
        let mut kept = Target::growing(&self.output, inputs, &self.read)?;
        let removed = self.removed.as_ref();
        let mut removed = removed.map(|removed| Target::growing(removed, inputs, &self.read)).transpose()?;
        let (mut arrived, mut dropped) = (0, 0);
        // What comes before all records goes to both files.
        let mut has_begun = false;
        // Of the last record: line ends that come later go with it.
        let (mut is_kept, mut is_rejected) = (true, false);
        let rejected = for_each_arrival(inputs, &self.read, &session.run, |arrival| {
            let bytes = match arrival {
                Arrival::Around(bytes) | Arrival::End(bytes) if !has_begun => {
                    removed.as_mut().map_or(Ok(()), |removed| write(removed, bytes))?;
                    return write(&mut kept, bytes);
                }
                Arrival::Around(bytes) => return write(&mut kept, bytes),
                Arrival::End(bytes) => bytes,
                Arrival::Rejected => {
                    (has_begun, is_rejected) = (true, true);
                    return Ok(());
                }
                Arrival::Record(text, bytes) => {
                    (has_begun, is_rejected) = (true, false);
                    is_kept = stream.arrive(text)?.is_none();
                    (arrived, dropped) = (arrived + 1, dropped + u64::from(!is_kept));
                    bytes
                }
            };
            match &mut removed {
                _ if is_rejected => Ok(()),
                _ if is_kept => write(&mut kept, bytes),
                Some(removed) => write(removed, bytes),
                None => Ok(()),
            }
        })?;
        kept.finish()?;
        removed.map_or(Ok(()), Output::finish)?;
        let mut lines = vec![count(arrived, "record")];
        lines.extend(empty_note(stream.empty_records()));
        if let Some(file) = &self.read.rejects {
            lines.push(format!("{} left out, see {}", count(rejected, "bad record"), file.display()));
        }
        lines.push(format!("{} kept, {dropped} removed", count(arrived - dropped, "record")));
        session.summarize(&lines);
        Ok(())
    }

    /// Refuses what needs all records.
    fn check_stream(&self, session: &Session) -> anyhow::Result<()> {
        let usage = |reason: String| Err(twinset_io::Error::Usage(reason).into());
        if self.join.threshold.is_none() {
            return usage("which records are near? Give a threshold, for example --threshold 0.8".to_owned());
        }
        if self.estimate != twinset::estimate::EstimateOptions::default() {
            return usage("--stream is exact; leave out --method and what belongs to it".to_owned());
        }
        if session.run.memory.is_some() && self.window.is_none() {
            return usage(
                "a stream remembers all that it keeps; bound it with --window instead of --memory".to_owned(),
            );
        }
        let needs_all = [
            ("--top", self.join.top.is_some()),
            ("--best", self.join.best),
            ("--report", self.report.is_some()),
            ("--groups", self.groups.is_some()),
            ("--count", self.count),
            ("--stats", self.stats.is_some()),
            ("--keep", self.dedup.keep != twinset_io::KeepRule::First),
        ];
        if let Some((option, _)) = needs_all.iter().find(|(_, is_given)| *is_given) {
            return usage(format!(
                "{option} needs to know all records, and a stream has no end; leave out one of the two"
            ));
        }
        let together = [("--same", self.same.is_some()), ("--against", self.against.is_some())];
        match together.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => usage(format!("{option} does not go with --stream; leave out one of the two")),
            None => Ok(()),
        }
    }
}

/// Writes at once.
fn write(output: &mut Output, bytes: &[u8]) -> twinset_io::Result<()> {
    output.write_all(bytes).and_then(|()| output.flush()).map_err(|error| output.failure(&error))
}
