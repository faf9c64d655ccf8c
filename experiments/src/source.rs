//! Where the records of an experiment come from: the user's files, or the generator.

use std::path::PathBuf;

use anyhow::Context;
use rand::SeedableRng;
use rand::seq::IteratorRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use twinset::estimate::MinHashSettings;
use twinset::tokenize::{Sets, Tokenizer, tokenize};
use twinset::{Run, TokenOptions, TokenSets};
use twinset_io::generate::{GenerateOptions, Generator};
use twinset_io::read::Inputs;
use twinset_io::{Content, Keeping, ReadOptions, load};

/// What an experiment runs on.
#[derive(clap::Args)]
pub(crate) struct SourceOptions {
    /// Files to run on, each a data set (default: a generated collection)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<PathBuf>,
    /// How many records to generate where there is no --data
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    records: u64,
    /// Use only this many records of each file, chosen at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    #[command(flatten)]
    read: ReadOptions,
}

/// A data set that can be tokenised in several ways.
pub(crate) struct Source {
    pub(crate) name: String,
    texts: Texts,
    sample: Option<usize>,
}

enum Texts {
    Files(Inputs, Box<ReadOptions>),
    Generated(Vec<String>),
}

impl SourceOptions {
    /// The data sets.
    pub(crate) fn sources(&self) -> anyhow::Result<Vec<Source>> {
        if self.data.is_empty() {
            let options = GenerateOptions { records: self.records, ..GenerateOptions::default() };
            let texts = Generator::new(&options)?.map(|record| record.text()).collect();
            let name = format!("generated, {} records", self.records);
            return Ok(vec![Source { name, texts: Texts::Generated(texts), sample: self.sample }]);
        }
        self.data
            .iter()
            .map(|path| {
                let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
                let texts = Texts::Files(Inputs::find([path], self.read.format)?, Box::new(self.read.clone()));
                Ok(Source { name, texts, sample: self.sample })
            })
            .collect()
    }
}

impl Source {
    /// Sketches of the data set, of all its records.
    pub(crate) fn sketches(&self, options: &TokenOptions, permutations: u32) -> anyhow::Result<Sets> {
        let run = Run::default();
        match &self.texts {
            Texts::Generated(texts) => {
                let tokenizer = Tokenizer::minhash(options, MinHashSettings { permutations, seed: 0 }, &run)?;
                let blocks = texts.par_chunks(1024).map(|texts| tokenizer.block(texts.iter().map(String::as_str)));
                let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
                Ok(tokenizer.finish_within(blocks, 0)?)
            }
            Texts::Files(inputs, read) => {
                let content = Content::Sketches(options, MinHashSettings { permutations, seed: 0 });
                let collection = load(std::slice::from_ref(inputs), read, Keeping::all(content), &run)?;
                collection.sets.context("sketches were asked for")
            }
        }
    }

    /// The data set's token sets.
    pub(crate) fn sets(&self, options: &TokenOptions) -> anyhow::Result<TokenSets> {
        let sets = match &self.texts {
            Texts::Generated(texts) => tokenize(texts.iter().map(String::as_str), options)?,
            Texts::Files(inputs, read) => {
                let collection =
                    load(std::slice::from_ref(inputs), read, Keeping::all(Content::Sets(options)), &Run::default())?;
                collection.token_sets().context("token sets were asked for")?.clone()
            }
        };
        match self.sample {
            Some(size) if size < sets.len() => sample(&sets, size),
            _ => Ok(sets),
        }
    }
}

/// So many of the records, chosen at random but always the same ones.
pub(crate) fn sample(sets: &TokenSets, count: usize) -> anyhow::Result<TokenSets> {
    let mut chosen = (0..sets.len()).sample(&mut ChaCha8Rng::seed_from_u64(1), count);
    chosen.sort_unstable();
    Ok(TokenSets::from_ids(chosen.into_iter().map(|record| sets.get(record).iter().copied()))?)
}
