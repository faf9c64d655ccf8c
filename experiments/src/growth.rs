//! How time and memory grow with the data.

use std::time::Duration;

use anyhow::Context;
use twinset::Threshold;

use crate::process::{Usage, measure, twinset};

/// Time and memory of a join as the data doubles three times, and the exponents of the growth
#[derive(clap::Args)]
pub(crate) struct Growth {
    /// How many records the largest collection has
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    records: u64,
    /// How many words a record has on average
    #[arg(long, value_name = "N", default_value_t = 15)]
    words: u32,
    /// The threshold to join at
    #[arg(long, value_name = "T", default_value = "0.8")]
    threshold: Threshold,
}

impl Growth {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let hour = Duration::from_secs(3600);
        let mut before: Option<Usage> = None;
        println!("{:>10}  {:>9}  {:>9}  {:>10}  exponents of CPU and memory", "records", "seconds", "CPU", "memory");
        for share in [8, 4, 2, 1] {
            let records = self.records / share;
            let file = folder.path().join(format!("{records}.jsonl"));
            let mut generate = twinset()?;
            generate.args(["generate", "--quiet", "--records", &records.to_string()]);
            generate.args(["--words", &self.words.to_string(), "--output"]).arg(&file);
            measure(&mut generate, hour)?.context("generating took more than an hour")?;
            let mut join = twinset()?;
            join.args(["join", "--quiet", "--threshold", &self.threshold.to_string(), "--output"]);
            join.arg(folder.path().join("pairs.csv")).arg(&file);
            let usage = measure(&mut join, hour)?.context("the join took more than an hour")?;
            let exponents = before.map(|before| {
                let memory = usage.peak_bytes as f64 / before.peak_bytes as f64;
                format!("{:.2}  {:.2}", (usage.cpu_seconds / before.cpu_seconds).log2(), memory.log2())
            });
            println!(
                "{records:>10}  {:>7.2} s  {:>7.2} s  {:>7.1} MB  {}",
                usage.seconds,
                usage.cpu_seconds,
                usage.peak_bytes as f64 / 1e6,
                exponents.unwrap_or_default()
            );
            std::fs::remove_file(&file)?;
            before = Some(usage);
        }
        Ok(())
    }
}
