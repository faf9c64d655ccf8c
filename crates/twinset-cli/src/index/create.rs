//! `twinset index create`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::estimate::{LshOptions, SYNOPSIS_SIZE, Synopsis};
use twinset::support::name_parser;
use twinset_index::kmv::KmvIndex;
use twinset_index::lsh::LshIndex;
use twinset_index::{Content, Kind, Settings};
use twinset_io::Error;
use twinset_io::read::{RdfOptions, read_stop_words};

use crate::job::Job;
use crate::session::{Session, SessionOptions};

/// Makes an empty index
#[derive(clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES)]
pub struct Create {
    /// A folder; for lsh also the address of a database
    #[arg(value_name = "PATH")]
    #[serde(skip)]
    pub path: String,
    /// What kind of index
    ///
    /// lsh: a query finds each near duplicate with a probability that it chooses, and compares exactly; it knows jaccard.
    /// kmv: a query estimates any measure of sets, with a known error, from a small sample of each record.
    #[arg(long, value_name = "KIND", value_parser = name_parser::<Kind>(), default_value_t = Kind::Lsh)]
    kind: Kind,
    #[command(flatten)]
    #[serde(flatten)]
    labels: LshOptions,
    /// How many values a synopsis has (default: 128); records with no more tokens are compared exactly
    #[arg(long, value_name = "K", help_heading = "Method")]
    size: Option<u32>,
    /// The seed of the hash functions; keep it secret where records may come from an enemy
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    #[serde(flatten)]
    tokens: TokenOptions,
    #[command(flatten)]
    #[serde(flatten)]
    rdf: RdfOptions,
    #[command(flatten)]
    #[serde(flatten)]
    session: SessionOptions,
}

const EXAMPLES: &str = "Examples:
  twinset index create news
  twinset index create people --tokens qgrams:3 --trees 40
  twinset index create 'postgres://me@localhost/db?index=news' --kind labels --bits 64
  twinset index create columns --kind synopses --size 256 --tokens items
  twinset index create people --ignore-predicate http://www.w3.org/2000/01/rdf-schema#seeAlso

The first `add` settles what is not given here: whether records are texts or RDF resources, and how these are described.";

impl Default for Create {
    fn default() -> Self {
        Self {
            path: String::new(),
            kind: Kind::Lsh,
            labels: LshOptions::default(),
            size: None,
            seed: 0,
            tokens: TokenOptions::default(),
            rdf: RdfOptions::default(),
            session: SessionOptions::default(),
        }
    }
}

impl Job for Create {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        // What is wrong with them is noticed now.
        twinset::tokenize::TokenHasher::new(&self.tokens, self.seed)?;
        let refused = |reason: &str| Err(Error::Usage(reason.to_owned()).into());
        if self.rdf.allow_entities {
            return refused("--allow-entities is for commands that read files; leave it out");
        }
        let rdf = (self.rdf != RdfOptions::default()).then(|| self.rdf.fixed()).transpose()?;
        let content = rdf.map(serde_json::to_value).transpose()?.map(Content::Rdf);
        let made = match self.kind {
            Kind::Lsh if self.size.is_some() => return refused("--size is for synopses; say --kind synopses"),
            Kind::Kmv if self.labels != LshOptions::default() => {
                return refused("--trees and --bits are for labels; leave them out, or say --kind labels");
            }
            Kind::Lsh => {
                self.labels.check()?;
                let mut settings = Settings::lsh(self.labels, self.tokens, self.seed);
                settings.content = content;
                let index = LshIndex::create(&self.path, &settings)?;
                format!("made {}: labels of {} bits in {} trees", index.name(), self.labels.bits, self.labels.trees)
            }
            Kind::Kmv => {
                let size = self.size.unwrap_or(SYNOPSIS_SIZE);
                Synopsis::check_size(size)?;
                if self.path.contains("://") {
                    return refused("synopses lie in a folder; name one");
                }
                let mut settings = Settings::kmv(size, self.tokens, self.seed);
                settings.content = content;
                let index = KmvIndex::create(Path::new(&self.path), &settings)?;
                format!("made {}: synopses of {size} values", index.name())
            }
        };
        session.summarize(&[made]);
        Ok(())
    }
}
