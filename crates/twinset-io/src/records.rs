//! The records of files one after the other, prepared on all threads.

use std::collections::BTreeMap;
use std::sync::Mutex;

use twinset::Run;

use crate::read::{BadRecords, Inputs, ReadOptions, Rejects, for_each_block};
use crate::{Error, Result};

/// A record of which something was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared<P> {
    /// What a field names it, if one does.
    pub id: Option<String>,
    /// Its number among all records, from 1, bad ones included.
    pub number: u64,
    /// What was made of its text.
    pub content: P,
    /// Further fields, in the order in which they were asked for.
    pub fields: Vec<String>,
}

impl<P> Prepared<P> {
    /// What it is called: as its field says, otherwise its number.
    pub fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.number.to_string())
    }
}

/// Reads a collection with some further fields, calls `prepare` for each text on all threads, and `take` for some records at a time, in their order.
/// As a rule little more than these is in memory at once. Returns how many bad records were rejected.
pub fn for_each_record<P: Send, E: From<Error> + Send>(
    inputs: &Inputs,
    options: &ReadOptions,
    fields: &[String],
    run: &Run,
    prepare: impl Fn(&str) -> Result<P> + Sync,
    batch: usize,
    take: impl FnMut(Vec<Prepared<P>>) -> Result<(), E> + Send,
) -> Result<u64, E> {
    let rejects = options.rejects.as_deref().map(Rejects::create).transpose()?.map(Mutex::new);
    let bad_records = rejects.as_ref().map_or(BadRecords::Refused, BadRecords::Written);
    let line = Mutex::new(Line {
        next: 0,
        before: 0,
        arrived: BTreeMap::new(),
        batch: Vec::new(),
        size: batch,
        take,
        failure: None,
    });
    let read = run.install(|| {
        for_each_block(std::slice::from_ref(inputs), options, fields, bad_records, run, |info, records| {
            let total = records.len() + info.bad.len();
            let positions = (0..total).filter(|position| info.bad.binary_search(position).is_err());
            let prepared = records.iter().zip(positions).map(|(record, position)| {
                let id = record.id.as_ref().map(|id| id.clone().into_owned());
                let fields = record.extra.iter().map(|field| field.clone().into_owned()).collect();
                Ok(Prepared { id, number: position as u64 + 1, content: prepare(&record.text)?, fields })
            });
            let prepared = prepared.collect::<Result<Vec<_>>>()?;
            line.lock().expect("no taker panics").arrive(info.index, total as u64, prepared)
        })
    });
    let mut line = line.into_inner().expect("no taker panicked");
    match (read, line.failure.take()) {
        (_, Some(failure)) => return Err(failure),
        (Err(error), None) => return Err(E::from(error.into())),
        (Ok(read), None) => read.map_err(E::from)?,
    };
    line.hand_over(1)?;
    let rejects = rejects.map(|rejects| rejects.into_inner().expect("no writer panicked"));
    Ok(rejects.map_or(Ok(0), Rejects::finish)?)
}

/// Where blocks wait until it is their turn.
struct Line<P, E, T> {
    /// The block that is awaited, and how many records came before it.
    next: usize,
    before: u64,
    arrived: BTreeMap<usize, (u64, Vec<Prepared<P>>)>,
    batch: Vec<Prepared<P>>,
    size: usize,
    take: T,
    failure: Option<E>,
}

impl<P, E, T: FnMut(Vec<Prepared<P>>) -> Result<(), E>> Line<P, E, T> {
    fn arrive(&mut self, index: usize, total: u64, records: Vec<Prepared<P>>) -> Result<()> {
        if self.failure.is_some() {
            return Err(twinset::Error::Cancelled.into());
        }
        self.arrived.insert(index, (total, records));
        while let Some((total, mut records)) = self.arrived.remove(&self.next) {
            records.iter_mut().for_each(|record| record.number += self.before);
            self.before += total;
            self.next += 1;
            self.batch.append(&mut records);
            if let Err(failure) = self.hand_over(self.size) {
                self.failure.get_or_insert(failure);
                // This ends the reading; the failure itself is returned then.
                return Err(twinset::Error::Cancelled.into());
            }
        }
        Ok(())
    }

    /// Hands on what has gathered, as long as that is so much.
    fn hand_over(&mut self, least: usize) -> Result<(), E> {
        while self.batch.len() >= least.max(1) {
            let rest = self.batch.split_off(self.size.min(self.batch.len()));
            (self.take)(std::mem::replace(&mut self.batch, rest))?;
        }
        Ok(())
    }
}
