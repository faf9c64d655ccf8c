//! Values of several features, as they were read.

use crate::Limits;

/// Some values of each of several features. All lie in one buffer.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub(super) bytes: Vec<u8>,
    /// For each feature, where its values lie.
    pub(super) cells: Vec<Vec<Cell>>,
    /// How many values were pushed.
    pub(super) pushed: usize,
}

/// Where a value lies; nowhere if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Cell {
    pub(super) const NONE: Self = Self { start: 1, end: 0 };
}

impl Batch {
    /// Without a value, of so many features.
    pub fn new(features: usize) -> Self {
        Self { bytes: Vec::new(), cells: vec![Vec::new(); features], pushed: 0 }
    }

    /// How many features it knows.
    pub fn features(&self) -> usize {
        self.cells.len()
    }

    /// About how many bytes the values that were pushed take.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of::<Cell>() * self.pushed
    }

    /// Adds a value of a feature, or that it has none here. All values of a batch take less than 4 GiB.
    pub fn push(&mut self, feature: usize, value: Option<&[u8]>) {
        if self.cells.len() <= feature {
            self.cells.resize_with(feature + 1, Vec::new);
        }
        let cell = value.map_or(Cell::NONE, |value| {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(value);
            Cell { start, end: self.bytes.len() as u32 }
        });
        self.cells[feature].push(cell);
        self.pushed += 1;
    }

    /// Adds the values that another batch has of some features.
    pub fn append(&mut self, other: &Self, is_wanted: impl Fn(usize) -> bool) {
        for feature in (0..other.features()).filter(|&feature| is_wanted(feature)) {
            other.values(feature).for_each(|value| self.push(feature, value));
        }
    }

    /// The same values, with the features at other places.
    pub(super) fn placed(mut self, places: &[usize], width: usize) -> Self {
        let mut cells = vec![Vec::new(); width];
        for (own, &place) in self.cells.iter_mut().zip(places) {
            cells[place] = std::mem::take(own);
        }
        Self { bytes: self.bytes, cells, pushed: self.pushed }
    }

    /// The values of a feature, in order.
    pub fn values(&self, feature: usize) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        let cells = self.cells.get(feature).map_or(&[][..], Vec::as_slice);
        cells.iter().map(|cell| self.bytes.get(cell.start as usize..cell.end as usize))
    }
}

/// A run of values is handed on when it takes about so many bytes.
pub(super) const ENOUGH: usize = 1 << 19;

/// The longest row that is profiled: all values of a batch are found by 32 bits.
pub fn largest_row(limits: &Limits) -> u64 {
    limits.record.min(1 << 30)
}

/// What is said of a longer one.
pub fn long_row(largest: u64) -> String {
    format!("the row is longer than {largest} bytes; --max-record allows more, 1G at most")
}
