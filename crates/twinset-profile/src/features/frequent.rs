//! The most frequent values of a feature that has too many to count them all.
//!
//! Every value votes in one of a few places: for whoever stands there, or against. Who makes up more than half of the votes of a
//! place stands there in the end (Boyer and Moore), so each value that is clearly more frequent than one row in a few hundred is found.

/// Counts the values that are frequent, in fixed memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrequentValues {
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    value: u64,
    votes: u64,
    /// How often it occurred since it stands here.
    seen: u64,
    length: u8,
    text: [u8; TEXT],
}

const PLACES: usize = 256;
/// Of a text, so many bytes are kept.
const TEXT: usize = 47;

impl FrequentValues {
    /// Counts a value that stands for a text.
    #[inline]
    pub(crate) fn insert(&mut self, value: u64, text: &[u8]) {
        if self.places.is_empty() {
            self.places = vec![Place { value: 0, votes: 0, seen: 0, length: 0, text: [0; TEXT] }; PLACES];
        }
        let place = &mut self.places[(value >> 32) as usize % PLACES];
        if place.value == value && place.seen > 0 {
            place.votes += 1;
            place.seen += 1;
        } else if place.votes > 0 {
            place.votes -= 1;
        } else {
            let length = text.len().min(TEXT);
            (place.value, place.votes, place.seen, place.length) = (value, 1, 1, text.len().min(TEXT + 1) as u8);
            place.text[..length].copy_from_slice(&text[..length]);
        }
    }

    /// The values that occurred most often, and how often at least.
    pub(crate) fn most(&self, count: usize) -> Vec<(String, u64)> {
        let mut places: Vec<&Place> = self.places.iter().filter(|place| place.seen > 1 && place.votes > 0).collect();
        places.sort_by_key(|place| (std::cmp::Reverse(place.seen), place.value));
        let text = |place: &Place| {
            let length = place.length as usize;
            let text = String::from_utf8_lossy(&place.text[..length.min(TEXT)]);
            if length > TEXT { format!("{}…", text.trim_end_matches('\u{fffd}')) } else { text.into_owned() }
        };
        places.into_iter().take(count).map(|place| (text(place), place.seen)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_values_are_found_among_many() {
        let mut frequent = FrequentValues::default();
        for number in 0..100_000_u64 {
            let text = match number % 20 {
                0..4 => "often".to_owned(),
                4 => "sometimes, and longer than can be kept of a value in its place".to_owned(),
                _ => number.to_string(),
            };
            frequent.insert(twinset::tokenize::token_hash(text.as_bytes(), 1), text.as_bytes());
        }
        let most = frequent.most(2);
        assert_eq!(most[0].0, "often");
        assert!((19_000..=20_000).contains(&most[0].1), "{most:?}");
        assert_eq!(most[1].0, "sometimes, and longer than can be kept of a val…");
    }
}
