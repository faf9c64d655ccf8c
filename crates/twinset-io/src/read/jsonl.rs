//! One JSON object a line. Only the fields that are wanted are turned into strings.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::block::{Bad, Record};
use super::fields::{Fields, Wanted, join, listed};
use crate::Error;

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
    let id_name = wanted.id.as_deref().unwrap_or("id");
    let id = match &wanted.id {
        Some(name) => Some(find(name).ok_or_else(|| {
            let names: Vec<&str> = object.iter().map(|(name, _)| name.as_ref()).collect();
            bad(None, format!("there is no field `{name}`; {}", listed(&names)))
        })?),
        // A record whose id is null has none, and is known by its number.
        None => find(id_name).filter(|id| !id.is_empty()),
    };
    let text = if !wanted.text.is_empty() {
        join(wanted.text.iter().filter_map(|name| find(name)))
    } else if find("text").is_some() {
        let reason = "this record has a field `text`, and the first one has others; name the fields to compare, for \
                      example --text text";
        return Err(bad(None, reason.to_owned()));
    } else {
        join(object.iter().filter(|(name, _)| name != id_name).map(|(_, value)| value))
    };
    let extra = wanted.extra.iter().map(|name| find(name).cloned().unwrap_or_default()).collect();
    Ok(Record { id: id.cloned(), text, extra, line: number })
}

/// What to take from all records of a file, as its first ones tell.
///
/// A record without a wanted field has an empty one, as a null would be. So that a misspelt name does not make all of
/// them empty, some record among the first must have it.
pub(super) struct Learning {
    wanted: Wanted,
    /// Whether the first record with fields beside its id was seen. If one of them is `text` and no other is asked for, that is
    /// what is compared.
    has_begun: bool,
    /// Fields that no record had so far.
    unseen: Vec<String>,
    /// The names that were seen instead.
    seen: BTreeSet<String>,
}

impl Learning {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let unseen = wanted.text.iter().chain(&wanted.extra).cloned().collect();
        Self { wanted: wanted.clone(), has_begun: false, unseen, seen: BTreeSet::new() }
    }

    /// Looks at a line; one that is no JSON object tells nothing.
    pub(super) fn look_at(&mut self, line: &str) {
        if self.is_done() {
            return;
        }
        let Ok(names) = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(line) else { return };
        if !self.has_begun && self.wanted.text.is_empty() {
            if names.contains_key("text") {
                self.wanted.text.push("text".to_owned());
            } else if names.keys().all(|name| name == self.wanted.id.as_deref().unwrap_or("id")) {
                // An empty record does not tell which fields the others have.
                return;
            }
        }
        self.has_begun = true;
        self.unseen.retain(|name| !names.contains_key(name));
        if !self.unseen.is_empty() && self.seen.len() < MOST_NAMES {
            self.seen.extend(names.into_keys());
        }
    }

    /// Whether the fields to compare are known.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether there is nothing more to learn.
    pub(super) fn is_done(&self) -> bool {
        self.has_begun && self.unseen.is_empty()
    }

    /// The fields of the file, as far as they are known.
    pub(super) fn fields(&self) -> Fields {
        Fields::by_name(self.wanted.clone())
    }

    /// Refuses a file whose first records all lack a wanted field.
    pub(super) fn check(&self, file: &str) -> crate::Result<()> {
        match self.unseen.first() {
            Some(name) if self.has_begun => {
                let seen: Vec<&String> = self.seen.iter().collect();
                let reason = format!("none of the first records has a field `{name}`; {}", listed(&seen));
                Err(Error::File { file: file.to_owned(), reason })
            }
            _ => Ok(()),
        }
    }
}

/// So many names are listed where a wanted one was not seen.
const MOST_NAMES: usize = 100;

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
                map.next_value::<IgnoredAny>()?;
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
