//! How RDF becomes records, as the user says it.

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use twinset::tokenize::{Normalize, Segmentation};
use twinset::{TokenKind, TokenOptions};

use crate::{Error, one_or_more};

/// How resources become records.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RdfOptions {
    /// Which resources are records: roots (subjects nobody points to), typed:IRI, or all subjects (default: roots)
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHICH", help_heading = "RDF"))]
    pub resources: Option<Resources>,
    /// A predicate to leave out; repeat it for several
    #[cfg_attr(feature = "clap", arg(long, value_name = "IRI", help_heading = "RDF"))]
    #[serde(deserialize_with = "one_or_more")]
    pub ignore_predicate: Vec<String>,
    /// A csv or tsv file with two columns: a predicate or type, and the one it stands for; `*` at the end of both maps all that
    /// begin so
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = "RDF"))]
    pub map: Option<IriRules>,
    /// What identifies a blank node (default: structure)
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW", help_heading = "RDF"))]
    #[cfg_attr(feature = "clap", arg(value_parser = twinset::support::name_parser::<BlankNodes>()))]
    pub blank_nodes: Option<BlankNodes>,
    /// How many steps from a resource are followed (default: all)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "RDF"))]
    pub depth: Option<NonZeroU32>,
    /// How a literal becomes terms: whole, words or qgrams:Q (default: whole)
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW", help_heading = "RDF"))]
    pub literals: Option<Literals>,
    /// Read RDF/XML that declares entities; nested and long ones are refused all the same
    #[cfg_attr(feature = "clap", arg(long, help_heading = "RDF"))]
    pub allow_entities: bool,
    /// How words of literals are found in scripts without spaces. What is stored records it; users do not choose it.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segmentation: Option<Segmentation>,
}

/// Which predicates and types stand for which others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IriRules {
    /// Pairs of IRIs, or of beginnings of IRIs that end in `*`.
    Pairs(Vec<(String, String)>),
    /// A file of such pairs.
    File(PathBuf),
}

impl FromStr for IriRules {
    type Err = Infallible;

    fn from_str(path: &str) -> Result<Self, Infallible> {
        Ok(Self::File(path.into()))
    }
}

impl fmt::Display for IriRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pairs(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(from, to)| format!("{from} to {to}")).collect();
                f.write_str(&pairs.join(", "))
            }
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl IriRules {
    /// The pairs, read from their file if they lie in one.
    pub(super) fn pairs(&self) -> crate::Result<Vec<(String, String)>> {
        let path = match self {
            Self::Pairs(pairs) => return Ok(pairs.clone()),
            Self::File(path) => path,
        };
        let fail = |reason: String| Error::file(path, format!("this is no map of predicates: {reason}"));
        let delimiter = if path.extension().is_some_and(|ending| ending == "tsv") { b'\t' } else { b',' };
        let mut builder = csv::ReaderBuilder::new();
        let reader =
            builder.delimiter(delimiter).has_headers(false).flexible(true).trim(csv::Trim::All).from_path(path);
        let mut pairs = Vec::new();
        for row in reader.map_err(|error| fail(error.to_string()))?.records() {
            let row = row.map_err(|error| fail(error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            if row.len() != 2 {
                return Err(fail(format!("line {line} has {} columns, and two are needed", row.len())));
            }
            let (from, to) = (bare(&row[0]), bare(&row[1]));
            if from.ends_with('*') != to.ends_with('*') {
                return Err(fail(format!("line {line} ends in * on one side; let both end in it, or none")));
            }
            pairs.push((from.to_owned(), to.to_owned()));
        }
        Ok(pairs)
    }
}

impl RdfOptions {
    /// The options that decide how a resource is described, with defaults for those that are not given, and the rules of a
    /// file in place of its path: what an index keeps, and compares with what is given later.
    pub fn fixed(&self) -> crate::Result<Self> {
        let map = self.map.as_ref().map(|rules| rules.pairs().map(IriRules::Pairs)).transpose()?;
        let mut ignore_predicate: Vec<String> = self.ignore_predicate.iter().map(|iri| bare(iri).to_owned()).collect();
        ignore_predicate.sort();
        ignore_predicate.dedup();
        let literals = self.literals.unwrap_or_default();
        Ok(Self {
            resources: Some(self.resources.clone().unwrap_or_default()),
            ignore_predicate,
            map,
            blank_nodes: Some(self.blank_nodes.unwrap_or_default()),
            depth: self.depth,
            segmentation: (literals != Literals::Whole).then(|| self.segmentation.unwrap_or_default()),
            literals: Some(literals),
            allow_entities: false,
        })
    }

    /// The options that a record means. One that does not mention the segmentation of literals is older than it.
    pub fn from_record(self) -> Self {
        let is_cut = self.literals.is_some_and(|literals| literals != Literals::Whole);
        let segmentation = self.segmentation.or(is_cut.then_some(Segmentation::Runs));
        Self { segmentation, ..self }
    }

    /// How literals become tokens, if they are not terms as they are.
    #[cfg_attr(not(feature = "rdf"), allow(dead_code, reason = "for the reader of RDF"))]
    pub(super) fn literal_tokens(&self) -> Option<TokenOptions> {
        let Some(Literals::Tokens(kind)) = self.literals else { return None };
        // Both came with the same version.
        let normalize = (self.segmentation == Some(Segmentation::Runs)).then_some(Normalize::None);
        Some(TokenOptions { normalize, segmentation: self.segmentation, ..TokenOptions::from(kind) })
    }

    /// The first option that is given here and differs from what is [fixed](Self::fixed) there.
    pub fn difference(&self, fixed: &Self) -> crate::Result<Option<Difference>> {
        let own = self.fixed()?;
        let values = |options: &Self| {
            let ignored = options.ignore_predicate.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            [
                ("resources", options.resources.as_ref().map(Resources::to_string)),
                ("ignore-predicate", (!ignored.is_empty()).then_some(ignored)),
                ("map", options.map.as_ref().map(IriRules::to_string)),
                ("blank-nodes", options.blank_nodes.map(|how| how.to_string())),
                ("depth", options.depth.map(|depth| depth.to_string())),
                ("literals", options.literals.map(|how| how.to_string())),
            ]
        };
        let given = values(self).into_iter().zip(values(&own)).zip(values(fixed));
        let mut different = given.filter(|(((_, given), own), fixed)| given.is_some() && own != fixed);
        Ok(different.next().map(|((_, (name, given)), (_, fixed))| Difference {
            name,
            given: given.unwrap_or_default(),
            fixed,
        }))
    }
}

/// An option that is given with another value than an index has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub name: &'static str,
    /// The value that is given.
    pub given: String,
    /// That of the index; `None` if it was made without this option.
    pub fixed: Option<String>,
}

/// Which resources are records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Resources {
    /// Subjects that are no object of another one.
    #[default]
    Roots,
    /// Subjects of this type.
    Typed(String),
    /// Every subject.
    All,
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roots => f.write_str("roots"),
            Self::Typed(iri) => write!(f, "typed:{iri}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Resources {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "roots" => Ok(Self::Roots),
            "all" => Ok(Self::All),
            _ => match text.strip_prefix("typed:").map(bare) {
                // What an IRI cannot have would be read in another way when it is written again.
                Some(iri) if !iri.is_empty() && !iri.contains(|c: char| c.is_whitespace() || c == '<' || c == '>') => {
                    Ok(Self::Typed(iri.to_owned()))
                }
                _ => Err(format!("`{text}` does not say which resources are records: roots, typed:IRI or all")),
            },
        }
    }
}

/// What blank nodes are known by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = twinset::Error, parse_err_fn = twinset::Error::unknown_name::<Self>)]
pub enum BlankNodes {
    /// What hangs below them.
    #[default]
    Structure,
    /// The name that the file gives them.
    Id,
}

/// How a literal becomes terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Literals {
    /// It is one term.
    #[default]
    Whole,
    /// Each of its tokens is one: words or q-grams.
    Tokens(TokenKind),
}

impl fmt::Display for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Tokens(kind) => kind.fmt(f),
        }
    }
}

impl FromStr for Literals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("whole", _) => Ok(Self::Whole),
            (_, Ok(kind @ (TokenKind::Words | TokenKind::QGrams(_)))) => Ok(Self::Tokens(kind)),
            _ => Err(format!("`{text}` does not say how a literal becomes terms: whole, words or qgrams:Q")),
        }
    }
}

/// An IRI without the brackets that it may be written in.
pub(super) fn bare(iri: &str) -> &str {
    let iri = iri.trim();
    iri.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(iri)
}

/// Options that are written as one word.
macro_rules! as_string {
    ($($option:ty),*) => {$(
        impl TryFrom<String> for $option {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$option> for String {
            fn from(option: $option) -> Self {
                option.to_string()
            }
        }
    )*};
}
as_string!(Resources, Literals);
