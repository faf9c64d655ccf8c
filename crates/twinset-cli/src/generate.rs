//! `twinset generate`: a made-up collection with planted near duplicates.

use std::path::PathBuf;

use twinset_io::generate::{GenerateOptions, Generator};
use twinset_io::write::{Kind, Table, Value, check_outputs};
use twinset_io::{Output, OutputFormat, OutputOptions};

use crate::session::{SessionOptions, count};

/// Writes a synthetic collection with planted near duplicates
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    #[command(flatten)]
    generate: GenerateOptions,
    /// Write the planted pairs to FILE, as left,right
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  twinset generate --records 1000 --seed 7 --output docs.csv --truth pairs.csv
  twinset generate --records 1000000 --words 15 --output docs.jsonl.zst";

impl Generate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = self.session.begin();
        let generator = Generator::new(&self.generate)?;
        check_outputs([&self.output.output, &self.truth].into_iter().flatten().map(PathBuf::as_path), &[])?;
        let mut truth = match &self.truth {
            None => None,
            Some(path) => {
                let format = OutputFormat::of_path(path)?;
                Some(Table::create(Output::create(path)?, format, [("left", Kind::Text), ("right", Kind::Text)])?)
            }
        };
        let columns = [("id", Kind::Text), ("text", Kind::Text)];
        let (output, format) = self.output.open()?;
        let mut table = Table::create(output, format, columns)?;
        session.run.begin("generate", Some(self.generate.records));
        let mut pairs = 0;
        for (number, record) in (1u64..).zip(generator) {
            session.run.check()?;
            let id = number.to_string();
            table.row(&[Value::Text(&id), Value::Text(&record.text)])?;
            pairs += record.duplicates.len() as u64;
            if let Some(truth) = &mut truth {
                for earlier in &record.duplicates {
                    truth.row(&[Value::Text(&earlier.to_string()), Value::Text(&id)])?;
                }
            }
            session.run.advance(1);
        }
        table.finish()?;
        truth.map_or(Ok(()), Table::finish)?;
        session.summarize(&[format!("{}, {}", count(self.generate.records, "record"), count(pairs, "planted pair"))]);
        Ok(())
    }
}
