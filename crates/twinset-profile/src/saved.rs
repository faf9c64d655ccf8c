//! A profile that is kept as an index of synopses, so that the next run reads only what has changed, and can tell what is new.
//!
//! Each feature is a record: its values are the record's synopsis, and everything else stands with it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use twinset::estimate::SynopsisBuilder;
use twinset::tokenize::Repeats;
use twinset::{TokenKind, TokenOptions};
use twinset_index::Settings;
use twinset_index::kmv::{Entry, KmvIndex};

use crate::cache::{ProfileCache, TableId};
use crate::features::Feature;
use crate::relation::{Relation, RelationKind};
use crate::sources::Counts;
use crate::table::Table;
use crate::{Error, Profile, ProfileOptions, Result};

/// Where a record stands in what is kept with a synopsis.
const PROFILE: &str = "profile";

/// The identities of what was compared, and the numbers of their values.
type Answer = ((String, String), Counts);

/// What is kept of a feature beside its synopsis.
#[derive(Serialize, Deserialize)]
struct Record {
    feature: Feature,
    /// Its source, as it is called in messages.
    source: String,
    /// The name and the schema of its table.
    table: (Option<String>, String),
    /// The table itself, with the first of its features.
    described: Option<Table>,
    /// How values became what is compared.
    values: Value,
    /// What the second pass found: the identities of what was compared, and the numbers of their values.
    answers: Vec<Answer>,
    relations: Vec<NamedRelation>,
}

/// A relation, with the names of its features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedRelation {
    /// Of which kind it is.
    pub kind: RelationKind,
    /// The name on the left.
    pub left: String,
    /// The name on the right.
    pub right: String,
    /// How sure it is.
    pub score: f64,
    /// The Jaccard similarity.
    pub similarity: f64,
    /// Which share of the left one's values the right one has.
    pub containment: f64,
    /// Which share of the right one's values the left one has.
    pub coverage: f64,
    /// How many values of the left the right has not.
    pub orphan_values: u64,
    /// Some of them, in words.
    pub orphans: String,
}

/// What has become of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Change {
    /// It was not there before.
    Appeared,
    /// It is no more.
    Vanished,
    /// Less of the left is contained in the right, or there are more orphan values.
    Worse,
}

impl Change {
    /// As it is written in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A profile that an earlier run saved.
pub struct SavedProfile {
    index: KmvIndex,
    values: Option<Value>,
    cache: ProfileCache,
    relations: Vec<NamedRelation>,
    ids: BTreeSet<String>,
}

impl ProfileOptions {
    /// What decides which values a feature has.
    fn of_values(&self) -> Value {
        // Without text columns no value is cut into tokens.
        let tokens = self.token_options();
        let tokens = if self.text_columns.is_empty() { tokens } else { tokens.to_record() };
        serde_json::json!({
            "normalize": self.normalize, "null": self.null, "empty_values": self.empty_values,
            "text_columns": self.text_columns, "tokens": tokens, "containment": self.containment,
            "delimiter": self.delimiter, "no_header": self.no_header, "encoding": self.encoding,
        })
    }

    fn settings(&self) -> Settings {
        let tokens =
            TokenOptions { tokens: Some(TokenKind::Lines), repeats: Repeats::Ignore, ..TokenOptions::default() };
        Settings::kmv(self.size, tokens, self.seed)
    }
}

impl SavedProfile {
    /// Opens a saved profile, or creates an empty one.
    pub fn open_or_create(path: &Path, options: &ProfileOptions) -> Result<Self> {
        let is_new = !path.exists() || path.read_dir().is_ok_and(|mut files| files.next().is_none());
        if is_new {
            return Self::load(KmvIndex::create(path, &options.settings())?);
        }
        let saved = Self::open(path)?;
        let name = saved.index.name();
        if *saved.index.settings() != options.settings() {
            return Err(Error::source(
                name,
                "it was made with another --size or --seed; name a new folder, or give the same",
            ));
        }
        if saved.values.as_ref().is_some_and(|values| *values != options.of_values()) {
            let reason = "it was made with other options for values or files (--normalize, --null, --empty-values, --text-columns, token options, \
                          --containment, --delimiter, --no-header, --encoding); name a new folder, or give the same";
            return Err(Error::source(name, reason));
        }
        Ok(saved)
    }

    /// Opens a saved profile.
    pub fn open(path: &Path) -> Result<Self> {
        Self::load(KmvIndex::open(path)?)
    }

    fn load(index: KmvIndex) -> Result<Self> {
        let snapshot = index.snapshot()?;
        let name = index.name().to_owned();
        let mut saved =
            Self { index, values: None, cache: ProfileCache::default(), relations: Vec::new(), ids: BTreeSet::new() };
        let size = saved.index.settings().size();
        snapshot.for_each_stored(|id, extra, synopsis| -> Result<()> {
            let foreign = |_| {
                Error::source(
                    &name,
                    "this index was not saved by `twinset profile`, or by another version; name another folder",
                )
            };
            let text = extra.get(PROFILE).and_then(Value::as_str).unwrap_or_default();
            let record: Record = serde_json::from_str(text).map_err(foreign)?;
            let (schema, name) = record.table;
            let cached = saved.cache.tables.entry(TableId { source: record.source, schema, name }).or_default();
            if let Some(described) = record.described {
                cached.table = described;
            }
            let feature = Feature {
                values: synopsis.values().to_vec(),
                is_complete: synopsis.is_complete(),
                size,
                ..record.feature
            };
            saved.cache.answers.extend(record.answers);
            cached.features.push(feature);
            saved.relations.extend(record.relations);
            saved.values = Some(record.values);
            saved.ids.insert(id.to_owned());
            Ok(())
        })?;
        for cached in saved.cache.tables.values_mut() {
            cached.features.sort_by_key(|feature| feature.position);
        }
        Ok(saved)
    }

    /// All features.
    pub(crate) fn features(&self) -> impl Iterator<Item = &Feature> {
        self.cache.tables.values().flat_map(|cached| &cached.features)
    }

    /// The options that decide which values a feature has.
    pub(crate) fn options(&self) -> Result<ProfileOptions> {
        let settings = self.index.settings();
        let mut options = ProfileOptions { size: settings.size(), seed: settings.seed, ..ProfileOptions::default() };
        let Some(Value::Object(mut values)) = self.values.clone() else {
            return Err(Error::source(self.index.name(), "nothing was saved in it"));
        };
        let broken = |error| Error::source(self.index.name(), format!("its options cannot be read: {error}"));
        if let Some(tokens) = values.remove("tokens") {
            options.tokens = serde_json::from_value(tokens).map_err(broken)?;
        }
        let mut all = serde_json::to_value(&options).map_err(broken)?;
        if let Value::Object(all) = &mut all {
            all.extend(values);
        }
        Ok(ProfileOptions { tokens: options.tokens, ..serde_json::from_value(all).map_err(broken)? })
    }

    /// The index that it is.
    pub fn index(&self) -> &KmvIndex {
        &self.index
    }

    /// Its results, for tables that have not changed.
    pub fn cache(&self) -> &ProfileCache {
        &self.cache
    }

    /// What has changed since.
    pub fn changes(&self, profile: &Profile) -> Vec<(Change, NamedRelation)> {
        let now: Vec<NamedRelation> = profile.relations.iter().map(|relation| profile.named(relation)).collect();
        let key = |relation: &NamedRelation| (relation.kind, relation.left.clone(), relation.right.clone());
        let before: HashMap<_, &NamedRelation> =
            self.relations.iter().map(|relation| (key(relation), relation)).collect();
        let after: BTreeSet<_> = now.iter().map(key).collect();
        let mut changes = Vec::new();
        for relation in now {
            match before.get(&key(&relation)) {
                None => changes.push((Change::Appeared, relation)),
                Some(old)
                    if relation.kind != RelationKind::Similar
                        && (relation.containment < old.containment || relation.orphan_values > old.orphan_values) =>
                {
                    changes.push((Change::Worse, relation));
                }
                Some(_) => {}
            }
        }
        let mut vanished: Vec<&NamedRelation> =
            self.relations.iter().filter(|old| !after.contains(&key(old))).collect();
        vanished.sort_by(|a, b| (a.kind, &a.left, &a.right).cmp(&(b.kind, &b.left, &b.right)));
        changes.extend(vanished.into_iter().map(|relation| (Change::Vanished, relation.clone())));
        changes
    }

    /// Replaces what was saved by the results of this run.
    pub fn save(&mut self, profile: &Profile, options: &ProfileOptions) -> Result<()> {
        let mut entries = Vec::new();
        let mut answers: HashMap<usize, Vec<Answer>> = HashMap::new();
        for (question, counts) in &profile.answers {
            let names = (profile.identity(&question.left), profile.identity(&question.right));
            answers.entry(question.left[0]).or_default().push((names, counts.clone()));
        }
        let mut relations: HashMap<usize, Vec<NamedRelation>> = HashMap::new();
        for relation in &profile.relations {
            relations.entry(relation.left[0]).or_default().push(profile.named(relation));
        }
        let mut described = BTreeSet::new();
        for (number, feature) in profile.features.iter().enumerate() {
            let table = &profile.tables[feature.table];
            let record = Record {
                feature: feature.clone(),
                source: profile.sources[table.source].clone(),
                table: (table.schema.clone(), table.name.clone()),
                described: described.insert(feature.table).then(|| table.clone()),
                values: options.of_values(),
                answers: answers.remove(&number).unwrap_or_default(),
                relations: relations.remove(&number).unwrap_or_default(),
            };
            // As one text, so that nothing in it is taken for something else.
            let text = serde_json::to_string(&record).expect("a record can be written as JSON");
            let extra = Map::from_iter([(PROFILE.to_owned(), Value::String(text))]);
            let mut synopsis = SynopsisBuilder::new(feature.size)?;
            synopsis.merge(feature.synopsis());
            entries.push(Entry { id: feature.name.clone(), synopsis, bytes: 0, extra });
        }
        let names: BTreeSet<String> = profile.features.iter().map(|feature| feature.name.clone()).collect();
        let gone: Vec<String> = self.ids.difference(&names).cloned().collect();
        self.index.replace(&gone, entries)?;
        self.index.finish()?;
        self.ids = names;
        Ok(())
    }
}

impl Profile {
    /// A relation with the names of its features.
    pub fn named(&self, relation: &Relation) -> NamedRelation {
        NamedRelation {
            kind: relation.kind,
            left: self.key_name(&relation.left),
            right: self.key_name(&relation.right),
            score: relation.score,
            similarity: relation.similarity,
            containment: relation.containment,
            coverage: relation.coverage,
            orphan_values: relation.orphan_values,
            orphans: relation.orphans_in_words(),
        }
    }
}
