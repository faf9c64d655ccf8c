//! How a text is written: the forms of its characters, and words of scripts without spaces.

use std::borrow::Cow;
use std::sync::LazyLock;

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use crate::model::Error;

/// The Unicode normalization that words, shingles and q-grams get before they are cut.
///
/// See the example of [`TokenOptions`](super::TokenOptions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Normalize {
    /// Full-width letters, ligatures and the like become plain letters as well.
    #[default]
    Nfkc,
    /// A letter with an accent is the same whether it is written as one character or two.
    Nfc,
    /// Texts are compared as they are encoded.
    None,
}

/// How words are found in scripts that are written without spaces: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
///
/// Stored indexes and sketches record it, as it decides what their tokens are.
///
/// See the example of [`TokenOptions`](super::TokenOptions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// By the dictionaries of ICU4X 2.4.
    #[default]
    #[serde(rename = "icu-2.4")]
    Icu24,
    /// Not at all: a run of letters is one word.
    Runs,
}

/// The form in which texts are cut into words or q-grams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextForm {
    pub(super) normalize: Normalize,
    pub(super) segmentation: Segmentation,
}

impl TextForm {
    /// Whether marks that follow no letter belong to no word.
    pub(super) fn drops_lone_marks(self) -> bool {
        self.normalize != Normalize::None
    }

    /// Whether words of scripts without spaces are looked up in dictionaries.
    pub(super) fn splits_unspaced(self) -> bool {
        self.segmentation == Segmentation::Icu24
    }
}

impl Normalize {
    /// A text in this form; most texts have it already.
    pub(super) fn apply(self, text: &str) -> Cow<'_, str> {
        if text.is_ascii() {
            return text.into();
        }
        // ASCII characters are the same in every form, and the tables need not be searched for them.
        let others = text.chars().filter(|letter| !letter.is_ascii());
        match self {
            Self::Nfkc if is_nfkc_quick(others.clone()) != IsNormalized::Yes => text.nfkc().collect::<String>().into(),
            Self::Nfc if is_nfc_quick(others) != IsNormalized::Yes => text.nfc().collect::<String>().into(),
            _ => text.into(),
        }
    }
}

/// Whether a letter belongs to a script that is written without spaces.
pub(super) fn is_unspaced(letter: char) -> bool {
    // Most letters of other scripts come before all of these.
    letter >= '\u{E00}'
        && matches!(letter,
        // Thai and Lao, Burmese, Khmer
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{19E0}'..='\u{19FF}'
        // Chinese characters and their parts, Hiragana, Katakana
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303C}' | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}' | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Cuts a run of letters into words: dictionaries tell those of scripts without spaces apart, and other letters between
/// them are words of their own.
pub(super) fn split_unspaced(run: &[u8], mut push: impl FnMut(usize, usize)) {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_dictionary(Default::default()));
    let run = std::str::from_utf8(run).expect("a run of letters was encoded as UTF-8");
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let from = run.len() - rest.len();
        let unspaced = is_unspaced(first);
        let is_other =
            |letter: char| is_unspaced(letter) != unspaced && !unicode_normalization::char::is_combining_mark(letter);
        let (part, others) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        rest = others;
        if unspaced {
            let mut ends = SEGMENTER.segment_str(part);
            let mut start = ends.next().unwrap_or(0);
            for end in ends {
                push(from + start, from + end);
                start = end;
            }
        } else {
            push(from, from + part.len());
        }
    }
}

/// The parts by which two texts are shown to differ: words, the white space between them, and single letters of scripts
/// without spaces. Put together they are the text.
pub fn diff_units(text: &str) -> Vec<&str> {
    let is_mark = unicode_normalization::char::is_combining_mark;
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let end = if is_unspaced(first) {
            after.find(|letter| !is_mark(letter))
        } else if first.is_whitespace() {
            after.find(|letter: char| !letter.is_whitespace())
        } else {
            after.find(|letter: char| letter.is_whitespace() || is_unspaced(letter))
        };
        let (unit, others) = rest.split_at(first.len_utf8() + end.unwrap_or(after.len()));
        units.push(unit);
        rest = others;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_by_words_or_by_letters() {
        assert_eq!(diff_units("a new  bridge, 新桥 x"), ["a", " ", "new", "  ", "bridge,", " ", "新", "桥", " ", "x"]);
        assert_eq!(diff_units("か\u{3099}く"), ["か\u{3099}", "く"]);
        assert!(diff_units("").is_empty());
    }

    /// Leaving ASCII characters out must not hide that others are in the wrong order.
    #[test]
    fn texts_are_normalized_wherever_they_differ() {
        for text in [
            "e\u{301}",
            "a\u{316}\u{301}",
            "a\u{301}\u{316}",
            "x\u{323}y\u{307}",
            "ﬁ",
            "한글",
            "\u{1112}\u{1161}\u{11ab}",
        ] {
            assert_eq!(Normalize::Nfkc.apply(text), text.nfkc().collect::<String>(), "{text:?}");
            assert_eq!(Normalize::Nfc.apply(text), text.nfc().collect::<String>(), "{text:?}");
            assert_eq!(Normalize::None.apply(text), text);
        }
    }
}
