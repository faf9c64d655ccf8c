//! Entities that RDF tells: Turtle, and JSON-LD with the context of schema.org, which is known here and not fetched.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::{NamedOrBlankNode, Term, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfParser};
use serde_json::Value;

use crate::article::{Entity, EntityKind};
use crate::limits::Limits;
use crate::{Error, Result};

/// What RDF tells of an article.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Metadata {
    pub(crate) entities: Vec<Entity>,
    pub(crate) title: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) source: Option<String>,
}

/// The triples of a text in Turtle.
pub(crate) fn turtle(text: &str, base: &str, limits: &Limits) -> Result<Vec<Triple>> {
    parse(RdfFormat::Turtle, text.as_bytes(), base, limits)
        .map_err(|reason| Error::Request(format!("turtle: {reason}")))
}

/// The triples of JSON-LD.
pub(crate) fn json_ld(value: &Value, base: &str, limits: &Limits) -> Result<Vec<Triple>> {
    if !value.is_object() && !value.is_array() {
        return Err(Error::Request(
            "json_ld: it is an object, or a list of them, not a text that holds one".to_owned(),
        ));
    }
    // Names of a context are written out wherever they are used, before anything can be counted.
    if longest_in_contexts(value, false) as u64 > limits.context {
        return Err(Error::Request(format!("json_ld: a context has a name of more than {} bytes", limits.context)));
    }
    let known = with_known_contexts(value);
    let format = RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() };
    let parsed = parse(format, known.to_string().as_bytes(), base, limits);
    parsed.map_err(|reason| Error::Request(format!("json_ld: {reason}")))
}

fn parse(format: RdfFormat, bytes: &[u8], base: &str, limits: &Limits) -> Result<Vec<Triple>, String> {
    let parser = RdfParser::from_format(format);
    let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
    let (mut triples, mut size) = (Vec::new(), 0);
    for quad in parser.for_slice(bytes).take(limits.triples as usize) {
        let quad = quad.map_err(|error| error.to_string())?;
        // A short name may stand for a long one, as often as one likes.
        size += quad.subject.to_string().len() + quad.predicate.as_str().len() + quad.object.to_string().len();
        if size as u64 > limits.graph {
            return Err(format!("its names are longer than {} bytes in all; use shorter prefixes", limits.graph));
        }
        triples.push(quad.into());
    }
    Ok(triples)
}

/// How long the longest text of a context is.
fn longest_in_contexts(value: &Value, is_context: bool) -> usize {
    match value {
        Value::String(text) if is_context => text.len(),
        Value::Array(values) => values.iter().map(|value| longest_in_contexts(value, is_context)).max().unwrap_or(0),
        Value::Object(object) => {
            let longest = |(key, value): (&String, &Value)| longest_in_contexts(value, is_context || key == "@context");
            object.iter().map(longest).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Contexts are named by addresses, from which nothing is fetched: that of schema.org is its vocabulary, others are nothing.
fn with_known_contexts(value: &Value) -> Value {
    let context = |context: &Value| match context {
        Value::String(address) if address.contains("schema.org") => {
            serde_json::json!({ "@vocab": "http://schema.org/" })
        }
        Value::String(_) => serde_json::json!({}),
        other => other.clone(),
    };
    match value {
        Value::Array(values) => Value::Array(values.iter().map(with_known_contexts).collect()),
        Value::Object(object) => {
            let known = object.iter().map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("@context", Value::Array(contexts)) => Value::Array(contexts.iter().map(context).collect()),
                    ("@context", value) => context(value),
                    (_, value) => with_known_contexts(value),
                };
                (key.clone(), value)
            });
            Value::Object(known.collect())
        }
        other => other.clone(),
    }
}

/// What triples tell: nodes of a known type that have a name, but not who wrote or published the article.
pub(crate) fn told(triples: &[Triple]) -> Metadata {
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    let mut makers = BTreeSet::new();
    let mut told = Metadata::default();
    let mut loose = Vec::new();
    for triple in triples {
        let subject = match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
            NamedOrBlankNode::BlankNode(node) => format!("_:{}", node.as_str()),
        };
        let predicate = local(triple.predicate.as_str());
        let object = match &triple.object {
            Term::NamedNode(node) => Some(node.as_str().to_owned()),
            Term::BlankNode(node) => Some(format!("_:{}", node.as_str())),
            Term::Literal(_) => None,
        };
        let literal = match &triple.object {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        };
        if let Some(object) = object.filter(|_| MAKERS.contains(&predicate)) {
            makers.insert((predicate, object));
            continue;
        }
        match (predicate, &triple.object, literal) {
            ("type", Term::NamedNode(kind), _) => {
                let node = nodes.entry(subject).or_default();
                node.kind = node.kind.or(kind_of(local(kind.as_str())));
            }
            ("name" | "label" | "prefLabel", _, Some(name)) => {
                nodes.entry(subject).or_default().name.get_or_insert(name);
            }
            ("headline", _, Some(title)) => _ = told.title.get_or_insert(title),
            ("datePublished" | "issued", _, Some(published)) => _ = told.published.get_or_insert(published),
            ("mentions" | "about" | "subject" | "keywords", _, Some(names)) => {
                loose.extend(names.split([',', ';']).map(|name| name.trim().to_owned()));
            }
            _ => {}
        }
    }
    let made: BTreeSet<&String> = makers.iter().map(|(_, maker)| maker).collect();
    let published_by = makers.iter().find(|(how, _)| *how == "publisher").and_then(|(_, maker)| nodes.get(maker));
    told.source = published_by.and_then(|node| node.name.clone());
    let named = nodes
        .iter()
        .filter(|(node, _)| !made.contains(node))
        .filter_map(|(_, node)| Some(Entity { name: node.name.clone()?, kind: node.kind? }));
    told.entities = named.chain(loose.into_iter().map(|name| Entity { name, kind: EntityKind::Other })).collect();
    told
}

#[derive(Default)]
struct Node {
    name: Option<String>,
    kind: Option<EntityKind>,
}

/// Who made the article is not what it is about.
const MAKERS: [&str; 8] =
    ["author", "creator", "publisher", "provider", "sourceOrganization", "editor", "copyrightHolder", "isPartOf"];

/// The last part of an IRI.
fn local(iri: &str) -> &str {
    iri.rsplit(['/', '#']).next().unwrap_or(iri)
}

/// What things of a type are; types of schema.org, FOAF, DBpedia and others share their names.
fn kind_of(name: &str) -> Option<EntityKind> {
    const KINDS: [(EntityKind, &[&str]); 4] = [
        (EntityKind::Person, &["Person", "Politician", "Athlete", "Artist", "Agent"]),
        (
            EntityKind::Organization,
            &[
                "Organization",
                "Organisation",
                "Corporation",
                "Company",
                "NGO",
                "GovernmentOrganization",
                "SportsTeam",
                "EducationalOrganization",
                "CollegeOrUniversity",
                "NewsMediaOrganization",
                "SportsOrganization",
                "MusicGroup",
                "PoliticalParty",
                "LocalBusiness",
                "Airline",
                "Hospital",
                "Group",
            ],
        ),
        (
            EntityKind::Place,
            &[
                "Place",
                "City",
                "Country",
                "State",
                "AdministrativeArea",
                "Landform",
                "BodyOfWater",
                "RiverBodyOfWater",
                "SeaBodyOfWater",
                "Mountain",
                "Location",
                "Settlement",
                "Island",
                "LandmarksOrHistoricalBuildings",
                "Museum",
                "StadiumOrArena",
                "Airport",
                "TouristAttraction",
                "SpatialThing",
                "Feature",
            ],
        ),
        (EntityKind::Event, &["Event", "SportsEvent", "Festival", "ExhibitionEvent", "BusinessEvent", "Election"]),
    ];
    KINDS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(kind, _)| *kind)
        .or_else(|| (name == "Thing").then_some(EntityKind::Other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(told: &Metadata) -> Vec<(&str, EntityKind)> {
        let mut names: Vec<_> = told.entities.iter().map(|entity| (entity.name.as_str(), entity.kind)).collect();
        names.sort();
        names
    }

    #[test]
    fn json_ld_of_schema_org_tells_what_an_article_mentions() {
        let value = serde_json::json!({
            "@context": "https://schema.org", "@type": "NewsArticle", "headline": "Ferry saved",
            "datePublished": "2026-03-01", "author": { "@type": "Person", "name": "A Reporter" },
            "publisher": { "@type": "Organization", "name": "The Post" },
            "mentions": [{ "@type": "Person", "name": "Ada Moss" }, { "@type": "Place", "name": "Bergen" }],
            "keywords": "rescue, sea"
        });
        let told = told(&json_ld(&value, "https://post.example/1", &Limits::default()).unwrap());
        assert_eq!((told.title.as_deref(), told.published.as_deref()), (Some("Ferry saved"), Some("2026-03-01")));
        assert_eq!(told.source.as_deref(), Some("The Post"));
        let expected = [
            ("Ada Moss", EntityKind::Person),
            ("Bergen", EntityKind::Place),
            ("rescue", EntityKind::Other),
            ("sea", EntityKind::Other),
        ];
        assert_eq!(names(&told), expected);
    }

    #[test]
    fn turtle_of_other_vocabularies_does_too() {
        let text = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix dc: <http://purl.org/dc/terms/> .
                    <> dc:subject \"floods\" ; foaf:topic <#x> . <#x> a foaf:Organization ; foaf:name \"Red Barn\" .";
        let told = told(&turtle(text, "https://post.example/1", &Limits::default()).unwrap());
        assert_eq!(names(&told), [("Red Barn", EntityKind::Organization), ("floods", EntityKind::Other)]);
        assert!(
            turtle("<a> <b>", "https://post.example/1", &Limits::default())
                .unwrap_err()
                .to_string()
                .starts_with("turtle: ")
        );
    }
}
