//! OR: every record that shares a value is a candidate.

use tantivy::{DocId, DocSet, TERMINATED};

use super::segment::Segment;
use crate::Result;

pub(super) fn candidates(segment: &Segment, values: &[u64], visit: &mut dyn FnMut(DocId) -> Result<()>) -> Result<()> {
    let mut documents = Vec::new();
    for mut list in segment.lists(values)? {
        while list.doc() != TERMINATED {
            documents.push(list.doc());
            list.advance();
        }
    }
    documents.sort_unstable();
    documents.dedup();
    documents.into_iter().try_for_each(visit)
}
