//! What the service keeps: the articles, and two indexes that follow from them.

use std::path::Path;

use twinset_io::durable::create_folder;

use crate::article::Article;
use crate::limits::Limits;
use crate::options::ServeOptions;
use crate::search::TextIndex;
use crate::store::{Snapshot, Store};
use crate::stories::similarity::{LshSettings, SimilarityIndex};
use crate::terms::{Compare, TermBuilder};
use crate::{Error, Result};

/// Everything in a data folder.
pub(crate) struct DataDir {
    pub(crate) store: Store,
    pub(crate) similarity: SimilarityIndex,
    pub(crate) text: TextIndex,
    pub(crate) terms: TermBuilder,
    pub(crate) limits: Limits,
}

/// The setting that names the label index that has heard of everything.
const LABELLED: &str = "labelled";
/// The setting that holds what the label index is made with.
const MADE_WITH: &str = "labels";
/// The setting that held the seed of the label index alone, in folders of earlier versions.
const SEED: &str = "seed";

impl DataDir {
    /// Opens a folder, or makes everything in an empty one, and brings the indexes up to date.
    pub(crate) fn open(folder: &Path, options: &ServeOptions) -> Result<Self> {
        let name = folder.display().to_string();
        create_folder(folder).map_err(|error| {
            Error::storage(&name, format!("the folder cannot be made: {error}; make room, or choose another place"))
        })?;
        let store = Store::open(folder)?;
        let compare = store.write(|update| match update.snapshot().setting("compare")? {
            Some(made) => Ok(made),
            None => {
                let compare = options.compare.unwrap_or_default().to_string();
                update.set("compare", &compare)?;
                Ok(compare)
            }
        })?;
        let compare: Compare = compare.parse().map_err(|error: twinset::Error| Error::storage(&name, error))?;
        if options.compare.is_some_and(|asked| asked != compare) {
            let reason = format!(
                "the articles of {name} are compared by {compare}; leave --compare out, or take another folder"
            );
            return Err(Error::Usage(reason));
        }
        let mut made_with = store.read(made_with)?.ok_or_else(|| {
            Error::storage(&name, "what its label index was made with cannot be read; restore a backup")
        })?;
        made_with.seed = options.seed.unwrap_or(made_with.seed);
        // It comes first, as it has the lock: nobody else uses the label index then, which may have to be made again.
        let text = TextIndex::open(&folder.join("text"))?;
        let similarity = SimilarityIndex::open(options, made_with, &folder.join("labels"))?;
        let LshSettings { tokens, seed, .. } = &similarity.made_with;
        let terms = TermBuilder::new(compare, tokens, *seed)?;
        let data = Self { store, similarity, text, terms, limits: options.limits.clone() };
        if data.text.last_change() > data.store.read(|snapshot| snapshot.last_change())? {
            let reason = "the indexes know more than the articles, which were restored from a backup; \
                          remove the folders `text` and `labels` beside them, which are made again";
            return Err(Error::storage(&name, reason));
        }
        // Until it has heard of everything, and whenever it is another one, the label index is told all.
        let name = data.similarity.name.clone();
        if data.store.read(|snapshot| snapshot.setting(LABELLED))?.as_ref() != Some(&name) || data.similarity.is_new() {
            data.similarity.unsettle();
            data.store.write(|update| update.unset(LABELLED))?;
        }
        data.catch_up()?;
        if !data.similarity.has_all(data.store.read(|snapshot| snapshot.count())?)? {
            data.catch_up()?;
        }
        if let Some(id) = data.mislabelled()? {
            data.similarity.make_again(&format!("it has other words of article {id}"))?;
            data.catch_up()?;
        }
        let made_with = serde_json::to_string(&data.similarity.made_with).expect("settings can be written as JSON");
        data.store.write(|update| {
            update.set(MADE_WITH, &made_with)?;
            update.set(LABELLED, &name)
        })?;
        Ok(data)
    }

    /// An article, of a sample of them, that the label index takes for another.
    fn mislabelled(&self) -> Result<Option<i64>> {
        if !self.similarity.is_own() {
            return Ok(None);
        }
        self.store.read(|snapshot| {
            for id in snapshot.sample(SAMPLE)? {
                let Article { title, text, entities, .. } = snapshot.article(id)?;
                if !self.similarity.has(id, &self.terms.of(&title, &text, &entities)?)? {
                    return Ok(Some(id));
                }
            }
            Ok(None)
        })
    }
}

/// Of so many articles it is looked at the start whether the label index knows them.
const SAMPLE: usize = 1000;

/// What the label index is made with; `None` if that makes no sense.
fn made_with(snapshot: &Snapshot<'_>) -> Result<Option<LshSettings>> {
    if let Some(json) = snapshot.setting(MADE_WITH)? {
        let made_with: Option<LshSettings> = serde_json::from_str(&json).ok();
        return Ok(made_with.map(|made| LshSettings { tokens: made.tokens.from_record(), ..made }));
    }
    let seed = snapshot.setting(SEED)?.map_or(Some(0), |seed| seed.parse().ok());
    Ok(seed.map(|seed| LshSettings { seed, ..LshSettings::default() }))
}
