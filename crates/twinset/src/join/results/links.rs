//! The pairs of a join as a graph.

use crate::model::{Measure, Result, Run};

/// Which records are linked by pairs. Identical records share a node, so a million pairs among them take little room.
///
/// See the example of [`steps`](crate::exact::steps).
#[derive(Debug, Clone)]
pub struct Links {
    /// The node of each record.
    nodes: Vec<u32>,
    /// How many records each node has.
    weights: Vec<u32>,
    /// The value of the pairs that the records of a node form with each other, if they do.
    twins: Vec<Option<f64>>,
    /// Where each node's neighbours start.
    starts: Vec<u64>,
    neighbours: Vec<u32>,
    /// The value of the pair with each neighbour.
    values: Vec<f64>,
    measure: Measure,
}

/// Pairs of records with the same value.
///
/// See the example of [`steps`](crate::exact::steps).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValuedPairs {
    /// The nodes of their records.
    pub(crate) nodes: (u32, u32),
    /// The value.
    pub value: f64,
    /// How many pairs they are.
    pub pairs: u64,
}

/// Two nodes whose records form pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) nodes: (u32, u32),
    pub(crate) value: f64,
}

/// What a link takes: it stands at both ends.
const BYTES: u64 = 2 * (4 + 8);

impl Links {
    /// `links` is called twice for all links; a pair of nodes may occur more than once.
    pub(crate) fn new<L: Iterator<Item = Result<Link>>>(
        measure: Measure,
        nodes: Vec<u32>,
        twins: Vec<Option<f64>>,
        links: impl Fn() -> L,
        run: &Run,
    ) -> Result<Self> {
        let mut starts = vec![0u64; twins.len() + 2];
        for link in links() {
            let (a, b) = link?.nodes;
            starts[a as usize + 2] += 1;
            starts[b as usize + 2] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let ends = starts[twins.len() + 1];
        run.check_memory(BYTES / 2 * ends)?;
        let (mut neighbours, mut values) = (vec![0; ends as usize], vec![0.0; ends as usize]);
        for link in links() {
            let Link { nodes: (a, b), value } = link?;
            for (node, other) in [(a, b), (b, a)] {
                let next = &mut starts[node as usize + 1];
                (neighbours[*next as usize], values[*next as usize]) = (other, value);
                *next += 1;
            }
        }
        starts.pop();
        let weights = weights(&nodes, twins.len());
        Ok(Self { nodes, weights, twins, starts, neighbours, values, measure })
    }

    /// No link between any of so many records.
    pub(crate) fn none(measure: Measure, records: usize) -> Self {
        let (nodes, twins, starts) = ((0..records as u32).collect(), vec![None; records], vec![0; records + 1]);
        Self { nodes, weights: vec![1; records], twins, starts, neighbours: Vec::new(), values: Vec::new(), measure }
    }

    /// The links of records that are copies of those joined: for each of them, which one it is a copy of.
    pub(crate) fn of_copies(self, copies: &[u32]) -> Self {
        let nodes: Vec<u32> = copies.iter().map(|&original| self.nodes[original as usize]).collect();
        let weights = weights(&nodes, self.twins.len());
        Self { nodes, weights, ..self }
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.nodes.len()
    }

    /// The measure of the values.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The node of a record.
    pub(crate) fn node(&self, record: u32) -> u32 {
        self.nodes[record as usize]
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.twins.len()
    }

    /// Whether the records of a node form pairs with each other.
    pub(crate) fn are_twins(&self, node: u32) -> bool {
        self.twins[node as usize].is_some()
    }

    /// Whether the records of a node form any pair.
    pub(crate) fn is_linked(&self, node: u32) -> bool {
        self.are_twins(node) || self.neighbours(node).next().is_some()
    }

    /// The other nodes with which a node's records form pairs, and the values of these.
    pub(crate) fn neighbours(&self, node: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize;
        self.neighbours[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// In how many pairs each record of a node takes part.
    pub(crate) fn degree(&self, node: u32) -> u64 {
        let mut others: Vec<u32> = self.neighbours(node).map(|(other, _)| other).collect();
        others.sort_unstable();
        others.dedup();
        let own = if self.are_twins(node) { self.weights[node as usize].saturating_sub(1) } else { 0 };
        others.iter().map(|&other| u64::from(self.weights[other as usize])).sum::<u64>() + u64::from(own)
    }

    /// How many records a node has.
    pub(crate) fn weight(&self, node: u32) -> u32 {
        self.weights[node as usize]
    }

    /// All pairs, those of two nodes together, and those within a node. Of the two directions of containment the larger value
    /// counts.
    pub fn valued_pairs(&self) -> Vec<ValuedPairs> {
        let weight = |node: u32| u64::from(self.weight(node));
        let mut all = Vec::new();
        for node in 0..self.len() as u32 {
            let mut later: Vec<(u32, f64)> = self.neighbours(node).filter(|&(other, _)| other > node).collect();
            later.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            later.dedup_by_key(|neighbour| neighbour.0);
            all.extend(later.into_iter().map(|(other, value)| ValuedPairs {
                nodes: (node, other),
                value,
                pairs: weight(node) * weight(other),
            }));
            if let Some(value) = self.twins[node as usize].filter(|_| weight(node) > 1) {
                let pairs = weight(node) * (weight(node) - 1) / 2;
                all.push(ValuedPairs { nodes: (node, node), value, pairs });
            }
        }
        all
    }

    /// How many pairs of records are linked, whatever the direction.
    pub fn pairs(&self) -> u64 {
        (0..self.len() as u32).map(|node| self.degree(node) * u64::from(self.weights[node as usize])).sum::<u64>() / 2
    }
}

fn weights(nodes: &[u32], count: usize) -> Vec<u32> {
    let mut weights = vec![0; count];
    nodes.iter().for_each(|&node| weights[node as usize] += 1);
    weights
}
