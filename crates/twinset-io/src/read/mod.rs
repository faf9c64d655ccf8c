//! From paths to blocks of records.
//!
//! `inputs` finds the files, `stream` opens one (decompressed and decoded), one file per format cuts it into
//! blocks on one thread at a time, and each block is parsed on the thread that will use it.

mod arrivals;
mod attributes;
mod block;
mod bounded;
mod cutter;
mod delimited;
pub mod features;
mod fields;
mod format;
mod inputs;
mod jsonl;
mod lines;
mod options;
mod pages;
mod parquet;
mod parquet_file;
mod parquet_page;
mod pieces;
mod rdf;
mod reader;
mod rejects;
mod stream;
mod warc;
mod xml;

pub use arrivals::{Arrival, for_each_arrival};
pub(crate) use block::Bad;
pub use block::Record;
pub(crate) use fields::Wanted;
pub use format::Format;
pub(crate) use inputs::InputFile;
pub use inputs::Inputs;
pub use options::{PageText, ReadOptions, read_stop_words};
pub use pages::{decoded_page, has_deeper, text_of_page};
pub use parquet::texts_of;
pub(crate) use parquet_file::ParquetFile;
pub(crate) use pieces::{Piece, for_each_piece, whole_file};
pub use rdf::{BlankNodes, IriRules, Literals, RdfOptions, Resources};
pub(crate) use rdf::{Described, describe, for_each_quad};
pub(crate) use reader::{BadRecords, for_each_block, format_of, parquet_file};
pub(crate) use rejects::Rejects;
pub use stream::{open_bytes, open_text};
pub(crate) use warc::{Archive, Entry, archive_failure};
