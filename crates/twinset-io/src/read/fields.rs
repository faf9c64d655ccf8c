//! Which fields of a record are its id, its text, and whatever else was asked for.

use std::borrow::Cow;

use super::block::{Bad, Record};
use super::options::ReadOptions;
use crate::{Error, Result};

/// The fields that the user wants, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(super) id: Option<String>,
    pub(super) text: Vec<String>,
    pub(super) extra: Vec<String>,
}

impl Wanted {
    /// Whether the user named this field.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.id.iter().chain(&self.text).chain(&self.extra).any(|own| own == name)
    }

    pub(crate) fn new(options: &ReadOptions, extra: &[String]) -> Self {
        Self { id: options.id.clone(), text: options.text.clone(), extra: extra.to_vec() }
    }
}

/// The same fields, by their positions in a file's rows; for jsonl, whose lines differ, by name.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    pub(super) wanted: Wanted,
    id: Option<usize>,
    /// `None`: all but the id.
    text: Option<Vec<usize>>,
    extra: Vec<usize>,
    /// How many fields every row must have; `None` for jsonl.
    pub(super) count: Option<usize>,
    pub(super) delimiter: u8,
}

impl Fields {
    /// Finds the wanted fields among the names of a header.
    pub(super) fn in_header(wanted: &Wanted, header: &[&str], delimiter: u8, file: &str) -> Result<Self> {
        let fail = |reason: String| Error::File { file: file.to_owned(), reason };
        let default = |name: &str| {
            let mut found = header.iter().enumerate().filter(|(_, own)| **own == name).map(|(position, _)| position);
            match (found.next(), found.next()) {
                (_, Some(_)) => Err(fail(format!("there are two fields `{name}`; rename one"))),
                (position, None) => Ok(position),
            }
        };
        let position = |name: &String| match default(name)? {
            Some(position) => Ok(position),
            None => Err(fail(format!("there is no field `{name}`; {}", listed(header)))),
        };
        let id = match &wanted.id {
            Some(name) => Some(position(name)?),
            None => default("id")?,
        };
        let text = if wanted.text.is_empty() {
            default("text")?.map(|text| vec![text])
        } else {
            Some(wanted.text.iter().map(position).collect::<Result<_>>()?)
        };
        let extra = wanted.extra.iter().map(position).collect::<Result<_>>()?;
        Ok(Self { wanted: wanted.clone(), id, text, extra, count: Some(header.len()), delimiter })
    }

    /// Fields by name alone, for records that each have their own.
    pub(super) fn by_name(wanted: Wanted) -> Self {
        Self { wanted, id: None, text: None, extra: Vec::new(), count: None, delimiter: 0 }
    }

    /// The positions, in order, of the fields that are used at all.
    #[cfg(feature = "parquet")]
    pub(super) fn used(&self, count: usize) -> Vec<usize> {
        let is_used = |position: &usize| {
            let in_text = self.text.as_ref().is_none_or(|text| text.contains(position));
            in_text || self.id == Some(*position) || self.extra.contains(position)
        };
        (0..count).filter(is_used).collect()
    }

    /// The positions of the fields that make the text, of so many.
    #[cfg(feature = "parquet")]
    pub(super) fn texts(&self, count: usize) -> Vec<usize> {
        self.text.clone().unwrap_or_else(|| (0..count).filter(|&at| Some(at) != self.id).collect())
    }

    /// Cuts a line at the delimiter.
    pub(super) fn split<'a>(&self, line: &'a str, number: u64) -> Result<Record<'a>, Bad> {
        let fields: Vec<Cow<'a, str>> = line.split(self.delimiter as char).map(Cow::Borrowed).collect();
        self.record(&fields, number)
    }

    /// The record that a row of fields stands for. Empty fields after the last column are ignored: spreadsheets write
    /// them.
    pub(super) fn record<'a>(&self, fields: &[Cow<'a, str>], line: u64) -> Result<Record<'a>, Bad> {
        let mut fields = fields;
        if let Some(count) = self.count
            && fields.len() > count
            && fields[count..].iter().all(|field| field.is_empty())
        {
            fields = &fields[..count];
        }
        if let Some(count) = self.count
            && fields.len() != count
        {
            let reason = format!(
                "this row has {}, the first one has {count}; does a field contain the delimiter?",
                plural(fields.len(), "field")
            );
            return Err(Bad::new(line, None, reason, fields.join(&(self.delimiter as char).to_string()).as_bytes()));
        }
        let text = match &self.text {
            Some(positions) => join(positions.iter().map(|&position| &fields[position])),
            None => join(fields.iter().enumerate().filter(|&(at, _)| Some(at) != self.id).map(|(_, field)| field)),
        };
        Ok(Record {
            id: self.id.map(|position| fields[position].clone()),
            text,
            extra: self.extra.iter().map(|&position| fields[position].clone()).collect(),
            line,
        })
    }
}

/// Joins fields by a space. Fields of white space only are skipped; a single field is taken as it is.
pub(super) fn join<'f, 'a: 'f>(fields: impl Iterator<Item = &'f Cow<'a, str>>) -> Cow<'a, str> {
    let mut fields = fields.filter(|field| !field.trim().is_empty());
    let Some(first) = fields.next() else { return Cow::Borrowed("") };
    let Some(second) = fields.next() else { return first.clone() };
    let mut text = format!("{first} {second}");
    for field in fields {
        text.push(' ');
        text.push_str(field);
    }
    Cow::Owned(text)
}

/// The fields there are, for a message.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "there are no fields at all".to_owned();
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    format!("the fields are {}", names.join(", "))
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
