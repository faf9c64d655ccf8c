//! Boxes and lines between them: who refers stands to the right of whom it refers to.

use maud::{Markup, html};

/// Boxes, and lines from a row of one to a row of another.
pub(crate) struct Diagram {
    pub(crate) boxes: Vec<Box>,
    pub(crate) edges: Vec<Edge>,
}

/// A box with a name and rows.
pub(crate) struct Box {
    pub(crate) name: String,
    pub(crate) rows: Vec<String>,
}

/// A line from a row of one box to a row of another.
pub(crate) struct Edge {
    pub(crate) from: (usize, usize),
    pub(crate) to: (usize, usize),
    pub(crate) score: f64,
    /// What it stands for on the page.
    pub(crate) number: usize,
    pub(crate) title: String,
}

const WIDTH: f64 = 190.0;
const GAP: f64 = 90.0;
const ROW: f64 = 17.0;
const HEAD: f64 = 24.0;
const SPACE: f64 = 22.0;

impl Diagram {
    /// How far each box stands to the right: further than all that it refers to, as far as there are no circles.
    fn layers(&self) -> Vec<usize> {
        let mut layers = vec![0; self.boxes.len()];
        // The best lines count first; one that would close a circle does not count.
        let mut edges: Vec<&Edge> = self.edges.iter().filter(|edge| edge.from.0 != edge.to.0).collect();
        edges.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for edge in edges {
            let (from, to) = (edge.from.0, edge.to.0);
            if !reaches(&kept, to, from) {
                kept.push((from, to));
            }
        }
        for _ in 0..self.boxes.len() {
            for &(from, to) in &kept {
                layers[from] = layers[from].max(layers[to] + 1);
            }
        }
        layers
    }

    /// Where each box stands.
    fn places(&self) -> (Vec<(f64, f64)>, (f64, f64)) {
        let layers = self.layers();
        let height = |at: usize| HEAD + ROW * self.boxes[at].rows.len() as f64;
        let mut places = vec![(0.0, 0.0); self.boxes.len()];
        let (mut width, mut tallest): (f64, f64) = (0.0, 0.0);
        for layer in 0..=layers.iter().copied().max().unwrap_or(0) {
            let mut members: Vec<usize> = (0..self.boxes.len()).filter(|&at| layers[at] == layer).collect();
            // Beside what they refer to, as far as that stands already.
            let middle = |at: usize| {
                let targets: Vec<f64> = self
                    .edges
                    .iter()
                    .filter(|edge| edge.from.0 == at && layers[edge.to.0] < layer)
                    .map(|edge| places[edge.to.0].1)
                    .collect();
                if targets.is_empty() { 0.0 } else { targets.iter().sum::<f64>() / targets.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> = members.drain(..).map(|at| (middle(at), at)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let (x, mut y) = (10.0 + layer as f64 * (WIDTH + GAP), 10.0);
            for (_, at) in keyed {
                places[at] = (x, y);
                y += height(at) + SPACE;
            }
            (width, tallest) = (x + WIDTH + 40.0, tallest.max(y));
        }
        (places, (width, tallest))
    }

    /// As SVG.
    pub(crate) fn draw(&self) -> Markup {
        let (places, (width, height)) = self.places();
        let row_y = |(at, row): (usize, usize)| places[at].1 + HEAD + ROW * row as f64 + ROW / 2.0;
        let path = |edge: &Edge| {
            let (start, end) = (places[edge.from.0].0, places[edge.to.0].0);
            let (y1, y2) = (row_y(edge.from), row_y(edge.to));
            match start > end {
                true => {
                    let (x1, x2) = (start, end + WIDTH);
                    let bend = ((x1 - x2) / 2.0).max(30.0);
                    format!("M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}", x1 - bend, x2 + bend)
                }
                false => {
                    let (x1, x2) = (start + WIDTH, end + WIDTH);
                    let bend = x1.max(x2) + 36.0;
                    format!("M{x1:.0} {y1:.0}C{bend:.0} {y1:.0} {bend:.0} {y2:.0} {x2:.0} {y2:.0}")
                }
            }
        };
        html! {
            div class="scroll" {
                svg class="diagram" viewBox={ "0 0 " (width) " " (height) } style={ "width:" (width) "px" } role="img" aria-label="Diagram of tables" {
                    @for edge in &self.edges {
                        path class="edge" d=(path(edge)) tabindex="0" data-number=(edge.number) data-boxes={ (edge.from.0) " " (edge.to.0) } {
                            title { (edge.title) }
                        }
                    }
                    @for (at, shown) in self.boxes.iter().enumerate() {
                        g class="box" data-box=(at) {
                            rect x=(places[at].0) y=(places[at].1) width=(WIDTH) height=(HEAD + ROW * shown.rows.len() as f64) rx="4" {}
                            text class="head" x=(places[at].0 + 8.0) y=(places[at].1 + 16.0) { (short(&shown.name)) title { (shown.name) } }
                            @for (row, name) in shown.rows.iter().enumerate() {
                                text x=(places[at].0 + 8.0) y=(places[at].1 + HEAD + ROW * row as f64 + 12.0) { (short(name)) title { (name) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether lines lead from one box to another.
fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (std::collections::BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(edges.iter().filter(|edge| edge.0 == at).map(|edge| edge.1));
        }
    }
    false
}

/// A name that fits into a box.
fn short(name: &str) -> String {
    const MOST: usize = 26;
    if name.chars().count() <= MOST { name.to_owned() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}
