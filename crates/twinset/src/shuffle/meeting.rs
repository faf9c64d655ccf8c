//! Where sets meet that share a token.

use crate::model::{Bounds, Collections, Side};

use super::card::Card;
use super::{SetName, Shuffle};

/// Takes cards in the order of their meetings, and holds those of one meeting at a time.
///
/// See the example of [`Shuffle`](super::Shuffle).
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

    /// Takes a card. If it is the first of another meeting, gives the candidates of the one before.
    pub fn take(&mut self, meeting: u64, card: Card<'static>) -> Option<Candidates> {
        let ended = match self.current.replace(meeting) {
            Some(current) if current != meeting => Some(self.finish()),
            _ => None,
        };
        self.cards.push(card);
        ended
    }

    /// The candidates of the last meeting.
    pub fn finish(&mut self) -> Candidates {
        let mut cards = std::mem::take(&mut self.cards);
        cards.sort_unstable_by_key(|card| (card.token, card.size, card.set, card.side as u8));
        cards.dedup_by_key(|card| (card.token, card.set, card.side as u8));
        Candidates {
            bounds: self.bounds,
            collections: self.collections,
            cards,
            next: 0,
            end: 0,
            in_parts: false,
            indexed: Vec::new(),
            probe: 0,
            position: 0,
        }
    }
}

/// The sets of a meeting that may be pairs, found one by one: there can be as many as the square of its cards.
///
/// See the example of [`Shuffle`](super::Shuffle).
pub struct Candidates {
    bounds: Bounds,
    collections: Collections,
    /// In order of tokens, those of a token in order of size.
    cards: Vec<Card<'static>>,
    /// The first card that has not looked for others yet.
    next: usize,
    /// Where the cards of the current token end.
    end: usize,
    /// Whether the current token's sets come in parts, of which two meet here.
    in_parts: bool,
    /// Which cards of the current token are indexed.
    indexed: Vec<usize>,
    /// The card that looks for others, and how far among the indexed ones it has come.
    probe: usize,
    position: usize,
}

impl Iterator for Candidates {
    type Item = (SetName, SetName);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.next_of_probe() {
                return Some(found);
            }
            self.turn()?;
        }
    }
}

impl Candidates {
    /// The next candidate of the card that looks for others.
    fn next_of_probe(&mut self) -> Option<(SetName, SetName)> {
        while let Some(&indexed) = self.indexed.get(self.position) {
            let (x, y) = (&self.cards[self.probe], &self.cards[indexed]);
            if (y.size, y.set) >= (x.size, x.set) {
                return None;
            }
            self.position += 1;
            let is_asked = match self.collections {
                Collections::One => true,
                Collections::Two => x.side != y.side,
            };
            if is_asked && !(self.in_parts && x.part == y.part) && self.may_be_pair(x, y) {
                return Some(match self.collections {
                    Collections::Two if x.side == Side::Right => (y.set, x.set),
                    Collections::Two => (x.set, y.set),
                    Collections::One => (x.set.min(y.set), x.set.max(y.set)),
                });
            }
        }
        None
    }

    /// Turns to the next card that looks for others, which may be one of another token; `None` if there is none.
    fn turn(&mut self) -> Option<()> {
        loop {
            let card = self.cards.get(self.next)?;
            if self.next == self.end {
                let cards = self.cards[self.end..].iter().take_while(|other| other.token == card.token);
                self.in_parts = cards.clone().any(|other| other.part != card.part);
                self.indexed.clear();
                self.indexed
                    .extend((self.end..).zip(cards.clone()).filter(|(_, card)| card.is_indexed).map(|(at, _)| at));
                self.end += cards.count();
            }
            self.probe = self.next;
            self.next += 1;
            if card.probes {
                let shortest = *self.bounds.partner_sizes(card.size, card.side).start();
                self.position = self.indexed.partition_point(|&indexed| self.cards[indexed].size < shortest);
                return Some(());
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
