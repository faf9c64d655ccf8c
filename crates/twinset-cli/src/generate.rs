//! `twinset generate`: a made-up collection with planted near duplicates.

use std::path::PathBuf;

use twinset_io::generate::{Articles, Columns, GenerateKind, GenerateOptions, Generated, Generator};
use twinset_io::read::Format;
use twinset_io::write::{Kind, Table, Value, check_outputs};
use twinset_io::{Output, OutputFormat, OutputOptions};

use crate::session::{Session, SessionOptions, count};

/// Writes a synthetic collection with planted near duplicates
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    #[command(flatten)]
    generate: GenerateOptions,
    /// Write the planted pairs to FILE, as left,right; for tables also their exact Jaccard similarity
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
  twinset generate --kind rdf --records 10000 --output articles.nt --truth pairs.csv
  twinset generate --kind tables --records 10000 --output columns.jsonl --truth pairs.csv";

impl Generate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let session = Session::in_terminal(&self.session);
        if self.generate.kind == GenerateKind::Tables {
            return self.run_tables(&session);
        }
        let generator = Generator::new(&self.generate)?;
        check_outputs(self.output.output.path(), &self.truth, &[])?;
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

impl Generate {
    /// Columns, whose values are written some at a time.
    fn run_tables(self, session: &Session) -> anyhow::Result<()> {
        let columns = Columns::new(&self.generate)?;
        check_outputs(self.output.output.path(), &self.truth, &[])?;
        let truth = [("left", Kind::Text), ("right", Kind::Text), ("similarity", Kind::Real)];
        let mut truth = match &self.truth {
            None => None,
            Some(path) => Some(Table::create(Output::create(path)?, OutputFormat::of_path(path)?, truth)?),
        };
        let (output, format) = self.output.open()?;
        let mut table = Table::create(output, format, [("id", Kind::Text), ("text", Kind::Text)])?;
        session.run.begin("generate", Some(self.generate.records));
        let (mut pairs, mut values) = (0, 0);
        for column in columns {
            session.run.check()?;
            let name = Columns::name(column.number);
            let (mut text, mut held, mut written) = (String::new(), 0, Ok(()));
            column.for_each_value(|value| {
                if held > 0 {
                    text.push(' ');
                }
                text.push_str(value);
                held += 1;
                if held == VALUES && written.is_ok() {
                    written = table.row(&[Value::Text(&name), Value::Text(&text)]);
                    text.clear();
                    held = 0;
                }
            });
            written?;
            if held > 0 {
                table.row(&[Value::Text(&name), Value::Text(&text)])?;
            }
            values += column.size();
            pairs += column.duplicates.len() as u64;
            for (earlier, similarity) in &column.duplicates {
                if let Some(truth) = &mut truth {
                    let earlier = Columns::name(*earlier);
                    truth.row(&[Value::Text(&earlier), Value::Text(&name), Value::Real(*similarity)])?;
                }
            }
            session.run.advance(1);
        }
        table.finish()?;
        truth.map_or(Ok(()), Table::finish)?;
        let columns = count(self.generate.records, "column");
        session.summarize(&[format!("{columns}, {}, {}", count(values, "value"), count(pairs, "planted pair"))]);
        Ok(())
    }
}

/// How many values a row holds.
const VALUES: u64 = 1000;

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
        let path = options.output.path();
        if options.output_format.is_some() || path.is_some_and(|path| Format::of_path(path) != Some(Format::Nt)) {
            let reason = "RDF is written as N-Triples; name a file that ends in .nt, and leave out --output-format";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let output = options.output.open()?;
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
