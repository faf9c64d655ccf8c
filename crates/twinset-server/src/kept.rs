//! What the service keeps: the articles, and two indexes that follow from them.

use std::path::Path;

use twinset_io::Limits;
use twinset_io::write::create_folder;

use crate::article::Article;
use crate::compared::{Compare, Comparer};
use crate::labels::{Labels, MadeWith};
use crate::options::ServeOptions;
use crate::store::{Reading, Store};
use crate::text::TextIndex;
use crate::{Error, Result};

/// Everything in a data folder.
pub(crate) struct Kept {
    pub(crate) store: Store,
    pub(crate) labels: Labels,
    pub(crate) text: TextIndex,
    pub(crate) comparer: Comparer,
    pub(crate) limits: Limits,
}

/// The setting that names the label index that has heard of everything.
const LABELLED: &str = "labelled";
/// The setting that holds what the label index is made with.
const MADE_WITH: &str = "labels";
/// The setting that held the seed of the label index alone, in folders of earlier versions.
const SEED: &str = "seed";

impl Kept {
    /// Opens a folder, or makes everything in an empty one, and brings the indexes up to date.
    pub(crate) fn open(folder: &Path, options: &ServeOptions) -> Result<Self> {
        let name = folder.display().to_string();
        create_folder(folder).map_err(|error| {
            Error::storage(&name, format!("the folder cannot be made: {error}; make room, or choose another place"))
        })?;
        let store = Store::open(folder)?;
        let compare = store.write(|writing| match writing.reading().setting("compare")? {
            Some(made) => Ok(made),
            None => {
                let compare = options.compare.unwrap_or_default().to_string();
                writing.set("compare", &compare)?;
                Ok(compare)
            }
        })?;
        let compare: Compare = compare.parse().map_err(|reason: String| Error::storage(&name, reason))?;
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
        let labels = Labels::open(options, made_with, &folder.join("labels"))?;
        let comparer = Comparer::new(compare, labels.made_with.seed)?;
        let kept = Self { store, labels, text, comparer, limits: options.limits.clone() };
        if kept.text.last_change() > kept.store.read(|reading| reading.last_change())? {
            let reason = "the indexes know more than the articles, which were restored from a backup; \
                          remove the folders `text` and `labels` beside them, which are made again";
            return Err(Error::storage(&name, reason));
        }
        // Until it has heard of everything, and whenever it is another one, the label index is told all.
        let name = kept.labels.name.clone();
        if kept.store.read(|reading| reading.setting(LABELLED))?.as_ref() != Some(&name) || kept.labels.is_new() {
            kept.labels.unsettle();
            kept.store.write(|writing| writing.unset(LABELLED))?;
        }
        kept.catch_up()?;
        if !kept.labels.has_all(kept.store.read(|reading| reading.count())?)? {
            kept.catch_up()?;
        }
        if let Some(id) = kept.mislabelled()? {
            kept.labels.make_again(&format!("it has other words of article {id}"))?;
            kept.catch_up()?;
        }
        let made_with = serde_json::to_string(&kept.labels.made_with).expect("settings can be written as JSON");
        kept.store.write(|writing| {
            writing.set(MADE_WITH, &made_with)?;
            writing.set(LABELLED, &name)
        })?;
        Ok(kept)
    }

    /// An article, of a sample of them, that the label index takes for another.
    fn mislabelled(&self) -> Result<Option<i64>> {
        if !self.labels.is_own() {
            return Ok(None);
        }
        self.store.read(|reading| {
            for id in reading.sample(SAMPLE)? {
                let Article { title, text, entities, .. } = reading.article(id)?;
                if !self.labels.has(id, &self.comparer.terms(&title, &text, &entities)?)? {
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
fn made_with(reading: &Reading<'_>) -> Result<Option<MadeWith>> {
    if let Some(json) = reading.setting(MADE_WITH)? {
        return Ok(serde_json::from_str(&json).ok());
    }
    let seed = reading.setting(SEED)?.map_or(Some(0), |seed| seed.parse().ok());
    Ok(seed.map(|seed| MadeWith { seed, ..MadeWith::default() }))
}
