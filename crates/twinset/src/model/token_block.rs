//! Records whose tokens have ids, but no ranks yet.

/// A run of tokenised records, to be made into [`TokenSets`](super::TokenSets) together with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenBlock {
    /// How many ids each record has.
    pub(crate) lengths: Vec<u32>,
    /// The ids of all records, one after the other.
    pub(crate) ids: Vec<u32>,
}

impl TokenBlock {
    /// Keeps only the records whose positions in the block pass.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (mut lengths, mut ids, mut start) = (Vec::new(), Vec::new(), 0);
        for (position, &length) in self.lengths.iter().enumerate() {
            let end = start + length as usize;
            if keep(position) {
                lengths.push(length);
                ids.extend_from_slice(&self.ids[start..end]);
            }
            start = end;
        }
        (self.lengths, self.ids) = (lengths, ids);
    }
}
