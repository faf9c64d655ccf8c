//! `twinset dedup`: a collection without its near duplicates.

use std::path::{Path, PathBuf};
use std::time::Instant;

use twinset::{
    DedupOptions, Deduped, EstimateOptions, JoinOptions, Keep, Link, Links, Method, Pair, Records, Seconds, Stats,
    Strings, TokenOptions, by_field, by_length,
};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::write::{Kind, Table, Value, check_outputs};
use twinset_io::{
    Collection, Content, Fate, Held, Ids, Keeping, Output, OutputFormat, ReadOptions, SketchFile, Target, copy_records,
    load,
};

use crate::join::{classes, write_count, write_stats};
use crate::search::Search;
use crate::session::{Session, SessionOptions, count, peak_memory};

/// Writes a collection without its near duplicates, and tells which they were
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dedup {
    /// Files, folders, quoted globs, or - for standard input
    #[arg(required = true)]
    pub(crate) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) join: JoinOptions,
    #[command(flatten)]
    pub(crate) dedup: DedupOptions,
    /// Only records that agree in this field are near duplicates
    #[arg(long, value_name = "FIELD")]
    pub(crate) same: Option<String>,
    /// Remove records that are near duplicates of a record of FILE, before INPUT is compared with itself
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// With --against: do not compare INPUT with itself
    #[arg(long, requires = "against", conflicts_with_all = ["keep", "link", "top", "best", "stream", "window"])]
    pub(crate) against_only: bool,
    /// Decide on each record as it arrives, against those kept before it, and write it at once
    #[arg(long)]
    pub(crate) stream: bool,
    /// With --stream: remember only the N records kept last (those without tokens do not count)
    #[arg(long, value_name = "N", requires = "stream", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) window: Option<u32>,
    /// INPUT is a ranked list of ids: drop each whose sketch in FILE is near that of one kept before it
    ///
    /// Groups are those of --link representative.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stream", "against", "same"])]
    pub(crate) sketches: Option<PathBuf>,
    /// Write the records kept to KEPT instead of standard output, each as it stood; a folder if there are several inputs
    #[arg(long, short, value_name = "KEPT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write the records left out to FILE, each as it stood; a folder if there are several inputs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) removed: Option<PathBuf>,
    /// Write the group and the representative of each record to FILE: csv, jsonl or parquet
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) groups: Option<PathBuf>,
    /// Write a page that shows how alike the records are, and the largest groups with their differences
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Add this field of each record to --groups; repeat it for several
    #[arg(long, value_name = "FIELD", help_heading = "Output")]
    show: Vec<String>,
    /// Only the number of records that would be kept
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "removed"])]
    pub(crate) count: bool,
    /// Write what was done as JSON: candidates after each filter, seconds of each stage, peak memory
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) stats: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) estimate: EstimateOptions,
    #[command(flatten)]
    pub(crate) tokens: TokenOptions,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
    #[command(flatten)]
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
    /// For each record, the one that stands for it: itself, one of the same collection, or one of the other.
    pub(crate) representatives: Vec<Representative>,
    pub(crate) values: Vec<f64>,
    /// The pairs among the records that are not near the other collection.
    pub(crate) links: Links,
    pub(crate) stats: Stats,
    /// How many were dropped as they are near a record of the other collection.
    known: u64,
    /// How many have no sketch in the file.
    without_sketch: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Representative {
    Own(u32),
    Other(u32),
}

impl Dedup {
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let stop_words = read_stop_words(&mut self.tokens)?;
        let session = self.session.begin();
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
        let mut sides = self.inputs()?;
        if self.stream {
            return self.run_stream(&session, &sides[0], stop_words);
        }
        let search = Search::new(&self.join, &self.tokens, &self.estimate, &session.run)?;
        // Standard input is read again for copying, and for the report.
        sides.iter_mut().try_for_each(|side| side.spool(&session.run))?;
        let outputs = self.open(&sides, stop_words)?;
        let extra: Vec<String> = self.show.iter().chain(&self.same).chain(self.dedup.keep.field()).cloned().collect();
        let mut keeping = self.keeping(&search, &extra);
        if sketches.is_some() {
            (keeping.content, keeping.once) = (Content::Texts, false);
        }
        let collection = load(&sides, &self.read, keeping, &session.run)?;
        let begin = Instant::now();
        let mut outcome = match &sketches {
            None => self.find(&collection, &session, &search, (&sides, &self.read, keeping))?,
            Some(sketches) => self.find_listed(&collection, &session, &search, sketches)?,
        };
        let join_seconds = begin.elapsed().as_secs_f64();
        session.run.check()?;
        let begin = Instant::now();
        if let Some((output, format)) = outputs.groups {
            self.write_groups(output, format, &collection, &outcome, &search)?;
        }
        let fate = |record: u32| match outcome.representatives[record as usize] {
            Representative::Own(own) if own == record => Fate::Kept,
            _ => Fate::Removed,
        };
        if let Some(output) = outputs.report {
            self.write_report(output, (&sides, &collection), &outcome, &search, &session.run)?;
        }
        if let Some(kept) = outputs.kept {
            copy_records((&sides[0], &collection), &self.read, (kept, outputs.removed), fate, &session.run)?;
        }
        session.clear_bar();
        let kept = outcome.stats.kept.unwrap_or(0);
        if self.count {
            write_count(Output::standard(), kept)?;
        }
        let write = begin.elapsed().as_secs_f64();
        outcome.stats.seconds = Seconds { join: join_seconds, write, ..collection.seconds };
        outcome.stats.peak_memory_bytes = peak_memory();
        if let Some(file) = outputs.stats {
            write_stats(file, &outcome.stats)?;
        }
        session.summarize(&self.summary(&collection, &outcome, &search));
        Ok(())
    }

    /// The input, and the collection to compare it with.
    fn inputs(&self) -> anyhow::Result<Vec<Inputs>> {
        let is_standard = |path: &&PathBuf| path.as_os_str() == "-";
        if self.input.iter().chain(&self.against).filter(is_standard).count() > 1 {
            return Err(twinset_io::Error::Usage("standard input can be read only once".to_owned()).into());
        }
        let mut sides = vec![Inputs::find(&self.input, self.read.format)?];
        sides.extend(
            self.against.iter().map(|path| Inputs::find([path], self.read.format)).collect::<Result<Vec<_>, _>>()?,
        );
        Ok(sides)
    }

    /// Opens all outputs, none of which may replace an input or another one.
    fn open(&self, sides: &[Inputs], stop_words: Option<PathBuf>) -> anyhow::Result<Outputs> {
        let is_file = |path: &&PathBuf| path.as_os_str() != "-";
        let files = [&self.groups, &self.stats, &self.report, &self.read.rejects].into_iter().flatten().cloned();
        let copied = self.output.iter().filter(is_file).chain(&self.removed);
        let copied = copied.map(|path| Target::paths(path, &sides[0], &self.read)).collect::<Result<Vec<_>, _>>()?;
        let outputs: Vec<PathBuf> = files.chain(copied.into_iter().flatten()).collect();
        let others = self.sketches.iter().chain(&stop_words);
        let inputs: Vec<PathBuf> = sides.iter().flat_map(|side| side.paths()).chain(others).cloned().collect();
        check_outputs(outputs.iter().map(PathBuf::as_path), &inputs)?;
        let target = |path: Option<&Path>| Target::open_for(path, &sides[0], &self.read);
        Ok(Outputs {
            kept: (!self.count).then(|| target(self.output.as_deref())).transpose()?,
            removed: self.removed.as_deref().map(|path| target(Some(path))).transpose()?,
            groups: self
                .groups
                .as_deref()
                .map(|path| Ok::<_, twinset_io::Error>((Output::create(path)?, OutputFormat::of_path(path)?)))
                .transpose()?,
            stats: self.stats.as_deref().map(Output::create).transpose()?,
            report: self.report.as_deref().map(Output::create).transpose()?,
        })
    }

    fn keeping<'a>(&self, search: &Search<'a>, extra: &'a [String]) -> Keeping<'a> {
        // A choice among pairs needs the pairs of equal texts as well, and a second reading the same numbers.
        // Labels depend on the order in which tokens come up, and so on which of two equal texts is tokenised.
        let is_labelled = self.estimate.method == Method::Labels;
        let once = self.join.top.is_none() && !self.join.best && !self.estimate.verify && !is_labelled;
        let apart = self.same.as_ref().map(|_| self.show.len());
        Keeping {
            content: search.content(),
            extra,
            once,
            apart,
            lengths: self.dedup.keep == Keep::Longest,
            again: false,
        }
    }

    /// Groups the records, and drops what is near the other collection.
    fn find(
        &self,
        collection: &Collection,
        session: &Session,
        search: &Search<'_>,
        source: (&[Inputs], &ReadOptions, Keeping<'_>),
    ) -> anyhow::Result<Outcome> {
        let run = session.run_beside(collection.bytes())?;
        let originals = |records: usize| match &collection.copies {
            Some(copies) => copies.originals[..records].to_vec(),
            None => (0..records as u32).collect(),
        };
        let records = collection.left.len();
        let all = originals(records + collection.right.as_ref().map_or(0, Ids::len));
        let classes = self.same.as_ref().map(|_| {
            let of_record = classes(&collection.extra[self.show.len()]);
            let mut of_held = vec![0; all.iter().max().map_or(0, |&last| last as usize + 1)];
            all.iter().zip(of_record).for_each(|(&original, class)| of_held[original as usize] = class);
            of_held
        });
        let order = self.order(collection, records);
        let Some(right) = &collection.right else {
            let records = Records {
                copies: collection.copies.as_ref().map(|copies| copies.originals.as_slice()),
                classes: classes.as_deref(),
                order: order.as_deref(),
            };
            let input = collection.input();
            let (joined, exact) = search.run(input, classes.as_deref(), source, &run)?;
            let input = exact.as_ref().map_or(input, Collection::input);
            let Deduped { representatives, values, links, stats } =
                twinset::dedup_joined(joined, input, records, search.selection(), &self.dedup, &run)?;
            let representatives = representatives.into_iter().map(Representative::Own).collect();
            return Ok(Outcome { representatives, values, links, stats, known: 0, without_sketch: 0 });
        };

        // First goes what is near the other collection, then the rest is compared with itself.
        let all_pairs = JoinOptions { top: None, best: false, ..search.joined.clone() };
        let held_left = collection.left_held() as u32;
        let first_of_right = first_records(&all[records..], held_left, right.len());
        let (near, near_stats) =
            twinset::nearest(collection.input(), classes.as_deref(), Some(&first_of_right), &all_pairs, &run)?;
        let rest = collection.left_where(|held| near[held as usize].is_none(), &run)?;
        let mut numbers = vec![None; near.len()];
        (0..)
            .zip((0..near.len()).filter(|&held| near[held].is_none()))
            .for_each(|(number, held)| numbers[held] = Some(number));
        let left: Vec<u32> =
            (0..records as u32).filter(|&record| numbers[all[record as usize] as usize].is_some()).collect();
        let copies: Vec<u32> = left.iter().filter_map(|&record| numbers[all[record as usize] as usize]).collect();
        let rest_classes: Option<Vec<u32>> = classes
            .map(|classes| (0..near.len()).filter(|&held| near[held].is_none()).map(|held| classes[held]).collect());
        let order: Option<Vec<u32>> = order.map(|order| {
            let at = |record: u32| left.binary_search(&record).ok().map(|at| at as u32);
            order.into_iter().filter_map(at).collect()
        });
        let of_rest = Records { copies: Some(&copies), classes: rest_classes.as_deref(), order: order.as_deref() };
        let deduped = match self.against_only {
            false => twinset::dedup(rest.input(), of_rest, &search.joined, &self.dedup, &run)?,
            true => {
                let all = twinset::keep_all(rest.input(), of_rest, search.joined.measure)?;
                Deduped { stats: Stats { kept: all.stats.kept, ..near_stats }, ..all }
            }
        };

        let mut outcome = Outcome {
            representatives: Vec::with_capacity(records),
            values: Vec::with_capacity(records),
            links: deduped.links,
            stats: Stats { records: records as u64, ..deduped.stats },
            known: (records - left.len()) as u64,
            without_sketch: 0,
        };
        let mut next = 0;
        for &original in &all[..records] {
            let (representative, value) = match near[original as usize] {
                Some(Pair { right, value, .. }) => (Representative::Other(first_of_right[right as usize]), value),
                None => {
                    next += 1;
                    let own = left[deduped.representatives[next - 1] as usize];
                    (Representative::Own(own), deduped.values[next - 1])
                }
            };
            outcome.representatives.push(representative);
            outcome.values.push(value);
        }
        Ok(outcome)
    }

    /// Groups listed records by their stored sketches.
    fn find_listed(
        &self,
        collection: &Collection,
        session: &Session,
        search: &Search<'_>,
        sketches: &SketchFile,
    ) -> anyhow::Result<Outcome> {
        let texts = collection.texts.as_ref().into_iter().flat_map(Strings::iter);
        let ids: Vec<String> = match &collection.left {
            named @ Ids::Names(_) => (0..named.len()).map(|record| named.get(record).into_owned()).collect(),
            _ => texts.map(|text| text.trim().to_owned()).collect(),
        };
        let (sets, without_sketch) = sketches.sets_of(ids.iter().map(String::as_str), &session.run)?;
        let input = Held::Sets(sets);
        let order = self.order(collection, ids.len());
        let records = Records { order: order.as_deref(), ..Records::default() };
        let Deduped { representatives, values, links, stats } =
            twinset::dedup(input.input(), records, &search.joined, &self.dedup, &session.run)?;
        let representatives = representatives.into_iter().map(Representative::Own).collect();
        Ok(Outcome { representatives, values, links, stats, known: 0, without_sketch })
    }

    /// All records of the left collection, those first that are rather kept, where this is known before the join.
    fn order(&self, collection: &Collection, records: usize) -> Option<Vec<u32>> {
        match &self.dedup.keep {
            Keep::First | Keep::Central => None,
            Keep::Longest => Some(by_length(&collection.lengths[..records])),
            keep @ (Keep::Max(_) | Keep::Min(_)) => {
                let values: Strings = collection.extra.last()?.iter().take(records).collect();
                Some(by_field(&values, matches!(keep, Keep::Max(_))))
            }
        }
    }

    fn write_groups(
        &self,
        output: Output,
        format: OutputFormat,
        collection: &Collection,
        outcome: &Outcome,
        search: &Search<'_>,
    ) -> anyhow::Result<()> {
        let mut values = search.values(collection, self.join.measure);
        let held = |record: usize| collection.copies.as_ref().map_or(record as u32, |copies| copies.originals[record]);
        let columns = [("record", Kind::Text), ("group", Kind::Whole), ("representative", Kind::Text)];
        let columns = columns.into_iter().map(|(name, kind)| (name.to_owned(), kind)).chain(values.columns());
        // Names of both collections may be the same; a host can tell them apart.
        let tells_side = output.is_memory() && collection.right.is_some();
        let side = tells_side.then(|| ("against".to_owned(), Kind::Whole));
        let columns = columns.chain(side);
        let shown = self.show.iter().map(|field| (field.clone(), Kind::Text));
        let mut table = Table::create(output, format, columns.chain(shown))?;
        let mut numbers = std::collections::HashMap::new();
        for (record, (&representative, &value)) in outcome.representatives.iter().zip(&outcome.values).enumerate() {
            let next = numbers.len() as u64 + 1;
            let group = *numbers.entry(representative).or_insert(next);
            let id = collection.left.get(record);
            // A record agrees with itself, even if it has no token.
            let value = match search.entries() {
                Some(entries) if representative == Representative::Own(record as u32) => f64::from(entries),
                _ => value,
            };
            let (representative, place) = match representative {
                Representative::Own(own) => (collection.left.get(own as usize), own as usize),
                Representative::Other(other) => {
                    (collection.right_ids().get(other as usize), collection.left.len() + other as usize)
                }
            };
            let mut row = vec![Value::Text(&id), Value::Whole(group), Value::Text(&representative)];
            values.cells(value, (held(record), held(place)), &mut row);
            row.extend(tells_side.then(|| Value::Whole(u64::from(place >= collection.left.len()))));
            row.extend((0..self.show.len()).map(|at| Value::Text(collection.extra[at].get(record))));
            table.row(&row)?;
        }
        Ok(table.finish()?)
    }

    fn summary(&self, collection: &Collection, outcome: &Outcome, search: &Search<'_>) -> Vec<String> {
        let stats = &outcome.stats;
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
            let known = count(outcome.known, "record");
            lines.push(format!(
                "{known} near one of the {} of {}",
                count(right.len() as u64, "record"),
                file.display()
            ));
        }
        lines.extend(crate::join::notes(&self.read, &self.tokens, self.join.measure, collection, stats));
        lines.extend(search.note());
        if outcome.without_sketch > 0 {
            lines.push(format!("{} without a sketch were kept", count(outcome.without_sketch, "record")));
        }
        let groups = stats.groups.map(|groups| format!(", {}", count(groups, "group"))).unwrap_or_default();
        lines.push(format!("{} by {}{groups}", count(stats.pairs, "pair"), stats.algorithm));
        let kept = stats.kept.unwrap_or(0);
        lines.push(format!("{} kept, {} removed", count(kept, "record"), collection.left.len() as u64 - kept));
        lines
    }
}

/// The first record of each text of the right collection, of which `before` texts belong to the left.
fn first_records(originals: &[u32], before: u32, records: usize) -> Vec<u32> {
    let mut firsts = vec![u32::MAX; records];
    for (record, &original) in (0..).zip(originals) {
        let first = &mut firsts[(original - before) as usize];
        *first = (*first).min(record);
    }
    firsts
}
