//! CRSI: the size of an index and the time to make and ask it against k, and how far its estimates are off.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use maud::{Markup, html};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::Map;
use twinset::estimate::{Condition, Intervals, SynopsisBuilder, error_bound};
use twinset::exact::{Input, JoinOptions, Pair};
use twinset::support::Strings;
use twinset::tokenize::{Tokenizer, cut, synopsis_value, token_hash};
use twinset::{Measure, Run, Threshold, TokenKind, TokenOptions};
use twinset_index::Settings;
use twinset_index::kmv::{CandidateStrategy, Entry, KmvIndex, MissRate, Query, Snapshot, miss_rate};
use twinset_io::generate::{Columns, GenerateKind, GenerateOptions};
use twinset_io::read::Inputs;
use twinset_io::{Error, ReadOptions, for_each_record};
use twinset_report::{Chart, Line, table};

use crate::{print_table, write_page};

/// CRSI: index size and creation time against k, queries and joins in all ways, observed errors against the bound
#[derive(clap::Args)]
pub(crate) struct Crsi {
    /// Files of features: an id and its values; rows of the same id belong together (default: made-up table columns)
    #[arg(value_name = "INPUT")]
    input: Vec<PathBuf>,
    /// How many columns are made up
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    records: u64,
    /// How many queries are asked for each point
    #[arg(long, value_name = "N", default_value_t = 1000)]
    queries: usize,
    /// Of so many features all are asked, one by one, in every way
    #[arg(long, value_name = "N", default_value_t = 5000)]
    probes: usize,
    /// What a value is: items, words, …
    #[arg(long, value_name = "KIND", default_value = "items")]
    tokens: TokenKind,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "crsi.html")]
    output: PathBuf,
    #[command(flatten)]
    read: ReadOptions,
}

const SIZES: [u32; 4] = [128, 256, 512, 1024];
const THRESHOLDS: [&str; 4] = ["0.6", "0.7", "0.8", "0.9"];
/// Table 4 of the paper: the dataset's megabytes, and those of its index for each k.
const PAPER: [(&str, f64, [f64; 4]); 3] = [
    ("OPIC", 5409.0, [1.27, 2.05, 3.3, 5.2]),
    ("RDW", 665.0, [0.774, 1.36, 2.53, 4.53]),
    ("INFOBOXES", 668.0, [48.3, 58.3, 69.2, 79.9]),
];
const RISK: f64 = 0.1;
/// Features that are added at a time.
const BATCH: usize = 50_000;

/// A name and its values.
struct Feature {
    name: String,
    values: Strings,
}

impl Crsi {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let features = if self.input.is_empty() { made_up(self.records)? } else { self.read_features()? };
        let values: u64 = features.iter().map(|feature| feature.values.len() as u64).sum();
        let bytes: u64 =
            features.iter().flat_map(|feature| feature.values.iter()).map(|value| value.len() as u64 + 1).sum();
        let about = format!(
            "{} features, {values} values ({:.0} on average, {} at most), {:.1} MB.",
            features.len(),
            values as f64 / features.len().max(1) as f64,
            features.iter().map(|feature| feature.values.len()).max().unwrap_or(0),
            bytes as f64 / 1e6
        );
        println!("{about}");
        let mut parts = vec![html! { p { (about) } }];
        let folder = tempfile::tempdir()?;
        let exact = exact_join(&features)?;
        let mut indexes = Vec::new();
        parts.push(self.sizes(&features, (values, bytes), folder.path(), &mut indexes)?);
        parts.push(exact.table(values));
        parts.push(growth(&features, folder.path())?);
        parts.push(self.queries(&features, &indexes)?);
        parts.push(self.joins(&indexes, exact.seconds)?);
        parts.push(errors(&features, &exact.pairs)?);
        write_page(&self.output, "CRSI: synopses in an inverted index", &html! { @for part in &parts { (part) } })?;
        println!("{}", self.output.display());
        Ok(())
    }

    fn read_features(&self) -> anyhow::Result<Vec<Feature>> {
        let inputs = Inputs::find(&self.input, self.read.format)?;
        let mut features: Vec<Feature> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let prepare = |text: &str| Ok(cut(text, &self.tokens.into()).into_iter().collect::<Strings>());
        for_each_record(&inputs, &self.read, &[], &Run::default(), prepare, 1000, |records| {
            for record in records {
                let name = record.name();
                let place = *places.entry(name.clone()).or_insert_with(|| {
                    features.push(Feature { name, values: Strings::default() });
                    features.len() - 1
                });
                features[place].values.append(&record.content);
            }
            Ok::<_, Error>(())
        })?;
        Ok(features)
    }

    /// Table 4 and Figure 2: the bytes of an index, and the time to make it.
    fn sizes(
        &self,
        features: &[Feature],
        (values, bytes): (u64, u64),
        folder: &Path,
        indexes: &mut Vec<(u32, KmvIndex)>,
    ) -> anyhow::Result<Markup> {
        let mut rows = Vec::new();
        for size in SIZES {
            let (index, seconds) = make(features, size, &folder.join(format!("k{size}")))?;
            let stats = index.stats()?;
            rows.push(vec![
                size.to_string(),
                format!("{seconds:.2}"),
                format!("{:.1}", values as f64 / seconds / 1e6),
                format!("{:.2}", stats.bytes as f64 / 1e6),
                format!("{:.2}%", 100.0 * stats.bytes as f64 / bytes as f64),
                format!("{:.0}", stats.bytes as f64 / stats.records.max(1) as f64),
                format!("{:.1}%", 100.0 * stats.complete as f64 / stats.records.max(1) as f64),
                stats.segments.to_string(),
            ]);
            indexes.push((size, index));
        }
        let header = [
            "k",
            "seconds",
            "million values a second",
            "MB",
            "of the input",
            "bytes a feature",
            "complete",
            "segments",
        ];
        print_table(&header, &rows);
        let paper: Vec<Vec<String>> = PAPER
            .iter()
            .map(|(name, all, of_sizes)| {
                let of_size = |size: &f64| format!("{size} MB ({:.2}%)", 100.0 * size / all);
                [(*name).to_owned(), format!("{all} MB")].into_iter().chain(of_sizes.iter().map(of_size)).collect()
            })
            .collect();
        Ok(html! {
            (table("Size and creation time (Table 4, Figure 2)", &header, &rows))
            (table("The paper's sizes", &["dataset", "size", "k = 128", "256", "512", "1024"], &paper))
        })
    }

    /// Figure 4: how long queries take.
    fn queries(&self, features: &[Feature], indexes: &[(u32, KmvIndex)]) -> anyhow::Result<Markup> {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let asked: Vec<usize> = (0..self.queries).map(|_| random.random_range(0..features.len())).collect();
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        for (size, index) in indexes {
            let snapshot = index.snapshot()?;
            let mut points = Vec::new();
            for threshold in THRESHOLDS {
                let query = jaccard(threshold, CandidateStrategy::Pivot)?;
                let (mut times, hits) = ask(&snapshot, features, &asked, *size, &query)?;
                times.sort_by(f64::total_cmp);
                let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
                let mean = times.iter().sum::<f64>() / times.len() as f64;
                points.push((threshold.parse::<Threshold>()?.as_f64(), mean));
                let figures =
                    [mean, at(0.5), at(0.9), at(0.99), at(1.0)].map(|milliseconds| format!("{milliseconds:.3}"));
                rows.push(
                    [size.to_string(), threshold.to_owned()]
                        .into_iter()
                        .chain(figures)
                        .chain([hits.to_string()])
                        .collect(),
                );
            }
            lines.push(Line { name: format!("k = {size}"), points });
        }
        let header = ["k", "t", "mean ms", "median", "90%", "99%", "longest", "found"];
        print_table(&header, &rows);
        // All ways, one query after the other.
        let (size, index) = &indexes[0];
        let (snapshot, mut ways) = (index.snapshot()?, Vec::new());
        let few = &asked[..asked.len().min(500)];
        let mut of_or = 0.0;
        for &strategy in CandidateStrategy::ALL {
            let (times, hits) = ask(&snapshot, features, few, *size, &jaccard("0.8", strategy)?)?;
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            of_or = if strategy == CandidateStrategy::Or { mean } else { of_or };
            ways.push(vec![
                strategy.to_string(),
                format!("{mean:.3}"),
                format!("{:.1}", of_or / mean),
                hits.to_string(),
            ]);
        }
        let ways_header = ["way", "mean ms", "times faster than or", "found"];
        print_table(&ways_header, &ways);
        let chart = Chart {
            title: "Milliseconds a query takes by pivot, on average (Figure 4; the paper's mean is below 50)"
                .to_owned(),
            x: "threshold",
            y: "milliseconds",
            logarithmic: true,
            lines,
        };
        Ok(html! {
            (table("Queries by pivot (Figure 4)", &header, &rows))
            (chart.draw())
            (table(&format!("A query in each way, k = {size}, t = 0.8"), &ways_header, &ways))
        })
    }

    /// Figure 5: self-joins, by the exact join of the values and by probes in each way.
    fn joins(&self, indexes: &[(u32, KmvIndex)], exact_seconds: f64) -> anyhow::Result<Markup> {
        let mut rows = Vec::new();
        for (size, index) in indexes {
            for threshold in ["0.8", "0.9"] {
                let (snapshot, query) = (index.snapshot()?, jaccard(threshold, CandidateStrategy::Pivot)?);
                let begin = Instant::now();
                let mut pairs = 0u64;
                snapshot.join(None, &query.condition, None, &Run::default(), |_, _, _| {
                    pairs += 1;
                    Ok::<_, twinset_index::Error>(())
                })?;
                let ours = begin.elapsed().as_secs_f64();
                let mut row = vec![size.to_string(), threshold.to_owned(), pairs.to_string(), format!("{ours:.2}")];
                for &strategy in CandidateStrategy::ALL {
                    // All features are probes, or the first of them, from which the whole is estimated; what it takes to begin
                    // is known from one.
                    let records = snapshot.len();
                    let probes = (self.probes as u64).min(records);
                    let taken = |probes: u64| -> anyhow::Result<f64> {
                        let (begin, query) = (Instant::now(), Query { strategy, ..query });
                        let visit = |_: &str, _: &str, _| Ok::<_, twinset_index::Error>(());
                        snapshot.join_first_by_probes(probes, None, &query, &Run::default(), visit)?;
                        Ok(begin.elapsed().as_secs_f64())
                    };
                    let first = taken(1)?;
                    let seconds = first + (taken(probes)? - first).max(0.0) * records as f64 / probes as f64;
                    row.push(format!("{seconds:.1} ({:.0}x)", seconds / ours));
                }
                rows.push(row);
            }
        }
        let header = ["k", "t", "pairs", "exact join of values, s", "or", "frontier", "pivot", "optimistic"];
        print_table(&header, &rows);
        let MissRate { by_chebyshev, exactly } =
            miss_rate(&jaccard("0.8", CandidateStrategy::Optimistic)?.condition, SIZES[0])?;
        let note = format!(
            "Seconds by a query for each feature, on all cores, measured with {} of them. Optimistic misses a pair at 0.8 with probability \
             {exactly:.4} at most ({by_chebyshev:.3} by the paper's inequality). The exact join of the features themselves: {exact_seconds:.2} s.",
            self.probes
        );
        println!("{note}");
        Ok(html! { (table("Self-joins (Figure 5)", &header, &rows)) p { (note) } })
    }
}

/// Makes up columns.
fn made_up(records: u64) -> anyhow::Result<Vec<Feature>> {
    let options = GenerateOptions { records, kind: GenerateKind::Tables, ..GenerateOptions::default() };
    let feature = |column: twinset_io::generate::Column| {
        let mut values = Strings::default();
        column.for_each_value(|value| values.push(value));
        Feature { name: Columns::name(column.number), values }
    };
    Ok(Columns::new(&options)?.map(feature).collect())
}

fn synopsis(feature: &Feature, size: u32) -> twinset::Result<SynopsisBuilder> {
    let mut builder = SynopsisBuilder::new(size)?;
    feature.values.iter().for_each(|value| builder.insert(synopsis_value(token_hash(value.as_bytes(), 1), 0)));
    builder.settle();
    Ok(builder)
}

/// Makes an index of features in memory. Returns how many seconds that took.
fn make(features: &[Feature], size: u32, path: &Path) -> anyhow::Result<(KmvIndex, f64)> {
    let begin = Instant::now();
    let tokens = TokenOptions { tokens: Some(TokenKind::Items), ..TokenOptions::default() };
    let mut index = KmvIndex::create(path, &Settings::kmv(size, tokens, 0))?;
    for batch in features.chunks(BATCH) {
        let entries = batch.par_iter().map(|feature| {
            let synopsis = synopsis(feature, size)?;
            Ok(Entry { id: feature.name.clone(), synopsis, bytes: feature.values.bytes(), extra: Map::new() })
        });
        index.add(entries.collect::<twinset::Result<_>>()?, false)?;
    }
    index.finish()?;
    Ok((index, begin.elapsed().as_secs_f64()))
}

fn jaccard(threshold: &str, strategy: CandidateStrategy) -> anyhow::Result<Query> {
    Ok(Query { condition: Condition::new(Measure::Jaccard, threshold.parse()?, 0)?, strategy, size: None })
}

/// The milliseconds that each query takes, and how many records all find.
fn ask(
    snapshot: &Snapshot,
    features: &[Feature],
    asked: &[usize],
    size: u32,
    query: &Query,
) -> anyhow::Result<(Vec<f64>, usize)> {
    let (mut times, mut found) = (Vec::new(), 0);
    for &feature in asked {
        let mut synopsis = synopsis(&features[feature], size)?;
        let synopsis = synopsis.synopsis();
        let begin = Instant::now();
        found += snapshot.query(synopsis, query)?.len();
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok((times, found))
}

/// What an exact join of the features at 0.8 took and found.
struct Exact {
    seconds: f64,
    tokens: u64,
    found: u64,
    pairs: Vec<Pair>,
}

fn exact_join(features: &[Feature]) -> anyhow::Result<Exact> {
    let begin = Instant::now();
    let tokens = TokenOptions { tokens: Some(TokenKind::Items), ..TokenOptions::default() };
    let tokenizer = Tokenizer::new(&tokens)?;
    let blocks = features.par_chunks(256).map(|features| {
        let texts = features.iter().map(|feature| feature.values.iter().collect::<Vec<&str>>().join(" "));
        tokenizer.block(texts.collect::<Vec<String>>().iter().map(String::as_str))
    });
    let blocks = blocks.collect::<twinset::Result<Vec<_>>>()?;
    let sets = tokenizer.finish(blocks)?;
    let tokens = (0..sets.len()).map(|record| u64::from(sets.size(record))).sum();
    let joined = twinset::exact::join(Input::Sets(&sets), &JoinOptions::at("0.8".parse()?), &Run::default())?;
    let seconds = begin.elapsed().as_secs_f64();
    let pairs = joined.iter().take(1_000_000).collect::<twinset::Result<Vec<Pair>>>()?;
    Ok(Exact { seconds, tokens, found: joined.len(), pairs })
}

impl Exact {
    /// Table 3: what the exact join takes.
    fn table(&self, values: u64) -> Markup {
        let header = ["method", "seconds", "values held", "of the data"];
        let ours = vec![
            format!("exact join at 0.8: {} pairs", self.found),
            format!("{:.2}", self.seconds),
            self.tokens.to_string(),
            format!("{:.0}%", 100.0 * self.tokens as f64 / values.max(1) as f64),
        ];
        let mut rows = vec![ours];
        for (name, seconds, share) in
            [("OPIC", "120000", "25%"), ("RDW", "10000", "20%"), ("INFOBOXES", "10800", "out of memory")]
        {
            rows.push(vec![
                format!("the paper's ppjoin+, {name}"),
                seconds.to_owned(),
                "-".to_owned(),
                share.to_owned(),
            ]);
        }
        print_table(&header, &rows);
        table("Exact join of the same features (Table 3)", &header, &rows)
    }
}

/// Figure 3: time and bytes with a growing part of the features.
fn growth(features: &[Feature], folder: &Path) -> anyhow::Result<Markup> {
    let (mut rows, mut seconds, mut megabytes) = (Vec::new(), Vec::new(), Vec::new());
    for quarters in 1..=4 {
        let part = &features[..features.len() * quarters / 4];
        let (index, taken) = make(part, SIZES[0], &folder.join(format!("part{quarters}")))?;
        let bytes = index.stats()?.bytes as f64 / 1e6;
        let share = 25.0 * quarters as f64;
        seconds.push((share, taken));
        megabytes.push((share, bytes));
        rows.push(vec![format!("{share}%"), part.len().to_string(), format!("{taken:.2}"), format!("{bytes:.2}")]);
    }
    let header = ["part", "features", "seconds", "MB"];
    print_table(&header, &rows);
    let chart = |title: &str, y, points| Chart {
        title: title.to_owned(),
        x: "% of the features",
        y,
        logarithmic: false,
        lines: vec![Line { name: "k = 128".to_owned(), points }],
    };
    Ok(html! {
        (table("Growth (Figure 3)", &header, &rows))
        (chart("Seconds to make an index (Figure 3 a)", "seconds", seconds).draw())
        (chart("Megabytes of an index (Figure 3 b)", "MB", megabytes).draw())
    })
}

/// Figures 1 and 6: how far estimates are off for pairs at 0.8 and above, and what the bound says; and for every measure, the
/// bias and how often the interval holds.
fn errors(features: &[Feature], pairs: &[Pair]) -> anyhow::Result<Markup> {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    // Pairs of which none has a complete synopsis with the largest k, so that all are estimates.
    let is_large = |pair: &&Pair| {
        [pair.left, pair.right].iter().all(|&at| features[at as usize].values.len() > SIZES[SIZES.len() - 1] as usize)
    };
    let mut chosen: Vec<Pair> = pairs.iter().filter(is_large).copied().collect();
    while chosen.len() > 500 {
        chosen.swap_remove(random.random_range(0..chosen.len()));
    }
    if chosen.is_empty() {
        return Ok(html! { p { "No pair at 0.8 has more values than the largest k, so no estimate is off." } });
    }
    let (mut rows, mut of_measures, mut lines) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    for size in SIZES {
        let mut off = Vec::new();
        let mut measures: Vec<(Measure, Intervals, f64, u32)> =
            Measure::of_sets().map(|measure| (measure, Intervals::new(measure), 0.0, 0)).collect();
        let mut bound = 0.0;
        for pair in &chosen {
            let (left, right) = (&features[pair.left as usize], &features[pair.right as usize]);
            let (mut x, mut y) = (synopsis(left, size)?, synopsis(right, size)?);
            let compared = x.synopsis().compare(y.synopsis());
            off.push((compared.value(Measure::Jaccard) - pair.value).abs() / pair.value);
            bound = error_bound(&compared, Measure::Jaccard, 0.8, RISK);
            let (a, b) = (left.values.len() as u32, right.values.len() as u32);
            let common = (pair.value * f64::from(a + b) / (1.0 + pair.value)).round() as u32;
            for (measure, intervals, bias, outside) in &mut measures {
                let (truth, estimate) = (measure.value(a, b, common), intervals.of(&compared));
                *bias += (estimate.similarity - truth) / truth.max(1e-9);
                *outside += u32::from(truth < estimate.low - 1e-9 || truth > estimate.high + 1e-9);
            }
        }
        off.sort_by(f64::total_cmp);
        let at = |share: f64| off[((off.len() - 1) as f64 * share) as usize];
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        rows.push(vec![
            size.to_string(),
            percent(mean),
            percent(at(0.5)),
            percent(at(1.0 - RISK)),
            percent(at(1.0)),
            percent(bound),
        ]);
        lines[0].push((f64::from(size), 100.0 * mean));
        lines[1].push((f64::from(size), 100.0 * at(1.0 - RISK)));
        lines[2].push((f64::from(size), 100.0 * bound));
        for (measure, _, bias, outside) in measures {
            let n = chosen.len() as f64;
            of_measures.push(vec![
                size.to_string(),
                measure.to_string(),
                format!("{:+.3}%", 100.0 * bias / n),
                format!("{:.1}%", 100.0 * (1.0 - f64::from(outside) / n)),
            ]);
        }
    }
    let header = ["k", "mean error", "median", "90%", "largest", "bound for 90%, at 0.8"];
    print_table(&header, &rows);
    let measures_header = ["k", "measure", "mean relative error, with its sign", "inside of the 95% interval"];
    print_table(&measures_header, &of_measures);
    let [mean, ninety, bound] = lines;
    let line = |name: &str, points| Line { name: name.to_owned(), points };
    let chart = Chart {
        title: format!(
            "Observed errors of {} pairs at 0.8 and above, and the bound (Figures 1 and 6; the paper's mean is 2% at k = 128)",
            chosen.len()
        ),
        x: "k",
        y: "error in %",
        logarithmic: false,
        lines: vec![line("mean", mean), line("90% below", ninety), line("bound", bound)],
    };
    Ok(html! {
        (table("Errors of Jaccard estimates (Figure 6)", &header, &rows))
        (chart.draw())
        (table("Every measure", &measures_header, &of_measures))
    })
}
