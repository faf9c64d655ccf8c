//! How fast the exact joins are, each against our faithful ppjoin in the same run, and how fast texts become token sets.

use std::time::Instant;

use twinset::exact::{Algorithm, Input, JoinOptions, join};
use twinset::{Measure, Run, Threshold, TokenOptions, TokenSets};

use crate::source::SourceOptions;

/// Times of the exact joins, as ratios to ppjoin on one thread, and the rate of tokenising
#[derive(clap::Args)]
pub(crate) struct Speed {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    tokens: TokenOptions,
    /// The measure
    #[arg(long, value_name = "MEASURE", default_value_t)]
    measure: Measure,
    /// Thresholds to join at
    #[arg(long, value_name = "T", num_args = 1.., default_values = ["0.95", "0.9", "0.8", "0.7", "0.6", "0.5"])]
    thresholds: Vec<Threshold>,
    /// Also run allpairs and ppjoin+
    #[arg(long)]
    paper: bool,
    /// How often each join is run; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u32,
}

/// A column of the table: an algorithm, and on how many threads it runs; `None` for all.
type Column = (Algorithm, Option<usize>);

/// What the others are measured against.
const YARDSTICK: Column = (Algorithm::PpJoin, Some(1));
const FAST: [Column; 4] =
    [(Algorithm::Prefix, Some(1)), (Algorithm::Scan, Some(1)), (Algorithm::Auto, Some(1)), (Algorithm::Auto, None)];
const PAPER: [Column; 2] = [(Algorithm::AllPairs, Some(1)), (Algorithm::PpJoinPlus, Some(1))];

impl Speed {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let paper = PAPER.into_iter().filter(|_| self.paper);
        let columns: Vec<Column> = [YARDSTICK].into_iter().chain(paper).chain(FAST).collect();
        for source in self.source.sources()? {
            let begin = Instant::now();
            let sets = source.sets(&self.tokens)?;
            let seconds = begin.elapsed().as_secs_f64();
            let rate = sets.tokens().len() as f64 / seconds / 1e6;
            println!(
                "{}: {} records, {} tokens, read at {rate:.1} million tokens a second",
                source.name,
                sets.len(),
                sets.tokens().len()
            );
            let title = |(algorithm, threads): &Column| match threads {
                Some(_) => format!("{:>17}", algorithm.name()),
                None => format!("{:>17}", format!("{}, all cores", algorithm.name())),
            };
            let titles: Vec<String> = columns.iter().map(title).collect();
            println!("{:>9}  {:>10}  {}  auto chose", "threshold", "pairs", titles.join("  "));
            for &threshold in &self.thresholds {
                let (mut cells, mut yardstick, mut pairs, mut chosen) = (Vec::new(), None, 0, String::new());
                for &column in &columns {
                    let (seconds, stats) = self.fastest(&sets, column, threshold)?;
                    let ratio = *yardstick.get_or_insert(seconds) / seconds.max(1e-9);
                    cells.push(format!("{:>17}", format!("{seconds:.3} s {ratio:>5.1}×")));
                    pairs = stats.pairs;
                    if column.0 == Algorithm::Auto {
                        chosen = stats.algorithm;
                    }
                }
                println!("{:>9}  {pairs:>10}  {}  {chosen}", threshold.to_string(), cells.join("  "));
            }
        }
        Ok(())
    }

    /// The seconds of the fastest of several runs, and what one of them did.
    fn fastest(
        &self,
        sets: &TokenSets,
        (algorithm, threads): Column,
        threshold: Threshold,
    ) -> anyhow::Result<(f64, twinset::Stats)> {
        let options = JoinOptions { measure: self.measure, algorithm, ..JoinOptions::at(threshold) };
        let one =
            || Ok::<_, anyhow::Error>(join(Input::Sets(sets), &options, &Run { threads, ..Run::default() })?.stats);
        let mut fastest = one()?;
        for _ in 1..self.rounds {
            let stats = one()?;
            if stats.seconds.join < fastest.seconds.join {
                fastest = stats;
            }
        }
        Ok((fastest.seconds.join, fastest))
    }
}
