//! How fast the exact joins are, each against All-Pairs in the same run, and how fast texts become token sets.

use std::time::Instant;

use twinset::{Algorithm, Input, JoinOptions, Measure, Run, Threshold, TokenOptions, TokenSets, join};

use crate::source::SourceOptions;

/// Times of the exact joins on one thread, as ratios to All-Pairs, and the rate of tokenising
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
    #[arg(long, value_name = "T", num_args = 1.., default_values = ["0.95", "0.9", "0.8", "0.7", "0.6"])]
    thresholds: Vec<Threshold>,
    /// How often each join is run; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: u32,
}

const ALGORITHMS: [Algorithm; 4] = [Algorithm::AllPairs, Algorithm::PpJoin, Algorithm::PpJoinPlus, Algorithm::Auto];

impl Speed {
    pub(crate) fn run(self) -> anyhow::Result<()> {
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
            println!(
                "{:>9}  {:>10}  {}",
                "threshold",
                "pairs",
                ALGORITHMS.map(|a| format!("{:>18}", a.name())).join("  ")
            );
            for &threshold in &self.thresholds {
                let mut cells = Vec::new();
                let (mut yardstick, mut pairs) = (None, 0);
                for algorithm in ALGORITHMS {
                    let seconds = self.fastest(&sets, algorithm, threshold, &mut pairs)?;
                    let ratio = *yardstick.get_or_insert(seconds) / seconds.max(1e-9);
                    cells.push(format!("{:>18}", format!("{seconds:.3} s {ratio:>5.1}×")));
                }
                println!("{:>9}  {pairs:>10}  {}", threshold.to_string(), cells.join("  "));
            }
        }
        Ok(())
    }

    /// The seconds of the fastest of several runs, on one thread.
    fn fastest(
        &self,
        sets: &TokenSets,
        algorithm: Algorithm,
        threshold: Threshold,
        pairs: &mut u64,
    ) -> anyhow::Result<f64> {
        let options = JoinOptions { measure: self.measure, algorithm, ..JoinOptions::at(threshold) };
        let mut fastest = f64::INFINITY;
        for _ in 0..self.rounds.max(1) {
            let stats = join(Input::Sets(sets), &options, &Run { threads: Some(1), ..Run::default() })?.stats;
            fastest = fastest.min(stats.seconds.join);
            *pairs = stats.pairs;
        }
        Ok(fastest)
    }
}
