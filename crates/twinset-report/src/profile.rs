//! What tables have in common: a diagram of who refers to whom, every relation with what speaks for it, every column.

use maud::{Markup, PreEscaped, html};

use crate::diagram::{Box, Diagram, Edge};
use crate::page::{page, table};

/// Everything that the page shows.
pub struct ProfileReport {
    /// What was read.
    pub title: String,
    /// What was found, in words: a name and a number each.
    pub summary: Vec<(String, String)>,
    /// The tables.
    pub tables: Vec<ShownTable>,
    /// The relations, best first within each kind.
    pub relations: Vec<ShownRelation>,
    /// How many there are besides.
    pub more_relations: u64,
    /// What could not be read, and why.
    pub problems: Vec<(String, String)>,
}

/// A table.
pub struct ShownTable {
    /// What it is called.
    pub name: String,
    /// How many rows it has, in words.
    pub rows: String,
    /// Its columns: each a name and what is known of it, in the order of the header.
    pub columns: Vec<Vec<String>>,
    /// How many columns it has besides.
    pub more_columns: u64,
}

/// What is known of a column.
pub const COLUMN_HEADER: [&str; 9] =
    ["column", "type", "no value", "distinct", "unique", "smallest", "largest", "examples", "most frequent"];

/// A relation.
pub struct ShownRelation {
    /// foreign-key, contained or similar.
    pub kind: &'static str,
    /// The names on both sides.
    pub left: String,
    /// The right one.
    pub right: String,
    /// The positions of the tables on both sides.
    pub tables: (usize, usize),
    /// The columns on both sides.
    pub columns: (Vec<String>, Vec<String>),
    /// How sure it is.
    pub score: f64,
    /// What is known of it, in words: a name and a value each.
    pub facts: Vec<(String, String)>,
    /// What its score was made of: a name, and how much it holds.
    pub evidence: Vec<(&'static str, f64)>,
    /// Values of the left that the right has not, and how many rows have them.
    pub orphans: Vec<(String, u64)>,
    /// Whether the diagram shows it.
    pub is_drawn: bool,
}

/// More tables do not fit into a diagram.
const DRAWN: usize = 60;

impl ProfileReport {
    /// The page.
    pub fn render(&self) -> String {
        let pairs =
            |rows: &[(String, String)]| rows.iter().map(|(a, b)| vec![a.clone(), b.clone()]).collect::<Vec<_>>();
        let kinds =
            [("foreign-key", "Foreign keys"), ("contained", "Contained columns"), ("similar", "Similar columns")];
        let body = html! {
            (table("What was found", &["", ""], &pairs(&self.summary)))
            h2 { "Who refers to whom" }
            p { "Move the slider: relations below the score fade. Click a line, or a relation in the lists, to see what speaks for it." }
            p {
                label for="threshold" { "score of at least " output id="at" { "0.50" } ", " output id="shown" {} " relations" }
                input id="threshold" type="range" min="0" max="100" value="50";
            }
            p { label for="filter" { "only names with " } input id="filter" type="search" placeholder="customer"; }
            (self.diagram())
            @for (kind, title) in kinds {
                h2 { (title) }
                (self.relations_of(kind))
            }
            @if self.more_relations > 0 { p { "and " (self.more_relations) " more, which the table of relations lists" } }
            h2 { "Tables" }
            @for shown in &self.tables { (table_of(shown)) }
            @if !self.problems.is_empty() {
                h2 { "What could not be read" }
                (table("", &["where", "why"], &pairs(&self.problems)))
            }
            script { (PreEscaped(SCRIPT)) }
        };
        page(&self.title, &body)
    }

    fn relations_of(&self, kind: &str) -> Markup {
        let of_kind: Vec<(usize, &ShownRelation)> =
            self.relations.iter().enumerate().filter(|(_, relation)| relation.kind == kind).collect();
        html! {
            @for &(number, relation) in &of_kind { (relation_of(number, relation)) }
            @if of_kind.is_empty() { p { "There are none." } }
        }
    }

    fn diagram(&self) -> Markup {
        let drawn: Vec<&ShownRelation> = self.relations.iter().filter(|relation| relation.is_drawn).collect();
        let mut places: Vec<usize> = drawn.iter().flat_map(|relation| [relation.tables.0, relation.tables.1]).collect();
        places.sort_unstable();
        places.dedup();
        let all = places.len();
        places.truncate(DRAWN);
        let place_of = |table: usize| places.binary_search(&table).ok();
        let boxes = places.iter().map(|&place| {
            let mut columns: Vec<String> = Vec::new();
            for relation in &drawn {
                let sides = [(relation.tables.0, &relation.columns.0), (relation.tables.1, &relation.columns.1)];
                for (_, names) in sides.iter().filter(|(table, _)| *table == place) {
                    columns.extend(names.iter().filter(|name| !columns.contains(name)).cloned().collect::<Vec<_>>());
                }
            }
            Box { name: self.tables[place].name.clone(), rows: columns }
        });
        let boxes: Vec<Box> = boxes.collect();
        let edges = self.relations.iter().enumerate().filter(|(_, relation)| relation.is_drawn).filter_map(
            |(number, relation)| {
                let (from, to) = (place_of(relation.tables.0)?, place_of(relation.tables.1)?);
                let row = |place: usize, names: &[String]| {
                    boxes[place].rows.iter().position(|name| Some(name) == names.first())
                };
                Some(Edge {
                    from: (from, row(from, &relation.columns.0)?),
                    to: (to, row(to, &relation.columns.1)?),
                    score: relation.score,
                    number,
                    title: format!("{} → {}", relation.left, relation.right),
                })
            },
        );
        let edges: Vec<Edge> = edges.collect();
        html! {
            @if edges.is_empty() { p { "No table refers to another." } }
            @else { (Diagram { boxes, edges }.draw()) }
            @if all > DRAWN { p { "The diagram shows " (DRAWN) " of " (all) " tables." } }
        }
    }
}

fn relation_of(number: usize, relation: &ShownRelation) -> Markup {
    let orphans: Vec<Vec<String>> =
        relation.orphans.iter().map(|(value, rows)| vec![value.clone(), rows.to_string()]).collect();
    let facts: Vec<Vec<String>> =
        relation.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
    html! {
        details class="group relation" id={ "r" (number) } data-score=(relation.score) {
            summary { strong { (relation.left) } " → " strong { (relation.right) } " " span class="score" { (format!("{:.2}", relation.score)) } }
            (table("", &["", ""], &facts))
            @if !relation.evidence.is_empty() {
                div class="scroll" { table class="evidence" {
                    caption { "What speaks for it" }
                    tbody { @for (name, value) in &relation.evidence {
                        tr { td { (name) } td { meter min="0" max="1" value=(value) {} } td { (format!("{value:.2}")) } }
                    } }
                } }
            }
            @if !orphans.is_empty() { (table("Orphan values: only the left has them", &["value", "rows"], &orphans)) }
        }
    }
}

fn table_of(shown: &ShownTable) -> Markup {
    html! {
        details class="group table" {
            summary { strong { (shown.name) } " " (shown.rows) }
            (table("", &COLUMN_HEADER, &shown.columns))
            @if shown.more_columns > 0 { p { "and " (shown.more_columns) " more columns" } }
        }
    }
}

const SCRIPT: &str = r#"
const slider = document.getElementById('threshold'), filter = document.getElementById('filter');
const relations = [...document.querySelectorAll('.relation')], edges = [...document.querySelectorAll('.edge')];
function show() {
  const least = slider.value / 100, wanted = filter.value.toLowerCase();
  document.getElementById('at').textContent = least.toFixed(2);
  let shown = 0;
  for (const relation of relations) {
    const names = relation.querySelector('summary').textContent.toLowerCase();
    const is = +relation.dataset.score >= least && names.includes(wanted);
    relation.hidden = !is;
    shown += is;
  }
  for (const edge of edges) edge.classList.toggle('off', document.getElementById('r' + edge.dataset.number).hidden);
  document.getElementById('shown').textContent = shown;
}
function open(number) {
  const relation = document.getElementById('r' + number);
  relation.open = true;
  relation.scrollIntoView({ block: 'center' });
}
slider.addEventListener('input', show);
filter.addEventListener('input', show);
for (const edge of edges) {
  edge.addEventListener('click', () => open(edge.dataset.number));
  edge.addEventListener('keydown', event => { if (event.key === 'Enter') open(edge.dataset.number); });
}
for (const table of document.querySelectorAll('.box')) {
  const mark = is => { for (const edge of edges) if (edge.dataset.boxes.split(' ').includes(table.dataset.box)) edge.classList.toggle('marked', is); };
  table.addEventListener('mouseenter', () => mark(true));
  table.addEventListener('mouseleave', () => mark(false));
}
show();
"#;
