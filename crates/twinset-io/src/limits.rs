//! All limits in one place: what is too much, and is refused or cut, so that hostile and broken input ends in a message.

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::ByteSize;

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, written as `64M`.
    Bytes,
    /// Things.
    Count,
    /// Seconds.
    Seconds,
}

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What it is called, as in `--limit NAME=VALUE`.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// What it is unless the user says otherwise.
    pub usual: u64,
    /// What it can be at most.
    pub largest: u64,
    /// What it bounds.
    pub what: &'static str,
}

impl Limit {
    /// A value of this limit as people write it.
    pub fn written(&self, value: u64) -> String {
        match self.unit {
            Unit::Bytes => ByteSize::new(value).to_string(),
            Unit::Count => value.to_string(),
            Unit::Seconds => format!("{value}s"),
        }
    }

    fn read(&self, text: &str) -> Result<u64, String> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no whole number"));
        match self.unit {
            Unit::Bytes => Ok(text.parse::<ByteSize>()?.bytes()),
            Unit::Count => number(text),
            Unit::Seconds => number(text.strip_suffix('s').unwrap_or(text)),
        }
    }

    fn checked(&self, value: u64) -> Result<u64, String> {
        match value {
            0 => Err("a limit is at least 1".to_owned()),
            value if value > self.largest => Err(format!("it can be {} at most", self.written(self.largest))),
            value => Ok(value),
        }
    }
}

/// Makes the type, its default, and the list of what can be set from one table.
macro_rules! limits {
    ($($(#[doc = $what:literal])+ $name:ident: $unit:ident = $usual:expr, at most $largest:expr;)+) => {
        /// What is too much.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        pub struct Limits {
            $($(#[doc = $what])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $usual,)+ }
            }
        }

        impl Limits {
            /// All of them.
            pub const ALL: &[Limit] = &[$(Limit {
                name: stringify!($name),
                unit: Unit::$unit,
                usual: $usual,
                largest: $largest,
                what: concat!($($what),+),
            }),+];

            fn place(&mut self, name: &str) -> Option<&mut u64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

limits! {
    /// The largest record: a line, a row, a page, a triple, the text of an XML element, an imported article
    record: Bytes = 64 << 20, at most 1 << 40;
    /// The most that a compressed file may unpack to
    unpacked: Bytes = 64 << 30, at most 1 << 50;
    /// The largest page of a parquet file, unpacked
    parquet_page: Bytes = 512 << 20, at most 2 << 30;
    /// The longest header that a server sent with a page of a web archive
    page_header: Bytes = 64 << 10, at most 16 << 20;
    /// How deep the elements of a web page may lie in each other
    page_depth: Count = 1000, at most 2000;
    /// How deep the objects of JSON-LD may lie in each other
    json_depth: Count = 128, at most 128;
    /// How deep the elements of an XML document may lie in each other
    xml_depth: Count = 256, at most 1 << 20;
    /// How many distinct paths XML documents may have
    xml_paths: Count = 200_000, at most 1 << 30;
    /// The longest path of an XML document
    xml_path: Bytes = 4096, at most 1 << 20;
    /// The longest entity that RDF/XML may declare, if entities are allowed at all
    entity: Bytes = 256, at most 16 << 10;
    /// How many levels below a blank node tell it from others
    blank_levels: Count = 16, at most 1000;

    /// The largest request to the service, packed and unpacked
    request: Bytes = 4 << 20, at most 1 << 30;
    /// How long a request may take, and a connection be silent or take nothing
    request_time: Seconds = 30, at most 86_400;
    /// How many connections are open at a time; others wait
    connections: Count = 1000, at most 1 << 20;
    /// How many can be logged in at a time
    sessions: Count = 1000, at most 10_000;
    /// The longest address of an article or a feed
    url: Bytes = 2000, at most 64 << 10;
    /// The longest headline of an article
    title: Bytes = 1000, at most 64 << 10;
    /// The longest source of an article
    source: Bytes = 200, at most 64 << 10;
    /// The longest text of an article
    text: Bytes = 1 << 20, at most 1 << 30;
    /// How many entities of an article are kept
    entities: Count = 100, at most 10_000;
    /// How many triples of an article are read
    triples: Count = 20_000, at most 10_000_000;
    /// How long the triples of an article may be, with all names written out
    graph: Bytes = 8 << 20, at most 1 << 30;
    /// The longest name in a context of JSON-LD
    context: Bytes = 2000, at most 64 << 10;
    /// How many attributes an element of a page may have
    attributes: Count = 2000, at most 20_000;
    /// How deep elements of a page may lie in each other if data is looked for in them
    markup_depth: Count = 256, at most 512;
    /// How many characters a search may have
    query: Count = 1000, at most 100_000;
    /// How deep brackets of a search may lie in each other
    query_depth: Count = 16, at most 100;
    /// How long a search may take
    search_time: Seconds = 10, at most 86_400;
    /// How many articles a search groups and counts
    hits: Count = 2000, at most 1_000_000;
    /// How many stories a search shows at a time
    results: Count = 50, at most 1000;
    /// How many articles or verdicts are listed at a time
    listed: Count = 200, at most 10_000;
    /// How many results can be skipped
    skipped: Count = 1000, at most 1_000_000;
    /// How many similar articles are shown
    similar: Count = 200, at most 10_000;
    /// How many articles a story has; more are not looked for
    story: Count = 200, at most 10_000;
    /// How long an extractor may take for an article
    extractor_time: Seconds = 10, at most 86_400;
    /// How much memory an extractor may take
    extractor_memory: Bytes = 2 << 30, at most 1 << 50;
    /// The longest answer of an extractor
    extractor_answer: Bytes = 1 << 20, at most 1 << 30;
    /// How many feeds are followed
    feeds: Count = 1000, at most 1_000_000;
    /// The largest feed, unpacked
    feed: Bytes = 10 << 20, at most 1 << 30;
    /// How long fetching a feed may take
    feed_time: Seconds = 30, at most 86_400;
    /// How many entries of a feed are taken in at a time; the newest come first
    feed_entries: Count = 1000, at most 1_000_000;
    /// How often the address of a feed may lead on to another
    redirects: Count = 5, at most 100;
}

impl Limits {
    /// Sets the limit that is written as `NAME=VALUE`.
    ///
    /// ```
    /// let mut limits = twinset_io::Limits::default();
    /// limits.set("xml-depth=1000").unwrap();
    /// assert_eq!(limits.xml_depth, 1000);
    /// assert!(limits.set("xml-depth=0").is_err());
    /// ```
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting.split_once('=').ok_or("write NAME=VALUE, for example record=1G")?;
        self.put(&name.trim().replace('-', "_"), |limit| limit.read(value.trim()))
    }

    fn put(&mut self, name: &str, value: impl FnOnce(&Limit) -> Result<u64, String>) -> Result<(), String> {
        let limit = Self::ALL.iter().find(|limit| limit.name == name);
        let (Some(limit), Some(place)) = (limit, self.place(name)) else {
            let names: Vec<String> = Self::ALL.iter().map(|limit| limit.name.replace('_', "-")).collect();
            return Err(format!("there is no limit of this name: {}", names.join(", ")));
        };
        *place = limit.checked(value(limit)?)?;
        Ok(())
    }
}

/// The limits that are named, by the names of the fields; all others are as usual.
impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut limits = Self::default();
        for (name, value) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            limits.put(&name, |_| Ok(value)).map_err(|reason| D::Error::custom(format!("{name}: {reason}")))?;
        }
        Ok(limits)
    }
}

#[cfg(feature = "clap")]
mod command_line {
    use clap::error::ErrorKind;
    use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

    use super::Limits;

    /// Limits that many change have a flag of their own.
    const FLAGS: [(&str, &str); 2] = [("max-record", "record"), ("max-unpacked", "unpacked")];

    impl Args for Limits {
        fn augment_args(command: Command) -> Command {
            let flags = FLAGS.map(|(flag, name)| {
                let limit = Self::ALL.iter().find(|limit| limit.name == name).expect("flags name limits");
                let help = format!("{} [default: {}]", limit.what.trim(), limit.written(limit.usual));
                Arg::new(flag).long(flag).value_name("SIZE").help(help).help_heading("Input")
            });
            let limit = Arg::new("limit").long("limit").value_name("NAME=VALUE").action(ArgAction::Append);
            let help =
                "Change another limit of what is read or served; repeat it for several (docs/limits.md lists them)";
            command.args(flags).arg(limit.help(help).help_heading("Input"))
        }

        fn augment_args_for_update(command: Command) -> Command {
            Self::augment_args(command)
        }
    }

    impl FromArgMatches for Limits {
        fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
            let mut limits = Self::default();
            limits.update_from_arg_matches(matches)?;
            Ok(limits)
        }

        fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
            let mut set = |flag: &str, given: &str, setting: &str| {
                let refused = |reason| Error::raw(ErrorKind::ValueValidation, format!("--{flag} {given}: {reason}\n"));
                self.set(setting).map_err(refused)
            };
            for given in matches.get_many::<String>("limit").into_iter().flatten() {
                set("limit", given, given)?;
            }
            for (flag, name) in FLAGS {
                if let Some(given) = matches.get_one::<String>(flag) {
                    set(flag, given, &format!("{name}={given}"))?;
                }
            }
            Ok(())
        }
    }
}
