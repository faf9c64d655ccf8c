//! Cuts a text into tokens.
//!
//! Tokens are pushed as ranges of a buffer that holds the text in the form in which it is compared, so that a token
//! is never a string of its own.

use unicode_normalization::char::is_combining_mark;

use super::TokenKind;

/// Whether a text has nothing to compare. White space is nothing.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Appends the tokens of `text` to `buffer` and reports where each lies in it. Of shingles, the words: see [`join_runs`].
pub(super) fn tokens(text: &str, kind: TokenKind, buffer: &mut Vec<u8>, mut push: impl FnMut(usize, usize)) {
    match kind {
        // Shingles are made of words.
        TokenKind::Words | TokenKind::Shingles(_) => words(text, buffer, push),
        TokenKind::QGrams(_) if is_blank(text) => {}
        TokenKind::QGrams(length) => {
            let from = buffer.len();
            lower_with_single_spaces(text, buffer);
            grams(&buffer[from..], length.get() as usize, |start, end| push(from + start, from + end));
        }
        TokenKind::Lines => {
            for line in text.lines().filter(|line| !is_blank(line)) {
                push_bytes(line, buffer, &mut push);
            }
        }
        TokenKind::Items => {
            for item in text.split_whitespace() {
                push_bytes(item, buffer, &mut push);
            }
        }
    }
}

/// Turns words into runs of so many, with one space between each two; fewer words are a single run. The buffer then holds
/// the words once more.
pub(super) fn join_runs(length: usize, buffer: &mut Vec<u8>, ranges: &mut Vec<(usize, usize)>) {
    let mut joined = Vec::with_capacity(buffer.len());
    for range in &mut *ranges {
        let start = joined.len();
        joined.extend_from_slice(&buffer[range.0..range.1]);
        *range = (start, joined.len());
        joined.push(b' ');
    }
    *buffer = joined;
    let length = length.min(ranges.len()).max(1);
    *ranges = ranges.windows(length).map(|run| (run[0].0, run[length - 1].1)).collect();
}

fn push_bytes(token: &str, buffer: &mut Vec<u8>, push: &mut impl FnMut(usize, usize)) {
    let start = buffer.len();
    buffer.extend_from_slice(token.as_bytes());
    push(start, buffer.len());
}

/// Lower-cased words.
fn words(text: &str, buffer: &mut Vec<u8>, mut push: impl FnMut(usize, usize)) {
    let from = buffer.len();
    if text.is_ascii() {
        buffer.extend_from_slice(text.as_bytes());
        buffer[from..].make_ascii_lowercase();
        return ascii_words(&buffer[from..], |start, end| push(from + start, from + end));
    }
    let mut start = None;
    lower(text, |letter| {
        if letter.is_alphanumeric() || letter == '_' || is_combining_mark(letter) {
            start.get_or_insert(buffer.len());
        } else if let Some(first) = start.take() {
            push(first, buffer.len());
        }
        push_char(letter, buffer);
    });
    if let Some(first) = start {
        push(first, buffer.len());
    }
}

/// Words begin and end where a byte belongs to a word and its neighbour does not: 64 bytes are looked at together, so
/// that the processor need not guess where a word ends.
fn ascii_words(text: &[u8], mut push: impl FnMut(usize, usize)) {
    let (mut start, mut last) = (None, 0u64);
    for (chunk, at) in text.chunks(64).zip((0..).step_by(64)) {
        let mut word = 0u64;
        for (bit, &byte) in chunk.iter().enumerate() {
            word |= u64::from(IS_WORD[byte as usize]) << bit;
        }
        let mut edges = word ^ (word << 1 | last);
        last = word >> 63;
        while edges != 0 {
            let edge = at + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            match start.take() {
                None => start = Some(edge),
                Some(first) => push(first, edge),
            }
        }
    }
    if let Some(first) = start {
        push(first, text.len());
    }
}

/// Whether an ASCII byte belongs to a word.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// Lower-cases a text, character by character where that is the same.
fn lower(text: &str, mut push: impl FnMut(char)) {
    if text.contains('Σ') {
        // A capital sigma becomes ς at the end of a word and σ elsewhere; only the whole text tells.
        text.to_lowercase().chars().for_each(push);
    } else {
        for letter in text.chars() {
            if letter.is_ascii() {
                push(letter.to_ascii_lowercase());
            } else {
                letter.to_lowercase().for_each(&mut push);
            }
        }
    }
}

fn push_char(letter: char, buffer: &mut Vec<u8>) {
    if letter.is_ascii() {
        buffer.push(letter as u8);
    } else {
        buffer.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn lower_with_single_spaces(text: &str, buffer: &mut Vec<u8>) {
    let mut after_space = false;
    lower(text, |letter| {
        let space = letter.is_whitespace();
        if !space {
            push_char(letter, buffer);
        } else if !after_space {
            buffer.push(b' ');
        }
        after_space = space;
    });
}

/// Every run of `length` characters; all of a shorter, non-empty text.
pub(super) fn grams(text: &[u8], length: usize, mut push: impl FnMut(usize, usize)) {
    if text.is_empty() {
        return;
    }
    // The starts of the characters that the current gram spans, oldest first.
    let is_start = |byte: u8| byte & 0xC0 != 0x80;
    let mut end = 0;
    for _ in 0..length {
        if end == text.len() {
            break;
        }
        end += 1;
        while end < text.len() && !is_start(text[end]) {
            end += 1;
        }
    }
    let mut start = 0;
    push(start, end);
    while end < text.len() {
        end += 1;
        while end < text.len() && !is_start(text[end]) {
            end += 1;
        }
        start += 1;
        while !is_start(text[start]) {
            start += 1;
        }
        push(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, kind: &str) -> Vec<String> {
        let mut buffer = b"earlier text ".to_vec();
        let (mut ranges, kind) = (Vec::new(), kind.parse().unwrap());
        tokens(text, kind, &mut buffer, |start, end| ranges.push((start, end)));
        if let TokenKind::Shingles(length) = kind {
            join_runs(length.get() as usize, &mut buffer, &mut ranges);
        }
        ranges.into_iter().map(|(start, end)| String::from_utf8(buffer[start..end].to_vec()).unwrap()).collect()
    }

    #[test]
    fn every_kind_cuts_as_documented() {
        for (kind, text, expected) in [
            ("words", "Yes, as_soon as\tPOSSIBLE-42!", &["yes", "as_soon", "as", "possible", "42"][..]),
            ("words", "Straße ÉCOLE ΟΔΟΣ", &["straße", "école", "οδος"]),
            // A letter with a combining mark stays in one piece.
            ("words", "cafe\u{301} noir", &["cafe\u{301}", "noir"]),
            ("words", "... !", &[]),
            ("words", "日本語 x²", &["日本語", "x²"]),
            ("qgrams:3", "Ab \n cd", &["ab ", "b c", " cd"]),
            ("qgrams:2", "né", &["né"]),
            ("qgrams:2", "néz", &["né", "éz"]),
            ("qgrams:5", "abc", &["abc"]),
            ("qgrams:5", "", &[]),
            ("qgrams:1", " \t\n", &[]),
            ("qgrams:3", " \u{a0}\u{3000}", &[]),
            ("shingles:2", "The quick, brown fox", &["the quick", "quick brown", "brown fox"]),
            ("shingles:4", "Too short", &["too short"]),
            ("shingles:2", "?!", &[]),
            ("lines", "One\r\n\n \t\nTwo words\n", &["One", "Two words"]),
            ("lines", " \n\t", &[]),
            ("items", " 12  A-b\tÇ ", &["12", "A-b", "Ç"]),
        ] {
            assert_eq!(cut(text, kind), expected, "{kind} of {text:?}");
        }
    }

    /// Text that is not ASCII takes another path; it must cut ASCII parts in the same way.
    #[test]
    fn ascii_and_other_text_are_cut_alike() {
        let text = "It's a TEST_case: 3.14, x--y\u{7f} \u{b}z";
        for kind in ["words", "qgrams:3", "shingles:3", "items", "lines"] {
            let both = cut(&format!("{text}\nЖ"), kind);
            for token in cut(text, kind) {
                assert!(both.contains(&token), "{kind}: {token:?} not in {both:?}");
            }
        }
    }
}
