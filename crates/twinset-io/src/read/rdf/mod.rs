//! RDF: files of triples as one graph, and its resources as records.

#[cfg(feature = "rdf")]
mod graph;
mod options;
#[cfg(feature = "rdf")]
mod quads;
#[cfg_attr(not(feature = "rdf"), path = "../missing/rdf.rs")]
mod resources;

pub use options::{BlankNodes, Difference, IriRules, Literals, RdfOptions, Resources};
#[cfg(feature = "rdf")]
pub(crate) use quads::{describe, for_each_quad};
pub(crate) use resources::Described;
#[cfg(not(feature = "rdf"))]
pub(super) use resources::describe;
