//! `twinset explain`: why two records are, or are not, a pair.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use twinset::TokenOptions;
use twinset::exact::{Detail, JoinOptions, NamedRecord, explain};
use twinset::tokenize::Tokenizer;
use twinset_io::read::{Inputs, read_stop_words};
use twinset_io::{Content, Destination, Keeping, ReadOptions, Source, find_records, load, tokens_for};

use crate::job::{Job, own_settings};
use crate::search::open_inputs;
use crate::session::{Session, SessionOptions, write_text};

/// Shows why two records are, or are not, a pair: tokens, measures, differences
#[derive(Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
#[command(after_help = EXAMPLES, override_usage = "twinset explain [OPTIONS] <INPUT> [RIGHT] <ID> <ID>")]
pub struct Explain {
    /// Two records of INPUT, or one of INPUT and one of RIGHT, by their ids or numbers
    ///
    /// INPUT and RIGHT are files, folders, quoted globs, or - for standard input.
    #[arg(value_name = "RECORDS", num_args = 3..=4, required = true)]
    #[serde(skip)]
    words: Vec<OsString>,
    /// What the records are in.
    #[arg(skip)]
    #[serde(skip)]
    pub records: Records,
    #[command(flatten)]
    #[serde(flatten)]
    join: JoinOptions,
    /// Also show how a join of the whole input treats the pair, and texts and lists in full
    #[arg(long)]
    verbose: bool,
    /// As JSON, for programs
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
    /// Where the explanation goes.
    #[arg(skip)]
    #[serde(skip)]
    pub output: Destination,
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
  twinset explain titles.tsv 3 17 --threshold 0.7
  twinset explain shop.csv catalogue.csv 1042 B-77 --threshold 0.7
  twinset explain titles.tsv 3 17 --tokens qgrams:3 --measure cosine --threshold 0.9 --json";

impl Job for Explain {
    fn session(&mut self) -> &mut SessionOptions {
        &mut self.session
    }

    fn run(mut self, session: &Session) -> anyhow::Result<()> {
        read_stop_words(&mut self.tokens)?;
        if !self.words.is_empty() {
            self.records = Records::parse(std::mem::take(&mut self.words))?;
        }
        let Records { input, right, ids } = &self.records;
        let sides = open_inputs(&[std::slice::from_ref(input), right.as_slice()], &self.read)?;
        let detail = Detail { filters: self.verbose, elided: !self.verbose && !self.json };
        // Bad records are listed up to the end of the input.
        let tree = if self.verbose || self.read.rejects.is_some() {
            self.explain_in_collection(&sides, detail, session)?
        } else {
            let texts = self.find_texts(&sides, ids, session)?;
            let tokenizer = Tokenizer::new(&tokens_for(&sides, &self.read, &self.tokens)?)?;
            let block = tokenizer.block(texts.iter().map(String::as_str))?;
            let (sets, names) = tokenizer.finish_named([block])?;
            let sets = if right.is_some() { sets.split_at(1) } else { sets };
            let record = |ordinal: usize| NamedRecord { ordinal, id: ids[ordinal].clone(), text: &texts[ordinal] };
            explain(&sets, &names, &record(0), &record(1), &self.join, detail, &session.run)?
        };
        session.clear_bar();
        let text = if self.json { serde_json::to_string_pretty(&tree)? + "\n" } else { tree.to_string() };
        write_text(self.output.open()?, &text)
    }
}

impl Explain {
    /// The texts of the two records, for which the input is read no further than needed.
    fn find_texts(&self, sides: &[Inputs], ids: &[String; 2], session: &Session) -> anyhow::Result<[String; 2]> {
        let [left, right] = ids.each_ref().map(String::as_str);
        let found = match sides {
            [input] => find_records(input, &self.read, [left, right], &session.run)?,
            [input, other, ..] => {
                let [left] = find_records(input, &self.read, [left], &session.run)?;
                let [right] = find_records(other, &self.read, [right], &session.run)?;
                [left, right]
            }
            [] => [None, None],
        };
        match found {
            [Some(left), Some(right)] => Ok([left, right]),
            [None, _] => Err(self.missing(0)),
            [_, None] => Err(self.missing(1)),
        }
    }

    /// Explains the pair as records of all that would be joined.
    fn explain_in_collection(
        &self,
        sides: &[Inputs],
        detail: Detail,
        session: &Session,
    ) -> anyhow::Result<twinset::Explanation> {
        let collection = load(sides, &self.read, Keeping::all(Content::NamedSets(&self.tokens)), &session.run)?;
        let [left, right] = self.records.ids.each_ref();
        let left = collection.left.position(left).ok_or_else(|| self.missing(0))?;
        let right = match &collection.right {
            Some(others) => others.position(right).map(|position| collection.left.len() + position),
            None => collection.left.position(right),
        };
        let right = right.ok_or_else(|| self.missing(1))?;
        let (Some(sets), Some(names), Some(texts)) = (collection.token_sets(), &collection.names, &collection.texts)
        else {
            unreachable!("named sets were asked for");
        };
        let record = |side: usize, ordinal: usize| NamedRecord {
            ordinal,
            id: self.records.ids[side].clone(),
            text: texts.get(ordinal),
        };
        Ok(explain(sets, names, &record(0, left), &record(1, right), &self.join, detail, &session.run)?)
    }

    /// That the left or right record is not there.
    fn missing(&self, side: usize) -> anyhow::Error {
        let Records { input, right, ids } = &self.records;
        let source = if side == 1 { right.as_ref().unwrap_or(input) } else { input };
        anyhow::anyhow!(
            "{}: there is no record `{}`; ids come from --id, or are numbers from 1",
            source.name(),
            ids[side]
        )
    }
}

/// Two records, and what they are in.
#[derive(Default)]
pub struct Records {
    /// What both are in, or the left one.
    pub input: Source,
    /// What the right one is in, if that is another collection.
    pub right: Option<Source>,
    /// Their ids, or numbers.
    pub ids: [String; 2],
}

impl Records {
    fn parse(mut words: Vec<OsString>) -> anyhow::Result<Self> {
        let mut id = || {
            let word = words.pop().unwrap_or_default();
            word.into_string().map_err(|word| anyhow::anyhow!("{}: ids are UTF-8", word.display()))
        };
        let right = id()?;
        let left = id()?;
        let mut sources = words.into_iter().map(Source::from);
        Ok(Self { input: sources.next().unwrap_or_default(), right: sources.next(), ids: [left, right] })
    }
}
