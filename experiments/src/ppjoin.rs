//! "Efficient Similarity Joins for Near Duplicate Detection": candidate sizes and times of All-Pairs, ppjoin and
//! ppjoin+ (Table 1, Figures 1 and 3), and near-duplicate web pages by q-grams and shingles (Table 2).

use std::collections::HashSet;
use std::path::PathBuf;

use maud::{Markup, html};
use twinset::exact::{Algorithm, Input, JoinOptions, JoinResult, join};
use twinset::{Measure, Run, Threshold, TokenOptions, TokenSets};
use twinset_report::{Chart, Line, table};

use crate::source::{Source, SourceOptions, sample};
use crate::write_page;

/// PPJoin: candidate sizes, times and growth, and web pages by q-grams and shingles
#[derive(clap::Args)]
pub(crate) struct Ppjoin {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    tokens: TokenOptions,
    /// Leave out the web-page comparison (Table 2), which is the slowest part
    #[arg(long)]
    no_pages: bool,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "ppjoin.html")]
    output: PathBuf,
}

const ALGORITHMS: [(&str, Algorithm); 3] =
    [("All-Pairs", Algorithm::AllPairs), ("ppjoin", Algorithm::PpJoin), ("ppjoin+", Algorithm::PpJoinPlus)];

/// The paper's thresholds, in hundredths.
const THRESHOLDS: [u64; 4] = [80, 85, 90, 95];

/// Samples for the growth, in percent.
const SHARES: [usize; 5] = [20, 40, 60, 80, 100];

/// What one join gave.
struct Measured {
    name: &'static str,
    threshold: u64,
    candidates: u64,
    pairs: u64,
    seconds: f64,
}

impl Ppjoin {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut body = vec![html! {
            p { "All times are of the join alone, on one thread. Identical records are grouped before the join, so "
                "candidates are pairs of different records; results are pairs of records. The paper's machine was a "
                "Pentium D at 3 GHz, so its times compare with each other, not with these." }
            (paper_table_1())
        }];
        for source in self.source.sources()? {
            let sets = source.sets(&self.tokens)?;
            println!("{}: {} records, {} tokens", source.name, sets.len(), sets.tokens().len());
            body.push(html! {
                h2 { (source.name) }
                p { (sets.len()) " records, " (format!("{:.1}", sets.tokens().len() as f64 / sets.len().max(1) as f64))
                    " tokens on average, " (sets.distinct_tokens()) " different tokens (" (self.tokens.kind()) ")." }
            });
            for measure in [Measure::Jaccard, Measure::Cosine] {
                body.push(by_threshold(&sets, measure)?);
            }
            for measure in [Measure::Jaccard, Measure::Cosine] {
                body.push(growth(&sets, measure)?);
            }
            if !self.no_pages {
                drop(sets);
                body.push(pages(&source)?);
            }
        }
        write_page(&self.output, "PPJoin, measured again", &html! { @for part in &body { (part) } })?;
        println!("wrote {}", self.output.display());
        Ok(())
    }
}

fn run_join(sets: &TokenSets, measure: Measure, algorithm: Algorithm, threshold: u64) -> anyhow::Result<JoinResult> {
    let options = JoinOptions { measure, algorithm, ..JoinOptions::at(Threshold::new(threshold, 100)?) };
    Ok(join(Input::Sets(sets), &options, &Run { threads: Some(1), ..Run::default() })?)
}

fn measure_all(sets: &TokenSets, measure: Measure, threshold: u64) -> anyhow::Result<Vec<Measured>> {
    ALGORITHMS
        .into_iter()
        .map(|(name, algorithm)| {
            let stats = run_join(sets, measure, algorithm, threshold)?.stats;
            let candidates = stats.candidates.verified();
            let seconds = stats.seconds.join;
            println!(
                "  {measure} 0.{threshold} {name}: {candidates} candidates, {} pairs, {seconds:.3} s",
                stats.pairs
            );
            Ok(Measured { name, threshold, candidates, pairs: stats.pairs, seconds })
        })
        .collect()
}

/// Table 1 and Figure 3 (a) to (j).
fn by_threshold(sets: &TokenSets, measure: Measure) -> anyhow::Result<Markup> {
    let mut measured = Vec::new();
    for threshold in THRESHOLDS {
        measured.extend(measure_all(sets, measure, threshold)?);
    }
    let rows: Vec<Vec<String>> = measured
        .chunks(ALGORITHMS.len())
        .map(|row| {
            let mut cells = vec![format!("0.{}", row[0].threshold)];
            cells.extend(row.iter().map(|one| grouped(one.candidates)));
            cells.push(grouped(row[0].pairs));
            cells.extend(row.iter().map(|one| format!("{:.3}", one.seconds)));
            cells.extend(row[1..].iter().map(|one| format!("{:.1}×", row[0].seconds / one.seconds.max(1e-9))));
            cells
        })
        .collect();
    let header = [
        "threshold",
        "All-Pairs candidates",
        "ppjoin",
        "ppjoin+",
        "pairs",
        "All-Pairs seconds",
        "ppjoin",
        "ppjoin+",
        "ppjoin speed-up",
        "ppjoin+ speed-up",
    ];
    let line = |name: &'static str, value: &dyn Fn(&Measured) -> f64| Line {
        name: name.to_owned(),
        points: measured
            .iter()
            .filter(|one| one.name == name)
            .map(|one| (one.threshold as f64 / 100.0, value(one)))
            .collect(),
    };
    let mut candidates: Vec<Line> =
        ALGORITHMS.iter().map(|(name, _)| line(name, &|one| one.candidates as f64)).collect();
    let mut pairs = line("ppjoin", &|one| one.pairs as f64);
    pairs.name = "pairs".to_owned();
    candidates.push(pairs);
    let seconds = ALGORITHMS.iter().map(|(name, _)| line(name, &|one| one.seconds)).collect();
    let axis = format!("{measure} similarity");
    let charts = [
        Chart {
            title: format!("Candidates, {measure}"),
            x: &axis,
            y: "candidates",
            logarithmic: true,
            lines: candidates,
        },
        Chart { title: format!("Time, {measure}"), x: &axis, y: "seconds", logarithmic: false, lines: seconds },
    ];
    Ok(html! {
        (table(&format!("By threshold, {measure}"), &header, &rows))
        div class="charts" { @for chart in &charts { (chart.draw()) } }
    })
}

/// Figure 1 and Figure 3 (k) and (l): square roots, so that quadratic growth is a straight line.
fn growth(sets: &TokenSets, measure: Measure) -> anyhow::Result<Markup> {
    let mut measured = Vec::new();
    for share in SHARES {
        let part = sample(sets, sets.len() * share / 100)?;
        println!("  {share}% of the records");
        measured.push((share, measure_all(&part, measure, 90)?));
    }
    let lines = |value: &dyn Fn(&Measured) -> f64| -> Vec<Line> {
        let point = |share: usize, one: &Measured| (share as f64 / 100.0, value(one).sqrt());
        (0..ALGORITHMS.len())
            .map(|at| Line {
                name: ALGORITHMS[at].0.to_owned(),
                points: measured.iter().map(|(share, all)| point(*share, &all[at])).collect(),
            })
            .collect()
    };
    let title = |what: &str| format!("{what}, {measure} 0.9 (the paper's Figures 1 and 3k, 3l)");
    let candidates = Chart {
        title: title("Square root of the candidates"),
        x: "share of the records",
        y: "√candidates",
        logarithmic: false,
        lines: lines(&|one| one.candidates as f64),
    };
    let seconds = Chart {
        title: title("Square root of the time"),
        x: "share of the records",
        y: "√seconds",
        logarithmic: false,
        lines: lines(&|one| one.seconds),
    };
    Ok(html! { div class="charts" { (candidates.draw()) (seconds.draw()) } })
}

/// Table 2: q-grams with ppjoin+ (qp) and All-Pairs (qa), and min-wise shingles with ppjoin+ (sp).
fn pages(source: &Source) -> anyhow::Result<Markup> {
    let grams = TokenOptions { tokens: Some("qgrams:4".parse()?), ..TokenOptions::default() };
    let shingles = TokenOptions { reduce: Some("minwise:32".parse()?), ..grams.clone() };
    let (grams, shingles) = (source.sets(&grams)?, source.sets(&shingles)?);
    let mut rows = Vec::new();
    for threshold in THRESHOLDS.into_iter().rev() {
        let qp = run_join(&grams, Measure::Jaccard, Algorithm::PpJoinPlus, threshold)?;
        let qa = run_join(&grams, Measure::Jaccard, Algorithm::AllPairs, threshold)?;
        let sp = run_join(&shingles, Measure::Jaccard, Algorithm::PpJoinPlus, threshold)?;
        let right: HashSet<(u32, u32)> =
            qp.iter().map(|pair| pair.map(|pair| (pair.left, pair.right))).collect::<twinset::Result<_>>()?;
        let common = sp.iter().flatten().filter(|pair| right.contains(&(pair.left, pair.right))).count() as f64;
        let share = |of: u64| if of == 0 { "–".to_owned() } else { format!("{:.2}", common / of as f64) };
        println!("  pages 0.{threshold}: precision {}, recall {}", share(sp.len()), share(qp.len()));
        let seconds = [&qa, &qp, &sp].map(|joined| format!("{:.2}", joined.stats.seconds.join));
        let mut row = vec![format!("0.{threshold}"), share(sp.len()), share(qp.len())];
        row.extend(seconds);
        rows.push(row);
    }
    let header = ["threshold", "precision of sp", "recall of sp", "qa seconds", "qp seconds", "sp seconds"];
    let paper = [
        ["0.95", "0.38", "0.11", "41.98", "11.76", "1.00"],
        ["0.90", "0.48", "0.06", "245.03", "43.37", "1.03"],
        ["0.85", "0.58", "0.04", "926.54", "202.65", "1.03"],
        ["0.80", "0.57", "0.03", "2467.31", "775.00", "1.05"],
    ];
    let paper: Vec<Vec<String>> = paper.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    Ok(html! {
        (table("Web pages: 4-grams (qa, qp) and 32 min-wise shingles (sp)", &header, &rows))
        (table("The same in the paper (Table 2, TREC; its time columns are qa, qp, sp)", &header, &paper))
    })
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

/// The paper's own figures.
fn paper_table_1() -> Markup {
    let rows = [
        ["0.95", "199,268", "176,971", "32,397"],
        ["0.90", "1,857,987", "657,200", "36,318"],
        ["0.80", "16,983,319", "3,303,232", "63,265"],
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    table("Candidates in the paper (Table 1, DBLP, jaccard)", &["threshold", "All-Pairs", "ppjoin", "ppjoin+"], &rows)
}
