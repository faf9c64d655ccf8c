//! `twinset dedup`: a collection without its near duplicates.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use twinset::estimate::EstimateOptions;
use twinset::exact::Seconds;
use twinset::exact::{DedupResult, Grouping, JoinOptions, Order, OwnedInput, Plan, Ranking, RecordContext};
use twinset::support::Strings;
use twinset::{Link, Method, Representative, TokenOptions};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::write::{Kind, Table, Value, add_value_cells, check_outputs, value_columns};
use twinset_io::{
    Collection, Content, DedupOptions, Destination, Fate, KeepRule, Keeping, Output, OutputFormat, ReadOptions,
    SketchFile, Source, Target, copy_records, load, one_or_more,
};

use crate::job::{Job, own_settings};
use crate::join::{classes, write_count, write_stats};
use crate::search::{Origin, find, open_inputs};
use crate::session::{Session, SessionOptions, count, peak_memory};

/// Writes a collection without its near duplicates, and tells which they were
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Dedup {
    /// Files, folders, quoted globs, or - for standard input
    #[arg(required = true)]
    #[serde(skip)]
    pub input: Vec<Source>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) join: JoinOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) dedup: DedupOptions,
    /// Only records that agree in this field are near duplicates
    #[arg(long, value_name = "FIELD")]
    pub(crate) same: Option<String>,
    /// Remove records that are near duplicates of a record of FILE, before INPUT is compared with itself
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub against: Option<Source>,
    /// With --against: do not compare INPUT with itself
    #[arg(long)]
    pub(crate) against_only: bool,
    /// Decide on each record as it arrives, against those kept before it, and write it at once
    #[arg(long)]
    #[serde(skip)]
    pub(crate) stream: bool,
    /// With --stream: remember only the N records kept last (those without tokens do not count)
    #[arg(long, value_name = "N", requires = "stream", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip)]
    pub(crate) window: Option<u32>,
    /// INPUT is a ranked list of ids: drop each whose sketch in FILE is near that of one kept before it
    ///
    /// Groups are those of --link representative.
    #[arg(long, value_name = "FILE")]
    pub(crate) sketches: Option<PathBuf>,
    /// Write the records kept to KEPT instead of standard output, each as it stood; a folder if there are several inputs
    #[arg(long, short, value_name = "KEPT", default_value = "-", hide_default_value = true, help_heading = "Output")]
    pub output: Destination,
    /// Write the records left out to FILE, each as it stood; a folder if there are several inputs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub removed: Option<Destination>,
    /// Write the group and the representative of each record to FILE: csv, jsonl or parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    pub groups: Option<Destination>,
    /// Write a page that shows how alike the records are, and the largest groups with their differences
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Add this field of each record to --groups; repeat it for several
    #[arg(long, value_name = "FIELD", help_heading = "Output")]
    #[serde(deserialize_with = "one_or_more")]
    show: Vec<String>,
    /// Only the number of records that would be kept
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "removed"])]
    #[serde(skip)]
    pub count: bool,
    /// Write what was done as JSON: candidates after each filter, seconds of each stage, peak memory
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) stats: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    pub(crate) estimate: EstimateOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    pub(crate) read: ReadOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  Keep the first of each group of near duplicates:
    twinset dedup titles.tsv --threshold 0.7 --output kept.tsv
  All shards of a folder, by five-word shingles, and what was left out:
    twinset dedup crawl/ --text body --tokens shingles:5 --threshold 0.8 --output clean/ --removed dropped/
  Keep the longest text of each group, without chains, and look at the groups:
    twinset dedup docs.jsonl --threshold 0.8 --keep longest --link representative --output kept.jsonl --groups groups.csv
  Look at what a threshold does before you trust it:
    twinset dedup docs.jsonl --threshold 0.5 --count --report report.html
  Remove training texts that are near duplicates of a test text, and nothing else:
    twinset dedup train.jsonl --against test.jsonl --against-only --threshold 0.6 --output clean.jsonl
  Search results, ranked, each story once:
    twinset dedup results.txt --sketches crawl.sketch --threshold 0.8
  Lines that a program prints, each kind once, as they come:
    tail -f log.txt | twinset dedup - --stream --window 10000 --threshold 0.8

Records are written byte for byte, in their order and format. The columns of --groups are
record,group,representative,similarity (distance for hamming and edit), one row for each record.";

/// Everything that is written, opened before the work begins.
struct Outputs {
    kept: Option<Target>,
    removed: Option<Target>,
    groups: Option<(Output, OutputFormat)>,
    stats: Option<Output>,
    report: Option<Output>,
}

/// What became of the records.
pub(crate) struct Outcome {
    pub(crate) deduped: DedupResult,
    /// How many have no sketch in the file.
    without_sketch: u64,
}

impl Job for Dedup {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        self.check()?;
        let stop_words = read_stop_words(&mut self.tokens)?;
        let sketches = self.sketches.as_deref().map(|path| SketchFile::read(path, &session.run)).transpose()?;
        if let Some(sketches) = &sketches {
            if self.estimate.verify {
                let reason = "--verify needs the texts, and a file of sketches has none";
                return Err(twinset_io::Error::Usage(reason.to_owned()).into());
            }
            self.estimate = sketches.settings.estimate(&self.estimate, &self.tokens)?;
            self.dedup.link = Link::Representative;
        }
        if self.against.is_some() && self.estimate.verify {
            let reason = "--against and --verify do not go together; leave out one of the two";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let mut sides = open_inputs(&[self.input.as_slice(), self.against.as_slice()], &self.read)?;
        if self.stream {
            return self.run_stream(session, &sides[0], stop_words);
        }
        let plan = Plan::new(&self.join, &self.tokens, &self.estimate, &session.run)?;
        // Standard input is read again for copying, and for the report.
        sides.iter_mut().try_for_each(|side| side.spool(&session.run))?;
        let outputs = self.open(&sides, stop_words)?;
        let extra: Vec<String> = self.show.iter().chain(&self.same).chain(self.dedup.keep.field()).cloned().collect();
        let mut keeping = self.keeping(&plan, &extra);
        if sketches.is_some() {
            (keeping.content, keeping.once) = (Content::Texts, false);
        }
        let collection = load(&sides, &self.read, keeping, &session.run)?;
        let begin = Instant::now();
        let mut outcome = match &sketches {
            None => self.find(&collection, session, &plan, Origin { sides: &sides, read: &self.read, keeping })?,
            Some(sketches) => self.find_listed(&collection, session, &plan, sketches)?,
        };
        let join_seconds = begin.elapsed().as_secs_f64();
        session.run.check()?;
        let begin = Instant::now();
        if let Some((output, format)) = outputs.groups {
            self.write_groups(output, format, &collection, &outcome, &plan)?;
        }
        let fate = |record: u32| match outcome.deduped.representatives[record as usize] {
            Representative::Own(own) if own == record => Fate::Kept,
            _ => Fate::Removed,
        };
        if let Some(output) = outputs.report {
            self.write_report(output, (&sides, &collection), &outcome, &plan, &session.run)?;
        }
        if let Some(kept) = outputs.kept {
            copy_records((&sides[0], &collection), &self.read, (kept, outputs.removed), fate, &session.run)?;
        }
        session.clear_bar();
        let kept = outcome.deduped.stats.kept.unwrap_or(0);
        if self.count {
            write_count(self.output.open()?, kept)?;
        }
        let write = begin.elapsed().as_secs_f64();
        outcome.deduped.stats.seconds = Seconds { join: join_seconds, write, ..collection.seconds };
        outcome.deduped.stats.peak_memory_bytes = peak_memory();
        if let Some(file) = outputs.stats {
            write_stats(file, &outcome.deduped.stats)?;
        }
        session.summarize(&self.summary(&collection, &outcome, &plan));
        Ok(())
    }
}

impl Dedup {
    /// Refuses options that contradict each other.
    fn check(&self) -> anyhow::Result<()> {
        let usage = |reason: &str| Err(twinset_io::Error::Usage(reason.to_owned()).into());
        let needs_own_pairs = self.dedup != DedupOptions::default() || self.join.top.is_some() || self.join.best;
        if self.against_only && self.against.is_none() {
            return usage("--against-only needs --against");
        }
        if self.against_only && (needs_own_pairs || self.stream) {
            return usage(
                "--against-only compares no records of the input with each other; leave out --keep, --link, --top, --best and --stream",
            );
        }
        if self.sketches.is_some() && (self.stream || self.against.is_some() || self.same.is_some()) {
            return usage("--sketches reads no texts; leave out --stream, --against and --same");
        }
        Ok(())
    }

    /// Opens all outputs, none of which may replace an input or another one.
    fn open(&self, sides: &[Inputs], stop_words: Option<PathBuf>) -> anyhow::Result<Outputs> {
        let others = || self.removed.iter().chain(&self.groups);
        // Only the records that are kept can go to standard output.
        let standard = others().filter(|output| output.is_standard()).map(|_| Path::new("-"));
        let groups = self.groups.as_ref().and_then(Destination::path);
        let files = [groups, self.stats.as_deref(), self.report.as_deref(), self.read.rejects.as_deref()];
        let copied = self.output.path().into_iter().chain(self.removed.as_ref().and_then(Destination::path));
        let copied = copied.map(|path| Target::paths(path, &sides[0], &self.read)).collect::<Result<Vec<_>, _>>()?;
        let outputs = files.into_iter().flatten().chain(copied.iter().flatten().map(PathBuf::as_path)).chain(standard);
        let others = self.sketches.iter().chain(&stop_words);
        let inputs: Vec<PathBuf> = sides.iter().flat_map(|side| side.paths()).chain(others).cloned().collect();
        check_outputs(None, outputs, &inputs)?;
        let target = |destination: &Destination| Target::open_for(destination, &sides[0], &self.read);
        let table = |destination: &Destination| {
            let format = destination.path().map_or(Ok(OutputFormat::Csv), OutputFormat::of_path)?;
            Ok::<_, twinset_io::Error>((destination.open()?, format))
        };
        Ok(Outputs {
            kept: (!self.count).then(|| target(&self.output)).transpose()?,
            removed: self.removed.as_ref().map(target).transpose()?,
            groups: self.groups.as_ref().map(table).transpose()?,
            stats: self.stats.as_deref().map(Output::create).transpose()?,
            report: self.report.as_deref().map(Output::create).transpose()?,
        })
    }

    fn keeping<'a>(&self, plan: &'a Plan, extra: &'a [String]) -> Keeping<'a> {
        // A choice among pairs needs the pairs of equal texts as well, and a second reading the same numbers.
        // Labels depend on the order in which tokens come up, and so on which of two equal texts is tokenised.
        let is_labelled = self.estimate.method == Method::Lsh;
        let once = self.join.top.is_none() && !self.join.best && !self.estimate.verify && !is_labelled;
        let apart = self.same.as_ref().map(|_| self.show.len());
        Keeping {
            content: Content::from(plan),
            extra,
            once,
            apart,
            lengths: self.dedup.keep == KeepRule::Longest,
            again: false,
        }
    }

    /// Groups the records, and drops what is near the other collection.
    fn find(
        &self,
        collection: &Collection,
        session: &Session,
        plan: &Plan,
        origin: Origin<'_>,
    ) -> anyhow::Result<Outcome> {
        let run = session.run_beside(collection.bytes())?;
        let records = collection.left.len();
        let copies = collection.copies.as_ref().map(|copies| copies.originals.as_slice());
        let classes = self.same.as_ref().map(|_| {
            let of_record = classes(&collection.extra[self.show.len()]);
            let Some(copies) = copies else { return of_record };
            // Copies of a text that are of different classes are held apart.
            let mut of_held = vec![0; copies.iter().max().map_or(0, |&last| last as usize + 1)];
            copies.iter().zip(of_record).for_each(|(&held, class)| of_held[held as usize] = class);
            of_held
        });
        let context = RecordContext { copies, classes: classes.as_deref() };
        let ranking = self.ranking(collection, records);
        let grouping = self.grouping(ranking.as_ref());
        let input = collection.input();
        if collection.right.is_some() {
            let grouping = (!self.against_only).then_some(grouping);
            let deduped = twinset::exact::dedup_against(input, context, records, plan.joined(), grouping, &run)?;
            return Ok(Outcome { deduped, without_sketch: 0 });
        }
        let (joined, exact) = find(plan, input, classes.as_deref(), origin, &run)?;
        let input = exact.as_ref().map_or(input, Collection::input);
        let deduped = twinset::exact::dedup_joined(joined, input, context, plan.selection(), grouping, &run)?;
        Ok(Outcome { deduped, without_sketch: 0 })
    }

    /// Groups listed records by their stored sketches.
    fn find_listed(
        &self,
        collection: &Collection,
        session: &Session,
        plan: &Plan,
        sketches: &SketchFile,
    ) -> anyhow::Result<Outcome> {
        let texts = collection.texts.as_ref().into_iter().flat_map(Strings::iter);
        let named = &collection.left;
        let ids: Vec<String> = match named.are_named() {
            true => (0..named.len()).map(|record| named.get(record).into_owned()).collect(),
            false => texts.map(|text| text.trim().to_owned()).collect(),
        };
        let (sets, without_sketch) = sketches.sets_of(ids.iter().map(String::as_str), &session.run)?;
        let sets = OwnedInput::from(sets);
        let ranking = self.ranking(collection, ids.len());
        let (context, grouping) = (RecordContext::default(), self.grouping(ranking.as_ref()));
        let deduped = twinset::exact::dedup(sets.input(), context, plan.joined(), grouping, &session.run)?;
        Ok(Outcome { deduped, without_sketch })
    }

    /// All records of the left collection in the order in which they are kept, where this is known before the join.
    fn ranking(&self, collection: &Collection, records: usize) -> Option<Ranking> {
        // The field by which records are kept is the last that was read.
        let values = self.dedup.keep.field().and(collection.extra.last());
        let values: Strings = values.into_iter().flat_map(|values| values.iter().take(records)).collect();
        self.dedup.keep.ranking(&collection.lengths[..records.min(collection.lengths.len())], &values)
    }

    fn grouping<'a>(&self, ranking: Option<&'a Ranking>) -> Grouping<'a> {
        let order = match (ranking, &self.dedup.keep) {
            (Some(ranking), _) => Order::Ranked(ranking),
            (None, KeepRule::Central) => Order::Degree,
            (None, _) => Order::Input,
        };
        Grouping { link: self.dedup.link, order }
    }

    fn write_groups(
        &self,
        output: Output,
        format: OutputFormat,
        collection: &Collection,
        outcome: &Outcome,
        plan: &Plan,
    ) -> anyhow::Result<()> {
        let mut values = plan.values(self.join.measure, collection.synopses.as_ref());
        let held = |record: usize| collection.copies.as_ref().map_or(record as u32, |copies| copies.originals[record]);
        let (own, others) = (&collection.left, collection.right_ids());
        let columns = [("record", Kind::of(own)), ("group", Kind::Whole), ("representative", Kind::of(own))];
        let columns = columns.into_iter().map(|(name, kind)| (name.to_owned(), kind)).chain(value_columns(&values));
        // In memory, representatives of the other collection have a column of their own: names of both may be the same.
        let is_memory = matches!(self.groups, Some(Destination::Memory(_)));
        let tells_others = is_memory && collection.right.is_some();
        let columns = columns.chain(tells_others.then(|| ("against".to_owned(), Kind::of(others))));
        let shown = self.show.iter().map(|field| (field.clone(), Kind::Text));
        let mut table = Table::create(output, format, columns.chain(shown))?;
        let mut numbers = std::collections::HashMap::new();
        for (record, (&representative, &value)) in
            outcome.deduped.representatives.iter().zip(&outcome.deduped.values).enumerate()
        {
            let next = numbers.len() as u64 + 1;
            let group = *numbers.entry(representative).or_insert(next);
            let is_kept = representative == Representative::Own(record as u32);
            let (named, other, place) = match representative {
                Representative::Own(at) => (Value::Record(own, at as usize), Value::NoRecord, at as usize),
                Representative::Other(at) => {
                    let other = Value::Record(others, at as usize);
                    (if tells_others { Value::NoRecord } else { other }, other, own.len() + at as usize)
                }
            };
            let mut row = vec![Value::Record(own, record), Value::Whole(group), named];
            let interval = match is_kept {
                true => values.interval_of_twins(value),
                false => values.interval(value, held(record), held(place)),
            };
            add_value_cells(&values, interval, &mut row);
            row.extend(tells_others.then_some(other));
            row.extend((0..self.show.len()).map(|at| Value::Text(collection.extra[at].get(record))));
            table.row(&row)?;
        }
        Ok(table.finish()?)
    }

    fn summary(&self, collection: &Collection, outcome: &Outcome, plan: &Plan) -> Vec<String> {
        let stats = &outcome.deduped.stats;
        let mut lines = vec![count(collection.left.len() as u64, "record")];
        if let Some(copies) = &collection.copies {
            let different = copies.left as u64;
            let equal = collection.left.len() as u64 - different;
            lines[0] += &format!(
                ", {} with the text of another one",
                if equal > 0 { equal.to_string() } else { "none".into() }
            );
        }
        if let (Some(right), Some(file)) = (&collection.right, &self.against) {
            let known = count(outcome.deduped.known, "record");
            lines.push(format!("{known} near one of the {} of {}", count(right.len() as u64, "record"), file.name()));
        }
        lines.extend(crate::join::notes(&self.read, &self.tokens, self.join.measure, collection, stats));
        lines.extend(plan.promise());
        if outcome.without_sketch > 0 {
            lines.push(format!("{} without a sketch were kept", count(outcome.without_sketch, "record")));
        }
        let groups = stats.groups.map(|groups| format!(", {}", count(groups, "group"))).unwrap_or_default();
        lines.push(format!("{} by {}{groups}", count(stats.pairs, "pair"), stats.algorithm));
        let kept = stats.kept.unwrap_or(0);
        let folder = self.output.path().filter(|path| !self.count && path.is_dir());
        let place = folder.map(|folder| format!(", in the folder {}, a file for each input", folder.display()));
        let removed = collection.left.len() as u64 - kept;
        lines.push(format!("{} kept, {removed} removed{}", count(kept, "record"), place.unwrap_or_default()));
        lines
    }
}
