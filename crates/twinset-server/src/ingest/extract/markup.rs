//! What a page tells in its markup: its text, and the RDF that is embedded in it as JSON-LD, microdata or RDFa.

use dom_query::{Document, NodeRef};
use graph_rdfa_processor::RdfaGraph;
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use twinset_io::read::{PageText, has_deeper, text_of_page};

use super::graph::{self, Metadata};
use crate::limits::Limits;
use crate::{Error, Result};

/// A page: its title, its text, and what its markup tells.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) told: Metadata,
}

/// Understands a page that was published at an address.
pub(crate) fn understand(html: &str, url: &str, limits: &Limits) -> Result<Page> {
    let (title, text) = text_of_page(html, PageText::Main, &limits.read)
        .map_err(|reason| Error::Request(format!("html: {reason}; send the `text` instead")))?;
    let told = twinset_io::guarded(|| graph::told(&embedded(html, url, limits))).unwrap_or_default();
    Ok(Page { title, text, told })
}

fn embedded(html: &str, url: &str, limits: &Limits) -> Vec<Triple> {
    let document = Document::from(html);
    let mut triples = Vec::new();
    // Who looks for data goes as deep as the elements do.
    if has_deeper(&document, limits.markup_depth as usize) {
        return triples;
    }
    for script in document.select("script[type='application/ld+json']").nodes() {
        let value = serde_json::from_str(&script.text());
        // Pages with broken data are common, and no reason to refuse their text.
        triples.extend(value.ok().and_then(|value| graph::json_ld(&value, url, limits).ok()).unwrap_or_default());
    }
    let mut items = Items { triples: Vec::new(), most: limits.triples as usize };
    for node in document.select("[itemscope]").nodes().iter().filter(|node| node.attr("itemprop").is_none()) {
        items.item(node);
    }
    triples.extend(items.triples);
    let has_short_names = || {
        let nodes = document.select("[prefix], [vocab]");
        let is_short = |name: &str, node: &NodeRef<'_>| node.attr(name).is_none_or(|value| value.len() <= LONGEST);
        nodes.nodes().iter().all(|node| is_short("prefix", node) && is_short("vocab", node))
    };
    if (html.contains("typeof=") || html.contains("property=")) && has_short_names() {
        let turtle = RdfaGraph::parse_str(html, url, None).unwrap_or_default();
        triples.extend(graph::turtle(&turtle, url, limits).unwrap_or_default());
    }
    triples
}

/// The items of microdata, as triples.
struct Items {
    triples: Vec<Triple>,
    most: usize,
}

/// A value is cut after so many characters.
const LONGEST: usize = 1000;
const VOCABULARY: &str = "http://schema.org/";

impl Items {
    fn item(&mut self, node: &NodeRef<'_>) -> BlankNode {
        let subject = BlankNode::default();
        let kinds = node.attr("itemtype").unwrap_or_default();
        for kind in kinds.split_whitespace().filter_map(|kind| NamedNode::new(kind).ok()) {
            self.add(&subject, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", kind);
        }
        self.properties(node, &subject);
        subject
    }

    fn properties(&mut self, node: &NodeRef<'_>, subject: &BlankNode) {
        for child in node.element_children() {
            if self.triples.len() >= self.most {
                return;
            }
            let is_item = child.attr("itemscope").is_some();
            if let Some(names) = child.attr("itemprop") {
                let value: Term =
                    if is_item { self.item(&child).into() } else { Literal::new_simple_literal(value(&child)).into() };
                for name in names.split_whitespace() {
                    let name = if name.contains(':') { name.to_owned() } else { format!("{VOCABULARY}{name}") };
                    self.add(subject, &name, value.clone());
                }
            }
            if !is_item {
                self.properties(&child, subject);
            }
        }
    }

    fn add(&mut self, subject: &BlankNode, predicate: &str, object: impl Into<Term>) {
        if let Ok(predicate) = NamedNode::new(predicate) {
            self.triples.push(Triple::new(NamedOrBlankNode::from(subject.clone()), predicate, object));
        }
    }
}

/// The value of a property.
fn value(node: &NodeRef<'_>) -> String {
    let told = ["content", "datetime", "value"].iter().find_map(|name| node.attr(name));
    let value = told.unwrap_or_else(|| node.text());
    value.trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use twinset_io::LimitSet;

    use super::*;

    fn names(html: &str) -> Vec<String> {
        let told = understand(html, "https://post.example/1", &Limits::default()).unwrap().told;
        let mut names: Vec<String> = told.entities.into_iter().map(|entity| entity.name).collect();
        names.sort();
        names
    }

    const TEXT: &str = "<p>Ada Moss came to Bergen on Monday and stayed there for a week, as the harbour master said in the \
                        evening to those who had waited.</p>";

    #[test]
    fn json_ld_microdata_and_rdfa_tell_the_same() {
        let json_ld = format!(
            "<title>T</title><script type='application/ld+json'>{{\"@context\": \"https://schema.org\", \"@type\": \"NewsArticle\", \
             \"mentions\": [{{\"@type\": \"Person\", \"name\": \"Ada Moss\"}}, {{\"@type\": \"Place\", \"name\": \"Bergen\"}}]}}</script>{TEXT}"
        );
        let microdata = format!(
            "<title>T</title><article itemscope itemtype='https://schema.org/NewsArticle'>\
             <div><span itemprop='mentions' itemscope itemtype='https://schema.org/Person'><b itemprop='name'>Ada Moss</b></span></div>\
             <meta itemprop='datePublished' content='2026-03-01'>\
             <span itemprop='mentions' itemscope itemtype='https://schema.org/Place'><meta itemprop='name' content='Bergen'></span>{TEXT}</article>"
        );
        let rdfa = format!(
            "<html><head><title>T</title></head><body vocab='http://schema.org/' typeof='NewsArticle'>\
             <div property='mentions' typeof='Person'><span property='name'>Ada Moss</span></div>\
             <div property='mentions' typeof='Place'><span property='name'>Bergen</span></div>{TEXT}</body></html>"
        );
        for html in [&json_ld, &microdata, &rdfa] {
            assert_eq!(names(html), ["Ada Moss", "Bergen"], "{html}");
        }
        let page = understand(&microdata, "https://post.example/1", &Limits::default()).unwrap();
        assert_eq!(page.told.published.as_deref(), Some("2026-03-01"));
        assert!(page.text.contains("stayed there for a week"), "{}", page.text);
        assert_eq!(page.title, "T");
    }

    #[test]
    fn deep_pages_with_data_do_not_end_the_service() {
        let deepest = Limits::all().into_iter().find(|limit| limit.name == "markup_depth").unwrap().largest;
        for open in ["<div typeof=Person property=name>", "<div itemscope itemprop=a>", "<div>"] {
            for depth in [Limits::default().markup_depth - 10, deepest - 10, 990] {
                let html = format!("<p typeof=Person>{}text of it", open.repeat(depth as usize));
                let limits = Limits { markup_depth: deepest, ..Limits::default() };
                // The stack is as large as that of any other thread.
                let understood = move || understand(&html, "https://post.example/1", &limits).map(|page| page.text);
                let text = std::thread::spawn(understood).join().unwrap().unwrap();
                assert!(text.contains("text of it"), "{open} {depth}");
            }
        }
    }

    #[test]
    fn broken_markup_is_no_reason_to_refuse_a_page() {
        let html = format!(
            "<title>T</title><script type='application/ld+json'>{{not json</script><div itemscope itemscope>{TEXT}"
        );
        assert_eq!(names(&html), Vec::<String>::new());
    }
}
