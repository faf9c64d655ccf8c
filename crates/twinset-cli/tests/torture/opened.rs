//! An index of either kind, asked by the library, which takes less time than a command.

use std::collections::BTreeSet;
use std::path::Path;

use twinset::estimate::Condition;
use twinset::{Measure, TokenOptions};
use twinset_index::Result;
use twinset_index::kmv::{self, CandidateStrategy, KmvIndex};
use twinset_index::lsh::{self, LshIndex};

use super::oracle::State;

pub(crate) enum Opened {
    Labels(LshIndex),
    Synopses(Box<KmvIndex>),
}

impl Opened {
    pub(crate) fn open(address: &str) -> Result<Self> {
        Ok(match KmvIndex::is_at(Path::new(address)) {
            true => Self::Synopses(Box::new(KmvIndex::open(Path::new(address))?)),
            false => Self::Labels(LshIndex::open(address)?),
        })
    }

    /// How texts become tokens.
    pub(crate) fn tokens(&self) -> &TokenOptions {
        match self {
            Self::Labels(index) => &index.settings().tokens,
            Self::Synopses(index) => &index.settings().tokens,
        }
    }

    /// All records, in one state of the index.
    pub(crate) fn state(&mut self) -> Result<State> {
        let mut state = State::new();
        match self {
            Self::Labels(index) => index.for_each(|record| {
                state.insert(record.id.clone(), record.hashes.clone());
                Ok::<_, twinset_index::Error>(())
            })?,
            Self::Synopses(index) => index.snapshot()?.for_each_stored(|id, _, synopsis| {
                state.insert(id.to_owned(), synopsis.values().to_vec());
                Ok::<_, twinset_index::Error>(())
            })?,
        }
        Ok(state)
    }

    /// Makes a change that changes nothing. It waits for whatever a killed process has told a server last.
    pub(crate) fn settle(&mut self) -> Result<()> {
        let nobody = ["nobody".to_owned()];
        match self {
            Self::Labels(index) => index.remove(&nobody).map(drop),
            Self::Synopses(index) => {
                index.remove(&nobody)?;
                index.finish()
            }
        }
    }

    /// The ids of the records that are the same as this set.
    pub(crate) fn same(&mut self, set: &BTreeSet<u64>) -> Result<Vec<String>> {
        let (hashes, threshold) = (set.iter().copied().collect::<Vec<u64>>(), "1".parse().unwrap());
        match self {
            Self::Labels(index) => {
                let hits = index.query(&hashes, &lsh::Query { threshold, probability: 0.9 })?;
                Ok(hits.into_iter().map(|hit| hit.id).collect())
            }
            Self::Synopses(index) => {
                let condition = Condition::new(Measure::Jaccard, threshold, 0)?;
                let (snapshot, mut asked) = (index.snapshot()?, index.synopsis_of(&hashes)?);
                let query = kmv::Query { condition, strategy: CandidateStrategy::default(), size: None };
                let hits = snapshot.query(asked.synopsis(), &query)?;
                hits.iter().map(|hit| Ok(snapshot.stored(hit)?.0)).collect()
            }
        }
    }

    /// Whether there is a record of this id.
    pub(crate) fn has(&mut self, id: &str) -> Result<bool> {
        Ok(match self {
            Self::Labels(index) => index.find(id)?.is_some(),
            Self::Synopses(index) => index.snapshot()?.find(id)?.is_some(),
        })
    }

    pub(crate) fn damages(&mut self) -> Result<Vec<String>> {
        match self {
            Self::Labels(index) => index.damages(),
            Self::Synopses(index) => index.damages(),
        }
    }
}
