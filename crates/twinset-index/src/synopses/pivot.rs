//! Pivot: with n values to share, no record before the n-th list's next one can have them, and all lists skip to that.

use tantivy::postings::SegmentPostings;
use tantivy::{DocId, DocSet, TERMINATED};

use super::segment::Segment;
use crate::Result;

pub(super) fn candidates(
    segment: &Segment,
    values: &[u64],
    least: usize,
    visit: &mut dyn FnMut(DocId) -> Result<()>,
) -> Result<()> {
    // The lists, by the record that each leads to next.
    let mut lists: Vec<(DocId, SegmentPostings)> =
        segment.lists(values)?.into_iter().map(|list| (list.doc(), list)).collect();
    lists.sort_unstable_by_key(|list| list.0);
    while lists.len() >= least {
        let pivot = lists[least - 1].0;
        let before = lists.iter().take_while(|list| list.0 < pivot).count();
        let target = if before == 0 {
            visit(pivot)?;
            pivot + 1
        } else {
            pivot
        };
        let moved = lists.iter().take_while(|list| list.0 < target).count();
        for (document, list) in &mut lists[..moved] {
            *document = list.seek(target);
        }
        lists.sort_by_key(|list| list.0);
        let ended = lists.partition_point(|list| list.0 != TERMINATED);
        lists.truncate(ended);
    }
    Ok(())
}
