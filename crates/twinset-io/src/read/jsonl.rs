//! One JSON object a line. Only the fields that are wanted are turned into strings.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::block::{Bad, Record};
use super::fields::{Fields, Wanted, join, listed};

/// Parses a line.
pub(super) fn parse<'a>(line: &'a str, number: u64, fields: &Fields) -> Result<Record<'a>, Bad> {
    let wanted = &fields.wanted;
    let bad = |column: Option<u64>, reason: String| Bad::new(number, column, reason, line.as_bytes());
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let object =
        Object(wanted).deserialize(&mut deserializer).and_then(|object| deserializer.end().map(|()| object)).map_err(
            |error| bad(Some(error.column() as u64), format!("this is not a JSON object: {}", what(&error))),
        )?;
    let is_wanted = |name: &str| wanted.is_named(name) || matches!(name, "id" | "text");
    let repeated = object
        .iter()
        .enumerate()
        .find(|(at, (name, _))| is_wanted(name) && object[..*at].iter().any(|(earlier, _)| earlier == name));
    if let Some((_, (name, _))) = repeated {
        return Err(bad(None, format!("there are two fields `{name}`; remove one")));
    }
    let find = |name: &str| object.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let required = |name: &String| {
        find(name).ok_or_else(|| {
            let names: Vec<&str> = object.iter().map(|(name, _)| name.as_ref()).collect();
            bad(None, format!("there is no field `{name}`; {}", listed(&names)))
        })
    };
    let id_name = wanted.id.as_deref().unwrap_or("id");
    let id = match &wanted.id {
        Some(name) => Some(required(name)?),
        // A record whose id is null has none, and is known by its number.
        None => find(id_name).filter(|id| !id.is_empty()),
    };
    let text = if !wanted.text.is_empty() {
        let texts: Vec<_> = wanted.text.iter().map(required).collect::<Result<_, _>>()?;
        join(texts.into_iter())
    } else if let Some(text) = find("text") {
        text.clone()
    } else {
        join(object.iter().filter(|(name, _)| name != id_name).map(|(_, value)| value))
    };
    let extra = wanted.extra.iter().map(|name| required(name).cloned()).collect::<Result<_, _>>()?;
    Ok(Record { id: id.cloned(), text, extra, line: number })
}

/// An error's message without the position, which is given apart.
fn what(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Names and values; a value that nobody wants is left empty.
struct Object<'w>(&'w Wanted);

impl<'a> DeserializeSeed<'a> for Object<'_> {
    type Value = Vec<(Cow<'a, str>, Cow<'a, str>)>;

    fn deserialize<D: serde::Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Object<'_> {
    type Value = Vec<(Cow<'a, str>, Cow<'a, str>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"id\": 1, \"text\": \"…\"}")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let Wanted { id, text, extra } = self.0;
        let mut object = Vec::new();
        while let Some(name) = map.next_key_seed(Text)? {
            let is_named = |names: &Vec<String>| names.iter().any(|own| *own == name);
            let is_wanted = text.is_empty() || is_named(text) || is_named(extra);
            let is_id = id.as_deref().unwrap_or("id") == name;
            if is_wanted || is_id {
                let value: &'a RawValue = map.next_value()?;
                let value = as_text(value.get()).map_err(serde::de::Error::custom)?;
                object.push((name, value));
            } else {
                map.next_value::<serde::de::IgnoredAny>()?;
                object.push((name, Cow::Borrowed("")));
            }
        }
        Ok(object)
    }
}

/// A string's text; nothing for null; the JSON itself for anything else.
fn as_text(json: &str) -> serde_json::Result<Cow<'_, str>> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
        Some(_) => serde_json::from_str(json).map(Cow::Owned),
        None if json == "null" => Ok(Cow::Borrowed("")),
        None => Ok(Cow::Borrowed(json)),
    }
}

/// A key, borrowed where it has no escapes.
struct Text;

impl<'a> DeserializeSeed<'a> for Text {
    type Value = Cow<'a, str>;

    fn deserialize<D: serde::Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Text {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'a str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}
