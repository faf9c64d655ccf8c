//! The nouns: what is submitted, and what is kept of it.

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Error, Result};

/// An article as it is submitted: with its text, or with a page that has it.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Where it was published. Another article from there takes the place of the first, unless it is of another source and has no
    /// more text.
    #[schema(example = "https://harbour-times.example/ferry")]
    pub url: String,
    /// Its headline; a page tells it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says; a page tells it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// When it was published: a day, or a day and a time with an offset. Now, if it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "2026-03-01T08:15:00Z")]
    pub published: Option<String>,
    /// Who published it: the host of the address, if it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it is about, as RDF in Turtle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turtle: Option<String>,
    /// What it is about, as JSON-LD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub json_ld: Option<serde_json::Value>,
    /// The page as it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// How an article came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// It was posted or imported.
    Direct,
    /// It is an entry of the feed at this address, and may be a teaser.
    Feed(&'a str),
}

/// An article as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Article {
    /// Its number.
    pub id: i64,
    /// Where it was published.
    pub url: String,
    /// Its headline.
    pub title: String,
    /// What it says.
    pub text: String,
    /// When it was published.
    pub published: Moment,
    /// Who published it.
    pub source: String,
    /// Who and what it mentions.
    pub entities: Vec<Entity>,
    /// When it arrived.
    pub received: Moment,
}

/// What lists show of an article.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Head {
    /// Its number.
    pub id: i64,
    /// Where it was published.
    pub url: String,
    /// Its headline.
    pub title: String,
    /// When it was published.
    pub published: Moment,
    /// Who published it.
    pub source: String,
    /// How many characters it has.
    pub length: u64,
    /// Whether it was marked read.
    pub is_read: bool,
    /// Who and what it mentions.
    #[serde(skip)]
    pub(crate) entities: Vec<Entity>,
}

/// Someone or something that an article mentions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct Entity {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: EntityKind,
}

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum EntityKind {
    /// Someone.
    Person,
    /// A company, an office, a club.
    Organization,
    /// A country, a town, a river.
    Place,
    /// Something that happens at some time.
    Event,
    /// A day.
    Date,
    /// A sum.
    Money,
    /// A name of something else, or of something unknown.
    Other,
}

impl EntityKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A moment, in seconds since 1970; written as ISO 8601.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-03-01T08:15:00Z")]
pub struct Moment(pub i64);

impl Moment {
    /// This one.
    pub fn now() -> Self {
        Self(Utc::now().timestamp())
    }

    /// A day, or a day and a time with an offset.
    pub fn parse(text: &str) -> Result<Self> {
        let moment = DateTime::parse_from_rfc3339(text)
            .or_else(|_| DateTime::parse_from_rfc2822(text))
            .map(|moment| moment.timestamp())
            .or_else(|_| {
                let day = NaiveDate::parse_from_str(text, "%Y-%m-%d")?;
                Ok(day.and_time(NaiveTime::MIN).and_utc().timestamp())
            })
            .map_err(|_: chrono::ParseError| {
                Error::Request(format!("`{}` is no date; write 2026-03-01 or 2026-03-01T08:15:00Z", shortened(text)))
            })?;
        match Self(moment) {
            known if (Self::FIRST..=Self::LAST).contains(&known) => Ok(known),
            _ => Err(Error::Request(format!("`{}` is no year of news; 1 to 9999 are", shortened(text)))),
        }
    }

    const FIRST: Self = Self(-62_135_596_800);
    const LAST: Self = Self(253_402_300_799);
    /// So many seconds a day has.
    pub(crate) const DAY: i64 = 86_400;

    fn date(self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0, 0).unwrap_or_default()
    }

    /// As ISO 8601.
    pub fn iso(self) -> String {
        self.date().to_rfc3339_opts(SecondsFormat::Secs, true)
    }

    /// The day.
    pub fn day(self) -> String {
        self.date().format("%Y-%m-%d").to_string()
    }

    /// The day and the time, for people.
    pub(crate) fn words(self) -> String {
        self.date().format("%-d %B %Y, %H:%M").to_string()
    }
}

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.iso())
    }
}

/// The beginning of a text, for messages.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
