//! What to join for, as the user says it.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::estimate::{KmvPlan, LshPlan};
use crate::model::{Error, Measure, Result, Threshold};
use crate::sketch::Condition;

/// Which pairs are wanted, and how they are found.
///
/// ```
/// # use twinset::exact::JoinOptions;
/// # use twinset::Measure;
/// let options: JoinOptions = serde_json::from_str(r#"{"threshold": 0.8, "measure": "cosine"}"#)?;
/// assert_eq!(options.threshold, Some("4/5".parse()?));
/// assert_eq!(options.measure, Measure::Cosine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct JoinOptions {
    /// Pairs at or above T: a decimal or a fraction in (0, 1]; for overlap, hamming and edit a whole number
    ///
    /// Distances (hamming, edit) are wanted at or below T. Pairs that lie on the threshold are found.
    #[cfg_attr(feature = "clap", arg(long, short, value_name = "T", allow_hyphen_values = true))]
    pub threshold: Option<Threshold>,
    /// How the likeness of two records is measured
    ///
    /// containment is |left ∩ right| / |left|: its rows are ordered pairs. edit compares the texts, character by
    /// character.
    #[cfg_attr(feature = "clap", arg(long, short, value_name = "MEASURE", default_value_t))]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Measure>()))]
    pub measure: Measure,
    /// How an exact join finds its pairs; all algorithms find the same ones
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", default_value_t))]
    #[cfg_attr(feature = "clap", arg(value_parser = crate::support::name_parser::<Algorithm>()))]
    pub algorithm: Algorithm,
    /// How deep ppjoin+'s suffix filter goes
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEPTH", default_value_t = DEFAULT_MAX_DEPTH))]
    pub max_depth: u32,
    /// Let records without tokens take part: they match each other
    #[cfg_attr(feature = "clap", arg(long))]
    pub empty: bool,
    /// Only the K most similar pairs, most similar first; no threshold is needed
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub top: Option<usize>,
    /// One-to-one: each record at most once, best pairs first
    #[cfg_attr(feature = "clap", arg(long))]
    pub best: bool,
    /// Find pairs by LSH, which may miss some.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub lsh: Option<LshPlan>,
    /// Which pairs of KMV synopses to accept.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub kmv: KmvPlan,
}

/// As in the paper's experiments on long records.
const DEFAULT_MAX_DEPTH: u32 = 2;

impl Default for JoinOptions {
    fn default() -> Self {
        Self {
            threshold: None,
            measure: Measure::default(),
            algorithm: Algorithm::default(),
            max_depth: DEFAULT_MAX_DEPTH,
            empty: false,
            top: None,
            best: false,
            lsh: None,
            kmv: KmvPlan::default(),
        }
    }
}

impl JoinOptions {
    /// The defaults with a threshold.
    pub fn at(threshold: Threshold) -> Self {
        Self { threshold: Some(threshold), ..Self::default() }
    }

    /// What is asked of synopses.
    pub(crate) fn condition(&self) -> Result<Condition> {
        let threshold = self.threshold.ok_or(Error::NoThreshold)?;
        let condition = Condition::new(self.measure, threshold, self.kmv.min_overlap)?;
        self.kmv.lowest.map_or(Ok(condition), |lowest| condition.lowered(lowest))
    }
}

/// How the pairs are found. Every algorithm finds the same ones.
///
/// See the example of [`JoinOptions`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumMessage, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = Error::unknown_name::<Self>)]
pub enum Algorithm {
    /// Whatever should be fastest.
    #[default]
    Auto,
    /// Compares every pair.
    Naive,
    /// Size and prefix filtering (Bayardo, Ma and Srikant).
    AllPairs,
    /// All-Pairs with positional filtering (Xiao et al.).
    PpJoin,
    /// PPJoin with suffix filtering.
    #[serde(rename = "ppjoin+")]
    #[strum(to_string = "ppjoin+")]
    PpJoinPlus,
    /// Prefix filtering with signatures in the posting lists.
    Prefix,
    /// Compares the signatures of all pairs of suitable sizes.
    Scan,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name, as in `--algorithm`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
