//! Who and what an article mentions: told by RDF that came with it, by a program of the user's, or by the built-in extractor.

mod command;
mod gazetteer;
pub(crate) mod graph;
pub(crate) mod markup;
mod names;

use self::command::Program;
use self::names::NameFinder;
use crate::Result;
use crate::article::Entity;
use crate::limits::Limits;

/// Finds entities in texts.
pub(crate) struct Extractor {
    names: NameFinder,
    program: Option<Program>,
    /// So many entities of an article are kept.
    most: u64,
}

impl Extractor {
    /// The built-in one, or a program.
    pub(crate) fn new(command: Option<&str>, limits: &Limits) -> Result<Self> {
        let program = command.map(|command| Program::start(command, limits)).transpose()?;
        Ok(Self { names: NameFinder::new(), program, most: limits.entities })
    }

    /// The entities of a text, each once, in the order in which they come up.
    pub(crate) fn entities(&self, title: &str, text: &str) -> Result<Vec<Entity>> {
        if let Some(program) = &self.program {
            match program.entities(title, text) {
                Ok(entities) => return Ok(tidy(entities, self.most)),
                Err(reason) => tracing::warn!(%reason, "the extractor failed, and the built-in one was asked"),
            }
        }
        Ok(tidy(self.names.entities(title, text), self.most))
    }
}

/// So many entities, each once, with a name that can be shown.
pub(crate) fn tidy(entities: impl IntoIterator<Item = Entity>, most: u64) -> Vec<Entity> {
    let mut seen = std::collections::HashSet::new();
    let clean = |entity: Entity| {
        let name = entity.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_usable = !name.is_empty() && name.chars().count() <= 100 && seen.insert(name.to_lowercase());
        is_usable.then_some(Entity { name, ..entity })
    };
    entities.into_iter().filter_map(clean).take(most as usize).collect()
}
