//! Where sets meet that share a token.

use crate::model::{Bounds, Collections, Side};

use super::card::Card;
use super::{SetName, Shuffle};

/// Takes cards in the order of their meetings, and tells which sets may be pairs. It holds the cards of one meeting at a time.
pub struct Meeting {
    bounds: Bounds,
    collections: Collections,
    current: Option<u64>,
    cards: Vec<Card<'static>>,
}

impl Meeting {
    /// Of the sets of a join.
    pub fn new(shuffle: &Shuffle) -> Self {
        Self { bounds: shuffle.bounds, collections: shuffle.collections, current: None, cards: Vec::new() }
    }

    /// Takes a card. If it is the first of another meeting, `found` is called for the sets of the one before.
    pub fn take(&mut self, meeting: u64, card: Card<'static>, found: impl FnMut(SetName, SetName)) {
        if self.current != Some(meeting) {
            self.finish(found);
            self.current = Some(meeting);
        }
        self.cards.push(card);
    }

    /// Calls `found` for the sets of the last meeting.
    pub fn finish(&mut self, mut found: impl FnMut(SetName, SetName)) {
        let mut cards = std::mem::take(&mut self.cards);
        cards.sort_unstable_by_key(|card| (card.token, card.size, card.set, card.side as u8));
        cards.dedup_by_key(|card| (card.token, card.set, card.side as u8));
        for cards in cards.chunk_by(|a, b| a.token == b.token) {
            self.compare(cards, &mut found);
        }
    }

    /// The cards of one token, in order of size.
    fn compare(&self, cards: &[Card<'_>], found: &mut impl FnMut(SetName, SetName)) {
        let indexed: Vec<&Card<'_>> = cards.iter().filter(|card| card.is_indexed).collect();
        let in_parts = cards.iter().any(|card| card.part != cards[0].part);
        for x in cards.iter().filter(|card| card.probes) {
            let shortest = *self.bounds.partner_sizes(x.size, x.side).start();
            let first = indexed.partition_point(|card| card.size < shortest);
            for y in &indexed[first..] {
                if (y.size, y.set) >= (x.size, x.set) {
                    break;
                }
                let is_asked = match self.collections {
                    Collections::One => true,
                    Collections::Two => x.side != y.side,
                };
                if is_asked && !(in_parts && x.part == y.part) && self.may_be_pair(x, y) {
                    match self.collections {
                        Collections::Two if x.side == Side::Right => found(y.set, x.set),
                        Collections::Two => found(x.set, y.set),
                        Collections::One => found(x.set.min(y.set), x.set.max(y.set)),
                    }
                }
            }
        }
    }

    fn may_be_pair(&self, x: &Card<'_>, y: &Card<'_>) -> bool {
        let (left, right) = if x.side == Side::Left { (x, y) } else { (y, x) };
        let Some(distance) = self.bounds.max_hamming(left.size, right.size) else { return false };
        // A pair meets at its first common token, and what follows there must suffice.
        let follow = |card: &Card<'_>| card.size.saturating_sub(card.position);
        follow(x).min(follow(y)) >= self.bounds.min_overlap(left.size, right.size) && x.distance(y) <= distance
    }
}
