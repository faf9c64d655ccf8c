//! How a search runs: what stands for the texts, what is joined, and what the values of pairs mean.

use crate::join::{EstimateOptions, Input, JoinOptions, JoinResult, Method};
use crate::model::{Bounds, Collections, Error, Measure, Result, Run, Threshold};
use crate::pipeline;
use crate::sketch::{Interval, Intervals, KmvSettings, MinHashSettings, Synopses, lsh_recall, minhash_recall};
use crate::tokenize::TokenOptions;

/// A search whose options fit together, and what follows from them.
///
/// ```
/// use twinset::exact::Representation;
/// use twinset::{Method, Search};
///
/// assert_eq!(Search::at(0.8)?.plan()?.representation(), Representation::Sets);
/// let plan = Search::at(0.8)?.method(Method::MinHash).plan()?;
/// assert!(plan.is_estimated() && plan.promise().is_some());
/// # Ok::<(), twinset::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    /// The pairs that are asked for.
    wanted: JoinOptions,
    /// What is joined: the same, or the overlaps of sketches.
    joined: JoinOptions,
    tokens: TokenOptions,
    estimate: EstimateOptions,
}

/// What stands for the texts in a join.
///
/// See the example of [`Plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// The texts themselves, for edit distance.
    Texts,
    /// Their token sets.
    Sets,
    /// MinHash sketches of the token sets.
    Sketches(MinHashSettings),
    /// KMV synopses of the token sets.
    Synopses(KmvSettings),
}

impl Plan {
    /// Checks that the options fit together, before any long work.
    pub fn new(join: &JoinOptions, tokens: &TokenOptions, estimate: &EstimateOptions, run: &Run) -> Result<Self> {
        estimate.check_method()?;
        let mut wanted = join.clone();
        let in_memory = |what: &'static str| if run.memory.is_some() { Err(Error::Conflict(what)) } else { Ok(()) };
        let joined = match estimate.method {
            Method::Exact => {
                tokens.check_measure(join.measure)?;
                join.clone()
            }
            Method::Lsh => {
                in_memory("labels are held in memory; leave out --memory, or find pairs exactly")?;
                estimate.for_lsh(join)?
            }
            Method::Kmv => {
                in_memory(
                    "synopses are held in memory; leave out --memory, or keep them in an index (twinset index create)",
                )?;
                if estimate.verify && join.threshold.is_none() {
                    return Err(Error::Conflict(
                        "what is checked must be told: give --threshold as well, or leave out --verify",
                    ));
                }
                estimate.for_kmv(join)?
            }
            Method::MinHash => {
                let joined = estimate.for_minhash(join)?;
                if let (None, Some(agree)) = (wanted.threshold, estimate.agree) {
                    wanted.threshold = Some(Threshold::new(u64::from(agree), u64::from(estimate.permutations.get()))?);
                }
                joined
            }
        };
        // What is verified is chosen from afterwards.
        let joined = if estimate.verify { JoinOptions { top: None, best: false, ..joined } } else { joined };
        match wanted.threshold {
            Some(threshold) => _ = Bounds::new(wanted.measure, threshold, Collections::One)?,
            None if wanted.top.is_none() => return Err(Error::NoThreshold),
            None => {}
        }
        Ok(Self { wanted, joined, tokens: tokens.clone(), estimate: estimate.clone() })
    }

    /// What stands for the texts.
    pub fn representation(&self) -> Representation {
        let EstimateOptions { permutations, seed, size, .. } = self.estimate;
        match (self.estimate.method, self.wanted.measure) {
            (Method::MinHash, _) => {
                Representation::Sketches(MinHashSettings { permutations: permutations.get(), seed })
            }
            (Method::Kmv, _) => Representation::Synopses(KmvSettings { size, seed }),
            (Method::Exact, Measure::Edit) => Representation::Texts,
            (Method::Exact | Method::Lsh, _) => Representation::Sets,
        }
    }

    /// How texts become tokens.
    pub fn tokens(&self) -> &TokenOptions {
        &self.tokens
    }

    /// The pairs that are asked for.
    pub fn wanted(&self) -> &JoinOptions {
        &self.wanted
    }

    /// What is joined for them: the same, or the overlaps of sketches.
    pub fn joined(&self) -> &JoinOptions {
        &self.joined
    }

    /// What [`JoinResult::selected`] chooses pairs by.
    pub fn selection(&self) -> &JoinOptions {
        if self.estimate.verify { &self.wanted } else { &self.joined }
    }

    /// Whether pairs must be verified with token sets, by [`verify`](Self::verify).
    pub fn verifies(&self) -> bool {
        self.estimate.verify
    }

    /// How many entries the sketches have whose agreement the values of pairs count, if they do.
    pub fn entries(&self) -> Option<u32> {
        (self.estimate.method == Method::MinHash && !self.estimate.verify).then(|| self.estimate.permutations.get())
    }

    /// Whether the values of pairs are estimates.
    pub fn is_estimated(&self) -> bool {
        matches!(self.estimate.method, Method::MinHash | Method::Kmv) && !self.estimate.verify
    }

    /// Finds the pairs, only those within a class if there are classes: one for every record, those of the right collection after
    /// those of the left.
    pub fn find(&self, input: Input<'_>, classes: Option<&[u32]>, run: &Run) -> Result<JoinResult> {
        pipeline::join_within(input, classes, &self.joined, run)
    }

    /// Of the pairs that estimates found, those whose token sets really reach the threshold, with their exact values.
    pub fn verify(&self, joined: &JoinResult, exact: Input<'_>, run: &Run) -> Result<JoinResult> {
        pipeline::verify(joined, exact, &self.wanted, run)
    }

    /// What the values of pairs mean; `synopses` are what was joined, if it was synopses.
    pub fn values<'a>(&self, measure: Measure, synopses: Option<&'a Synopses>) -> Values<'a> {
        match synopses {
            _ if !self.is_estimated() => Values::Exact(measure),
            Some(synopses) => Values::Estimated(measure, Box::new(Intervals::new(measure)), synopses),
            None => Values::agreement(self.estimate.permutations.get()),
        }
    }

    /// With which probability a pair on the threshold is found, for people to read; `None` if every pair is found.
    pub fn promise(&self) -> Option<String> {
        let EstimateOptions { permutations, verify, size, .. } = self.estimate;
        match (self.estimate.method, self.joined.threshold) {
            (Method::Lsh, Some(threshold)) => {
                let labels = self.joined.lsh?;
                let found = lsh_recall(threshold.as_f64(), labels.trees, labels.length);
                Some(format!(
                    "{} bits of labels in {} trees; a pair on the threshold is found with probability {found:.3}, and checked \
                     exactly",
                    labels.length, labels.trees
                ))
            }
            (Method::MinHash, Some(agree)) => {
                let agree = agree.as_f64() as u32;
                let found = self
                    .wanted
                    .threshold
                    .map_or(0.0, |threshold| minhash_recall(threshold.as_f64(), agree, permutations.get()));
                let kind = if verify { "checked exactly" } else { "the similarities are estimates" };
                Some(format!(
                    "sketches of {permutations} entries that agree in {agree} or more; a pair on the threshold is found with \
                     probability {found:.3}; {kind}"
                ))
            }
            (Method::Kmv, threshold) => {
                let kind = if verify {
                    "checked exactly"
                } else {
                    "those of records with more tokens than that are estimates"
                };
                let found = match (threshold, self.joined.kmv.lowest) {
                    (Some(threshold), Some(lowest)) => {
                        let jaccard = |value: f64| match self.wanted.measure {
                            Measure::Dice => value / (2.0 - value),
                            _ => value,
                        };
                        let agree = (jaccard(lowest.as_f64()) * f64::from(size)).round() as u32;
                        let found = minhash_recall(jaccard(threshold.as_f64()), agree, size);
                        format!("a pair on the threshold is found with probability {found:.3} at least; ")
                    }
                    (Some(_), None) => {
                        "how surely a pair on the threshold is found cannot be said for this measure; ".to_owned()
                    }
                    (None, _) => String::new(),
                };
                Some(format!("synopses of {size} values; {found}{kind}"))
            }
            _ => None,
        }
    }
}

/// What the values of pairs mean.
///
/// See the example of [`Plan`].
pub enum Values<'a> {
    /// They are those of a measure.
    Exact(Measure),
    /// They count the entries in which sketches agree; for each count, the estimate that it stands for.
    Agreement(Vec<Interval>),
    /// They are estimates of a measure by synopses.
    Estimated(Measure, Box<Intervals>, &'a Synopses),
}

impl<'a> Values<'a> {
    /// Those of sketches with so many entries.
    pub fn agreement(entries: u32) -> Self {
        Self::Agreement((0..=entries).map(|agreeing| Interval::of_agreement(agreeing, entries)).collect())
    }

    /// Those of a measure that synopses estimate.
    pub fn estimated(measure: Measure, synopses: &'a Synopses) -> Self {
        Self::Estimated(measure, Box::new(Intervals::new(measure)), synopses)
    }

    /// The similarity, or distance, that the value of a pair stands for, and its 95% interval. Ordinals of the right collection
    /// come after those of the left.
    pub fn interval(&mut self, value: f64, left: u32, right: u32) -> Interval {
        match self {
            Self::Exact(_) => certain(value),
            Self::Agreement(estimates) => estimates[value as usize],
            Self::Estimated(..) if left == right => certain(value),
            Self::Estimated(_, intervals, synopses) => {
                intervals.of(&synopses.get(left as usize).compare(synopses.get(right as usize)))
            }
        }
    }

    /// The same of a record and itself, which agree even if they have no token.
    pub fn interval_of_twins(&self, value: f64) -> Interval {
        match self {
            Self::Agreement(estimates) => estimates[estimates.len() - 1],
            Self::Exact(_) | Self::Estimated(..) => certain(value),
        }
    }

    /// What the ordinals of right records start from where pairs are looked up.
    pub fn right_offset(&self) -> u32 {
        match self {
            Self::Estimated(_, _, synopses) if synopses.collections() == Collections::Two => synopses.left_len() as u32,
            _ => 0,
        }
    }
}

fn certain(value: f64) -> Interval {
    Interval { similarity: value, low: value, high: value }
}
