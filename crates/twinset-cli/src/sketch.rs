//! `twinset sketch`: sketches that later runs read in place of the texts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twinset::estimate::{EstimateOptions, MinHashSettings};
use twinset::tokenize::TokenBlock;
use twinset::{Measure, Stats, TokenOptions};
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::write::check_outputs;
use twinset_io::{
    Content, Destination, Ids, Keeping, ReadOptions, SketchSettings, Source, are_rdf, is_sketch_file, load, tokens_for,
    write_sketches,
};

use crate::job::{Job, own_settings};
use crate::join::notes;
use crate::session::{Session, SessionOptions, count};

/// Writes sketches, which later runs read in place of the texts
#[derive(clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Sketch {
    /// Files, folders, quoted globs, or - for standard input
    #[arg(required = true)]
    #[serde(skip)]
    pub input: Vec<Source>,
    /// Write the sketches to FILE, which ends in .sketch
    #[arg(long, short, value_name = "FILE")]
    #[serde(skip)]
    pub output: Destination,
    /// How many permutations: the entries of a sketch
    #[arg(long, value_name = "N", default_value_t = EstimateOptions::default().permutations)]
    permutations: std::num::NonZeroU32,
    /// The seed of the permutations; only sketches of the same seed can be compared
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten, deserialize_with = "own_settings")]
    read: ReadOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  Sketches of a crawl, and its near duplicates without the texts:
    twinset sketch crawl/ --text body --tokens shingles:5 --output crawl.sketch
    twinset join crawl.sketch --method minhash --threshold 0.8
  Search results, each story once:
    twinset dedup results.txt --sketches crawl.sketch --threshold 0.8

The file is parquet: a column id, a column sketch with 4 bytes an entry, and how it was made in the metadata.";

impl Default for Sketch {
    fn default() -> Self {
        Self {
            input: Vec::new(),
            output: Destination::default(),
            permutations: EstimateOptions::default().permutations,
            seed: 0,
            tokens: TokenOptions::default(),
            read: ReadOptions::default(),
            session: SessionOptions::default(),
        }
    }
}

impl Job for Sketch {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        let stop_words = read_stop_words(&mut self.tokens)?;
        let estimate = EstimateOptions { permutations: self.permutations, ..EstimateOptions::default() };
        estimate.check_permutations()?;
        let output = match &self.output {
            Destination::Memory(_) => None,
            Destination::Path(path) if is_sketch_file(path) => Some(path.as_path()),
            other => {
                let name = other.path().unwrap_or(Path::new("-")).display();
                let reason = format!("{name}: name a file that ends in .sketch, by which it is known");
                return Err(twinset_io::Error::Usage(reason).into());
            }
        };
        if session.run.memory.is_some() {
            let reason =
                "sketches wait in memory until they are written; leave out --memory, or sketch the files one by one";
            return Err(twinset_io::Error::Usage(reason.to_owned()).into());
        }
        let inputs = Inputs::find(&self.input, self.read.format)?;
        let paths: Vec<PathBuf> = inputs.paths().chain(&stop_words).cloned().collect();
        check_outputs(output, &self.read.rejects, &paths)?;
        let output = self.output.open()?;
        let tokens = tokens_for(std::slice::from_ref(&inputs), &self.read, &self.tokens)?;
        let are_resources = are_rdf(&inputs, &self.read)?;
        let rdf = are_resources.then(|| self.read.rdf.fixed()).transpose()?;
        let settings = SketchSettings::new(self.permutations.get(), self.seed, &tokens, rdf);
        let content =
            Content::RawSketches(&tokens, MinHashSettings { permutations: settings.permutations, seed: self.seed });
        let collection = load(&[inputs], &self.read, Keeping::all(content), &session.run)?;
        let named = &collection.left;
        // Sketches in memory name records of tables by their rows.
        let rows = matches!(self.output, Destination::Memory(_)) && named.are_rows();
        let rows = rows.then(|| Ids::Numbers((0..named.len()).map(|record| named.row(record)).collect()));
        write_sketches(output, rows.as_ref().unwrap_or(named), &collection.sketches, &settings)?;
        let records = count(collection.left.len() as u64, "record");
        let mut lines = vec![format!("{records}, sketches of {} entries", settings.permutations)];
        let empty: u64 = collection.sketches.iter().map(TokenBlock::empty_records).sum();
        if empty > 0 {
            lines.push(format!("{} without any token: their sketches match nothing", count(empty, "record")));
        }
        let stats = Stats::default();
        lines.extend(notes(&self.read, &TokenOptions::default(), Measure::Jaccard, &collection, &stats));
        session.summarize(&lines);
        Ok(())
    }
}
