//! What the records of a collection are called.

use std::borrow::Cow;

use twinset::support::Strings;

/// The names of a collection's records.
#[derive(Debug, Clone)]
pub enum Ids {
    /// Their numbers, from 1.
    Numbered(u64),
    /// Their numbers, some of which are missing as the records were bad.
    Numbers(Vec<u64>),
    /// What a field names them.
    Names(Names),
    /// Those of a table in memory, and the rows they are; without these, each record is the row of its position.
    Rows(Box<Ids>, Vec<u64>),
}

/// Names in the blocks in which they were read.
#[derive(Debug, Clone, Default)]
pub struct Names {
    blocks: Vec<Strings>,
    /// The position of each block's first name, and the number of all.
    starts: Vec<usize>,
}

impl Names {
    /// Adds the names of a block.
    pub(crate) fn push(&mut self, block: Strings) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(self.len() + block.len());
        self.blocks.push(block);
    }

    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The name at a position.
    pub(crate) fn get(&self, position: usize) -> &str {
        let block = self.starts.partition_point(|&start| start <= position) - 1;
        self.blocks[block].get(position - self.starts[block])
    }

    fn bytes(&self) -> u64 {
        self.blocks.iter().map(Strings::bytes).sum()
    }
}

impl Ids {
    /// How many records there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbered(count) => *count as usize,
            Self::Numbers(numbers) => numbers.len(),
            Self::Names(names) => names.len(),
            Self::Rows(names, _) => names.len(),
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the record at a position.
    pub fn get(&self, position: usize) -> Cow<'_, str> {
        match self {
            Self::Numbered(_) => Cow::Owned((position + 1).to_string()),
            Self::Numbers(numbers) => Cow::Owned(numbers[position].to_string()),
            Self::Names(names) => Cow::Borrowed(names.get(position)),
            Self::Rows(names, _) => names.get(position),
        }
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Numbered(_) => 0,
            Self::Numbers(numbers) => 8 * numbers.len() as u64,
            Self::Names(names) => names.bytes(),
            Self::Rows(names, rows) => names.bytes() + 8 * rows.len() as u64,
        }
    }

    /// Whether a field names the records.
    pub fn are_named(&self) -> bool {
        match self {
            Self::Numbered(_) | Self::Numbers(_) => false,
            Self::Names(_) => true,
            Self::Rows(names, _) => names.are_named(),
        }
    }

    /// Whether the records are rows of a table in memory.
    pub fn are_rows(&self) -> bool {
        matches!(self, Self::Rows(..))
    }

    /// The row of the record at a position, where the records are rows of a table in memory.
    pub fn row(&self, position: usize) -> u64 {
        match self {
            Self::Rows(_, rows) => rows.get(position).copied().unwrap_or(position as u64),
            _ => position as u64,
        }
    }

    /// The same, known to be those of a table in memory of which these rows were left out.
    pub(crate) fn of_rows(self, left_out: &[u64]) -> Self {
        let mut rows = Vec::new();
        if !left_out.is_empty() {
            let all = 0..(self.len() + left_out.len()) as u64;
            rows.extend(all.filter(|row| left_out.binary_search(row).is_err()));
        }
        Self::Rows(Box::new(self), rows)
    }

    /// The position of the record with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        (0..self.len()).find(|&position| self.get(position) == name)
    }
}
