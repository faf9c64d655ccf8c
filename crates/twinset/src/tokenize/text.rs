//! Cuts a text into tokens.
//!
//! Tokens are pushed as ranges of a buffer that holds the text in the form in which it is compared, so that a token
//! is never a string of its own.

use unicode_normalization::char::is_combining_mark;

use super::TokenKind;
use super::script::{TextForm, is_unspaced, split_unspaced};

/// Whether a text has nothing to compare. White space is nothing.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Appends the tokens of `text` to `buffer` and reports where each lies in it. Of shingles, the words: see [`join_runs`].
pub(super) fn tokens(
    text: &str,
    kind: TokenKind,
    form: TextForm,
    buffer: &mut Vec<u8>,
    mut push: impl FnMut(usize, usize),
) {
    match kind {
        // Shingles are made of words.
        TokenKind::Words | TokenKind::Shingles(_) => words(text, form, buffer, push),
        TokenKind::QGrams(_) if is_blank(text) => {}
        TokenKind::QGrams(length) => {
            let from = buffer.len();
            lower_with_single_spaces(&form.normalize.apply(text), buffer);
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
fn words(text: &str, form: TextForm, buffer: &mut Vec<u8>, mut push: impl FnMut(usize, usize)) {
    if text.is_ascii() {
        return lower_ascii_words(text, buffer, push);
    }
    let text = form.normalize.apply(text);
    // Full-width letters and many signs become ASCII.
    if text.is_ascii() {
        return lower_ascii_words(&text, buffer, push);
    }
    let mut word = None;
    let mut end_word = |word: Option<Word>, buffer: &[u8]| match word {
        Some(Word { start, has_unspaced: true }) => {
            split_unspaced(&buffer[start..], |from, to| push(start + from, start + to));
        }
        Some(Word { start, .. }) => push(start, buffer.len()),
        None => {}
    };
    lower(&text, |letter| {
        // A mark without a letter is no word. NFKC makes some of signs such as `´`.
        let is_mark = is_combining_mark(letter) && (word.is_some() || !form.drops_lone_marks());
        if letter.is_alphanumeric() || letter == '_' || is_mark {
            let word = word.get_or_insert(Word { start: buffer.len(), has_unspaced: false });
            word.has_unspaced |= form.splits_unspaced() && is_unspaced(letter);
        } else {
            end_word(word.take(), buffer);
        }
        push_char(letter, buffer);
    });
    end_word(word, buffer);
}

/// A word whose end is not known yet.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    /// Whether it has letters of a script that is written without spaces, so that it may be several words.
    has_unspaced: bool,
}

fn lower_ascii_words(text: &str, buffer: &mut Vec<u8>, mut push: impl FnMut(usize, usize)) {
    let from = buffer.len();
    buffer.extend_from_slice(text.as_bytes());
    buffer[from..].make_ascii_lowercase();
    ascii_words(&buffer[from..], |start, end| push(from + start, from + end));
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
    use crate::tokenize::script::{Normalize, Segmentation};

    fn cut(text: &str, kind: &str) -> Vec<String> {
        cut_in(TextForm::default(), text, kind)
    }

    fn cut_in(form: TextForm, text: &str, kind: &str) -> Vec<String> {
        let mut buffer = b"earlier text ".to_vec();
        let (mut ranges, kind) = (Vec::new(), kind.parse().unwrap());
        tokens(text, kind, form, &mut buffer, |start, end| ranges.push((start, end)));
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
            // However a letter with an accent is written, it is one letter.
            ("words", "cafe\u{301} noir", &["café", "noir"]),
            ("words", "q\u{303}x", &["q\u{303}x"]),
            ("words", "it´s ＡＢＣ ﬁne…", &["it", "s", "abc", "fine"]),
            ("words", "... !", &[]),
            ("words", "日本語 x²", &["日本語", "x2"]),
            ("words", "近似重复检测，GPT4模型", &["近似", "重复", "检测", "gpt4", "模型"]),
            ("words", "東京タワーへ行く", &["東京", "タワー", "へ", "行く"]),
            ("words", "ภาษาไทย", &["ภาษา", "ไทย"]),
            ("words", "មនុស្សទាំងអស់", &["មនុស្ស", "ទាំងអស់"]),
            ("words", "ພາສາລາວ", &["ພາສາ", "ລາວ"]),
            ("words", "မြန်မာစကား", &["မြန်မာ", "စကား"]),
            ("qgrams:2", "cafe\u{301}", &["ca", "af", "fé"]),
            ("shingles:2", "我们的研究", &["我们 的", "的 研究"]),
            ("items", "cafe\u{301} ＡＢ", &["cafe\u{301}", "ＡＢ"]),
            ("lines", "ﬁne", &["ﬁne"]),
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

    /// What old indexes were made with stays as it was.
    #[test]
    fn the_old_form_cuts_as_it_did() {
        let old = TextForm { normalize: Normalize::None, segmentation: Segmentation::Runs };
        assert_eq!(cut_in(old, "日本語 x² cafe\u{301} \u{301}", "words"), ["日本語", "x²", "cafe\u{301}", "\u{301}"]);
        assert_eq!(cut_in(old, "Ａｂ", "qgrams:1"), ["ａ", "ｂ"]);
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
