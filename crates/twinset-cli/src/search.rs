//! How pairs are looked for: exactly, or by estimates.

use twinset::{EstimateOptions, Input, JoinOptions, Joined, Measure, Method, Run, Threshold, TokenOptions};
use twinset_io::read::Inputs;
use twinset_io::write::Values;
use twinset_io::{Collection, Content, Keeping, ReadOptions, load};

/// What the user wants, and what is joined for it.
pub(crate) struct Search<'a> {
    /// What is wanted.
    pub(crate) wanted: JoinOptions,
    /// What is joined: the same, or the overlaps of sketches.
    pub(crate) joined: JoinOptions,
    tokens: &'a TokenOptions,
    estimate: &'a EstimateOptions,
}

impl<'a> Search<'a> {
    /// Refuses at once what would fail after long work.
    pub(crate) fn new(
        join: &JoinOptions,
        tokens: &'a TokenOptions,
        estimate: &'a EstimateOptions,
        run: &Run,
    ) -> anyhow::Result<Self> {
        estimate.check_method()?;
        let mut wanted = join.clone();
        let joined = match estimate.method {
            Method::Exact
                if join.measure == Measure::Edit && (tokens.stem.is_some() || tokens.stop_words.is_some()) =>
            {
                let reason = "edit distance compares the texts as they stand; leave out --stem and --stop-words";
                return Err(twinset_io::Error::Usage(reason.to_owned()).into());
            }
            Method::Exact => join.clone(),
            Method::Labels if run.memory.is_some() => {
                let reason = "labels are held in memory; leave out --memory, or find pairs exactly";
                return Err(twinset_io::Error::Usage(reason.to_owned()).into());
            }
            Method::Labels => estimate.of_labels(join)?,
            Method::Synopses if run.memory.is_some() => {
                let reason =
                    "synopses are held in memory; leave out --memory, or keep them in an index (twinset index create)";
                return Err(twinset_io::Error::Usage(reason.to_owned()).into());
            }
            Method::Synopses if estimate.verify && join.threshold.is_none() => {
                let reason = "what is checked must be told: give --threshold as well, or leave out --verify";
                return Err(twinset_io::Error::Usage(reason.to_owned()).into());
            }
            Method::Synopses => {
                let joined = estimate.of_synopses(join)?;
                if estimate.verify { JoinOptions { top: None, best: false, ..joined } } else { joined }
            }
            Method::Sketch => {
                let joined = estimate.of_sketches(join)?;
                if let (None, Some(agree)) = (wanted.threshold, estimate.agree) {
                    wanted.threshold = Some(Threshold::new(u64::from(agree), u64::from(estimate.permutations.get()))?);
                }
                // What is checked is chosen from afterwards.
                if estimate.verify { JoinOptions { top: None, best: false, ..joined } } else { joined }
            }
        };
        match wanted.threshold {
            Some(threshold) => {
                twinset::Bounds::new(wanted.measure, threshold, twinset::Collections::One)?;
            }
            None if wanted.top.is_none() => return Err(twinset::Error::NoThreshold.into()),
            None => {}
        }
        Ok(Self { wanted, joined, tokens, estimate })
    }

    /// What is read.
    pub(crate) fn content(&self) -> Content<'a> {
        match (self.estimate.method, self.wanted.measure) {
            (Method::Sketch, _) => {
                Content::Sketches(self.tokens, (self.estimate.permutations.get(), self.estimate.seed))
            }
            (Method::Synopses, _) => Content::Synopses(self.tokens, (self.estimate.size, self.estimate.seed)),
            (Method::Exact, Measure::Edit) => Content::Texts,
            (Method::Exact | Method::Labels, _) => Content::Sets(self.tokens),
        }
    }

    /// How many entries the sketches have whose agreement the values count, if they are estimates.
    pub(crate) fn entries(&self) -> Option<u32> {
        let estimates = self.estimate.method == Method::Sketch && !self.estimate.verify;
        estimates.then(|| self.estimate.permutations.get())
    }

    /// Whether values are estimates.
    pub(crate) fn is_estimated(&self) -> bool {
        matches!(self.estimate.method, Method::Sketch | Method::Synopses) && !self.estimate.verify
    }

    /// What the values of pairs are.
    pub(crate) fn values<'c>(&self, collection: &'c Collection, measure: Measure) -> Values<'c> {
        match (self.entries(), &collection.synopses) {
            (Some(entries), _) => Values::agreement(entries),
            (None, Some(synopses)) if self.is_estimated() => Values::estimated(measure, synopses),
            _ => Values::Exact(measure),
        }
    }

    /// What the pairs are chosen by.
    pub(crate) fn selection(&self) -> &JoinOptions {
        if self.estimate.verify { &self.wanted } else { &self.joined }
    }

    /// Finds the pairs. Those of sketches are checked if the user wants that: then the sides are read again, and the token
    /// sets are returned as well.
    pub(crate) fn run(
        &self,
        input: Input<'_>,
        classes: Option<&[u32]>,
        (sides, read, keeping): (&[Inputs], &ReadOptions, Keeping<'_>),
        run: &Run,
    ) -> anyhow::Result<(Joined, Option<Collection>)> {
        let joined = twinset::join_within(input, classes, &self.joined, run)?;
        if !self.estimate.verify {
            return Ok((joined, None));
        }
        let exact = load(sides, read, Keeping { content: Content::Sets(self.tokens), again: true, ..keeping }, run)?;
        let verified = twinset::verify(&joined, exact.input(), &self.wanted, run)?;
        Ok((verified, Some(exact)))
    }

    /// What the summary says of estimates.
    pub(crate) fn note(&self) -> Option<String> {
        let permutations = self.estimate.permutations;
        match (self.estimate.method, self.joined.threshold) {
            (Method::Labels, Some(threshold)) => {
                let labels = self.joined.labels?;
                let found = twinset::found_by_labels(threshold.as_f64(), labels.trees, labels.length);
                Some(format!(
                    "{} bits of labels in {} trees; a pair on the threshold is found with probability {found:.3}, and checked \
                     exactly",
                    labels.length, labels.trees
                ))
            }
            (Method::Sketch, Some(agree)) => {
                let agree = agree.as_f64() as u32;
                let found = self.wanted.threshold.map_or(0.0, |threshold| {
                    twinset::found_by_agreement(threshold.as_f64(), agree, permutations.get())
                });
                let kind = if self.estimate.verify { "checked exactly" } else { "the similarities are estimates" };
                Some(format!(
                    "sketches of {permutations} entries that agree in {agree} or more; a pair on the threshold is found with \
                     probability {found:.3}; {kind}"
                ))
            }
            (Method::Synopses, threshold) => {
                let kind = if self.estimate.verify {
                    "checked exactly"
                } else {
                    "those of records with more tokens than that are estimates"
                };
                let found = match (threshold, self.joined.estimates.lowest) {
                    (Some(threshold), Some(lowest)) => {
                        let jaccard = |value: f64| match self.wanted.measure {
                            Measure::Dice => value / (2.0 - value),
                            _ => value,
                        };
                        let agree = (jaccard(lowest.as_f64()) * f64::from(self.estimate.size)).round() as u32;
                        let found = twinset::found_by_agreement(jaccard(threshold.as_f64()), agree, self.estimate.size);
                        format!("a pair on the threshold is found with probability {found:.3} at least; ")
                    }
                    (Some(_), None) => {
                        "how surely a pair on the threshold is found cannot be said for this measure; ".to_owned()
                    }
                    (None, _) => String::new(),
                };
                Some(format!("synopses of {} values; {found}{kind}", self.estimate.size))
            }
            _ => None,
        }
    }
}
