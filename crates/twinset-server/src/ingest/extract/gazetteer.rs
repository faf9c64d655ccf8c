//! Places that the extractor knows, in a list of this project's own.

use std::collections::HashSet;

const LIST: &str = include_str!("gazetteer.tsv");

/// Names of places.
pub(super) struct Gazetteer {
    names: HashSet<&'static str>,
}

impl Gazetteer {
    pub(super) fn new() -> Self {
        let names = LIST.lines().flat_map(|line| {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let aliases = fields.nth(1).unwrap_or_default();
            std::iter::once(name).chain(aliases.split('|'))
        });
        Self { names: names.filter(|name| !name.is_empty()).collect() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}
