//! The paths of XML documents: one feature for every distinct path of an element or an attribute.

use std::collections::HashMap;
use std::io::BufReader;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use twinset::Run;

use super::batch::{Batch, ENOUGH};
use crate::read::bounded::{Bounded, Budget, TooLong};
use crate::read::inputs::InputFile;
use crate::read::xml::{self, Entities};
use crate::read::{ReadOptions, stream};
use crate::{Error, Limits, Result};

/// The distinct paths of all documents that were read so far.
#[derive(Debug, Default)]
pub struct XmlPaths {
    names: Vec<String>,
    /// The path below a path, or below none.
    below: HashMap<(Option<u32>, Box<str>), u32>,
}

impl XmlPaths {
    /// All paths, as `/person/name` or `/person/@id`, in order of first occurrence.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Calls `visit` with batches of a document's values, and all paths so far. A document that turns out to be bad before there is enough for one has
    /// no values.
    pub fn read<E: From<Error>>(
        &mut self,
        path: &Path,
        options: &ReadOptions,
        run: &Run,
        mut visit: impl FnMut(&Batch, &[String]) -> Result<(), E>,
    ) -> Result<(), E> {
        let known = options.encoding.as_deref().map(stream::encoding).transpose()?;
        let input = InputFile::new(path.to_owned(), None);
        let (raw, marked, mark) = stream::open_raw(&input, known, options, run)?;
        let known = known.or((!mark.is_empty()).then_some(marked));
        let remedy = Entities::Refused { remedy: "write out what they stand for" };
        let document = xml::prepared(raw, known, remedy).map_err(|error| Error::file(path, error))?;
        let budget = Budget::default();
        let bounded = BufReader::with_capacity(1 << 16, Bounded { inner: document.stream, budget: budget.clone() });
        let mut reader = Reader::from_reader(bounded);
        reader.config_mut().expand_empty_elements = true;
        let limits = &options.limits;
        let largest = limits.record.min(1 << 30);

        // For each element that is open, its path and its text.
        let mut open: Vec<(u32, String)> = Vec::new();
        let (mut batch, mut buffer, mut has_root) = (Batch::default(), Vec::new(), false);
        loop {
            budget.set(largest.saturating_add(1 << 17));
            buffer.clear();
            let at = reader.buffer_position();
            let event = reader.read_event_into(&mut buffer);
            let event = match event {
                Ok(event) => event,
                Err(error) => return Err(failure(path, at, largest, &error).into()),
            };
            let bad = |reason: &str| Error::file(path, format!("at byte {at}: {reason}"));
            match event {
                Event::Start(start) => {
                    // Each level can be a path of its own.
                    if open.len() as u64 == limits.xml_depth {
                        let reason = format!("elements are nested more than {} deep", limits.xml_depth);
                        return Err(bad(&format!("{reason}; --limit xml-depth=N allows more")).into());
                    }
                    if open.is_empty() && std::mem::replace(&mut has_root, true) {
                        return Err(bad("there is a second root element; a document has one").into());
                    }
                    let parent = open.last().map(|(parent, _)| *parent);
                    let element = self.below(parent, start.name().as_ref(), limits, &bad)?;
                    self.attributes(&start, element, &mut batch, limits, &bad)?;
                    if batch.size() >= ENOUGH {
                        visit(&std::mem::take(&mut batch), &self.names)?;
                    }
                    open.push((element, String::new()));
                }
                Event::End(_) => {
                    let Some((element, text)) = open.pop() else { continue };
                    let text = text.trim();
                    batch.push(element as usize, (!text.is_empty()).then_some(text.as_bytes()));
                    if batch.size() >= ENOUGH {
                        visit(&std::mem::take(&mut batch), &self.names)?;
                        run.check().map_err(|error| E::from(error.into()))?;
                    }
                }
                Event::Text(text) => add(&mut open, &text.xml10_content(), largest, &bad)?,
                Event::CData(text) => add(&mut open, &text.xml10_content(), largest, &bad)?,
                Event::GeneralRef(reference) => {
                    let name = reference.xml10_content();
                    let resolved = match reference.resolve_char_ref() {
                        Ok(Some(character)) => Some(character.to_string()),
                        Ok(None) => resolve_predefined_entity(&name).map(str::to_owned),
                        Err(_) => None,
                    };
                    let text = resolved.ok_or_else(|| bad(&format!("the entity &{name}; is not known")))?;
                    add(&mut open, &text, largest, &bad)?;
                }
                Event::Eof if !open.is_empty() => {
                    let name = &self.names[open.last().map_or(0, |(element, _)| *element as usize)];
                    return Err(bad(&format!("the document ends within {name}, whose end tag is missing")).into());
                }
                Event::Eof if !has_root => return Err(bad("there is no element; this is no XML document").into()),
                Event::Eof => break,
                _ => {}
            }
        }
        visit(&batch, &self.names)
    }

    fn attributes(
        &mut self,
        start: &BytesStart<'_>,
        element: u32,
        batch: &mut Batch,
        limits: &Limits,
        bad: &impl Fn(&str) -> Error,
    ) -> Result<()> {
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| bad(&error.to_string()))?;
            let name = attribute.key.as_ref();
            // What declares a name space is no value.
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            let value = quick_xml::escape::unescape(attribute.value.as_ref());
            let value = value.map_err(|error| bad(&error.to_string()))?;
            let path = self.below(Some(element), &format!("@{name}"), limits, bad)?;
            let value = value.trim();
            batch.push(path as usize, (!value.is_empty()).then_some(value.as_bytes()));
        }
        Ok(())
    }

    /// The path of this name below another.
    fn below(&mut self, parent: Option<u32>, name: &str, limits: &Limits, bad: &impl Fn(&str) -> Error) -> Result<u32> {
        let key = (parent, Box::from(name));
        if let Some(&path) = self.below.get(&key) {
            return Ok(path);
        }
        if self.names.len() as u64 == limits.xml_paths {
            let most = limits.xml_paths;
            return Err(bad(&format!("there are more than {most} distinct paths; --limit xml-paths=N allows more")));
        }
        let path = self.names.len() as u32;
        let before = parent.map_or("", |parent| self.names[parent as usize].as_str());
        if (before.len() + 1 + name.len()) as u64 > limits.xml_path {
            let longest = limits.xml_path;
            return Err(bad(&format!("a path is longer than {longest} bytes; --limit xml-path=SIZE allows more")));
        }
        self.names.push(format!("{before}/{name}"));
        self.below.insert(key, path);
        Ok(path)
    }
}

/// Adds text to the innermost element.
fn add(open: &mut [(u32, String)], text: &str, largest: u64, bad: &impl Fn(&str) -> Error) -> Result<()> {
    let Some((_, own)) = open.last_mut() else {
        return if text.trim().is_empty() { Ok(()) } else { Err(bad("there is text outside of the root element")) };
    };
    if (own.len() + text.len()) as u64 > largest {
        return Err(bad(&format!("the text of an element is longer than {largest} bytes; --max-record allows more")));
    }
    own.push_str(text);
    Ok(())
}

fn failure(path: &Path, at: u64, largest: u64, error: &quick_xml::Error) -> Error {
    match error {
        quick_xml::Error::Io(error) if TooLong::is_cause(error) => Error::file(
            path,
            format!("at byte {at}: something is longer than {largest} bytes; --max-record allows more"),
        ),
        quick_xml::Error::Io(error) => Error::file(path, stream::read_failure(error)),
        quick_xml::Error::Encoding(_) => Error::file(
            path,
            format!(
                "at byte {at}: this is not in the encoding that the document declares; name the right one with --encoding"
            ),
        ),
        other => Error::file(path, format!("at byte {at}: this is not XML: {other}")),
    }
}
