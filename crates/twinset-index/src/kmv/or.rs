//! OR: every record that shares a value is a candidate.

use tantivy::{DocId, DocSet, TERMINATED};

use super::segment::Segment;
use crate::Result;

/// One list after the other, so that it does not matter how many there are; `least` is 1, but for those that have no other
/// way to walk so many.
pub(super) fn candidates(
    segment: &Segment,
    values: &[u64],
    least: usize,
    visit: &mut dyn FnMut(DocId) -> Result<()>,
) -> Result<()> {
    let mut shared = vec![0u32; segment.documents_ever() as usize];
    for &value in values {
        let Some(mut list) = segment.list(value)? else { continue };
        while list.doc() != TERMINATED {
            shared[list.doc() as usize] += 1;
            list.advance();
        }
    }
    let documents = (0..).zip(shared).filter(|&(_, shared)| shared as usize >= least);
    documents.map(|(document, _)| document).try_for_each(visit)
}
