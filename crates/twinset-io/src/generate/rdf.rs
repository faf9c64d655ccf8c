//! Made-up records as RDF: articles that mention people, places and organisations, which are described once.

use std::collections::HashSet;
use std::io::{self, Write};

use super::{Generated, spelled_word};

/// Writes articles as N-Triples.
#[derive(Debug, Default)]
pub struct Articles {
    /// What was described already.
    described: HashSet<u32>,
}

const BASE: &str = "http://example.org";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

impl Articles {
    /// The IRI of an article.
    pub fn iri(number: u64) -> String {
        format!("{BASE}/article/{number}")
    }

    /// Writes an article: each of its words is a person, a place, an organisation or a keyword. Those that come up for the
    /// first time are described.
    pub fn write(&mut self, number: u64, record: &Generated, out: &mut impl Write) -> io::Result<()> {
        let article = Self::iri(number);
        link(out, &article, "type", &format!("{BASE}/Article"))?;
        for &word in &record.words {
            let name = spelled_word(word);
            match entity(word) {
                Some((kind, property)) => {
                    let iri = format!("{BASE}/{kind}/{name}");
                    link(out, &article, property, &iri)?;
                    self.describe(word, kind, &iri, out)?;
                }
                None => text(out, &article, "keyword", &name)?,
            }
        }
        Ok(())
    }

    fn describe(&mut self, word: u32, kind: &str, iri: &str, out: &mut impl Write) -> io::Result<()> {
        if !self.described.insert(word) {
            return Ok(());
        }
        link(out, iri, "type", &format!("{BASE}/{kind}"))?;
        text(out, iri, "name", &spelled_word(word))?;
        match kind {
            "Person" => {
                text(out, iri, "surname", &spelled_word(word / 7 + 1))?;
                text(out, iri, "occupation", &spelled_word(word % 23 + 1))
            }
            "Place" => text(out, iri, "country", &spelled_word(word % 97 + 1)),
            _ => text(out, iri, "industry", &spelled_word(word % 31 + 1)),
        }
    }
}

/// What a word stands for, and how an article leads there.
fn entity(word: u32) -> Option<(&'static str, &'static str)> {
    match word % 4 {
        0 => Some(("Person", "mentions")),
        1 => Some(("Place", "location")),
        2 => Some(("Organisation", "about")),
        _ => None,
    }
}

fn predicate(name: &str) -> String {
    if name == "type" { TYPE.to_owned() } else { format!("{BASE}/{name}") }
}

fn link(out: &mut impl Write, subject: &str, name: &str, object: &str) -> io::Result<()> {
    writeln!(out, "<{subject}> <{}> <{object}> .", predicate(name))
}

fn text(out: &mut impl Write, subject: &str, name: &str, literal: &str) -> io::Result<()> {
    writeln!(out, "<{subject}> <{}> \"{literal}\" .", predicate(name))
}
