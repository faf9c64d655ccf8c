//! `twinset generate`: a made-up collection with planted near duplicates.

use std::path::PathBuf;

use twinset_io::generate::{Articles, GenerateKind, GenerateOptions, Generated, Generator};
use twinset_io::read::Format;
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
  twinset generate --records 1000000 --words 15 --output docs.jsonl.zst
  twinset generate --kind rdf --records 10000 --output articles.nt --truth pairs.csv";

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
        let mut sink = Sink::open(&self.generate, &self.output)?;
        session.run.begin("generate", Some(self.generate.records));
        let mut pairs = 0;
        for (number, record) in (1u64..).zip(generator) {
            session.run.check()?;
            sink.write(number, &record)?;
            pairs += record.duplicates.len() as u64;
            if let Some(truth) = &mut truth {
                for &earlier in &record.duplicates {
                    truth.row(&[Value::Text(&sink.id(earlier)), Value::Text(&sink.id(number))])?;
                }
            }
            session.run.advance(1);
        }
        sink.finish()?;
        truth.map_or(Ok(()), Table::finish)?;
        session.summarize(&[format!("{}, {}", count(self.generate.records, "record"), count(pairs, "planted pair"))]);
        Ok(())
    }
}

/// Where records go.
enum Sink {
    Table(Box<Table>),
    Triples(Output, Articles),
}

impl Sink {
    fn open(generate: &GenerateOptions, options: &OutputOptions) -> anyhow::Result<Self> {
        if generate.kind == GenerateKind::Text {
            let (output, format) = options.open()?;
            let columns = [("id", Kind::Text), ("text", Kind::Text)];
            return Ok(Self::Table(Box::new(Table::create(output, format, columns)?)));
        }
        let path = options.output.as_deref().filter(|path| path.as_os_str() != "-");
        if options.output_format.is_some() || path.is_some_and(|path| Format::of_path(path) != Some(Format::Nt)) {
            let reason = "RDF is written as N-Triples; name a file that ends in .nt, and leave out --output-format";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let output = path.map_or_else(|| Ok(Output::standard()), Output::create)?;
        Ok(Self::Triples(output, Articles::default()))
    }

    fn write(&mut self, number: u64, record: &Generated) -> anyhow::Result<()> {
        match self {
            Self::Table(table) => table.row(&[Value::Text(&number.to_string()), Value::Text(&record.text())])?,
            Self::Triples(output, articles) => {
                articles.write(number, record, output).map_err(|error| output.failure(&error))?;
            }
        }
        Ok(())
    }

    /// What a record is called.
    fn id(&self, number: u64) -> String {
        match self {
            Self::Table(_) => number.to_string(),
            Self::Triples(..) => Articles::iri(number),
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Table(table) => table.finish()?,
            Self::Triples(output, _) => output.finish()?,
        }
        Ok(())
    }
}
