//! What is kept of one block, until all are there.

use twinset::support::Strings;
use twinset::tokenize::TokenBlock;

use crate::read::Record;
use crate::uniques::Uniques;

/// What is kept of one block.
pub(super) struct LoadedBlock {
    pub(super) collection: usize,
    /// The position of its file in the collection, and the file's name.
    pub(super) file_at: usize,
    pub(super) file: String,
    /// The records' names, where any has one; an unnamed record has an empty one, and `unnamed` says so.
    pub(super) names: Option<Strings>,
    pub(super) unnamed: Vec<usize>,
    /// The line of the first record.
    pub(super) first_line: u64,
    /// The lines of all records, unless each has one.
    pub(super) lines: Vec<u64>,
    /// Positions of bad records among all of the block.
    pub(super) bad: Vec<usize>,
    /// Positions of good records that were taken out later.
    pub(super) removed: Vec<usize>,
    /// What is kept of the texts: of each record, or of each new text.
    pub(super) tokens: TokenBlock,
    pub(super) texts: Strings,
    /// The number of each record's text, and which of these are new here, if texts are kept once.
    pub(super) numbers: Vec<u32>,
    pub(super) new: Vec<u32>,
    /// How long each record's text is, if that is kept.
    pub(super) lengths: Vec<u32>,
    pub(super) extra: Vec<Strings>,
    pub(super) records: usize,
}

impl LoadedBlock {
    /// Numbers the texts of all records, and tells which of them are new.
    pub(super) fn number_texts(
        &mut self,
        records: &[Record<'_>],
        uniques: &Uniques,
        apart: Option<usize>,
    ) -> Vec<bool> {
        let is_new = records.iter().map(|record| {
            let field = apart.map_or("", |at| record.extra[at].as_ref());
            let (number, is_new) = uniques.number(self.collection, &record.text, field);
            self.numbers.push(number);
            if is_new {
                self.new.push(number);
            }
            is_new
        });
        is_new.collect()
    }

    /// The numbers of the good records among all of the block, from 1.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let all = 0..self.records + self.bad.len();
        all.filter(|position| self.bad.binary_search(position).is_err()).map(|position| position as u64 + 1)
    }

    /// The names of all records, which are their numbers where nothing names them; `before` of the collection's records
    /// come before the block's.
    pub(super) fn complete_names(&mut self, before: u64) -> Strings {
        match self.names.take() {
            Some(names) if self.unnamed.is_empty() => names,
            names => {
                let named = |position: usize| {
                    names
                        .as_ref()
                        .filter(|_| self.unnamed.binary_search(&position).is_err())
                        .map(|all| all.get(position))
                };
                let name = |(position, number): (usize, u64)| {
                    named(position).map_or_else(|| (before + number).to_string(), str::to_owned)
                };
                self.numbers().enumerate().map(name).collect()
            }
        }
    }

    /// The line of a record.
    pub(super) fn line(&self, position: usize) -> u64 {
        self.lines.get(position).copied().unwrap_or(self.first_line + position as u64)
    }

    /// Takes records out.
    pub(super) fn remove(&mut self, positions: &[usize]) {
        if positions.is_empty() {
            return;
        }
        let keep = |position: usize| positions.binary_search(&position).is_err();
        for strings in &mut self.extra {
            *strings = without(std::mem::take(strings), positions);
        }
        if self.numbers.is_empty() {
            self.texts = without(std::mem::take(&mut self.texts), positions);
            self.tokens.retain(keep);
        }
        for numbers in [&mut self.numbers, &mut self.lengths] {
            let mut at = 0..;
            numbers.retain(|_| at.next().is_some_and(keep));
        }
        self.removed.extend(positions);
        self.records -= positions.len();
    }
}

/// The strings but for those at some positions.
pub(super) fn without(strings: Strings, positions: &[usize]) -> Strings {
    if positions.is_empty() {
        return strings;
    }
    let kept = strings.iter().enumerate().filter(|(position, _)| positions.binary_search(position).is_err());
    kept.map(|(_, string)| string).collect()
}
