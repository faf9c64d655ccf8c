//! What a subcommand is: options, sources and destinations, which a terminal or a program runs.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde::de::{DeserializeOwned, Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use twinset::Cancel;

use crate::Failure;
use crate::session::{Listener, Session, SessionOptions};

/// A subcommand with its options. Where these are deserialized, its sources and destinations in memory are set afterwards.
pub trait Job: Args + DeserializeOwned {
    /// Its threads, and the like.
    fn session(&mut self) -> &mut SessionOptions;

    /// Does it.
    fn run(self, session: &Session) -> anyhow::Result<()>;
}

/// Runs a job in a terminal.
pub(crate) fn run_in_terminal(mut job: impl Job) -> anyhow::Result<()> {
    let session = Session::in_terminal(job.session());
    job.run(&session)
}

/// Runs a job in a program, which can end it by `cancel`, and whose `listener` shows progress and the summary.
pub fn run_in_program(mut job: impl Job, cancel: Cancel, listener: Listener) -> Result<(), Failure> {
    let session = Session::in_program(job.session(), cancel, listener).map_err(|error| Failure::new(&error.into()))?;
    job.run(&session).map_err(|error| Failure::new(&error))
}

/// A setting that a job does not have, or whose value it cannot take.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingError {
    /// There is no setting of this name.
    Unknown(String),
    /// The value of a setting makes no sense.
    Bad {
        /// The setting.
        name: String,
        /// Its value.
        value: Value,
        /// What is wrong with it.
        reason: String,
    },
}

/// Makes options of settings, by the names of their fields.
pub fn from_settings<T: Args + DeserializeOwned>(settings: &Map<String, Value>) -> Result<T, SettingError> {
    let known = settings_of::<T>();
    if let Some(name) = settings.keys().find(|name| !known.contains_key(*name)) {
        return Err(SettingError::Unknown(name.clone()));
    }
    T::deserialize(settings).map_err(|error| {
        // Nested options forget which field they were at, so each setting is tried alone.
        let tried = settings.iter().find_map(|(name, value)| {
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            let reason = T::deserialize(&alone).err()?.to_string();
            Some(SettingError::Bad { name: name.clone(), value: value.clone(), reason })
        });
        let all = || SettingError::Bad {
            name: "settings".to_owned(),
            value: Value::Object(settings.clone()),
            reason: error.to_string(),
        };
        tried.unwrap_or_else(all)
    })
}

/// The settings of options: the arguments of the command line that can be deserialized. Each with the names of its values, where
/// these are known beforehand.
pub fn settings_of<T: Args + DeserializeOwned>() -> BTreeMap<String, BTreeSet<String>> {
    let command = T::augment_args(clap::Command::new("job"));
    let settings = command.get_arguments().filter_map(|argument| {
        let name = argument.get_long()?.replace('-', "_");
        // No setting is an object, and what is no setting is ignored.
        T::deserialize(&Map::from_iter([(name.clone(), Value::Object(Map::new()))])).err()?;
        let values = argument.get_possible_values();
        let names = values.iter().flat_map(|value| value.get_name_and_aliases()).map(str::to_owned).collect();
        Some((name, names))
    });
    settings.collect()
}

/// Deserializes options within a job, which refuse unknown fields, from the settings that they have.
pub(crate) fn own_settings<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Serialize + DeserializeOwned,
{
    let all = Map::deserialize(deserializer)?;
    let fields = serde_json::to_value(T::default()).map_err(Error::custom)?;
    let own: Map<String, Value> = all.into_iter().filter(|(name, _)| fields.get(name).is_some()).collect();
    T::deserialize(own).map_err(Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `own` are the arguments that are no settings.
    fn check<J: Job + Default + Serialize>(words: &[&str], own: &[&str]) {
        let command = J::augment_args(clap::Command::new("job"));
        let arguments = command.get_arguments().filter_map(|argument| Some(argument.get_long()?.replace('-', "_")));
        let arguments: BTreeSet<String> = arguments.filter(|name| !own.contains(&name.as_str())).collect();
        assert_eq!(arguments, settings_of::<J>().into_keys().collect());

        let matches = command.get_matches_from([&["job"], words].concat());
        let parsed = J::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{error}"));
        let mut defaults = serde_json::to_value(J::default()).unwrap();
        if words.contains(&"--threshold") {
            defaults["threshold"] = "4/5".into();
        }
        assert_eq!(serde_json::to_value(&parsed).unwrap(), defaults);
        let deserialized: J = from_settings(&Map::new()).unwrap();
        assert_eq!(serde_json::to_value(deserialized).unwrap(), serde_json::to_value(J::default()).unwrap());
    }

    #[test]
    fn settings_and_their_defaults_are_those_of_the_command_line() {
        check::<crate::Join>(&["docs.csv"], &["quiet"]);
        check::<crate::Dedup>(&["docs.csv"], &["quiet", "against", "groups", "count", "stream", "window"]);
        check::<crate::Explain>(&["docs.csv", "1", "2"], &["quiet", "json"]);
        check::<crate::Thresholds>(&["docs.csv"], &["quiet", "truth"]);
        check::<crate::Sketch>(&["docs.csv", "--output", "docs.sketch"], &["quiet", "output"]);
        check::<crate::Profile>(&["tables"], &["quiet"]);
        check::<crate::IndexCreate>(&["news"], &["quiet"]);
        check::<crate::IndexAdd>(&["news", "docs.csv"], &["quiet"]);
        check::<crate::IndexQuery>(&["news", "--threshold", "4/5"], &["quiet"]);
        check::<crate::IndexJoin>(&["news", "--threshold", "4/5"], &["quiet"]);
        check::<crate::IndexCount>(&["news"], &["quiet"]);
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_named() {
        let job = |settings: Value| from_settings::<crate::Join>(settings.as_object().unwrap()).err();
        assert_eq!(job(serde_json::json!({"threshold": 0.8, "text": "body", "trees": 5, "max_record": "1M"})), None);
        let unknown = Some(SettingError::Unknown("thresold".to_owned()));
        assert_eq!(job(serde_json::json!({"thresold": 0.8})), unknown);
        let Some(SettingError::Bad { name, value, reason }) = job(serde_json::json!({"top": 3, "tokens": "letters"}))
        else {
            panic!("the tokens make no sense")
        };
        assert_eq!((name.as_str(), value), ("tokens", Value::from("letters")));
        assert!(reason.starts_with("`letters` is not a kind of token"), "{reason}");
    }
}
