//! A feature: a table's column or an XML path, and what one look at its values tells.

pub(crate) mod encoder;
pub(crate) mod frequent;
pub(crate) mod recent;
pub(crate) mod scan;
pub(crate) mod shape;
pub(crate) mod sorted;
pub(crate) mod synopsis;
pub(crate) mod value;

use serde::{Deserialize, Serialize};
use twinset::Measure;
use twinset::estimate::{Intervals, Synopsis};
use twinset::tokenize::synopsis_value;

use self::encoder::ValueEncoder;
use self::frequent::FrequentValues;
use self::recent::RecentValues;
use self::shape::{SampleValue, Shape};
use self::synopsis::{CountedSynopsis, ValueCount};
use self::value::{Class, truth};

/// A column of a table, or a path of XML documents.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Feature {
    /// What it is called in results.
    pub name: String,
    /// The position of its table among all.
    pub table: usize,
    /// Its own name: that of the column, or the path.
    pub column: String,
    /// Its position in the table.
    pub position: usize,
    /// What its values look like.
    pub kind: Kind,
    /// How many rows there are.
    pub rows: u64,
    /// How many of them have no value.
    pub nulls: u64,
    /// How many different values there are.
    pub distinct: Distinct,
    /// Whether no two rows have the same value; `None` if one look does not tell.
    pub unique: Option<bool>,
    /// The smallest value: numbers come before dates, and these before other texts.
    pub min: Option<String>,
    /// The largest.
    pub max: Option<String>,
    /// Some values.
    pub examples: Vec<String>,
    /// The most frequent ones.
    pub frequent: Vec<Frequency>,
    /// Whether its values were cut into tokens.
    pub is_tokens: bool,
    /// Whether its type is boolean, and its values are 1 and 0, or written in another way that stands for true and false.
    pub(crate) is_boolean: bool,
    /// Whether a row holds only white space. Databases take that for a value.
    #[serde(default)]
    pub(crate) has_blanks: bool,
    /// How many rows hold an empty string, or one of white space only, which is taken for no value here.
    #[serde(default)]
    pub(crate) blanks: u64,
    #[serde(skip)]
    pub(crate) values: Vec<u64>,
    #[serde(skip)]
    pub(crate) is_complete: bool,
    #[serde(skip)]
    pub(crate) size: u32,
    pub(crate) shape: Shape,
    /// Its smallest values, which are a sample.
    pub(crate) sample: Vec<SampleValue>,
}

/// How many different values a feature has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distinct {
    /// The number, or an estimate of it.
    pub count: f64,
    /// The true number is at least this, in 95% of cases.
    pub low: f64,
    /// And at most this.
    pub high: f64,
}

impl Distinct {
    pub(crate) fn exactly(count: u64) -> Self {
        Self { count: count as f64, low: count as f64, high: count as f64 }
    }

    /// Whether it is no estimate.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

/// A value that occurs often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// The value, or its beginning.
    pub value: String,
    /// How often it occurs.
    pub count: u64,
    /// Whether it may occur more often than that.
    pub at_least: bool,
}

/// What the values of a feature look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// There are none.
    Empty,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Decimal,
    /// Days.
    Date,
    /// Days and times.
    Timestamp,
    /// True or false.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    fn of_classes(classes: u8) -> Self {
        let only = |allowed: &[Class]| classes & !allowed.iter().map(|class| class.bit()).sum::<u8>() == 0;
        match classes {
            0 => Self::Empty,
            _ if only(&[Class::Integer]) => Self::Integer,
            _ if only(&[Class::Integer, Class::Decimal]) => Self::Decimal,
            _ if only(&[Class::Date]) => Self::Date,
            _ if only(&[Class::Date, Class::Timestamp]) => Self::Timestamp,
            _ if only(&[Class::Boolean]) => Self::Boolean,
            _ => Self::Text,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Feature {
    /// Its synopsis.
    pub fn synopsis(&self) -> Synopsis<'_> {
        Synopsis::new(&self.values, self.size, self.is_complete).expect("a feature keeps the values of a synopsis")
    }

    /// The text of a value and how often it occurs, if it is in the sample.
    pub(crate) fn sampled(&self, value: u64) -> Option<(String, u64)> {
        let place = self.values.binary_search(&value).ok()?;
        self.sample.get(place).map(|sampled| (sampled.text.clone(), sampled.count))
    }

    /// Takes in how many different values it turned out to have.
    pub(crate) fn settle(&mut self, distinct: u64) {
        self.distinct = Distinct::exactly(distinct);
        if !self.is_tokens {
            self.unique = Some(distinct == self.present() && distinct > 0);
        }
    }

    /// How many rows have a value.
    pub fn present(&self) -> u64 {
        self.rows - self.nulls
    }

    /// How many values it has for each row that has one: 1 if it is unique.
    pub fn uniqueness(&self) -> f64 {
        if self.present() == 0 { 0.0 } else { (self.distinct.count / self.present() as f64).min(1.0) }
    }
}

/// Looks at the values of a feature one after the other.
pub(crate) struct FeatureBuilder {
    rows: u64,
    nulls: u64,
    counted: CountedSynopsis,
    frequent: FrequentValues,
    shape: Shape,
    recent: RecentValues,
    is_tokens: bool,
    has_blanks: bool,
    blanks: u64,
    buffer: Vec<u8>,
}

/// So many examples, and frequent values.
const SHOWN: usize = 5;
/// So many values are kept as a sample.
const SAMPLE: usize = 64;

impl FeatureBuilder {
    pub(crate) fn new(encoder: &ValueEncoder, is_tokens: bool) -> twinset::Result<Self> {
        Ok(Self {
            rows: 0,
            nulls: 0,
            counted: CountedSynopsis::new(encoder.size)?,
            frequent: FrequentValues::default(),
            shape: Shape::default(),
            recent: RecentValues::default(),
            is_tokens,
            has_blanks: false,
            blanks: 0,
            buffer: Vec::new(),
        })
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn add(&mut self, raw: Option<&[u8]>, encoder: &ValueEncoder) {
        self.rows += 1;
        let Some(raw) = encoder.present(raw) else {
            self.nulls += 1;
            self.has_blanks |= raw.is_some_and(|raw| !raw.is_empty());
            self.blanks += u64::from(raw.is_some_and(|raw| !encoder.is_null(raw)));
            return;
        };
        if self.is_tokens {
            return self.add_tokens(raw, encoder);
        }
        let hash = encoder.hash(raw);
        if let Some(value) = self.recent.repeated(hash) {
            if !self.counted.is_complete() {
                self.frequent.insert(value, raw);
            }
            return;
        }
        let normal = encoder.rules.apply(raw, &mut self.buffer);
        self.shape.add(&normal);
        let is_raw = std::ptr::eq(normal.text, raw);
        let value = synopsis_value(if is_raw { hash } else { encoder.hash(normal.text) }, encoder.seed);
        self.counted.insert(value, normal.text);
        if !self.counted.is_complete() {
            self.frequent.insert(value, normal.text);
        }
        if let Some(forgotten) = self.recent.remember(hash, value) {
            self.counted.repeat(forgotten.value, forgotten.count);
        }
        for place in self.recent.settle() {
            self.counted.repeat(place.value, place.count);
        }
    }

    fn add_tokens(&mut self, raw: &[u8], encoder: &ValueEncoder) {
        let text = String::from_utf8_lossy(raw);
        // A text that is too long for its tokens to be cut has none; there is no such text in a batch.
        for hash in encoder.hasher.hashes(&text).unwrap_or_default() {
            self.counted.insert(synopsis_value(hash, encoder.seed), raw);
        }
    }

    /// How many rows had a value.
    pub(crate) fn present(&self) -> u64 {
        self.rows - self.nulls
    }

    /// What was seen.
    pub(crate) fn finish(self, encoder: &ValueEncoder, declared_boolean: bool) -> Feature {
        let Self {
            rows,
            nulls,
            mut counted,
            frequent,
            mut shape,
            mut recent,
            is_tokens,
            has_blanks,
            blanks,
            buffer: _,
        } = self;
        recent.forget().iter().for_each(|place| counted.repeat(place.value, place.count));
        let (mut kept, is_complete) = counted.finish();
        let is_boolean = declared_boolean && !is_tokens && is_complete && are_booleans(&kept);
        if is_boolean {
            kept = as_booleans(&kept, encoder);
            shape = Shape::default();
            for (_, counted) in &kept {
                shape.add(&encoder.rules.apply(counted.text.as_bytes(), &mut Vec::new()));
            }
        }
        let repeats = kept.iter().any(|(_, counted)| counted.count > 1);
        let unique = match (repeats || is_tokens || rows == nulls, is_complete) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        };
        let texts = |from: &[(u64, ValueCount)], most: usize| -> Vec<String> {
            from.iter().take(most).map(|(_, counted)| counted.text.to_string()).collect()
        };
        let mut by_count: Vec<&ValueCount> =
            kept.iter().map(|(_, counted)| counted).filter(|counted| counted.count > 1).collect();
        by_count.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
        let frequency = |(value, count, at_least)| Frequency { value, count, at_least };
        let frequent: Vec<Frequency> = match is_complete {
            true => by_count
                .iter()
                .take(SHOWN)
                .map(|counted| frequency((counted.text.to_string(), counted.count, false)))
                .collect(),
            false => frequent.most(SHOWN).into_iter().map(|(text, count)| frequency((text, count, true))).collect(),
        };
        let sampled =
            |(_, counted): &(u64, ValueCount)| SampleValue::new(counted.text.as_bytes(), counted.count, encoder.rules);
        let sample = if is_tokens { Vec::new() } else { kept.iter().take(SAMPLE).map(sampled).collect() };
        let examples = if is_tokens { Vec::new() } else { texts(&kept, SHOWN) };
        let frequent = if is_tokens { Vec::new() } else { frequent };
        let values: Vec<u64> = kept.iter().map(|(value, _)| *value).collect();
        let synopsis = Synopsis::new(&values, encoder.size, is_complete).expect("values are in order");
        let interval = Intervals::new(Measure::Jaccard).distinct(synopsis);
        let distinct = match is_complete {
            true => Distinct::exactly(values.len() as u64),
            false => Distinct { count: interval.similarity, low: interval.low, high: interval.high },
        };
        let (min, max) = shape.extremes();
        Feature {
            name: String::new(),
            table: 0,
            column: String::new(),
            position: 0,
            kind: if is_tokens { Kind::Text } else { Kind::of_classes(shape.classes) },
            rows,
            nulls,
            distinct,
            unique,
            min,
            max,
            examples,
            frequent,
            is_tokens,
            is_boolean,
            has_blanks,
            blanks,
            values,
            is_complete,
            size: encoder.size,
            shape,
            sample,
        }
    }
}

/// Whether all values stand for true or false, in another way than the usual one.
fn are_booleans(kept: &[(u64, ValueCount)]) -> bool {
    let is_usual = kept.iter().all(|(_, counted)| matches!(&*counted.text, "true" | "false"));
    !is_usual && kept.iter().all(|(_, counted)| truth(counted.text.as_bytes()).is_some())
}

/// The same values as true and false.
fn as_booleans(kept: &[(u64, ValueCount)], encoder: &ValueEncoder) -> Vec<(u64, ValueCount)> {
    let count_of = |wanted: bool| {
        let is_wanted = |counted: &ValueCount| truth(counted.text.as_bytes()) == Some(wanted);
        kept.iter().filter(|(_, counted)| is_wanted(counted)).map(|(_, counted)| counted.count).sum::<u64>()
    };
    let counted = [("true", count_of(true)), ("false", count_of(false))].into_iter().filter(|(_, count)| *count > 0);
    let mut values: Vec<(u64, ValueCount)> = counted
        .map(|(text, count)| (encoder.value(text.as_bytes()), ValueCount { count, text: text.into() }))
        .collect();
    values.sort_unstable_by_key(|(value, _)| *value);
    values
}
