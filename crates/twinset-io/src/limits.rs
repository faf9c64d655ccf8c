//! Limits of what is read: input over them is rejected, so that hostile and broken input ends in a message.

use serde::{Deserialize, Serialize};

use crate::{ByteSize, one_or_more};

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

/// A set of limits that `NAME=VALUE` can change.
pub trait LimitSet: Default + Clone {
    /// All of them.
    fn all() -> Vec<&'static Limit>;

    /// The value of one.
    fn value(&mut self, name: &str) -> Option<&mut u64>;

    /// Sets the limit that is written as `NAME=VALUE`.
    ///
    /// ```
    /// # use twinset_io::LimitSet;
    /// let mut limits = twinset_io::Limits::default();
    /// limits.set("xml-depth=1000").unwrap();
    /// assert_eq!(limits.xml_depth, 1000);
    /// assert!(limits.set("xml-depth=0").is_err());
    /// ```
    fn set(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting.split_once('=').ok_or("write NAME=VALUE, for example record=1G")?;
        let name = name.trim().replace('-', "_");
        let Some(limit) = Self::all().into_iter().find(|limit| limit.name == name) else {
            let names: Vec<String> = Self::all().iter().map(|limit| limit.name.replace('_', "-")).collect();
            return Err(format!("no limit `{}`; limits are: {}", name.replace('_', "-"), names.join(", ")));
        };
        let value = limit.checked(limit.read(value.trim())?)?;
        self.value(&name).map_or(Ok(()), |place| {
            *place = value;
            Ok(())
        })
    }

    /// Limits of options.
    fn of_options(options: &LimitOptions) -> Result<Self, String> {
        let mut limits = Self::default();
        options.limit.iter().try_for_each(|setting| limits.set(setting))?;
        for (name, size) in [("record", options.max_record), ("unpacked", options.max_unpacked)] {
            size.map_or(Ok(()), |size| limits.set(&format!("{name}={size}")))?;
        }
        Ok(limits)
    }

    /// Options that set the limits which are not as usual.
    fn options(mut self) -> LimitOptions {
        let setting = |limit: &Limit| {
            let value = self.value(limit.name).map_or(limit.usual, |value| *value);
            (value != limit.usual).then(|| format!("{}={}", limit.name.replace('_', "-"), limit.written(value)))
        };
        LimitOptions {
            max_record: None,
            max_unpacked: None,
            limit: Self::all().into_iter().filter_map(setting).collect(),
        }
    }
}

/// Limits as options have them: two by names of their own, the others as `NAME=VALUE`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitOptions {
    max_record: Option<ByteSize>,
    max_unpacked: Option<ByteSize>,
    #[serde(deserialize_with = "one_or_more")]
    limit: Vec<String>,
}

/// Makes a type of limits from a table of them. It can have those of another type as well.
#[macro_export]
macro_rules! limits {
    (
        $(#[doc = $doc:literal])+ $kind:ident $(, with $field:ident: $other:ty)?;
        $($(#[doc = $what:literal])+ $name:ident: $unit:ident = $usual:expr, at most $largest:expr;)+
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "twinset_io::LimitOptions", into = "twinset_io::LimitOptions")]
        pub struct $kind {
            $(
                /// Those of another type.
                pub $field: $other,
            )?
            $($(#[doc = $what])+ pub $name: u64,)+
        }

        impl Default for $kind {
            fn default() -> Self {
                Self { $($field: <$other>::default(),)? $($name: $usual,)+ }
            }
        }

        impl $crate::LimitSet for $kind {
            fn all() -> Vec<&'static $crate::Limit> {
                static OWN: &[$crate::Limit] = &[$($crate::Limit {
                    name: stringify!($name),
                    unit: $crate::Unit::$unit,
                    usual: $usual,
                    largest: $largest,
                    what: concat!($($what),+),
                }),+];
                let mut all: Vec<&'static $crate::Limit> = Vec::new();
                $(all.extend(<$other as $crate::LimitSet>::all());)?
                all.extend(OWN);
                all
            }

            fn value(&mut self, name: &str) -> Option<&mut u64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => {
                        let other: Option<&mut u64> = None;
                        $(let other = other.or_else(|| $crate::LimitSet::value(&mut self.$field, name));)?
                        other
                    }
                }
            }
        }

        impl TryFrom<$crate::LimitOptions> for $kind {
            type Error = String;

            fn try_from(options: $crate::LimitOptions) -> Result<Self, String> {
                $crate::LimitSet::of_options(&options)
            }
        }

        impl From<$kind> for $crate::LimitOptions {
            fn from(limits: $kind) -> Self {
                $crate::LimitSet::options(limits)
            }
        }

        #[cfg(feature = "clap")]
        impl clap::Args for $kind {
            fn augment_args(command: clap::Command) -> clap::Command {
                $crate::limit_arguments::<Self>(command)
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        }

        #[cfg(feature = "clap")]
        impl clap::FromArgMatches for $kind {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                let mut limits = Self::default();
                limits.update_from_arg_matches(matches)?;
                Ok(limits)
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                $crate::set_limits(self, matches)
            }
        }
    };
}

limits! {
    /// What is read at most.
    Limits;
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
    /// How many attributes an element of a page may have
    attributes: Count = 2000, at most 20_000;
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
}

#[cfg(feature = "clap")]
mod command_line {
    use clap::error::ErrorKind;
    use clap::{Arg, ArgAction, ArgMatches, Command, Error};

    use super::LimitSet;

    /// Limits that many change have a flag of their own.
    const FLAGS: [(&str, &str); 2] = [("max-record", "record"), ("max-unpacked", "unpacked")];

    /// Adds the arguments that set limits.
    pub fn limit_arguments<L: LimitSet>(command: Command) -> Command {
        let flags = FLAGS.map(|(flag, name)| {
            let limit = L::all().into_iter().find(|limit| limit.name == name).expect("flags name limits");
            let help = format!("{} [default: {}]", limit.what.trim(), limit.written(limit.usual));
            Arg::new(flag).long(flag).value_name("SIZE").help(help).help_heading("Input")
        });
        let limit = Arg::new("limit").long("limit").value_name("NAME=VALUE").action(ArgAction::Append);
        let help = "Change another limit of what is read or served; repeat it for several (docs/limits.md lists them)";
        command.args(flags).arg(limit.help(help).help_heading("Input"))
    }

    /// Sets the limits that arguments name.
    pub fn set_limits<L: LimitSet>(limits: &mut L, matches: &ArgMatches) -> Result<(), Error> {
        let mut set = |flag: &str, given: &str, setting: &str| {
            let refused = |reason| Error::raw(ErrorKind::ValueValidation, format!("--{flag} {given}: {reason}\n"));
            limits.set(setting).map_err(refused)
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

#[cfg(feature = "clap")]
pub use command_line::{limit_arguments, set_limits};
