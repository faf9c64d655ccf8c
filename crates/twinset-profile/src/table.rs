//! A table of a source, as far as it is known without reading its rows.

use serde::{Deserialize, Serialize};

/// A table: a file, a table or view of a database, or all XML documents of a source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Table {
    /// The position of its source among all.
    pub source: usize,
    /// Its schema, where the source has them.
    pub schema: Option<String>,
    /// What it is called; nothing for XML documents, whose paths need no table.
    pub name: String,
    /// What its columns are called, and their types as the source declares them. Those of XML documents are not known before.
    pub columns: Vec<(String, String)>,
    /// What changes when its values change: a checksum of the bytes of files or of the rows of a database's table, or what the user says.
    /// Empty if it is not known; then the table is read.
    pub state: String,
    /// How many bytes are read for it, where that is known.
    #[serde(skip)]
    pub bytes: u64,
    /// How many rows it has; not known before they are read.
    pub rows: u64,
    /// Foreign keys that the source declares.
    pub declared: Vec<DeclaredKey>,
}

/// A foreign key that a database declares: columns of this table, and where they lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredKey {
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The schema and the name of the table that they refer to.
    pub to: (Option<String>, String),
    /// The columns there.
    pub to_columns: Vec<String>,
}

impl Table {
    /// Whether it stands for XML documents.
    pub fn is_xml(&self) -> bool {
        self.name.is_empty()
    }

    /// Whether a user means it: by its name, or with its schema.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let with_schema = self.schema.as_ref().map(|schema| format!("{schema}.{}", self.name));
        name == self.name || Some(name) == with_schema.as_deref()
    }

    /// What its columns are called.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether a declared type is that of booleans.
    pub(crate) fn is_boolean(&self, column: usize) -> bool {
        let declared = self.columns.get(column).map_or("", |(_, declared)| declared.as_str()).to_ascii_lowercase();
        declared.starts_with("bool") || declared == "tinyint(1)" || declared == "bit(1)"
    }
}
