//! The label index of the service: which articles are alike, asked on many threads, changed on one.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use twinset::estimate::{Labeler, LshOptions};
use twinset::{Threshold, TokenOptions};
use twinset_index::Settings;
use twinset_index::lsh::{Hit, LabeledRecord, LshIndex, Query};

use crate::options::ServeOptions;
use crate::store::Link;
use crate::{Error, Result};

/// What is asked when an article arrives: what is alike by so much is linked with it, each found with this probability.
pub(crate) fn link_query() -> Query {
    Query { threshold: Threshold::new(7, 10).expect("it is a threshold"), probability: 0.9 }
}

/// How articles are labelled. Twice as many labels as usual: each article is looked up when it arrives, and longer beginnings of
/// labels lead to far fewer articles that have to be compared and are not alike.
const LABELS: LshOptions = LshOptions { trees: 40, bits: 50 };

/// What a label index is made with. It is kept with the articles, for one that is made again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LshSettings {
    #[serde(flatten)]
    pub(crate) labels: LshOptions,
    /// The seed of labels and of the hashes of terms.
    pub(crate) seed: u64,
    /// What the words of articles are.
    #[serde(default)]
    pub(crate) tokens: TokenOptions,
}

impl Default for LshSettings {
    fn default() -> Self {
        Self { labels: LABELS, seed: 0, tokens: TokenOptions::default().to_record() }
    }
}

/// Connections to one label index.
pub(crate) struct SimilarityIndex {
    address: String,
    /// The service's own folder, if it lies there.
    folder: Option<PathBuf>,
    labeler: Labeler,
    pub(crate) made_with: LshSettings,
    /// Its address, without a password.
    pub(crate) name: String,
    /// `None` after a failure, as the connection may be lost.
    writer: Mutex<Option<LshIndex>>,
    readers: Mutex<Vec<LshIndex>>,
    /// Whether it was made just now, and has not heard of what is there.
    is_new: AtomicBool,
}

impl SimilarityIndex {
    /// Opens the index at an address, or in the service's own folder; makes one where there is none, and where that of its own folder
    /// is damaged: it follows from the articles.
    pub(crate) fn open(options: &ServeOptions, made_with: LshSettings, folder: &Path) -> Result<Self> {
        let own = options.index.is_none().then_some(folder);
        let address = match &options.index {
            Some(address) => address.clone(),
            None => folder
                .to_str()
                .map(str::to_owned)
                .ok_or_else(|| Error::Usage("the path of the folder must be UTF-8; name it differently".to_owned()))?,
        };
        let or = |made: LshOptions| LshOptions {
            trees: options.trees.unwrap_or(made.trees),
            bits: options.bits.unwrap_or(made.bits),
        };
        let settings = Settings::lsh(or(made_with.labels), made_with.tokens, made_with.seed);
        let opened = LshIndex::open(&address).and_then(|mut index| {
            // Who keeps an index elsewhere looks after it.
            let damages = if own.is_some() { index.quick_damages()? } else { Vec::new() };
            let (name, reason) = (index.name().to_owned(), damages.join("; "));
            let damaged = twinset_index::Error::Damaged { index: name, reason, remedy: String::new() };
            if damages.is_empty() { Ok(index) } else { Err(damaged) }
        });
        let (writer, is_new) = match (opened, own) {
            (Ok(index), _) => (index, false),
            (Err(twinset_index::Error::Damaged { reason, .. }), Some(folder)) => {
                (remade(&address, folder, &settings, &reason)?, true)
            }
            (Err(error), _) => match LshIndex::create(&address, &settings) {
                Ok(index) => (index, true),
                Err(refused) => {
                    // What is there already, and cannot be opened, is the reason that counts.
                    let is_there = address.contains("://") || Path::new(&address).join(FILE).is_file();
                    return Err(match own {
                        _ if is_there || is_damage(&error) => explained(error.into(), own.is_some()),
                        Some(folder) => in_the_way(folder).unwrap_or(refused.into()),
                        None => refused.into(),
                    });
                }
            },
        };
        let made = writer.settings().labels();
        if or(made) != made {
            let reason = format!(
                "the label index was made with --trees {} --bits {}; leave these out, or make another",
                made.trees, made.bits
            );
            return Err(Error::Usage(reason));
        }
        let seed = writer.settings().seed;
        if options.seed.is_some_and(|asked| asked != seed) {
            let reason = "the label index was made with another --seed; leave it out, or make another index";
            return Err(Error::Usage(reason.to_owned()));
        }
        let labeler = Labeler::new(made, seed)?;
        writer.check(&link_query()).map_err(|error| Error::Usage(format!("--trees {}: {error}", made.trees)))?;
        let name = writer.name().to_owned();
        Ok(Self {
            address,
            folder: own.map(Path::to_owned),
            labeler,
            made_with: LshSettings { labels: made, seed, tokens: writer.settings().tokens.clone() },
            name,
            writer: Mutex::new(Some(writer)),
            readers: Mutex::default(),
            is_new: AtomicBool::new(is_new),
        })
    }

    /// Whether it was made just now, and has not heard of what is there.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new.load(Ordering::Relaxed)
    }

    /// It is to hear of everything again.
    pub(crate) fn unsettle(&self) {
        self.is_new.store(true, Ordering::Relaxed);
    }

    /// From now on it has heard of everything.
    pub(crate) fn settle(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Whether it has all articles; so many there are. If not, it is to hear of everything again, in its own folder as a new index.
    pub(crate) fn has_all(&self, articles: u64) -> Result<bool> {
        let labelled = self.write(|index| Ok(index.len()?))?;
        if self.folder.is_none() {
            // Those that are gone do no harm.
            if labelled < articles {
                self.unsettle();
            }
            return Ok(labelled >= articles);
        }
        if labelled != articles {
            self.make_again(&format!("it has {labelled} articles, and there are {articles}"))?;
        }
        Ok(labelled == articles)
    }

    /// Makes an empty index in place of that of the service's own folder, which is to hear of everything.
    pub(crate) fn make_again(&self, reason: &str) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let settings = Settings::lsh(self.made_with.labels, self.made_with.tokens.clone(), self.made_with.seed);
        let mut writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        drop(writer.take());
        *writer = Some(remade(&self.address, folder, &settings, reason)?);
        self.unsettle();
        Ok(())
    }

    /// Whether it lies in the service's own folder, and is made again when it is damaged.
    pub(crate) fn is_own(&self) -> bool {
        self.folder.is_some()
    }

    /// Whether an article is known by these terms.
    pub(crate) fn has(&self, id: i64, terms: &[u64]) -> Result<bool> {
        let stored = self.write(|index| Ok(index.find(&id.to_string())?))?;
        Ok(stored.is_some_and(|stored| stored.hashes == terms))
    }

    /// An article with its labels. It can be made on any thread.
    pub(crate) fn label(&self, terms: Vec<u64>) -> LabeledRecord {
        LshIndex::label(&self.labeler, String::new(), terms)
    }

    /// Changes the index. What is told twice does no harm.
    pub(crate) fn change(&self, added: Vec<LabeledRecord>, removed: &[i64]) -> Result<()> {
        self.write(|writer| {
            if !removed.is_empty() {
                writer.remove(&removed.iter().map(i64::to_string).collect::<Vec<_>>())?;
            }
            if !added.is_empty() {
                writer.add(added)?;
            }
            Ok(())
        })
    }

    /// What is alike enough to each of some articles that are to be added, asked by the one who adds: as nobody else writes, what
    /// it has read stays in its memory.
    pub(crate) fn links(&self, added: &[&LabeledRecord], query: &Query) -> Result<Vec<Vec<Link>>> {
        self.write(|writer| added.iter().map(|own| Ok(numbered(writer.query(&own.hashes, query)?))).collect())
    }

    /// The articles that are alike enough, the most similar first.
    pub(crate) fn similar(&self, terms: &[u64], query: &Query) -> Result<Vec<Link>> {
        Ok(numbered(self.read(|index| Ok(index.query(terms, query)?))?))
    }

    /// The articles that are alike enough to one of them.
    pub(crate) fn similar_to(&self, id: i64, query: &Query) -> Result<Vec<Link>> {
        let stored = self.read(|index| Ok(index.find(&id.to_string())?))?;
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let mut found = self.similar(&stored.hashes, query)?;
        found.retain(|link| link.other != id);
        Ok(found)
    }

    fn explained(&self, error: Error) -> Error {
        explained(error, self.folder.is_some())
    }

    fn write<T>(&self, write: impl FnOnce(&mut LshIndex) -> Result<T>) -> Result<T> {
        let mut place = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut index = match place.take() {
            Some(index) => index,
            None => LshIndex::open(&self.address).map_err(|error| self.explained(error.into()))?,
        };
        let result = write(&mut index).map_err(|error| self.explained(error))?;
        *place = Some(index);
        Ok(result)
    }

    fn read<T>(&self, read: impl FnOnce(&mut LshIndex) -> Result<T>) -> Result<T> {
        let known = self.readers.lock().expect("no reader panics with the list").pop();
        let mut index = match known {
            Some(index) => index,
            None => LshIndex::open(&self.address).map_err(|error| self.explained(error.into()))?,
        };
        // One that failed may have lost its connection.
        let result = read(&mut index).map_err(|error| self.explained(error))?;
        self.readers.lock().expect("no reader panics with the list").push(index);
        Ok(result)
    }
}

/// The file that makes a folder a label index.
const FILE: &str = "labels.sqlite";

fn is_damage(error: &twinset_index::Error) -> bool {
    matches!(error, twinset_index::Error::Damaged { .. })
}

/// A failure, with what to do about damage here, where the index can be made again.
fn explained(error: Error, is_own: bool) -> Error {
    match error {
        Error::Index(twinset_index::Error::Damaged { index, reason, .. }) => {
            let remedy = match is_own {
                true => "start the service again, which makes it again from the articles",
                false => {
                    "remove it, or name another with --index, and start the service again, which makes it from the articles"
                }
            };
            Error::storage("the label index", format!("{index}: {reason}; {remedy}"))
        }
        error => error,
    }
}

/// What is in the place of the service's own index, if it is none.
fn in_the_way(folder: &Path) -> Option<Error> {
    folder.symlink_metadata().ok()?;
    let reason = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().map(|_| "this folder holds other files and no label index")?,
        Err(_) => "this is not a folder, which the label index must be",
    };
    let remedy = "move it away, and start the service again, which makes the label index from the articles";
    Some(Error::storage("the label index", format!("{}: {reason}; {remedy}", folder.display())))
}

/// Makes an empty index in place of one that cannot be used.
fn remade(address: &str, folder: &Path, settings: &Settings, reason: &str) -> Result<LshIndex> {
    tracing::warn!(reason, "the label index cannot be used, and is made again from the articles");
    std::fs::remove_dir_all(folder).map_err(|error| {
        let reason =
            format!("it is damaged, and cannot be removed ({error}); see to the permissions of {}", folder.display());
        Error::storage("the label index", reason)
    })?;
    Ok(LshIndex::create(address, settings)?)
}

fn numbered(hits: Vec<Hit>) -> Vec<Link> {
    let link = |hit: Hit| Some(Link { other: hit.id.parse().ok()?, similarity: hit.similarity });
    hits.into_iter().filter_map(link).collect()
}
