//! Results of an earlier run, for tables that have not changed since.

use std::collections::HashMap;

use crate::features::Feature;
use crate::sources::Counts;
use crate::table::Table;

/// A table's source, schema and name.
pub(crate) type TableName = (String, Option<String>, String);

/// Tables with their features, and the counts of the second pass.
#[derive(Default)]
pub struct ProfileCache {
    /// By source, schema and name.
    pub(crate) tables: HashMap<TableName, (Table, Vec<Feature>)>,
    /// By the identities of what was compared.
    pub(crate) answers: HashMap<(String, String), Counts>,
}

impl ProfileCache {
    /// What a table had when it was read last, if nothing has changed since.
    pub(crate) fn unchanged(&self, source: &str, table: &Table) -> Option<(&Table, &[Feature])> {
        let key = (source.to_owned(), table.schema.clone(), table.name.clone());
        let (known, features) = self.tables.get(&key)?;
        let is_same =
            !table.state.is_empty() && known.state == table.state && (table.is_xml() || known.columns == table.columns);
        is_same.then_some((known, features))
    }
}
