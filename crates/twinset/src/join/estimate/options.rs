//! How sure the user wants to be, and by which method.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{KmvPlan, LshPlan};
use crate::join::JoinOptions;
use crate::model::{Bounds, Collections, Error, Measure, Result, Threshold};
use crate::sketch::{Condition, LshOptions, SYNOPSIS_SIZE, Synopsis, lowest_estimate, min_agreement};

/// Whether pairs are found exactly or by estimates, and how sure these are.
///
/// ```
/// # use twinset::Method;
/// # use twinset::estimate::EstimateOptions;
/// let options: EstimateOptions = serde_json::from_str(r#"{"method": "lsh", "trees": 10, "probability": 0.95}"#)?;
/// assert_eq!((options.method, options.lsh.trees, options.lsh.bits), (Method::Lsh, 10, 50));
/// assert!(serde_json::from_str::<EstimateOptions>(r#"{"tree": 10}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct EstimateOptions {
    /// How pairs are found
    ///
    /// minhash: the smallest hashes of a record under many permutations, its sketch, stand for it. Similarities are
    /// estimates, with a 95% interval. lsh: sets are compared whose labels begin alike in one of several trees;
    /// similarities are exact, and each pair is found with --probability at least. kmv: the smallest hashes of a record
    /// under one hash function, its synopsis, stand for it, and estimate every measure but edit. Also known as sketch,
    /// labels and synopses.
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", default_value_t, help_heading = "Method"))]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Method>()))]
    pub method: Method,
    /// How many permutations: the entries of a sketch
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = PERMUTATIONS, help_heading = "Method"))]
    pub permutations: NonZeroU32,
    /// In how many entries the sketches of a pair agree at least (default: as many as --probability allows)
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", help_heading = "Method"))]
    pub agree: Option<u32>,
    /// With which probability a pair on the threshold is to be found
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", default_value_t = PROBABILITY, help_heading = "Method"))]
    pub probability: f64,
    /// Check every pair exactly, and leave out those below the threshold
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Method"))]
    pub verify: bool,
    /// The seed of the permutations; only sketches of the same seed can be compared
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0, help_heading = "Method"))]
    pub seed: u64,
    /// How many values a synopsis has; records with no more tokens are compared exactly
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", default_value_t = SYNOPSIS_SIZE, help_heading = "Method"))]
    pub size: u32,
    /// How many LSH labels a record has, and how long they are.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub lsh: LshOptions,
}

const PERMUTATIONS: NonZeroU32 = NonZeroU32::new(100).expect("it is not zero");
const MOST_PERMUTATIONS: u32 = 10_000;
const PROBABILITY: f64 = 0.9;

impl Default for EstimateOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            permutations: PERMUTATIONS,
            agree: None,
            probability: PROBABILITY,
            verify: false,
            seed: 0,
            size: SYNOPSIS_SIZE,
            lsh: LshOptions::default(),
        }
    }
}

impl EstimateOptions {
    /// Checks the number of permutations.
    pub fn check_permutations(&self) -> Result<()> {
        match self.permutations.get() {
            1..=MOST_PERMUTATIONS => Ok(()),
            other => {
                Err(Error::BadOption { text: other.to_string(), expected: "a number of permutations: 1 to 10000" })
            }
        }
    }

    /// Checks that no option of another method is set.
    pub fn check_method(&self) -> Result<()> {
        let Self { method, permutations, agree, probability, verify, seed, size, lsh } = self.clone();
        let own = match method {
            Method::Exact => Self::default(),
            Method::MinHash => Self { method, permutations, agree, probability, verify, seed, ..Self::default() },
            Method::Lsh => Self { method, probability, seed, lsh, ..Self::default() },
            Method::Kmv => Self { method, probability, verify, seed, size, ..Self::default() },
        };
        if own == *self {
            return Ok(());
        }
        let expected = "a method for all of these options: --permutations and --agree are for --method minhash, --trees and --bits for --method \
                        lsh, --size for --method kmv, --verify for minhash and kmv, --probability and --seed for all three";
        Err(Error::BadOption { text: format!("--method {method}"), expected })
    }

    /// Returns the options of an LSH join that finds what `join` asks for.
    pub fn for_lsh(&self, join: &JoinOptions) -> Result<JoinOptions> {
        let bad = |text: String, expected| Err(Error::BadOption { text, expected });
        if join.measure != Measure::Jaccard {
            return bad(join.measure.to_string(), "what labels know: it is jaccard only");
        }
        if join.empty {
            return bad("--empty".to_owned(), "for labels: a record without tokens has none");
        }
        self.lsh.check()?;
        let Some(threshold) = join.threshold else {
            return bad("no threshold".to_owned(), "enough for labels, with --top neither: give --threshold");
        };
        Bounds::new(join.measure, threshold, Collections::One)?;
        let length = self.lsh.length(threshold, self.probability)?;
        let lsh = Some(LshPlan { trees: self.lsh.trees, length, seed: self.seed });
        Ok(JoinOptions { lsh, ..join.clone() })
    }

    /// Returns the options of a join of KMV synopses that finds what `join` asks for. For Jaccard and Dice, estimates may lie so
    /// far below the threshold that a pair on it is found with the given probability.
    pub fn for_kmv(&self, join: &JoinOptions) -> Result<JoinOptions> {
        let bad = |text: String, expected| Err(Error::BadOption { text, expected });
        if join.measure == Measure::Edit {
            return bad(join.measure.to_string(), "what synopses estimate: all but edit");
        }
        if join.empty {
            return bad("--empty".to_owned(), "for synopses: a record without tokens has none");
        }
        Synopsis::check_size(self.size)?;
        if !(self.probability > 0.0 && self.probability < 1.0) {
            return bad(self.probability.to_string(), "a probability between 0 and 1");
        }
        let is_promised = matches!(join.measure, Measure::Jaccard | Measure::Dice);
        let lowest = join.threshold.filter(|_| is_promised).map(|threshold| {
            let condition = Condition::new(join.measure, threshold, 0)?;
            // Where so much cannot be promised, every pair is taken that shares a value.
            let lowest = lowest_estimate(&condition, self.size, self.probability);
            lowest.or_else(|_| Threshold::new(1, u64::from(self.size)))
        });
        let kmv = KmvPlan { min_overlap: 0, lowest: lowest.transpose()? };
        Ok(JoinOptions { kmv, ..join.clone() })
    }

    /// Returns the options of a join of MinHash sketches that finds what `join` asks for: an overlap of their entries.
    pub fn for_minhash(&self, join: &JoinOptions) -> Result<JoinOptions> {
        let permutations = self.permutations.get();
        let bad = |text: String, expected| Err(Error::BadOption { text, expected });
        if join.measure != Measure::Jaccard {
            return bad(join.measure.to_string(), "what sketches estimate: they know jaccard only");
        }
        if join.empty {
            return bad("--empty".to_owned(), "for sketches: a record without tokens has none");
        }
        if let Some(threshold) = join.threshold {
            Bounds::new(join.measure, threshold, Collections::One)?;
        }
        self.check_permutations()?;
        if !(self.probability > 0.0 && self.probability < 1.0) {
            return bad(self.probability.to_string(), "a probability between 0 and 1");
        }
        let agree = match (self.agree, join.threshold) {
            (Some(agree), _) if agree == 0 || agree > permutations => {
                return bad(agree.to_string(), "a number of entries to agree in: from 1 to --permutations");
            }
            (Some(agree), _) => agree,
            (None, Some(threshold)) => min_agreement(threshold.as_f64(), permutations, self.probability)?,
            (None, None) => {
                return bad(
                    "no threshold".to_owned(),
                    "enough for sketches, with --top neither: give --threshold or --agree",
                );
            }
        };
        Ok(JoinOptions {
            measure: Measure::Overlap,
            threshold: Some(Threshold::whole(agree)?),
            empty: false,
            ..join.clone()
        })
    }
}

/// How pairs are found.
///
/// See the example of [`EstimateOptions`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Method {
    /// Every pair, none missing.
    #[default]
    Exact,
    /// By MinHash sketches: the smallest hashes under many permutations.
    #[serde(alias = "sketch")]
    #[strum(to_string = "minhash", serialize = "sketch")]
    MinHash,
    /// By LSH labels that begin alike.
    #[serde(alias = "labels")]
    #[strum(to_string = "lsh", serialize = "labels")]
    Lsh,
    /// By KMV synopses: the smallest hashes under one hash function.
    #[serde(alias = "synopses")]
    #[strum(to_string = "kmv", serialize = "synopses")]
    Kmv,
}
