//! The names of enums: each is written once, in the `strum` attributes of its variant.

use strum::VariantArray;

use super::Error;

/// The error for a text that names no variant of `T`, for `#[strum(parse_err_fn = …)]`.
pub fn unknown_name<T: VariantArray + Copy + Into<&'static str>>(text: &str) -> Error {
    let names: Vec<&str> = T::VARIANTS.iter().map(|&variant| variant.into()).collect();
    Error::UnknownName { text: text.to_owned(), names: names.join(", ") }
}

/// A parser of command-line values that name a variant of `T`. Help texts and shell completions list the names.
#[cfg(feature = "clap")]
pub fn name_parser<T>() -> impl clap::builder::TypedValueParser<Value = T>
where
    T: VariantArray + Copy + Into<&'static str> + strum::EnumMessage + std::str::FromStr + Send + Sync,
    T::Err: std::error::Error + Send + Sync,
{
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

    let values = T::VARIANTS.iter().map(|&variant| {
        let name = variant.into();
        let aliases = variant.get_serializations().iter().copied().filter(move |&alias| alias != name);
        let help = variant.get_documentation().and_then(|text| text.lines().next()).unwrap_or_default();
        PossibleValue::new(name).aliases(aliases).help(help.trim_end_matches('.'))
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
