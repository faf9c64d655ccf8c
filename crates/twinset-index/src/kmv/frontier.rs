//! Frontier: all lists are walked together from one record to the next, so it is known how many lead to each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    let mut frontier: BinaryHeap<Reverse<(DocId, usize)>> =
        lists.iter().enumerate().map(|(at, list)| Reverse((list.doc(), at))).collect();
    while let Some(&Reverse((document, _))) = frontier.peek() {
        let mut shared = 0;
        while let Some(mut first) = frontier.peek_mut()
            && first.0.0 == document
        {
            shared += 1;
            let at = first.0.1;
            match lists[at].advance() {
                TERMINATED => drop(std::collections::binary_heap::PeekMut::pop(first)),
                next => first.0 = (next, at),
            }
        }
        if shared >= least {
            visit(document)?;
        }
    }
    Ok(())
}
