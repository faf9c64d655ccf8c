//! The names of enums on the command line.

use strum::VariantArray;

/// A parser of command-line values that name a variant of `T`. Help texts and shell completions list the names.
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
