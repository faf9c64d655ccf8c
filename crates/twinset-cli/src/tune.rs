//! `twinset tune`: which threshold, and which settings.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twinset::estimate::{LshOptions, kmv_size, lsh_bits, lsh_recall, lsh_trees, minhash_recall};
use twinset::exact::{Grouping, JoinOptions, JoinResult, Pair, RecordContext, dedup_joined};
use twinset::{Threshold, TokenOptions};
use twinset_io::read::{Inputs, id_pairs, read_stop_words};
use twinset_io::write::{Kind, Table, Value, check_outputs};
use twinset_io::{Collection, Content, Ids, Keeping, Output, OutputOptions, ReadOptions, Source, load, read_texts};
use twinset_report::{Chart, Line, TuneReport, page};

use crate::job::{Job, own_settings, run_in_terminal};
use crate::join::notes;
use crate::search::open_inputs;
use crate::session::{Session, SessionOptions, count, write_text};

/// Shows how many pairs there are at each threshold, what they look like, and what settings promise
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(crate) struct Tune {
    #[command(subcommand)]
    promise: Option<Promise>,
    #[command(flatten)]
    thresholds: Thresholds,
}

#[derive(clap::Subcommand)]
enum Promise {
    Curve(Curve),
    Size(Size),
}

const EXAMPLES: &str = "Examples:
  How many pairs are there at each threshold, and what do they look like?
    twinset tune docs.jsonl --report tune.html
  Which threshold finds the pairs that are known?
    twinset tune dblp.csv acm.csv --text title --truth matches.csv --best
  What do 90 of 100 equal entries of a sketch promise?
    twinset tune curve --permutations 100 --agree 90
  How large must a synopsis be?
    twinset tune size --error 0.05 --confidence 0.9 --threshold 0.8";

impl Tune {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.promise {
            Some(Promise::Curve(curve)) => curve.run(),
            Some(Promise::Size(size)) => size.run(),
            None => run_in_terminal(self.thresholds),
        }
    }
}

/// Shows how many pairs there are at each threshold.
#[derive(clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Thresholds {
    /// A file, a folder, a quoted glob, or - for standard input
    #[arg(required = true)]
    #[serde(skip)]
    pub input: Option<Source>,
    /// Another collection, to be joined with the first
    #[serde(skip)]
    pub right: Option<Source>,
    /// The lowest threshold to report
    #[arg(long, short, value_name = "T", default_value = "1/2")]
    threshold: Threshold,
    /// jaccard, cosine, dice or containment
    #[arg(long, short, value_name = "MEASURE", default_value_t)]
    measure: twinset::Measure,
    /// True pairs: two columns of ids; adds precision and recall
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub truth: Option<Source>,
    /// Count the pairs of `join --best`: each record in at most one, the most similar first
    #[arg(long)]
    best: bool,
    /// Write a page with the curve, and a pair of each step
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<PathBuf>,
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

/// What is known of one threshold.
#[derive(Clone, Default)]
struct Step {
    threshold: f64,
    pairs: u64,
    true_pairs: u64,
    /// The pair closest to the threshold.
    sample: Option<Pair>,
    groups: Option<(u64, u64)>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            input: None,
            right: None,
            threshold: Threshold::new(1, 2).expect("a half is a threshold"),
            measure: twinset::Measure::default(),
            truth: None,
            best: false,
            report: None,
            tokens: TokenOptions::default(),
            read: ReadOptions::default(),
            output: OutputOptions::default(),
            session: SessionOptions::default(),
        }
    }
}

impl Job for Thresholds {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        let stop_words = read_stop_words(&mut self.tokens)?;
        if self.measure.is_count() {
            let reason = "tune looks at similarities between 0 and 1: jaccard, cosine, dice or containment";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let join = JoinOptions { measure: self.measure, best: self.best, ..JoinOptions::at(self.threshold) };
        twinset::exact::Bounds::new(join.measure, self.threshold, twinset::exact::Collections::One)?;
        let mut sides = open_inputs(&[self.input.as_slice(), self.right.as_slice()], &self.read)?;
        sides.iter_mut().try_for_each(|side| side.spool(&session.run))?;
        let truth = self.truth.as_ref().and_then(Source::path).map(Path::to_owned);
        let inputs: Vec<PathBuf> =
            sides.iter().flat_map(|side| side.paths()).chain(&truth).chain(&stop_words).cloned().collect();
        let others = [&self.report, &self.read.rejects].into_iter().flatten();
        check_outputs(self.output.output.path(), others, &inputs)?;
        let (output, format) = self.output.open()?;
        let report = self.report.as_deref().map(Output::create).transpose()?;

        let collection = load(&sides, &self.read, Keeping::all(Content::Sets(&self.tokens)), &session.run)?;
        let truth = self.truth.as_ref().map(|truth| read_truth(truth, &collection)).transpose()?;
        let run = session.run_beside(collection.bytes())?;
        let joined = twinset::exact::join(collection.input(), &join, &run)?;
        let mut steps = self.steps();
        let mut samples: Vec<Option<Pair>> = vec![None; steps.len()];
        let last = steps.len() - 1;
        // Pairs are chosen from the best on, so those above a higher threshold are chosen at that one, too.
        for pair in self.pairs(&joined, &join)? {
            let pair = pair?;
            // The strictest step that it reaches.
            let at = steps.partition_point(|step| !self.measure.reaches(pair.value, step.threshold)).min(last);
            let step = &mut steps[at];
            step.pairs += 1;
            let is_true = |truth: &HashSet<(u32, u32)>| truth.contains(&ordered(&pair, collection.right.is_some()));
            step.true_pairs += u64::from(truth.as_ref().is_some_and(is_true));
            if samples[at].is_none_or(|sample| pair.value < sample.value) {
                samples[at] = Some(pair);
            }
        }
        for at in 0..steps.len() {
            steps[at].sample = samples[at];
            if at > 0 {
                steps[at].pairs += steps[at - 1].pairs;
                steps[at].true_pairs += steps[at - 1].true_pairs;
            }
        }
        let (pairs, stats) = (steps[last].pairs, joined.stats.clone());
        if collection.right.is_none() {
            let deduped =
                dedup_joined(joined, collection.input(), RecordContext::default(), &join, Grouping::default(), &run)?;
            let thresholds: Vec<f64> = steps.iter().map(|step| step.threshold).collect();
            for (step, found) in steps.iter_mut().zip(twinset::exact::steps(&deduped.links, &thresholds)) {
                step.groups = Some((found.groups, found.removed));
            }
        }
        session.clear_bar();
        self.write(output, format, &collection, &steps, truth.as_ref())?;
        if let Some(output) = report {
            self.write_report(output, &sides, &collection, &steps, truth.as_ref(), &session.run)?;
        }
        let records = count(collection.left.len() as u64, "record");
        let mut lines = vec![format!("{records}, {} at {} or more", count(pairs, "pair"), self.threshold)];
        if let Some(truth) = &truth {
            let f1 = |step: &Step| step.quality(truth.len())[2];
            // Of equal ones the highest threshold, which comes first.
            let best = steps.iter().rev().max_by(|a, b| f1(a).total_cmp(&f1(b)));
            lines.extend(best.map(|step| format!("F1 is highest at --threshold {}: {:.3}", step.threshold, f1(step))));
        }
        lines.extend(notes(&self.read, &self.tokens, self.measure, &collection, &stats));
        session.summarize(&lines);
        Ok(())
    }
}

impl Thresholds {
    /// All pairs; of the two rows that containment can have for two records of one collection, the better one.
    fn pairs<'a>(
        &self,
        joined: &'a JoinResult,
        join: &JoinOptions,
    ) -> anyhow::Result<Box<dyn Iterator<Item = twinset::Result<Pair>> + 'a>> {
        let pairs: Box<dyn Iterator<Item = twinset::Result<Pair>> + 'a> = match joined.selected(join)? {
            Some(selected) => Box::new(selected.into_iter().map(Ok)),
            None => joined.iter(),
        };
        if self.measure != twinset::Measure::Containment || self.right.is_some() {
            return Ok(pairs);
        }
        let mut best: BTreeMap<(u32, u32), Pair> = BTreeMap::new();
        for pair in pairs {
            let pair = pair?;
            let own = best.entry(ordered(&pair, false)).or_insert(pair);
            if pair.value > own.value {
                *own = pair;
            }
        }
        Ok(Box::new(best.into_values().map(Ok)))
    }

    /// Thresholds from strict to lax, in twentieths, and the laxest.
    fn steps(&self) -> Vec<Step> {
        let laxest = self.threshold.as_f64();
        let mut thresholds: Vec<f64> =
            (1..=20).rev().map(|step| f64::from(step) / 20.0).filter(|&t| t > laxest).collect();
        thresholds.push(laxest);
        thresholds.into_iter().map(|threshold| Step { threshold, ..Step::default() }).collect()
    }

    fn write(
        &self,
        output: Output,
        format: twinset_io::OutputFormat,
        collection: &Collection,
        steps: &[Step],
        truth: Option<&HashSet<(u32, u32)>>,
    ) -> anyhow::Result<()> {
        let mut columns = vec![("threshold", Kind::Real), ("pairs", Kind::Whole)];
        if collection.right.is_none() {
            columns.extend([("groups", Kind::Whole), ("removed", Kind::Whole)]);
        }
        if truth.is_some() {
            columns.extend([("precision", Kind::Real), ("recall", Kind::Real), ("f1", Kind::Real)]);
        }
        let (left, right) = (&collection.left, collection.right_ids());
        columns.extend([("left", Kind::of(left)), ("right", Kind::of(right)), ("similarity", Kind::Text)]);
        let mut table = Table::create(output, format, columns)?;
        for step in steps {
            let mut row = vec![Value::Real(step.threshold), Value::Whole(step.pairs)];
            row.extend(step.groups.into_iter().flat_map(|(groups, removed)| [groups, removed]).map(Value::Whole));
            row.extend(truth.into_iter().flat_map(|truth| step.quality(truth.len())).map(Value::Real));
            let record = |ids, at: Option<u32>| at.map_or(Value::NoRecord, |at| Value::Record(ids, at as usize));
            let value = step.sample.map(|pair| shown_value(&pair)).unwrap_or_default();
            row.extend([
                record(left, step.sample.map(|pair| pair.left)),
                record(right, step.sample.map(|pair| pair.right)),
            ]);
            row.push(Value::Text(&value));
            table.row(&row)?;
        }
        Ok(table.finish()?)
    }

    fn write_report(
        &self,
        output: Output,
        sides: &[Inputs],
        collection: &Collection,
        steps: &[Step],
        truth: Option<&HashSet<(u32, u32)>>,
        run: &twinset::Run,
    ) -> anyhow::Result<()> {
        let samples = || steps.iter().filter_map(|step| step.sample);
        let last = sides.len() - 1;
        let mut wanted =
            [samples().map(|pair| pair.left).collect(), samples().map(|pair| pair.right).collect::<BTreeSet<u32>>()];
        if last == 0 {
            let both = &wanted[0] | &wanted[1];
            wanted = [both.clone(), both];
        }
        let left = read_texts(&sides[0], (collection, 0), &self.read, &wanted[0], run)?;
        let right =
            if last == 0 { left.clone() } else { read_texts(&sides[1], (collection, 1), &self.read, &wanted[1], run)? };
        let text = |texts: &std::collections::BTreeMap<u32, String>, record: u32| -> String {
            texts.get(&record).map(|text| text.chars().take(2000).collect()).unwrap_or_default()
        };
        let mut header = vec!["threshold", "pairs"];
        header.extend(if collection.right.is_none() { vec!["groups", "removed"] } else { vec![] });
        header.extend(if truth.is_some() { vec!["precision", "recall", "f1"] } else { vec![] });
        let row = |step: &Step| -> Vec<String> {
            let mut row = vec![format!("{:.2}", step.threshold), indicatif::HumanCount(step.pairs).to_string()];
            row.extend(
                step.groups
                    .into_iter()
                    .flat_map(|(groups, removed)| [groups, removed])
                    .map(|n| indicatif::HumanCount(n).to_string()),
            );
            row.extend(
                truth.into_iter().flat_map(|truth| step.quality(truth.len())).map(|share| format!("{share:.3}")),
            );
            row
        };
        let points = |value: &dyn Fn(&Step) -> f64| -> Vec<(f64, f64)> {
            steps.iter().rev().map(|step| (step.threshold, value(step))).collect()
        };
        let report = TuneReport {
            title: "Which threshold?".to_owned(),
            header: header.into_iter().map(str::to_owned).collect(),
            rows: steps.iter().map(row).collect(),
            pairs: points(&|step| step.pairs as f64),
            quality: truth.map_or(Vec::new(), |truth| {
                let share = |at: usize| points(&|step| step.quality(truth.len())[at]);
                vec![("precision", share(0)), ("recall", share(1))]
            }),
            samples: samples()
                .map(|pair| {
                    let (a, b, value) = sample_names(collection, &pair);
                    (format!("{a} · {b} · {value}"), text(&left, pair.left), text(&right, pair.right))
                })
                .collect(),
        };
        write_text(output, &report.render())
    }
}

impl Step {
    /// Precision, recall, and their harmonic mean.
    fn quality(&self, truth: usize) -> [f64; 3] {
        let share = |part: u64, of: u64| if of == 0 { 1.0 } else { part as f64 / of as f64 };
        let (precision, recall) = (share(self.true_pairs, self.pairs), share(self.true_pairs, truth as u64));
        let f1 = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
        [precision, recall, f1]
    }
}

/// The two records, the earlier one first where they are of one collection.
fn ordered(pair: &Pair, two: bool) -> (u32, u32) {
    if two { (pair.left, pair.right) } else { (pair.left.min(pair.right), pair.left.max(pair.right)) }
}

fn sample_names(collection: &Collection, pair: &Pair) -> (String, String, String) {
    let left = collection.left.get(pair.left as usize).into_owned();
    (left, collection.right_ids().get(pair.right as usize).into_owned(), shown_value(pair))
}

fn shown_value(pair: &Pair) -> String {
    format!("{:.4}", pair.value)
}

/// The pairs of a file or a table with two columns of ids. A first row of a file that names no record is a header.
fn read_truth(source: &Source, collection: &Collection) -> anyhow::Result<HashSet<(u32, u32)>> {
    let places = |ids: &Ids| -> HashMap<String, u32> {
        (0..ids.len()).map(|record| (ids.get(record).into_owned(), record as u32)).collect()
    };
    let (left, right) = (places(&collection.left), places(collection.right_ids()));
    let mut pairs = HashSet::new();
    for (row, (a, b)) in (1..).zip(id_pairs(source)?) {
        match (left.get(&a), right.get(&b)) {
            (Some(&a), Some(&b)) => {
                let pair = Pair { left: a, right: b, value: 0.0 };
                pairs.insert(ordered(&pair, collection.right.is_some()));
            }
            _ if row == 1 && source.path().is_some() => {}
            _ => {
                let reason = format!("row {row}: there is no record `{a}` or no record `{b}`; name the ids with --id");
                return Err(twinset_io::Error::File { file: source.name(), reason }.into());
            }
        }
    }
    Ok(pairs)
}

/// Shows with which probability a pair is found
#[derive(clap::Args)]
struct Curve {
    /// How many entries the sketches have
    #[arg(long, value_name = "N", default_value_t = 100)]
    permutations: u32,
    /// In how many of them the sketches of a pair must agree
    #[arg(long, value_name = "A", conflicts_with_all = ["trees", "bits"])]
    agree: Option<u32>,
    /// How many trees of labels there are (default: 20, with --bits)
    #[arg(long, value_name = "N")]
    trees: Option<u32>,
    /// How many bits a label has (default: 50, with --trees)
    #[arg(long, value_name = "N")]
    bits: Option<u32>,
    /// With which probability a pair on the threshold is to be found
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    probability: f64,
    /// Draw the curve
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
}

impl Curve {
    fn run(self) -> anyhow::Result<()> {
        let usage = |reason: &str| anyhow::Error::from(twinset_io::Error::Usage(reason.to_owned()));
        check_outputs(self.output.output.path(), &self.report, &[])?;
        let (output, format) = self.output.open()?;
        let similarities = (0..=100).map(|hundredth| f64::from(hundredth) / 100.0);
        let (title, points): (String, Vec<(f64, f64)>) = match (self.agree, self.trees, self.bits) {
            (Some(agree), ..) => {
                if agree == 0 || agree > self.permutations {
                    return Err(usage("sketches agree in 1 to as many entries as they have (--permutations)"));
                }
                let found = |similarity| minhash_recall(similarity, agree, self.permutations);
                let title = format!("Sketches that agree in {agree} of {} entries", self.permutations);
                let mut table = Table::create(output, format, [("similarity", Kind::Real), ("found", Kind::Real)])?;
                let points: Vec<(f64, f64)> = similarities.map(|similarity| (similarity, found(similarity))).collect();
                points.iter().try_for_each(|&(a, b)| table.row(&[Value::Real(a), Value::Real(b)]))?;
                table.finish()?;
                (title, points)
            }
            (None, trees, bits) if trees.is_some() || bits.is_some() => {
                let default = LshOptions::default();
                let labels = LshOptions { trees: trees.unwrap_or(default.trees), bits: bits.unwrap_or(default.bits) };
                labels.check()?;
                let LshOptions { trees, bits } = labels;
                if !(self.probability > 0.0 && self.probability < 1.0) {
                    return Err(usage("a probability lies between 0 and 1"));
                }
                let columns = [
                    ("threshold", Kind::Real),
                    ("compared_bits", Kind::Whole),
                    ("found", Kind::Real),
                    ("trees_needed", Kind::Whole),
                ];
                let mut table = Table::create(output, format, columns)?;
                let mut points = Vec::new();
                for threshold in similarities {
                    let length = lsh_bits(threshold, self.probability, trees, bits);
                    // Nothing is found where an index refuses the query: it has too few trees for the promise.
                    let found = (length > 0).then(|| lsh_recall(threshold, trees, length));
                    table.row(&[
                        Value::Real(threshold),
                        Value::Whole(u64::from(length)),
                        Value::Real(found.unwrap_or(f64::NAN)),
                        Value::Whole(u64::from(lsh_trees(threshold, self.probability))),
                    ])?;
                    points.extend(found.map(|found| (threshold, found)));
                }
                table.finish()?;
                (format!("{trees} trees of {bits} bits, promised {}", self.probability), points)
            }
            _ => return Err(usage("which curve? Say --agree A for sketches, or --trees N --bits N for labels")),
        };
        let Some(path) = &self.report else { return Ok(()) };
        let points: Vec<(f64, f64)> = points
            .into_iter()
            .filter(|&(similarity, _)| ((similarity * 100.0).round() as u32).is_multiple_of(5))
            .collect();
        let chart = Chart {
            title: title.clone(),
            x: "similarity",
            y: "probability to be found",
            logarithmic: false,
            lines: vec![Line { name: "found".to_owned(), points }],
        };
        write_text(Output::create(path)?, &page(&title, &chart.draw()))
    }
}

/// Tells how many values a synopsis needs
#[derive(clap::Args)]
struct Size {
    /// By which share of itself an estimate may be off
    #[arg(long, value_name = "E", default_value_t = 0.05)]
    error: f64,
    /// With which probability it is not
    #[arg(long, value_name = "C", default_value_t = 0.9)]
    confidence: f64,
    /// The smallest similarity for which this is to hold
    #[arg(long, short, value_name = "T")]
    threshold: Threshold,
    #[command(flatten)]
    output: OutputOptions,
}

impl Size {
    fn run(self) -> anyhow::Result<()> {
        let threshold = self.threshold.as_f64();
        let is_share = |value: f64| value > 0.0 && value < 1.0;
        if !(is_share(self.error) && is_share(self.confidence) && threshold > 0.0 && threshold <= 1.0) {
            let reason = "error and confidence lie between 0 and 1, the threshold above 0 and at most at 1";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let (output, format) = self.output.open()?;
        let columns =
            [("error", Kind::Real), ("confidence", Kind::Real), ("threshold", Kind::Real), ("size", Kind::Whole)];
        let mut table = Table::create(output, format, columns)?;
        // The decimal that was written, not its float: 1 − 0.9 is a hair below 0.1.
        let risk = ((1.0 - self.confidence) * 1e12).round() / 1e12;
        let size = kmv_size(self.error, risk, threshold);
        table.row(&[
            Value::Real(self.error),
            Value::Real(self.confidence),
            Value::Real(threshold),
            Value::Whole(size),
        ])?;
        Ok(table.finish()?)
    }
}
