//! Sketches: the curve p(r) measured against its formula, and the method against exact joins.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use maud::html;
use rayon::prelude::*;
use twinset::estimate::{EstimateOptions, MinHashSettings, minhash_recall};
use twinset::exact::{Input, JoinOptions, join};
use twinset::tokenize::TokenBlock;
use twinset::tokenize::{Sets, Tokenizer};
use twinset::{Run, Threshold, TokenOptions};
use twinset_report::{Chart, Line, table};

use crate::source::{Source, SourceOptions};
use crate::{print_table, write_page};

/// Sketches: p(r) measured against the formula, and the method against exact joins as its settings vary
#[derive(clap::Args)]
pub(crate) struct Sketches {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    tokens: TokenOptions,
    /// The Jaccard similarity from which two texts are a pair
    #[arg(long, value_name = "T", default_value = "0.8")]
    threshold: Threshold,
    /// How many pairs of sets are sketched for each point of the curve
    #[arg(long, value_name = "N", default_value_t = 4000)]
    trials: u32,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "sketches.html")]
    output: PathBuf,
}

/// The paper's setting.
const PAPER: (u32, u32) = (90, 100);

impl Sketches {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let curve = self.curve()?;
        let header = ["similarity", "by the formula", "measured", "printed in the paper"];
        let printed: HashMap<u32, &str> = HashMap::from([
            (50, "1.5e-17"),
            (80, "0.0057"),
            (90, "0.988 (a misprint: that is p(0.95))"),
            (96, "0.9978"),
        ]);
        let rows: Vec<Vec<String>> = curve
            .iter()
            .map(|&(similarity, formula, measured)| {
                let printed = printed.get(&((similarity * 100.0).round() as u32)).copied().unwrap_or_default();
                vec![format!("{similarity:.2}"), format!("{formula:.4}"), format!("{measured:.4}"), printed.to_owned()]
            })
            .collect();
        print_table(&header, &rows);
        let line = |name: &str, value: &dyn Fn(&(f64, f64, f64)) -> f64| Line {
            name: name.to_owned(),
            points: curve.iter().map(|point| (point.0, value(point))).collect(),
        };
        let chart = Chart {
            title: format!("Sketches that agree in {} of {} entries", PAPER.0, PAPER.1),
            x: "similarity",
            y: "probability to be found",
            logarithmic: false,
            lines: vec![line("formula", &|point| point.1), line("measured", &|point| point.2)],
        };
        let mut parts = vec![html! { div class="charts" { (chart.draw()) } (table("p(r)", &header, &rows)) }];
        for source in self.source.sources()? {
            let header =
                ["permutations", "agree", "promised", "pairs", "recall", "precision", "seconds", "exact seconds"];
            let rows = self.compare(&source)?;
            println!("{}", source.name);
            print_table(&header, &rows);
            parts.push(table(&format!("{}, Jaccard {}", source.name, self.threshold), &header, &rows));
        }
        write_page(&self.output, "Sketches, measured", &html! { @for part in &parts { (part) } })?;
        println!("wrote {}", self.output.display());
        Ok(())
    }

    /// For each similarity, the probability by the formula and as measured.
    fn curve(&self) -> anyhow::Result<Vec<(f64, f64, f64)>> {
        const UNION: u32 = 100;
        [50, 70, 75, 80, 85, 88, 90, 92, 94, 95, 96, 98, 100]
            .into_iter()
            .map(|common| {
                let similarity = f64::from(common) / f64::from(UNION);
                let found = (0..self.trials).into_par_iter().map(|trial| -> anyhow::Result<u32> {
                    let side = |parity: u32| -> String {
                        let own = (0..UNION).filter(|&token| token < common || token % 2 == parity);
                        own.map(|token| format!("{trial}.{token} ")).collect()
                    };
                    let block = sketch([side(0), side(1)].iter().map(String::as_str), PAPER.1, u64::from(trial))?;
                    let sketches: Vec<&[u32]> = block.sketches().collect();
                    let agreeing = sketches[0].iter().zip(sketches[1]).filter(|(a, b)| a == b).count() as u32;
                    Ok(u32::from(agreeing >= PAPER.0))
                });
                let found: u32 = found.collect::<anyhow::Result<Vec<u32>>>()?.iter().sum();
                let formula = minhash_recall(similarity, PAPER.0, PAPER.1);
                Ok((similarity, formula, f64::from(found) / f64::from(self.trials)))
            })
            .collect()
    }

    /// The method with several settings against the exact join.
    fn compare(&self, source: &Source) -> anyhow::Result<Vec<Vec<String>>> {
        let run = Run::default();
        let exact = JoinOptions::at(self.threshold);
        let begin = Instant::now();
        let sets = source.sets(&self.tokens)?;
        let truth = join(Input::Sets(&sets), &exact, &run)?;
        let exact_seconds = begin.elapsed().as_secs_f64();
        let truth: std::collections::HashSet<(u32, u32)> =
            truth.iter().map(|pair| pair.map(|pair| (pair.left, pair.right))).collect::<Result<_, _>>()?;
        let mut rows = Vec::new();
        for permutations in [32, 64, 100, 200] {
            for probability in [0.5, 0.9, 0.99] {
                let options = EstimateOptions {
                    permutations: permutations.try_into()?,
                    probability,
                    ..EstimateOptions::default()
                };
                let wanted = options.for_minhash(&exact)?;
                let agree = wanted.threshold.map_or(0, |agree| agree.as_f64() as u32);
                let begin = Instant::now();
                let sketches = source.sketches(&self.tokens, permutations)?;
                let input = match &sketches {
                    Sets::InMemory(sets) => Input::Sets(sets),
                    Sets::Spilled(sets) => Input::Spilled(sets),
                };
                let found = join(input, &wanted, &run)?;
                let seconds = begin.elapsed().as_secs_f64();
                let mut right = 0u64;
                for pair in found.iter() {
                    let pair = pair?;
                    right += u64::from(truth.contains(&(pair.left, pair.right)));
                }
                let share = |part: u64, of: u64| if of == 0 { 1.0 } else { part as f64 / of as f64 };
                rows.push(vec![
                    permutations.to_string(),
                    agree.to_string(),
                    format!("{:.3}", minhash_recall(self.threshold.as_f64(), agree, permutations)),
                    found.len().to_string(),
                    format!("{:.4}", share(right, truth.len() as u64)),
                    format!("{:.4}", share(right, found.len())),
                    format!("{seconds:.2}"),
                    format!("{exact_seconds:.2}"),
                ]);
            }
        }
        Ok(rows)
    }
}

/// Sketches of texts whose items are their tokens.
fn sketch<'t>(texts: impl Iterator<Item = &'t str>, permutations: u32, seed: u64) -> anyhow::Result<TokenBlock> {
    let options = TokenOptions { tokens: Some("items".parse()?), ..TokenOptions::default() };
    Ok(Tokenizer::minhash(&options, MinHashSettings { permutations, seed }, &Run::default())?.block(texts)?)
}
