//! Resources as records: each is described by its terms, one a line.
//!
//! A term is a predicate and what it leads to: `predicate, "literal"` or `predicate, <node>`, and with each node come the
//! terms of that node in turn. A node is visited once, so cycles end. Terms are sorted, so equal descriptions are equal texts.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Range;

use oxrdf::Quad;
use twinset::TokenOptions;
use twinset::tokenize::cut;
use xxhash_rust::xxh3::xxh3_64;

use super::graph::{Graph, Kind};
use super::options::{BlankNodes, IriRules, Resources, bare};
use crate::read::ReadOptions;
use crate::read::block::{Bad, Record};
use crate::read::fields::{Wanted, join};
use crate::{Error, Result};

/// The resources of a collection that are records.
pub(crate) struct Described {
    pub(super) graph: Graph,
    /// What each predicate is called; `None` if it is left out.
    predicates: HashMap<u32, Option<String>>,
    /// What blank nodes are called, if it is by what hangs below them.
    shapes: HashMap<u32, u64>,
    /// The records, as places of subjects, and where those of each file end.
    pub(super) resources: Vec<u32>,
    pub(super) files: Vec<usize>,
    fields: FieldPredicates,
    depth: u32,
    /// How literals are cut into tokens; `None` if each is one term.
    literal_tokens: Option<TokenOptions>,
    map: IriMap,
}

/// The predicates whose values are the wanted fields.
struct FieldPredicates {
    id: Option<Vec<u32>>,
    text: Vec<Vec<u32>>,
    extra: Vec<Vec<u32>>,
}

impl Described {
    pub(super) fn new(graph: Graph, options: &ReadOptions, wanted: &Wanted, file: &str) -> Result<Self> {
        let ReadOptions { rdf: options, limits, .. } = options;
        let map = options.map.as_ref().map(IriMap::new).transpose()?.unwrap_or_default();
        let ignored: HashSet<&str> = options.ignore_predicate.iter().map(|iri| bare(iri)).collect();
        let all = graph.predicates();
        let predicates: HashMap<u32, Option<String>> = all
            .iter()
            .map(|&predicate| {
                let iri = graph.term(predicate).1;
                let name = map.of(iri);
                let is_ignored = ignored.contains(iri) || ignored.contains(name.as_ref());
                (predicate, (!is_ignored).then(|| name.into_owned()))
            })
            .collect();
        let shapes = match options.blank_nodes.unwrap_or_default() {
            BlankNodes::Structure => shapes(&graph, &predicates, &map, limits.blank_levels),
            BlankNodes::Id => HashMap::new(),
        };
        let of_field = |name: &String| {
            let is_it = |&&predicate: &&u32| {
                let iri = graph.term(predicate).1;
                iri == bare(name) || iri.rsplit(['#', '/', ':']).next() == Some(name)
            };
            let found: Vec<u32> = all.iter().filter(is_it).copied().collect();
            let reason = format!("no predicate has the IRI or the local name `{name}`");
            if found.is_empty() { Err(Error::File { file: file.to_owned(), reason }) } else { Ok(found) }
        };
        let fields = FieldPredicates {
            id: wanted.id.as_ref().map(of_field).transpose()?,
            text: wanted.text.iter().map(of_field).collect::<Result<_>>()?,
            extra: wanted.extra.iter().map(of_field).collect::<Result<_>>()?,
        };
        let which = options.resources.clone().unwrap_or_default();
        let (resources, files) = choose(&graph, &predicates, &map, &which);
        if resources.is_empty() && !graph.subjects.is_empty() {
            let reason = match which {
                Resources::Typed(iri) => format!("no resource has the type {iri}"),
                _ => "every subject is pointed to by another; say --resources all, or typed:IRI".to_owned(),
            };
            return Err(Error::File { file: file.to_owned(), reason });
        }
        let depth = options.depth.map_or(u32::MAX, |depth| depth.get());
        Ok(Self {
            graph,
            predicates,
            shapes,
            resources,
            files,
            fields,
            depth,
            literal_tokens: options.literal_tokens(),
            map,
        })
    }

    /// The resources of a file, as positions among all.
    pub(crate) fn of_file(&self, file: usize) -> Range<usize> {
        let start = if file == 0 { 0 } else { self.files[file - 1] };
        start..self.files[file]
    }

    /// The place of a quad's subject, which stands in the file of this number.
    pub(crate) fn place(&self, quad: &Quad, file: usize) -> Option<u32> {
        self.graph.subject(quad.subject.as_ref(), file)
    }

    /// For each subject, whether it is one of these resources, or a blank node that hangs below them alone.
    pub(crate) fn with_what_hangs_below(&self, positions: &[usize]) -> Vec<bool> {
        let mut is_chosen = vec![false; self.graph.subjects.len()];
        let chosen: Vec<u32> = positions.iter().map(|&position| self.resources[position]).collect();
        chosen.iter().for_each(|&place| is_chosen[place as usize] = true);
        let is_record: HashSet<u32> = self.resources.iter().copied().collect();
        let below = |place: u32| {
            let objects = self.graph.links(place).iter().map(|&(_, object)| object);
            let blank = objects.filter(|&object| self.graph.is_blank(object));
            blank.filter_map(|object| self.graph.place(object)).filter(|place| !is_record.contains(place))
        };
        let mut spread = |mut from: Vec<u32>, choose: bool| {
            while let Some(place) = from.pop() {
                for next in below(place) {
                    if std::mem::replace(&mut is_chosen[next as usize], choose) != choose {
                        from.push(next);
                    }
                }
            }
            (0..is_chosen.len() as u32).filter(|&place| !is_chosen[place as usize]).collect::<Vec<u32>>()
        };
        let others = spread(chosen, true);
        spread(others, false);
        is_chosen
    }

    /// The record at a position.
    pub(crate) fn record(&self, position: usize, number: u64, largest: u64) -> Result<Record<'static>, Bad> {
        let place = self.resources[position];
        let name = self.name(self.graph.subjects[place as usize].0);
        let FieldPredicates { id, text, extra } = &self.fields;
        let own_text = match text.as_slice() {
            [] => self.description(place, largest).ok_or_else(|| {
                let reason = "its description is longer than --max-record allows; follow fewer steps with --depth, or leave \
                              out predicates with --ignore-predicate";
                Bad::new(number, None, reason, name.as_bytes())
            })?,
            fields => {
                let values: Vec<_> = fields.iter().map(|field| Cow::Borrowed(self.value(place, field))).collect();
                join(values.iter()).into_owned()
            }
        };
        let own_id = id.as_ref().map_or_else(|| name.clone(), |field| self.value(place, field).to_owned());
        Ok(Record {
            id: Some(Cow::Owned(own_id)),
            text: Cow::Owned(own_text),
            extra: extra.iter().map(|field| Cow::Owned(self.value(place, field).to_owned())).collect(),
            line: number,
        })
    }

    /// What a resource is called.
    fn name(&self, term: u32) -> String {
        self.graph.term(term).1.to_owned()
    }

    /// The first value of a field, or nothing.
    fn value(&self, place: u32, predicates: &[u32]) -> &str {
        let link = self.graph.links(place).iter().find(|(predicate, _)| predicates.contains(predicate));
        link.map_or("", |&(_, object)| self.graph.term(object).1)
    }

    /// All terms of a resource, one a line, sorted; `None` if they are too long.
    fn description(&self, place: u32, largest: u64) -> Option<String> {
        let (mut terms, mut length) = (BTreeSet::new(), 0);
        let (mut seen, mut waiting) = (HashSet::from([place]), VecDeque::from([(place, 1)]));
        while let Some((place, depth)) = waiting.pop_front() {
            for &(predicate, object) in self.graph.links(place) {
                let Some(predicate) = &self.predicates[&predicate] else { continue };
                for term in self.terms(predicate, object) {
                    let own = term.len() as u64 + 1;
                    length += if terms.insert(term) { own } else { 0 };
                }
                if length > largest {
                    return None;
                }
                if let Some(next) = self.graph.place(object)
                    && depth < self.depth
                    && seen.insert(next)
                {
                    waiting.push_back((next, depth + 1));
                }
            }
        }
        let mut text = String::with_capacity(length as usize);
        for term in terms {
            text.push_str(&term);
            text.push('\n');
        }
        Some(text)
    }

    /// The terms for one link.
    fn terms(&self, predicate: &str, object: u32) -> Vec<String> {
        let (kind, text) = self.graph.term(object);
        match (kind, &self.literal_tokens) {
            (Kind::Literal, None) => vec![format!("{predicate}, \"{}\"", on_one_line(text))],
            (Kind::Literal, Some(options)) => {
                let tokens = cut(text, options).into_iter();
                tokens.map(|token| format!("{predicate}, \"{}\"", on_one_line(&token))).collect()
            }
            (Kind::Iri, _) => vec![format!("{predicate}, <{}>", self.map.of(text))],
            (Kind::Blank, _) => match self.shapes.get(&object) {
                Some(shape) => vec![format!("{predicate}, [{shape:016x}]")],
                None => vec![format!("{predicate}, {text}")],
            },
        }
    }
}

/// Text without line ends; different texts stay different.
fn on_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r', '\\']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
}

/// The subjects that are records, in the order in which they come up, and where those of each file end.
fn choose(
    graph: &Graph,
    predicates: &HashMap<u32, Option<String>>,
    map: &IriMap,
    which: &Resources,
) -> (Vec<u32>, Vec<usize>) {
    let all = 0..graph.subjects.len() as u32;
    let is_chosen: Vec<bool> = match which {
        Resources::All => vec![true; graph.subjects.len()],
        Resources::Typed(iri) => {
            let predicate = graph.type_predicate();
            let is_it = |to: u32| graph.term(to).1 == iri || map.of(graph.term(to).1) == *iri;
            let is_typed = |place: u32| graph.links(place).iter().any(|&(own, to)| Some(own) == predicate && is_it(to));
            all.clone().map(is_typed).collect()
        }
        Resources::Roots => {
            let mut is_root = vec![true; graph.subjects.len()];
            for place in all.clone() {
                let links = graph.links(place).iter().filter(|(predicate, _)| predicates[predicate].is_some());
                for to in links.filter_map(|&(_, object)| graph.place(object)).filter(|&to| to != place) {
                    is_root[to as usize] = false;
                }
            }
            is_root
        }
    };
    let resources: Vec<u32> = all.filter(|&place| is_chosen[place as usize]).collect();
    let ends = graph.files.iter().map(|&end| resources.partition_point(|&place| (place as usize) < end));
    let files = ends.collect();
    (resources, files)
}

/// A name for each blank node, made of what hangs below it, some levels deep. Where nodes form a cycle, it is followed
/// that far, so the work does not depend on its shape.
fn shapes(graph: &Graph, predicates: &HashMap<u32, Option<String>>, map: &IriMap, levels: u64) -> HashMap<u32, u64> {
    let objects = graph.links.iter().map(|&(_, object)| object);
    let nodes = graph.subjects.iter().map(|&(term, _)| term).chain(objects);
    let mut shapes: HashMap<u32, u64> = nodes.filter(|&term| graph.is_blank(term)).map(|term| (term, 0)).collect();
    let named: HashMap<u32, u64> = predicates
        .iter()
        .filter_map(|(&predicate, name)| name.as_ref().map(|name| (predicate, xxh3_64(name.as_bytes()))))
        .collect();
    for _ in 0..levels {
        let next: HashMap<u32, u64> = shapes
            .keys()
            .map(|&node| {
                let links = graph.place(node).map_or(&[][..], |place| graph.links(place));
                let mut below: Vec<[u64; 2]> = links
                    .iter()
                    .filter_map(|(predicate, object)| {
                        let to = shapes.get(object).copied();
                        Some([*named.get(predicate)?, to.unwrap_or_else(|| literal_or_iri(graph, map, *object))])
                    })
                    .collect();
                below.sort_unstable();
                below.dedup();
                let bytes: Vec<u8> = below.as_flattened().iter().flat_map(|hash| hash.to_le_bytes()).collect();
                (node, xxh3_64(&bytes))
            })
            .collect();
        if next == shapes {
            break;
        }
        shapes = next;
    }
    shapes
}

fn literal_or_iri(graph: &Graph, map: &IriMap, term: u32) -> u64 {
    match graph.term(term) {
        (Kind::Iri, iri) => xxh3_64(map.of(iri).as_bytes()) ^ 1,
        (_, text) => xxh3_64(text.as_bytes()),
    }
}

/// Which predicates and types stand for which.
#[derive(Default)]
struct IriMap {
    iris: HashMap<String, String>,
    /// Beginnings of IRIs, and what takes their place.
    beginnings: Vec<(String, String)>,
}

impl IriMap {
    fn new(rules: &IriRules) -> Result<Self> {
        let mut map = Self::default();
        for (from, to) in rules.pairs()? {
            match (from.strip_suffix('*'), to.strip_suffix('*')) {
                (Some(from), Some(to)) => map.beginnings.push((from.to_owned(), to.to_owned())),
                _ => _ = map.iris.insert(from, to),
            }
        }
        Ok(map)
    }

    /// What an IRI stands for; as a rule for itself.
    fn of<'a>(&'a self, iri: &'a str) -> Cow<'a, str> {
        if let Some(to) = self.iris.get(iri) {
            return Cow::Borrowed(to);
        }
        let mut beginnings = self.beginnings.iter();
        let found = beginnings.find_map(|(from, to)| Some((to, iri.strip_prefix(from.as_str())?)));
        found.map_or(Cow::Borrowed(iri), |(to, rest)| Cow::Owned(format!("{to}{rest}")))
    }
}
