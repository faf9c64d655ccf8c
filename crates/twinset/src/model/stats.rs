//! What a run did, in numbers.

use serde::Serialize;

/// What a join did. Serialises to the object that `--stats` writes.
///
/// See the example of [`count`](crate::exact::count).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// The algorithm that ran.
    pub algorithm: String,
    /// Why it was chosen, where the choice was left open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_because: Option<String>,
    /// Records read.
    pub records: u64,
    /// Records without tokens; they take part only when asked for.
    pub empty_records: u64,
    /// Records that took no part as they share too few tokens with the other collection to have a partner.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_partner: u64,
    /// Different sets that took part.
    pub distinct_sets: u64,
    /// In how many parts the sets were joined, where memory was limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<u64>,
    /// Tokens of all records.
    pub tokens: u64,
    /// Different tokens.
    pub distinct_tokens: u64,
    /// Candidates after each filter, in the order in which the filters apply.
    pub candidates: CandidateCounts,
    /// Pairs found.
    pub pairs: u64,
    /// Groups of at least two records, where near duplicates were grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// Records kept, where near duplicates were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// Wall-clock time of each stage.
    pub seconds: Seconds,
    /// The most memory that the process held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How many pairs of different sets were left after each filter; `None` where the algorithm has no such filter.
///
/// See the example of [`count`](crate::exact::count).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CandidateCounts {
    /// Pairs compared without any filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<u64>,
    /// Pairs of suitable sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Pairs of suitable sizes that share a token of their prefixes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<u64>,
    /// Those whose common tokens stand where enough others can follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positional: Option<u64>,
    /// Those whose suffixes can be alike enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suffix: Option<u64>,
    /// Pairs whose signatures are alike enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<u64>,
    /// Pairs of suitable sizes whose labels begin alike in one of the trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<u64>,
}

impl CandidateCounts {
    /// The pairs that had to be verified: what the last filter left.
    pub fn verified(&self) -> u64 {
        let last = [self.label, self.signature, self.suffix, self.positional, self.prefix, self.size, self.all];
        last.into_iter().flatten().next().unwrap_or(0)
    }
}

impl std::ops::AddAssign for CandidateCounts {
    fn add_assign(&mut self, other: Self) {
        let add = |a: &mut Option<u64>, b: Option<u64>| *a = a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        add(&mut self.all, other.all);
        add(&mut self.size, other.size);
        add(&mut self.prefix, other.prefix);
        add(&mut self.positional, other.positional);
        add(&mut self.suffix, other.suffix);
        add(&mut self.signature, other.signature);
        add(&mut self.label, other.label);
    }
}

/// Wall-clock seconds of each stage.
///
/// See the example of [`count`](crate::exact::count).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Reading, decompressing and parsing the input.
    pub read: f64,
    /// Turning texts into token sets.
    pub tokenize: f64,
    /// Finding the pairs.
    pub join: f64,
    /// Writing the result.
    pub write: f64,
}
