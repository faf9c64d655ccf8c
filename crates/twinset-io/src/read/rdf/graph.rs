//! Triples in memory.

use hashbrown::HashTable;
use oxrdf::{NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};
use twinset::support::{Strings, salted_hash};

/// The triples of a collection's files, subject by subject. Terms are numbers.
#[derive(Default)]
pub(super) struct Graph {
    terms: Terms,
    /// Predicates and objects, those of a subject together.
    pub(super) links: Vec<(u32, u32)>,
    /// The subjects in the order in which they come up: their terms, and where their links end.
    pub(super) subjects: Vec<(u32, usize)>,
    /// For each file, how many subjects come up there or before.
    pub(super) files: Vec<usize>,
    /// For each term, its place among the subjects, or `u32::MAX`.
    places: Vec<u32>,
}

/// Triples as they are read.
#[derive(Default)]
pub(super) struct Builder {
    graph: Graph,
    triples: Vec<[u32; 3]>,
    file: usize,
    key: String,
}

/// What kind of term it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Iri,
    Blank,
    Literal,
}

impl Builder {
    /// Everything that follows stands in the next file, where blank nodes are others.
    pub(super) fn end_file(&mut self) {
        self.file += 1;
        self.graph.files.push(self.graph.subjects.len());
    }

    /// Adds a triple; in which named graph it stands does not count.
    pub(super) fn add(&mut self, quad: &Quad) -> Option<()> {
        let subject = self.number(quad.subject.as_ref().into())?;
        let predicate = self.number(quad.predicate.as_ref().into())?;
        let object = self.number(quad.object.as_ref())?;
        self.graph.places.resize(self.graph.terms.len(), u32::MAX);
        let place = &mut self.graph.places[subject as usize];
        if *place == u32::MAX {
            *place = self.graph.subjects.len() as u32;
            self.graph.subjects.push((subject, 0));
        }
        self.triples.push([*place, predicate, object]);
        Some(())
    }

    fn number(&mut self, term: TermRef<'_>) -> Option<u32> {
        write_key(term, self.file, &mut self.key);
        self.graph.terms.number(&self.key)
    }

    /// Puts the triples of each subject together, in the order in which they were read.
    pub(super) fn finish(self) -> Graph {
        let Self { mut graph, mut triples, .. } = self;
        triples.sort_by_key(|triple| triple[0]);
        graph.links = triples.iter().map(|&[_, predicate, object]| (predicate, object)).collect();
        let mut end = 0;
        for (place, subject) in (0u32..).zip(&mut graph.subjects) {
            end += triples[end..].iter().take_while(|triple| triple[0] == place).count();
            subject.1 = end;
        }
        graph
    }
}

/// A term as it is known: what it is, and its text. Blank nodes are known in their file only.
fn write_key(term: TermRef<'_>, file: usize, key: &mut String) {
    key.clear();
    match term {
        TermRef::NamedNode(node) => key.extend(["<", node.as_str()]),
        TermRef::BlankNode(node) if file == 0 => key.extend(["_:", node.as_str()]),
        TermRef::BlankNode(node) => key.extend(["_:", node.as_str(), "#", &(file + 1).to_string()]),
        TermRef::Literal(literal) => key.extend(["\"", literal.value()]),
    }
}

impl Graph {
    /// The kind and the text of a term.
    pub(super) fn term(&self, term: u32) -> (Kind, &str) {
        let key = self.terms.strings.get(term as usize);
        match key.as_bytes()[0] {
            b'<' => (Kind::Iri, &key[1..]),
            b'_' => (Kind::Blank, key),
            _ => (Kind::Literal, &key[1..]),
        }
    }

    /// Whether a number stands for a blank node.
    pub(super) fn is_blank(&self, term: u32) -> bool {
        self.term(term).0 == Kind::Blank
    }

    /// The place of a term among the subjects.
    pub(super) fn place(&self, term: u32) -> Option<u32> {
        Some(self.places[term as usize]).filter(|&place| place != u32::MAX)
    }

    /// The predicates and objects of a subject.
    pub(super) fn links(&self, place: u32) -> &[(u32, u32)] {
        let start = if place == 0 { 0 } else { self.subjects[place as usize - 1].1 };
        &self.links[start..self.subjects[place as usize].1]
    }

    /// The number of an IRI.
    pub(super) fn iri(&self, iri: &str) -> Option<u32> {
        self.terms.find(&format!("<{iri}"))
    }

    /// The place of a subject, which was read from the file of this number.
    pub(super) fn subject(&self, subject: NamedOrBlankNodeRef<'_>, file: usize) -> Option<u32> {
        let mut key = String::new();
        write_key(subject.into(), file, &mut key);
        self.terms.find(&key).and_then(|term| self.place(term))
    }

    /// All predicates.
    pub(super) fn predicates(&self) -> Vec<u32> {
        let mut predicates: Vec<u32> = self.links.iter().map(|&(predicate, _)| predicate).collect();
        predicates.sort_unstable();
        predicates.dedup();
        predicates
    }

    /// `rdf:type`.
    pub(super) fn type_predicate(&self) -> Option<u32> {
        const TYPE: NamedNodeRef<'_> = oxrdf::vocab::rdf::TYPE;
        self.iri(TYPE.as_str())
    }
}

/// Different strings, numbered in the order in which they come.
#[derive(Default)]
struct Terms {
    strings: Strings,
    numbers: HashTable<u32>,
}

impl Terms {
    /// `None` when there are too many.
    fn number(&mut self, key: &str) -> Option<u32> {
        let hash = salted_hash(key.as_bytes());
        let Self { strings, numbers } = self;
        if let Some(&number) = numbers.find(hash, |&number| strings.get(number as usize) == key) {
            return Some(number);
        }
        let number = u32::try_from(strings.len()).ok().filter(|&number| number < u32::MAX)?;
        strings.push(key);
        numbers.insert_unique(hash, number, |&number| salted_hash(strings.get(number as usize).as_bytes()));
        Some(number)
    }

    fn find(&self, key: &str) -> Option<u32> {
        let hash = salted_hash(key.as_bytes());
        self.numbers.find(hash, |&number| self.strings.get(number as usize) == key).copied()
    }

    fn len(&self) -> usize {
        self.strings.len()
    }
}
