//! The stemmers and stop words of languages.

pub(super) use frostem::Stemmer;
use strum::EnumMessage;

use super::Language;
use crate::model::{Error, Result};

/// Returns the stemmer of a language.
pub(super) fn stemmer(language: Language) -> Result<Stemmer> {
    let expected = "a language whose words can be stemmed";
    Stemmer::try_from_name(language.into()).map_err(|_| Error::BadOption { text: language.to_string(), expected })
}

/// Returns the stop words of a language, if they are known.
pub(super) fn stop_words(language: Language) -> Result<Option<&'static [&'static str]>> {
    Ok(language.get_serializations().iter().find_map(|name| stop_words::lookup(name)))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn every_language_has_a_stemmer_and_many_have_stop_words() {
        for &language in Language::VARIANTS {
            assert!(stemmer(language).is_ok(), "{language}");
        }
        let without: Vec<&Language> =
            Language::VARIANTS.iter().filter(|&&language| stop_words(language).unwrap().is_none()).collect();
        assert!(without.len() <= 12, "{without:?}");
        let english = stop_words(Language::English).unwrap().unwrap();
        assert!(english.contains(&"the") && !english.contains(&"computer"));
    }
}
