//! Values that were seen a short while ago, so that a column with few of them, or with runs, is looked at once for each.

/// A small table of recent values, which forgets an older one where a newer needs its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecentValues {
    places: Vec<RecentValue>,
    looks: u64,
    hits: u64,
    /// Whether so many looks were in vain that it has given up.
    is_off: bool,
}

/// A value: the hash of its raw text, what it became, and how often it came again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecentValue {
    raw: u64,
    pub(crate) value: u64,
    pub(crate) count: u64,
    is_taken: bool,
}

const PLACES: usize = 4096;
/// After so many looks it is seen whether they are worth it.
const TRIAL: u64 = 1 << 16;
/// One in so many must be a hit.
const WORTH: u64 = 4;

impl RecentValues {
    /// Returns the value of a text that is in the table, by the text's hash, and counts the repeat.
    #[inline]
    pub(crate) fn repeated(&mut self, raw: u64) -> Option<u64> {
        if self.is_off {
            return None;
        }
        self.looks += 1;
        let place = self.places.get_mut(raw as usize % PLACES)?;
        if place.raw == raw && place.is_taken {
            place.count += 1;
            self.hits += 1;
            return Some(place.value);
        }
        None
    }

    /// Remembers what a new text became. Returns what was forgotten for it.
    #[inline]
    pub(crate) fn remember(&mut self, raw: u64, value: u64) -> Option<RecentValue> {
        if self.is_off {
            return None;
        }
        if self.places.is_empty() {
            // Short columns need none of this.
            if self.looks < PLACES as u64 {
                return None;
            }
            self.places = vec![RecentValue::default(); PLACES];
        }
        let place = &mut self.places[raw as usize % PLACES];
        let before = std::mem::replace(place, RecentValue { raw, value, count: 0, is_taken: true });
        (before.count > 0).then_some(before)
    }

    /// Whether this text was seen a short while ago; it is remembered if not.
    #[inline]
    pub(crate) fn is_seen(&mut self, raw: u64) -> bool {
        if self.repeated(raw).is_some() {
            return true;
        }
        self.remember(raw, 0);
        self.settle();
        false
    }

    /// What is to be counted when it turns out that looking is not worth it.
    #[inline]
    pub(crate) fn settle(&mut self) -> Vec<RecentValue> {
        if self.is_off || self.looks < TRIAL {
            return Vec::new();
        }
        let is_worth = self.hits >= self.looks / WORTH;
        (self.looks, self.hits) = (PLACES as u64, 0);
        if is_worth {
            return Vec::new();
        }
        self.is_off = true;
        self.forget()
    }

    /// Forgets everything. Returns what is to be counted.
    pub(crate) fn forget(&mut self) -> Vec<RecentValue> {
        std::mem::take(&mut self.places).into_iter().filter(|place| place.count > 0).collect()
    }
}
