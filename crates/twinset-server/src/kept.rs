//! What the service keeps: the articles, and two indexes that follow from them.

use std::path::Path;

use twinset_io::Limits;
use twinset_io::write::create_folder;

use crate::compared::{Compare, Comparer};
use crate::labels::Labels;
use crate::options::ServeOptions;
use crate::store::Store;
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
/// The setting that holds the seed of the label index, for one that is made again.
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
        let seed = store.read(|reading| reading.setting(SEED))?.map_or(Ok(0), |seed| seed.parse());
        let seed = seed.map_err(|_| Error::storage(&name, "its seed is no number; restore a backup"))?;
        let labels = Labels::open(options, options.seed.unwrap_or(seed), &folder.join("labels"))?;
        let (text, comparer) = (TextIndex::open(&folder.join("text"))?, Comparer::new(compare, labels.seed)?);
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
        kept.store.write(|writing| {
            writing.set(SEED, &kept.labels.seed.to_string())?;
            writing.set(LABELLED, &name)
        })?;
        Ok(kept)
    }
}
