//! Results of an earlier run, for tables that have not changed since.

use std::collections::HashMap;

use crate::features::Feature;
use crate::sources::Counts;
use crate::table::Table;

/// What identifies a table among those of all sources.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TableId {
    pub(crate) source: String,
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

/// A table with its features.
#[derive(Debug, Clone, Default)]
pub(crate) struct CachedTable {
    pub(crate) table: Table,
    pub(crate) features: Vec<Feature>,
}

/// Tables with their features, and the counts of the second pass.
#[derive(Default)]
pub struct ProfileCache {
    pub(crate) tables: HashMap<TableId, CachedTable>,
    /// By the identities of what was compared.
    pub(crate) answers: HashMap<(String, String), Counts>,
}

impl ProfileCache {
    /// A table as it was read last, if nothing has changed since.
    pub(crate) fn unchanged(&self, source: &str, table: &Table) -> Option<&CachedTable> {
        let id = TableId { source: source.to_owned(), schema: table.schema.clone(), name: table.name.clone() };
        let cached = self.tables.get(&id)?;
        let known = &cached.table;
        let is_same =
            !table.state.is_empty() && known.state == table.state && (table.is_xml() || known.columns == table.columns);
        is_same.then_some(cached)
    }
}
