//! Pivot: with n values to share, no record before the n-th list's next one can have them, and all lists skip to that.

use tantivy::{DocId, DocSet, TERMINATED};

use super::segment::Segment;
use crate::Result;

pub(super) fn candidates(
    segment: &Segment,
    values: &[u64],
    least: usize,
    visit: &mut dyn FnMut(DocId) -> Result<()>,
) -> Result<()> {
    let mut lists = segment.lists(values)?;
    // The record that each list leads to next, in order.
    let mut frontier: Vec<(DocId, usize)> = lists.iter().enumerate().map(|(at, list)| (list.doc(), at)).collect();
    frontier.sort_unstable();
    let mut moved = Vec::new();
    while frontier.len() >= least {
        let pivot = frontier[least - 1].0;
        let target = if frontier[0].0 == pivot {
            visit(pivot)?;
            pivot + 1
        } else {
            pivot
        };
        // Those that were before it skip to it, and are put in their places among the others.
        let behind = frontier.partition_point(|&(document, _)| document < target);
        moved.clear();
        moved.extend(frontier.drain(..behind).map(|(_, at)| (lists[at].seek(target), at)));
        moved.retain(|&(document, _)| document != TERMINATED);
        frontier.extend_from_slice(&moved);
        frontier.sort_unstable();
    }
    Ok(())
}
