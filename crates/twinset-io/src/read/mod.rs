//! From paths to blocks of records.
//!
//! `inputs` finds the files, `stream` opens one (decompressed and decoded), one file per format cuts it into
//! blocks on one thread at a time, and each block is parsed on the thread that will use it. `missing` stands in for the
//! formats that a build cannot read.

mod arrivals;
#[cfg(feature = "web")]
mod attributes;
mod block;
// All of it is for XML documents; rows need a part.
#[cfg_attr(not(feature = "tables"), expect(dead_code))]
mod bounded;
mod cutter;
mod delimited;
#[cfg(feature = "tables")]
pub mod features;
mod fields;
mod format;
mod id_pairs;
mod inputs;
mod jsonl;
mod lines;
mod options;
#[cfg_attr(not(feature = "web"), path = "missing/pages.rs")]
mod pages;
#[cfg_attr(not(feature = "parquet"), path = "missing/parquet.rs")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_page;
mod pieces;
mod rdf;
mod reader;
mod rejects;
mod stream;
#[cfg_attr(not(feature = "web"), path = "missing/warc.rs")]
mod warc;
// RDF/XML needs all of it, paths of XML documents a part.
#[cfg(any(feature = "rdf", feature = "tables"))]
#[cfg_attr(not(feature = "rdf"), allow(dead_code))]
mod xml;

pub use arrivals::{Arrival, for_each_arrival};
pub(crate) use block::Bad;
pub use block::Record;
#[cfg(feature = "rdf")]
pub(crate) use fields::Wanted;
pub use format::Format;
pub use id_pairs::id_pairs;
pub(crate) use inputs::InputFile;
pub use inputs::Inputs;
pub use options::{PageText, ReadOptions, read_stop_words};
#[cfg(feature = "web")]
pub use pages::{decoded_page, has_deeper, text_of_page};
#[cfg(feature = "parquet")]
pub(crate) use parquet::parquet_file;
#[cfg(feature = "parquet")]
pub use parquet::texts_of;
#[cfg(feature = "parquet")]
pub(crate) use parquet_file::ParquetFile;
pub(crate) use pieces::{Piece, for_each_piece, whole_file};
pub(crate) use rdf::Described;
pub use rdf::{BlankNodes, Difference, IriRules, Literals, RdfOptions, Resources};
#[cfg(feature = "rdf")]
pub(crate) use rdf::{describe, for_each_quad};
pub(crate) use reader::{BadRecords, for_each_block, format_of};
pub(crate) use rejects::Rejects;
pub use stream::{open_bytes, open_text};
#[cfg(feature = "web")]
pub(crate) use warc::{Archive, Entry, archive_failure};
