//! `twinset join`: every pair at or above the threshold.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use twinset::estimate::EstimateOptions;
use twinset::exact::Seconds;
use twinset::exact::{JoinOptions, JoinResult, Pair, Plan};
use twinset::support::Strings;
use twinset::{Measure, Method, Stats, TokenOptions};
use twinset_io::read::read_stop_words;
use twinset_io::write::{PairTable, Shown, check_outputs};
use twinset_io::{
    Collection, Content, Keeping, OutputFormat, OutputOptions, ReadOptions, SketchFile, SketchSettings, Source,
    is_sketch_file, load, one_or_more,
};

use crate::job::{Job, own_settings};
use crate::search::{Origin, find, open_inputs};
use crate::session::{Session, SessionOptions, count, peak_memory};

/// Finds all pairs of records at or above a threshold, in one collection or between two
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Join {
    /// A file, a folder, a quoted glob, or - for standard input
    #[serde(skip)]
    pub left: Source,
    /// Another collection, to be joined with the first
    #[serde(skip)]
    pub right: Option<Source>,
    #[command(flatten)]
    #[serde(flatten)]
    join: JoinOptions,
    /// Add this field of both records to the output; repeat it for several
    #[arg(long, value_name = "FIELD")]
    #[serde(deserialize_with = "one_or_more")]
    show: Vec<String>,
    /// Only pairs that agree in this field
    #[arg(long, value_name = "FIELD")]
    same: Option<String>,
    /// Only the number of pairs
    #[arg(long)]
    count: bool,
    /// Write what was done as JSON: candidates after each filter, seconds of each stage, peak memory
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    estimate: EstimateOptions,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    read: ReadOptions,
    /// Where the results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  Near-duplicate titles, with the titles beside the ids:
    twinset join titles.tsv --threshold 0.7 --show text
  Records of two sources, each matched at most once:
    twinset join dblp.csv acm.csv --text title --threshold 0.8 --best
  Typing errors: at most two letters differ:
    twinset join names.txt --measure edit --threshold 2
  Documents that share most of their five-word shingles, in all shards of a folder:
    twinset join crawl/ --text body --tokens shingles:5 --threshold 0.8 --output pairs.parquet
  By sketches of 128 entries, each pair on the threshold found with 99%, and all pairs checked:
    twinset join docs.jsonl --threshold 0.8 --method minhash --permutations 128 --probability 0.99 --verify
  By synopses of 256 values, for any measure of sets, with the error of each estimate:
    twinset join docs.jsonl --threshold 0.9 --measure containment --method kmv --size 256
  The hundred most similar pairs:
    twinset join titles.tsv --top 100
  More than fits in memory:
    twinset join crawl/ --text body --threshold 0.8 --memory 1G --output pairs.csv

Columns are left,right,similarity (distance for hamming and edit), sorted by the records' order in the input.";

impl Job for Join {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        let stop_words = read_stop_words(&mut self.tokens)?;
        let sketched = self.read_sketches(session)?;
        if let Some((_, settings)) = &sketched {
            self.estimate = settings.estimate(&self.estimate, &self.tokens)?;
        }
        let plan = Plan::new(&self.join, &self.tokens, &self.estimate, &session.run)?;
        let mut sides = open_inputs(&[slice::from_ref(&self.left), self.right.as_slice()], &self.read)?;
        if self.estimate.verify {
            sides.iter_mut().try_for_each(|side| side.spool(&session.run))?;
        }
        let others = [&self.stats, &self.read.rejects].into_iter().flatten();
        let inputs: Vec<PathBuf> = sides.iter().flat_map(|side| side.paths()).chain(&stop_words).cloned().collect();
        check_outputs(self.output.output.path(), others, &inputs)?;
        let (output, format) = self.output.open()?;
        let stats_file = self.stats.as_deref().map(twinset_io::Output::create).transpose()?;

        let extra: Vec<String> = self.show.iter().chain(&self.same).cloned().collect();
        let keeping = Keeping { extra: &extra, ..Keeping::all(Content::from(&plan)) };
        let collection = match sketched {
            Some((collection, _)) => collection,
            None => load(&sides, &self.read, keeping, &session.run)?,
        };
        let classes = self.same.as_ref().map(|_| classes(&collection.extra[self.show.len()]));
        let run = session.run_beside(collection.bytes())?;
        let (mut stats, write_seconds) = if self.counts_all() {
            let stats = twinset::exact::count(collection.input(), plan.joined(), &run)?;
            session.clear_bar();
            write_count(output, stats.pairs)?;
            (stats, 0.0)
        } else {
            let origin = Origin { sides: &sides, read: &self.read, keeping };
            let (joined, _) = find(&plan, collection.input(), classes.as_deref(), origin, &run)?;
            session.run.check()?;
            session.clear_bar();
            let begin = Instant::now();
            let pairs = self.write(output, format, &collection, &joined, &plan)?;
            (Stats { pairs, ..joined.stats }, begin.elapsed().as_secs_f64())
        };
        let join_seconds = stats.seconds.join;
        stats.seconds = Seconds { join: join_seconds, write: write_seconds, ..collection.seconds };
        stats.peak_memory_bytes = peak_memory();
        if let Some(file) = stats_file {
            write_stats(file, &stats)?;
        }
        session.summarize(&self.summary(&collection, &stats, &plan));
        Ok(())
    }
}

impl Join {
    /// The collections, if it is files of sketches that hold them.
    fn read_sketches(&self, session: &Session) -> anyhow::Result<Option<(Collection, SketchSettings)>> {
        let sources = || [&self.left].into_iter().chain(&self.right);
        let sketched: Vec<&Path> = sources().filter_map(Source::path).filter(|path| is_sketch_file(path)).collect();
        if sketched.is_empty() {
            return Ok(None);
        }
        let refused = match () {
            () if sketched.len() < sources().count() => {
                "sketches are compared with sketches; make them of the other file"
            }
            () if self.estimate.method != Method::MinHash => "this is a file of sketches; use --method minhash",
            () if self.estimate.verify => "--verify needs the texts, and a file of sketches has none",
            () if self.same.is_some() || !self.show.is_empty() => "a file of sketches has no fields to show or compare",
            () => "",
        };
        if !refused.is_empty() {
            return Err(twinset_io::Error::Usage(refused.to_owned()).into());
        }
        let files = sketched.into_iter().map(|path| SketchFile::read(path, &session.run)).collect::<Result<_, _>>()?;
        Ok(Some(Collection::of_sketches(files, &session.run)?))
    }

    /// Whether only the number of all pairs is wanted, so that none has to be kept.
    fn counts_all(&self) -> bool {
        self.count && self.join.top.is_none() && !self.join.best && self.same.is_none() && !self.estimate.verify
    }

    /// Writes the pairs, or how many they are.
    fn write(
        &self,
        output: twinset_io::Output,
        format: OutputFormat,
        collection: &Collection,
        joined: &JoinResult,
        plan: &Plan,
    ) -> anyhow::Result<u64> {
        if self.count {
            let pairs = joined.selected(plan.selection())?.map_or(joined.len(), |pairs| pairs.len() as u64);
            write_count(output, pairs)?;
            return Ok(pairs);
        }
        let sides: Vec<(Strings, Strings)> = match &collection.right {
            None => Vec::new(),
            Some(_) => collection.extra.iter().map(|column| split(column, collection.left.len())).collect(),
        };
        let shown: Vec<Shown<'_>> = (self.show.iter().enumerate())
            .map(|(at, name)| match sides.get(at) {
                Some((left, right)) => Shown { name, left, right },
                None => Shown { name, left: &collection.extra[at], right: &collection.extra[at] },
            })
            .collect();
        let ids = (&collection.left, collection.right_ids());
        let values = plan.values(joined.measure(), collection.synopses.as_ref());
        let mut table = PairTable::create(output, format, values, ids, &shown)?;
        let mut written = 0;
        let mut add = |pair: &Pair| {
            written += 1;
            table.pair(pair)
        };
        match joined.selected(plan.selection())? {
            Some(pairs) => pairs.iter().try_for_each(add)?,
            None => joined.iter().try_for_each(|pair| anyhow::Ok(add(&pair?)?))?,
        }
        table.finish()?;
        Ok(written)
    }

    fn summary(&self, collection: &Collection, stats: &Stats, plan: &Plan) -> Vec<String> {
        let mut lines = vec![format!(
            "{} ({} {}), {} ({} different)",
            count(stats.records, "record"),
            stats.distinct_sets,
            match self.estimate.method {
                Method::Kmv => "different synopses",
                _ if stats.without_partner > 0 => "different ones took part",
                _ => "different",
            },
            count(stats.tokens, if self.estimate.method == Method::Kmv { "value" } else { "token" }),
            stats.distinct_tokens,
        )];
        lines.extend(notes(&self.read, &self.tokens, self.join.measure, collection, stats));
        lines.extend(plan.promise());
        lines.push(format!(
            "{} by {}, {} of different sets verified",
            count(stats.pairs, "pair"),
            stats.algorithm,
            count(stats.candidates.verified(), "candidate"),
        ));
        lines
    }
}

/// What a summary says of records that took no part, and of what else is worth knowing.
pub(crate) fn notes(
    read: &ReadOptions,
    tokens: &TokenOptions,
    measure: Measure,
    collection: &Collection,
    stats: &Stats,
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(empty_note(stats.empty_records));
    if stats.without_partner > 0 {
        let records = count(stats.without_partner, "record");
        lines.push(format!("{records} with too few tokens of the other collection to have a partner"));
    }
    if let Some(file) = &read.rejects {
        lines.push(format!("{} left out, see {}", count(collection.rejected, "bad record"), file.display()));
    }
    if collection.skipped_files > 0 {
        let files = count(collection.skipped_files, "file");
        lines.push(format!("{files} skipped: the ending does not tell the format (--format reads them)"));
    }
    if tokens.reduce.is_some() && measure != Measure::Edit {
        lines.push("the similarities are estimates: they compare samples of the tokens (--reduce)".to_owned());
    }
    if let Some(parts) = stats.parts {
        lines.push(format!("joined in {}, as memory is limited", count(parts, "part")));
    }
    lines
}

/// What a summary says of records without tokens.
pub(crate) fn empty_note(records: u64) -> Option<String> {
    (records > 0).then(|| format!("{} without any token took no part (--empty lets them)", count(records, "record")))
}

pub(crate) fn write_stats(mut file: twinset_io::Output, stats: &Stats) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(stats)?;
    writeln!(file, "{json}").map_err(|error| file.failure(&error))?;
    Ok(file.finish()?)
}

pub(crate) fn write_count(mut output: twinset_io::Output, pairs: u64) -> anyhow::Result<()> {
    writeln!(output, "{pairs}").map_err(|error| output.failure(&error))?;
    Ok(output.finish()?)
}

/// Equal values get equal numbers.
pub(crate) fn classes(values: &Strings) -> Vec<u32> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    values
        .iter()
        .map(|value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        })
        .collect()
}

fn split(column: &Strings, at: usize) -> (Strings, Strings) {
    (column.iter().take(at).collect(), column.iter().skip(at).collect())
}
