//! Joins of collections that lie on many machines: what each record sends, and what is done where records meet.
//!
//! Every set sends a [`Card`] to each of its rarest tokens, as far as a pair must share one (Vernica, Carey and Li). A card tells the
//! set's size, where the token stands in it and a signature of the whole, so that the sets of a [`Meeting`] are compared without
//! their tokens, and few of those that are no pair remain. The tokens of the others are fetched once, and compared.
//!
//! Sets are known by a hash of their tokens, so identical records are one set. All this is free of any engine: whoever moves
//! cards to where they meet can join.

mod card;
mod meeting;
mod order;
mod tally;

pub use card::Card;
pub use meeting::{Candidates, Meeting};
pub use order::TokenOrder;
pub use tally::Tally;

use xxhash_rust::xxh3::xxh3_128;

use crate::join::{EstimateOptions, JoinOptions, Method};
use crate::model::{Bounds, Collections, Error, Measure, Result, Side};
use crate::sketch::{Interval, MinHasher};
use crate::support::{fold, intersection_len};
use crate::tokenize::{TokenHasher, TokenOptions, mix};

/// A set's name: 128 bits of hash of its tokens, so that different sets have different names, for all that ever happens.
///
/// See the example of [`Shuffle`].
pub type SetName = u128;

/// A join in pieces: turns texts into sets, sets into cards, cards into candidates, and candidates into pairs.
///
/// ```
/// use twinset::TokenOptions;
/// use twinset::estimate::EstimateOptions;
/// use twinset::exact::{Collections, JoinOptions, Side};
/// use twinset::shuffle::{Meeting, Shuffle, TokenOrder};
///
/// let join = JoinOptions::at("0.6".parse()?);
/// let shuffle = Shuffle::new(&join, &TokenOptions::default(), &EstimateOptions::default(), Collections::One, 0)?;
/// let mut cards = Vec::new();
/// for text in ["a b c d", "a b c e", "x y"] {
///     let mut set = shuffle.set(text)?;
///     shuffle.cards(&mut set, Side::Left, &TokenOrder::default(), |meeting, card| {
///         let mut bytes = Vec::new();
///         card.write(&mut bytes);
///         cards.push((meeting, bytes));
///     });
/// }
/// // An engine brings the cards of a meeting to one machine.
/// cards.sort();
/// let mut meeting = Meeting::new(&shuffle);
/// let mut candidates = Vec::new();
/// for (number, card) in cards {
///     let card = twinset::shuffle::Card::read(&card).expect("it was written as a card");
///     candidates.extend(meeting.take(number, card).into_iter().flatten());
/// }
/// candidates.extend(meeting.finish());
/// candidates.sort();
/// candidates.dedup();
/// assert_eq!(candidates.len(), 1);
/// # Ok::<(), twinset::Error>(())
/// ```
pub struct Shuffle {
    hasher: TokenHasher,
    content: Content,
    measure: Measure,
    bounds: Bounds,
    collections: Collections,
}

/// What the elements of a set are.
enum Content {
    /// Hashes of tokens. A collision that was noticed is avoided by another salt.
    Tokens { salt: u64 },
    /// Entries of a sketch at their places.
    Entries(MinHasher, u32),
}

impl Shuffle {
    /// Checks the options; `salt` chooses among the hashes of tokens.
    pub fn new(
        join: &JoinOptions,
        tokens: &TokenOptions,
        estimate: &EstimateOptions,
        collections: Collections,
        salt: u64,
    ) -> Result<Self> {
        estimate.check_method()?;
        let bad = |text: &str, expected| Err(Error::BadOption { text: text.to_owned(), expected });
        let (joined, content) = match estimate.method {
            Method::Exact if join.measure == Measure::Edit => {
                return bad("edit", "a measure of sets, where records lie on many machines");
            }
            _ if join.top.is_some() || join.best => {
                return bad("--top or --best", "asked where records lie on many machines: choose among the pairs");
            }
            _ if join.empty => {
                return bad("--empty", "asked where records lie on many machines: those without tokens are no pairs");
            }
            Method::Exact => (join.clone(), Content::Tokens { salt }),
            Method::MinHash if estimate.verify => {
                return bad("--verify", "asked where records lie on many machines: find pairs exactly instead");
            }
            Method::MinHash => {
                let permutations = estimate.permutations.get();
                let minima = MinHasher::new(permutations, estimate.seed, false);
                (estimate.for_minhash(join)?, Content::Entries(minima, permutations))
            }
            Method::Lsh | Method::Kmv => {
                return bad(
                    &format!("--method {}", estimate.method),
                    "for records on many machines: say exact or sketch",
                );
            }
        };
        let threshold = joined.threshold.ok_or(Error::NoThreshold)?;
        let bounds = Bounds::new(joined.measure, threshold, collections)?;
        Ok(Self {
            hasher: TokenHasher::new(tokens, estimate.seed)?,
            content,
            measure: joined.measure,
            bounds,
            collections,
        })
    }

    /// The set that stands for a text, sorted.
    pub fn set(&self, text: &str) -> Result<Vec<u64>> {
        let mut set = match &self.content {
            Content::Tokens { salt } => {
                self.hasher.wide_hashes(text)?.into_iter().map(|hash| narrow(hash, *salt)).collect::<Vec<_>>()
            }
            Content::Entries(minima, _) => {
                let sketch = self.hasher.sketch(text, minima)?;
                (0u64..).zip(sketch).map(|(place, entry)| place << 32 | u64::from(entry)).collect()
            }
        };
        set.sort_unstable();
        set.dedup();
        Ok(set)
    }

    /// Counts a text's tokens.
    pub fn count(&self, text: &str, tally: &mut Tally) -> Result<()> {
        match &self.content {
            Content::Tokens { salt } => {
                for hash in self.hasher.wide_hashes(text)? {
                    // One bit less, so that checks have the same order as signed numbers.
                    tally.add(narrow(hash, *salt), (hash >> 65) as u64);
                }
            }
            Content::Entries(..) => self.set(text)?.into_iter().for_each(|entry| tally.add(entry, 0)),
        }
        Ok(())
    }

    /// A set's name.
    pub fn name(set: &[u64]) -> SetName {
        xxh3_128(bytemuck::cast_slice(set))
    }

    /// Whether two records that have the same set of this size form a pair, and their value.
    pub fn twins(&self, size: u32) -> (bool, f64) {
        let agreeing = match self.content {
            Content::Tokens { .. } => size,
            Content::Entries(_, permutations) => permutations,
        };
        (size > 0 && self.bounds.accepts(size, size, size), self.measure.value(agreeing, agreeing, agreeing))
    }

    /// The tokens to which a set sends cards, with the roles that it has there, from rare to frequent; the set is then in this order.
    fn addresses(&self, set: &mut [u64], side: Side, order: &TokenOrder) -> impl Iterator<Item = Address> {
        order.sort(set);
        let size = set.len() as u32;
        let (probing, indexed) = match size {
            0 => (0, 0),
            _ => (self.bounds.probe_prefix(size, side), self.bounds.index_prefix(size, side)),
        };
        let addresses = (0..probing.max(indexed)).map(move |position| Address {
            token: set[position as usize],
            position,
            probes: position < probing,
            is_indexed: position < indexed,
        });
        // Some sets are a pair even with those that they share no token with.
        let meets_all = size > 0 && self.bounds.min_overlap_of(size, side, 1) == 0;
        let without = Address { token: NO_TOKEN, position: 0, probes: true, is_indexed: true };
        addresses.chain(meets_all.then_some(without))
    }

    /// The cards that a set sends, each with the meeting that it is for; the set is then sorted from rare to frequent.
    pub fn cards(&self, set: &mut [u64], side: Side, order: &TokenOrder, mut send: impl FnMut(u64, Card<'_>)) {
        let (name, size) = (Self::name(set), set.len() as u32);
        let signature = card::signature(set);
        for Address { token, position, probes, is_indexed } in self.addresses(set, side, order) {
            let parts = order.parts(token);
            let part = (name as u64 % u64::from(parts)) as u32;
            let card = Card {
                token,
                set: name,
                size,
                position,
                side,
                probes,
                is_indexed,
                part,
                signature: signature.as_slice().into(),
            };
            // Every two parts meet once, and each one with itself.
            for other in 0..parts {
                let (low, high) = (u64::from(part.min(other)), u64::from(part.max(other)));
                let meeting = if parts == 1 { token } else { fold(mix(token), mix(low << 32 | high) | 1) };
                send(meeting, card.clone());
            }
        }
    }

    /// Those tokens to which a set sends cards whose sets come in parts, or may have to.
    pub fn crowded_addresses(&self, set: &mut [u64], side: Side, order: &TokenOrder, mut visit: impl FnMut(u64)) {
        for Address { token, .. } in self.addresses(set, side, order) {
            if token == NO_TOKEN || order.parts(token) > 1 {
                visit(token);
            }
        }
    }

    /// Compares two sets that met, sorted as [`set`](Self::set) gives them, and calls `found` for the one or two rows that they are:
    /// whether they are the other way round, and their value.
    pub fn compare(&self, left: &[u64], right: &[u64], mut found: impl FnMut(bool, f64)) {
        let (x, y, overlap) = (left.len() as u32, right.len() as u32, intersection_len(left, right) as u32);
        let bounds = self.bounds.one_way();
        let is_ordered = self.measure == Measure::Containment;
        if bounds.accepts(x, y, overlap) {
            found(false, self.measure.value(x, y, overlap));
        }
        if is_ordered && self.collections == Collections::One && bounds.accepts(y, x, overlap) {
            found(true, self.measure.value(y, x, overlap));
        }
    }

    /// The value of two sets, whatever the threshold; of containment's two directions, the larger.
    pub fn value(&self, left: &[u64], right: &[u64]) -> f64 {
        let (x, y, overlap) = (left.len() as u32, right.len() as u32, intersection_len(left, right) as u32);
        let (there, back) = (self.measure.value(x, y, overlap), self.measure.value(y, x, overlap));
        if self.measure == Measure::Containment { there.max(back) } else { there }
    }

    /// The estimate and its interval that a value stands for, if values count the entries in which sketches agree.
    pub fn estimate(&self, value: f64) -> Option<Interval> {
        match self.content {
            Content::Tokens { .. } => None,
            Content::Entries(_, permutations) => Some(Interval::of_agreement(value as u32, permutations)),
        }
    }

    /// The measure of the values.
    pub fn measure(&self) -> Measure {
        self.measure
    }
}

/// The token to which sets send cards that need not share any. That another one may have this hash does no harm.
const NO_TOKEN: u64 = u64::MAX;

/// A token to which a set sends a card, where it stands in the set, and what the set does there.
struct Address {
    token: u64,
    position: u32,
    probes: bool,
    is_indexed: bool,
}

/// The 64 bits of a hash by which a token goes.
fn narrow(hash: u128, salt: u64) -> u64 {
    let (low, high) = (hash as u64, (hash >> 64) as u64);
    match salt {
        0 => low,
        _ => fold(low ^ mix(salt), high ^ mix(!salt)),
    }
}
