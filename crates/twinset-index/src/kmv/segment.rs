//! One part of an index: the lists of its values, and the synopses of its records.

use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::postings::SegmentPostings;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::store::StoreReader;
use tantivy::{DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED, TantivyDocument, Term};
use twinset::estimate::Synopsis;

use super::{Fields, term};
use crate::{Error, Result};

/// A part of an index.
pub(super) struct Segment {
    name: String,
    fields: Fields,
    k: u32,
    reader: SegmentReader,
    lists: Arc<InvertedIndexReader>,
    ids: Arc<InvertedIndexReader>,
    values: Column<u64>,
    numbers: Column<u64>,
    complete: Column<bool>,
    bytes: Column<u64>,
    store: StoreReader,
}

/// Blocks of ids and other fields that are kept unpacked.
const STORE_BLOCKS: usize = 16;

impl Segment {
    pub(super) fn new(reader: &SegmentReader, fields: Fields, k: u32, name: &str) -> Result<Self> {
        let opened = || -> tantivy::Result<Self> {
            let columns = reader.fast_fields();
            // A column is absent if no record has a value.
            let none = || Column::build_empty_column(reader.max_doc());
            Ok(Self {
                name: name.to_owned(),
                fields,
                k,
                lists: reader.inverted_index(fields.terms)?,
                ids: reader.inverted_index(fields.id)?,
                values: columns.column_opt("values")?.unwrap_or_else(none),
                numbers: columns.u64("number")?,
                complete: columns.bool("complete")?,
                bytes: columns.u64("bytes")?,
                store: reader.get_store_reader(STORE_BLOCKS)?,
                reader: reader.clone(),
            })
        };
        let segment = opened().map_err(|error| failure(name, &error))?;
        // The list of parts has no checksum, and tantivy panics where it counts more records than there are.
        if segment.numbers.num_docs() != reader.max_doc() {
            return Err(Error::index(name, "the list of its parts (meta.json) is damaged; restore it from a copy"));
        }
        Ok(segment)
    }

    /// The records that are there, whatever was deleted.
    pub(super) fn documents(&self) -> impl Iterator<Item = DocId> {
        (0..self.reader.max_doc()).filter(|&document| self.is_there(document))
    }

    /// How many these are.
    pub(super) fn len(&self) -> u64 {
        u64::from(self.reader.num_docs())
    }

    pub(super) fn is_there(&self, document: DocId) -> bool {
        !self.reader.is_deleted(document)
    }

    /// For each value that occurs, the list of records that have it, with those that were deleted.
    pub(super) fn lists(&self, values: &[u64]) -> Result<Vec<SegmentPostings>> {
        let mut lists = Vec::with_capacity(values.len());
        for &value in values {
            lists.extend(self.list(value)?);
        }
        Ok(lists)
    }

    /// The same for one value.
    pub(super) fn list(&self, value: u64) -> Result<Option<SegmentPostings>> {
        let term = Term::from_field_u64(self.fields.terms, term(value));
        let list = self.lists.read_postings(&term, IndexRecordOption::Basic);
        list.map_err(|error| failure(&self.name, &error.into()))
    }

    /// How many records there have been, with those that were deleted.
    pub(super) fn documents_ever(&self) -> u32 {
        self.reader.max_doc()
    }

    /// Returns the record with an id.
    pub(super) fn find(&self, id: &str) -> Result<Option<DocId>> {
        let term = Term::from_field_text(self.fields.id, id);
        let list = self.ids.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut list) = list.map_err(|error| failure(&self.name, &error.into()))? else { return Ok(None) };
        while list.doc() != TERMINATED && !self.is_there(list.doc()) {
            list.advance();
        }
        Ok(Some(list.doc()).filter(|&document| document != TERMINATED))
    }

    /// The number of a record.
    pub(super) fn number(&self, document: DocId) -> u64 {
        self.numbers.first(document).unwrap_or(0)
    }

    /// How many bytes a record was made from.
    pub(super) fn bytes(&self, document: DocId) -> u64 {
        self.bytes.first(document).unwrap_or(0)
    }

    /// The synopsis of a record, whose values are put in a buffer.
    pub(super) fn synopsis<'b>(&self, document: DocId, buffer: &'b mut Vec<u64>) -> Result<Synopsis<'b>> {
        buffer.clear();
        buffer.extend(self.values.values_for_doc(document));
        let is_complete = self.complete.first(document).unwrap_or(false);
        Synopsis::new(buffer, self.k, is_complete).ok_or_else(|| {
            Error::index(
                &self.name,
                format!("the synopsis of record number {} is damaged; restore it from a copy", self.number(document)),
            )
        })
    }

    /// What a record is called, and what else is kept of it, as JSON.
    pub(super) fn stored(&self, document: DocId) -> Result<(String, serde_json::Map<String, serde_json::Value>)> {
        let stored: TantivyDocument = self.store.get(document).map_err(|error| failure(&self.name, &error))?;
        let id = stored.get_first(self.fields.id).and_then(|id| id.as_str()).unwrap_or_default().to_owned();
        let extra = stored.get_first(self.fields.extra).map(|extra| {
            let extra: tantivy::schema::OwnedValue = extra.into();
            serde_json::to_value(extra).unwrap_or_default()
        });
        Ok((id, extra.and_then(|extra| extra.as_object().cloned()).unwrap_or_default()))
    }
}

fn failure(name: &str, error: &tantivy::TantivyError) -> Error {
    Error::index(name, format!("it cannot be read: {error}"))
}
