//! Options that can be repeated.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::Value;

/// Deserializes an option that can be repeated: one value, or a list.
pub fn one_or_more<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Array(values) => values,
        Value::Null => Vec::new(),
        value => vec![value],
    };
    values.into_iter().map(|value| T::deserialize(value).map_err(Error::custom)).collect()
}

/// The same for an option whose values can also be written with commas between them.
pub fn comma_separated<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let split = |value: Value| match value {
        Value::String(text) => text.split(',').map(|part| Value::String(part.to_owned())).collect(),
        value => vec![value],
    };
    let values: Vec<Value> = one_or_more(deserializer)?;
    values.into_iter().flat_map(split).map(|value| T::deserialize(value).map_err(Error::custom)).collect()
}
