//! RDFsim: the paper's table, recall and query time against the probability asked for, in four homes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use maud::html;
use testbed::Server;
use twinset::estimate::{Labeler, LshOptions, lsh_bits};
use twinset::exact::{JoinOptions, join};
use twinset::support::intersection_len;
use twinset::tokenize::TokenHasher;
use twinset::{Run, Threshold, TokenOptions};
use twinset_index::Settings;
use twinset_index::lsh::{LabeledRecord, LshIndex, Query};
use twinset_io::generate::{Articles, GenerateOptions, Generator};
use twinset_io::read::Inputs;
use twinset_io::{Content, Error, Keeping, ReadOptions, for_each_record, load, tokens_for};
use twinset_report::{Chart, Line, table};

use crate::{print_table, write_page};

/// RDFsim: k' for every cell of the paper's table, recall and query time as the probability varies, in four homes
#[derive(clap::Args)]
pub(crate) struct Rdfsim {
    /// Files of RDF (default: made-up articles)
    #[arg(value_name = "INPUT")]
    input: Vec<PathBuf>,
    /// How many articles are made up
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    records: u64,
    /// How many queries are asked for each point
    #[arg(long, value_name = "N", default_value_t = 1000)]
    queries: usize,
    /// Sizes at which the index in SQLite is measured as well, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    growth: Vec<u64>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "rdfsim.html")]
    output: PathBuf,
    #[command(flatten)]
    read: ReadOptions,
}

const PROBABILITIES: [f64; 10] = [0.80, 0.82, 0.84, 0.86, 0.88, 0.90, 0.92, 0.94, 0.96, 0.98];
/// Table 1 of the paper, for minSim 0.8 and 0.9.
const PAPER: [(&str, [u32; 10]); 2] =
    [("0.8", [24, 23, 23, 22, 21, 21, 20, 19, 18, 16]), ("0.9", [49, 48, 47, 46, 44, 43, 41, 39, 37, 33])];

/// The resources, and which of them have near duplicates.
struct Resources {
    records: Vec<LabeledRecord>,
    settings: Settings,
}

/// Queries that have an answer: the record, and how many others are near duplicates of it.
struct Asked {
    threshold: Threshold,
    queries: Vec<(usize, u64)>,
}

impl Rdfsim {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut parts = vec![self.first_table()];
        let folder = tempfile::tempdir()?;
        let files = if self.input.is_empty() {
            vec![made_up(&folder.path().join("articles.nt"), self.records)?]
        } else {
            self.input.clone()
        };
        let (resources, asked) = self.resources(&files)?;
        println!("{} resources, {:.1} terms on average", resources.records.len(), resources.average());
        parts.push(html! { p { (resources.records.len()) " resources, " (format!("{:.1}", resources.average())) " terms on average." } });

        let postgres = Server::postgres();
        let mariadb = Server::mariadb();
        let address = |server: &anyhow::Result<Server>| match server {
            Ok(server) => Some(format!("{}?index=rdfsim", server.address())),
            Err(error) => {
                println!("left out: {error}");
                None
            }
        };
        let homes = [
            ("main memory", None),
            ("SQLite", Some(folder.path().join("index").display().to_string())),
            ("PostgreSQL", address(&postgres)),
            ("MariaDB", address(&mariadb)),
        ];
        let homes = homes.into_iter().filter(|(name, address)| *name == "main memory" || address.is_some());
        let (mut costs, mut curves) = (Vec::new(), Vec::new());
        for (name, address) in homes {
            let mut index = match &address {
                None => LshIndex::in_memory(&resources.settings)?,
                Some(address) => LshIndex::create(address, &resources.settings)?,
            };
            let rate = resources.add_to(&mut index)?;
            let stats = index.stats()?;
            let per_record = stats.bytes.map_or("-".to_owned(), |bytes| (bytes / stats.records.max(1)).to_string());
            costs.push(vec![name.to_owned(), format!("{rate:.0}"), per_record]);
            for asked in &asked {
                for probability in PROBABILITIES {
                    let (recall, milliseconds) = resources.ask(&mut index, asked, probability)?;
                    curves.push((name, asked.threshold, probability, recall, milliseconds));
                }
            }
        }
        let baseline = asked.iter().map(|asked| resources.compare_with_everything(asked));
        let baseline = baseline.fold(0.0, f64::max);
        let header = ["home", "resources added a second", "bytes a resource"];
        print_table(&header, &costs);
        parts.push(table("Homes", &header, &costs));
        let header = ["home", "minSim", "minProb", "recall", "milliseconds a query"];
        let rows: Vec<Vec<String>> = curves
            .iter()
            .map(|(name, threshold, probability, recall, milliseconds)| {
                vec![
                    (*name).to_owned(),
                    threshold.as_f64().to_string(),
                    format!("{probability:.2}"),
                    format!("{recall:.4}"),
                    format!("{milliseconds:.4}"),
                ]
            })
            .collect();
        print_table(&header, &rows);
        println!("comparing with everything takes {baseline:.1} ms a query");
        let line = |label: String, home: &str, threshold: &Threshold, value: &dyn Fn(f64, f64) -> f64| {
            let own = curves.iter().filter(|curve| curve.0 == home && curve.1 == *threshold);
            Line { name: label, points: own.map(|curve| (curve.2, value(curve.3, curve.4))).collect() }
        };
        let thresholds: Vec<Threshold> = asked.iter().map(|asked| asked.threshold).collect();
        let measured = thresholds.iter().map(|threshold| {
            line(format!("minSim {}", threshold.as_f64()), "main memory", threshold, &|recall, _| recall)
        });
        let promised = Line { name: "promised".to_owned(), points: PROBABILITIES.map(|p| (p, p)).to_vec() };
        let recall = Chart {
            title: "Recall (Figure 5); the labels are the same in every home".to_owned(),
            x: "minProb",
            y: "recall",
            logarithmic: false,
            lines: measured.chain([promised]).collect(),
        };
        let names: Vec<&str> = costs.iter().map(|row| row[0].as_str()).collect();
        let times = thresholds.iter().map(|threshold| Chart {
            title: format!("Time of a query (Figure 6), minSim {}", threshold.as_f64()),
            x: "minProb",
            y: "milliseconds",
            logarithmic: true,
            lines: names
                .iter()
                .map(|home| line(home.replace("main ", ""), home, threshold, &|_, milliseconds| milliseconds))
                .collect(),
        });
        parts.push(html! {
            div class="charts" { (recall.draw()) @for chart in times { (chart.draw()) } }
            p { "Comparing a query with everything takes " (format!("{baseline:.1}")) " ms. In the paper a query took less than 100 ms, and about a minute without the index." }
            (table("Recall and time", &header, &rows))
        });
        if !self.growth.is_empty() {
            parts.push(self.growth()?);
        }
        write_page(&self.output, "RDFsim", &html! { @for part in &parts { (part) } })
    }

    /// The paper's first table beside ours.
    fn first_table(&self) -> maud::Markup {
        let header: Vec<String> = std::iter::once("minSim".to_owned())
            .chain(PROBABILITIES.iter().map(|probability| format!("{probability:.2}")))
            .collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows: Vec<Vec<String>> = PAPER
            .iter()
            .map(|(similarity, printed)| {
                let cells = PROBABILITIES.iter().zip(printed).map(|(&probability, printed)| {
                    let own = lsh_bits(similarity.parse().expect("it is a number"), probability, 20, 50);
                    if own == *printed { own.to_string() } else { format!("{own} (paper: {printed})") }
                });
                std::iter::once((*similarity).to_owned()).chain(cells).collect()
            })
            .collect();
        print_table(&header, &rows);
        table("k' for 20 trees and 50 bits; where the paper has another number, it is given", &header, &rows)
    }

    /// Reads the resources, and finds their near duplicates exactly.
    fn resources(&self, files: &[PathBuf]) -> anyhow::Result<(Resources, Vec<Asked>)> {
        let run = Run::default();
        let inputs = Inputs::find(files, self.read.format)?;
        let tokens = tokens_for(std::slice::from_ref(&inputs), &self.read, &TokenOptions::default())?;
        let resources = Resources::read(&inputs, &self.read, &tokens)?;
        let keeping = Keeping::all(Content::Sets(&tokens));
        let collection = load(&[inputs], &self.read, keeping, &run)?;
        let mut asked = Vec::new();
        for (similarity, _) in PAPER {
            let threshold: Threshold = similarity.parse()?;
            let joined = join(collection.input(), &JoinOptions::at(threshold), &run)?;
            let mut partners = vec![0u64; resources.records.len()];
            for pair in joined.iter() {
                let pair = pair?;
                partners[pair.left as usize] += 1;
                partners[pair.right as usize] += 1;
            }
            let with_partners: Vec<(usize, u64)> =
                partners.into_iter().enumerate().filter(|(_, partners)| *partners > 0).collect();
            let step = with_partners.len().div_ceil(self.queries).max(1);
            println!(
                "minSim {similarity}: {} pairs, {} resources with near duplicates",
                joined.len(),
                with_partners.len()
            );
            asked.push(Asked { threshold, queries: with_partners.into_iter().step_by(step).collect() });
        }
        Ok((resources, asked))
    }

    /// The same index in SQLite as it grows.
    fn growth(&self) -> anyhow::Result<maud::Markup> {
        let mut rows = Vec::new();
        for &size in &self.growth {
            let folder = tempfile::tempdir()?;
            let file = made_up(&folder.path().join("articles.nt"), size)?;
            let inputs = Inputs::find([&file], None)?;
            let tokens = tokens_for(std::slice::from_ref(&inputs), &self.read, &TokenOptions::default())?;
            let resources = Resources::read(&inputs, &self.read, &tokens)?;
            let address = folder.path().join("index").display().to_string();
            let mut index = LshIndex::create(&address, &resources.settings)?;
            let rate = resources.add_to(&mut index)?;
            let stats = index.stats()?;
            let step = resources.records.len().div_ceil(self.queries).max(1);
            let queries = (0..resources.records.len()).step_by(step).map(|at| (at, 0)).collect();
            let asked = Asked { threshold: "0.8".parse()?, queries };
            let (_, milliseconds) = resources.ask(&mut index, &asked, 0.9)?;
            let per_record = stats.bytes.unwrap_or(0) / stats.records.max(1);
            rows.push(vec![
                size.to_string(),
                format!("{rate:.0}"),
                per_record.to_string(),
                format!("{milliseconds:.4}"),
            ]);
        }
        let header = ["resources", "added a second", "bytes a resource", "milliseconds a query (0.8, 0.9)"];
        print_table(&header, &rows);
        Ok(table("Growth in SQLite", &header, &rows))
    }
}

impl Resources {
    fn read(inputs: &Inputs, read: &ReadOptions, tokens: &TokenOptions) -> anyhow::Result<Self> {
        let settings = Settings::lsh(LshOptions::default(), tokens.clone(), 0);
        let (hasher, labeler) =
            (TokenHasher::new(tokens, settings.seed)?, Labeler::new(settings.labels(), settings.seed)?);
        let mut records = Vec::new();
        let prepare = |text: &str| Ok(LshIndex::label(&labeler, String::new(), hasher.hashes(text)?));
        for_each_record(inputs, read, &[], &Run::default(), prepare, 10_000, |batch| {
            records.extend(batch.into_iter().map(|record| LabeledRecord { id: record.name(), ..record.content }));
            Ok::<_, Error>(())
        })?;
        Ok(Self { records, settings })
    }

    fn average(&self) -> f64 {
        let terms: usize = self.records.iter().map(|record| record.hashes.len()).sum();
        terms as f64 / self.records.len().max(1) as f64
    }

    /// Adds all; returns how many a second.
    fn add_to(&self, index: &mut LshIndex) -> anyhow::Result<f64> {
        let begin = Instant::now();
        for batch in self.records.chunks(10_000) {
            index.add(batch.to_vec())?;
        }
        Ok(self.records.len() as f64 / begin.elapsed().as_secs_f64())
    }

    /// Asks all queries; returns the share of near duplicates that were found, and the milliseconds of a query.
    fn ask(&self, index: &mut LshIndex, asked: &Asked, probability: f64) -> anyhow::Result<(f64, f64)> {
        let query = Query { threshold: asked.threshold, probability };
        let (mut found, mut expected) = (0, 0);
        let begin = Instant::now();
        for &(record, partners) in &asked.queries {
            // It finds itself as well.
            found += index.query(&self.records[record].hashes, &query)?.len() as u64 - 1;
            expected += partners;
        }
        let milliseconds = begin.elapsed().as_secs_f64() * 1000.0 / asked.queries.len().max(1) as f64;
        Ok((found as f64 / expected.max(1) as f64, milliseconds))
    }

    /// The milliseconds that a query takes without any index.
    fn compare_with_everything(&self, asked: &Asked) -> f64 {
        let queries = &asked.queries[..asked.queries.len().min(20)];
        let begin = Instant::now();
        let mut near = 0;
        for &(record, _) in queries {
            let own = &self.records[record].hashes;
            let is_near = |other: &&LabeledRecord| {
                let common = intersection_len(own, &other.hashes);
                common as f64 >= asked.threshold.as_f64() * (own.len() + other.hashes.len() - common) as f64
            };
            near += self.records.iter().filter(is_near).count();
        }
        std::hint::black_box(near);
        begin.elapsed().as_secs_f64() * 1000.0 / queries.len().max(1) as f64
    }
}

/// Writes made-up articles.
fn made_up(path: &std::path::Path, records: u64) -> anyhow::Result<PathBuf> {
    let options = GenerateOptions { records, words: 20, ..GenerateOptions::default() };
    let mut file = BufWriter::new(File::create(path)?);
    let mut articles = Articles::default();
    for (number, record) in (1..).zip(Generator::new(&options)?) {
        articles.write(number, &record, &mut file)?;
    }
    file.flush()?;
    Ok(path.to_owned())
}
