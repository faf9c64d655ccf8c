//! From pairs to groups of near duplicates, and the one record of each that is kept.

mod link;
mod ranking;
mod steps;

pub use link::Link;
pub use ranking::{Order, Ranking};
pub use steps::{Step, steps};

use crate::join::Links;

/// The representative of each record, which is itself if it is kept, and the value of their pair if they form one.
pub(crate) struct Clusters {
    pub(crate) representatives: Vec<u32>,
    pub(crate) values: Vec<Option<f64>>,
}

/// Groups linked records. `order` has all records, those first that are rather kept.
pub(crate) fn cluster(links: &Links, order: &[u32], link: Link) -> Clusters {
    match link {
        Link::Any => connected(links, order),
        Link::Representative => by_representative(links, order),
    }
}

/// Whatever is connected by pairs forms a group.
fn connected(links: &Links, order: &[u32]) -> Clusters {
    let mut parents: Vec<u32> = (0..links.len() as u32).collect();
    for node in 0..links.len() as u32 {
        for (other, _) in links.neighbours(node).filter(|&(other, _)| other < node) {
            let (a, b) = (root(&mut parents, node), root(&mut parents, other));
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    let mut firsts: Vec<Option<u32>> = vec![None; links.len()];
    let mut representatives = vec![0; order.len()];
    for &record in order {
        let node = links.node(record);
        // Records of a node that are no pair stand alone: nothing else can be linked to them either.
        let first = if links.is_linked(node) { &mut firsts[root(&mut parents, node) as usize] } else { &mut None };
        representatives[record as usize] = *first.get_or_insert(record);
    }
    // Records of a node have the same representative, or stand alone.
    let value = |node: u32| {
        let representative = links.node(firsts[root(&mut parents, node) as usize]?);
        let values = links.neighbours(node).filter(|&(other, _)| other == representative).map(|(_, value)| value);
        values.reduce(|best, value| if links.measure().is_better(value, best) { value } else { best })
    };
    let of_node: Vec<Option<f64>> = (0..links.len() as u32).map(value).collect();
    let values = (0..order.len() as u32).map(|record| of_node[links.node(record) as usize]).collect();
    Clusters { representatives, values }
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let parent = parents[node as usize];
        parents[node as usize] = parents[parent as usize];
        node = parent;
    }
    node
}

/// In their order, each record joins its most similar representative or becomes one.
fn by_representative(links: &Links, order: &[u32]) -> Clusters {
    // The best representative of each node so far; none is as good as a twin.
    let mut best: Vec<Option<(u32, Option<f64>)>> = vec![None; links.len()];
    let (mut representatives, mut values) = (vec![0; order.len()], vec![None; order.len()]);
    for &record in order {
        let node = links.node(record);
        if let Some((representative, value)) = best[node as usize] {
            (representatives[record as usize], values[record as usize]) = (representative, value);
            continue;
        }
        representatives[record as usize] = record;
        for (other, value) in links.neighbours(node) {
            let best = &mut best[other as usize];
            if best.is_none_or(|(_, old)| old.is_some_and(|old| links.measure().is_better(value, old))) {
                *best = Some((record, Some(value)));
            }
        }
        if links.are_twins(node) {
            best[node as usize] = Some((record, None));
        }
    }
    Clusters { representatives, values }
}
