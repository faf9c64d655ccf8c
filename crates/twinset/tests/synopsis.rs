//! What synopses estimate: no bias, errors within the bound, intervals that hold; and joins of them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use twinset::estimate::{
    Comparison, Condition, Intervals, KmvPlan, Synopses, Synopsis, SynopsisBuilder, count_error, count_estimates,
    error_bound,
};
use twinset::exact::{Input, JoinOptions, count, join};
use twinset::tokenize::synopsis_value;
use twinset::{Measure, Run};

const TRIALS: u64 = 2000;
const RISK: f64 = 0.1;

/// Two sets of numbers, and the k of their synopses.
#[derive(Debug, Clone, Copy)]
struct Cell {
    left: u64,
    right: u64,
    common: u64,
    k: u32,
}

impl Cell {
    fn union(self) -> u64 {
        self.left + self.right - self.common
    }

    fn truth(self, measure: Measure) -> f64 {
        measure.value(self.left as u32, self.right as u32, self.common as u32)
    }

    /// The synopses of both under the hash function of a seed.
    fn synopses(self, seed: u64) -> (SynopsisBuilder, SynopsisBuilder) {
        let of = |from: u64, to: u64| {
            let mut builder = SynopsisBuilder::new(self.k).unwrap();
            (from..to).for_each(|number| builder.insert(synopsis_value(number, seed)));
            builder
        };
        (of(0, self.left), of(self.left - self.common, self.union()))
    }
}

/// Jaccard similarities from 0.1 to 0.99, sizes equal and unequal, both synopses complete, one, none.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for jaccard in [0.1, 0.3, 0.5, 0.8, 0.9, 0.99] {
        for ratio in [1.0, f64::midpoint(1.0, jaccard)] {
            let right = 600u64;
            let left = (right as f64 * ratio).round() as u64;
            let common = (jaccard * (left + right) as f64 / (1.0 + jaccard)).round() as u64;
            let mut sizes = vec![64, 128, 601];
            sizes.extend((left < right).then_some(u32::midpoint(left as u32, right as u32)));
            cells.extend(sizes.into_iter().map(|k| Cell { left, right, common, k }));
        }
    }
    cells
}

/// Estimates of one quantity over all trials.
struct Trials {
    name: String,
    truth: f64,
    values: Vec<f64>,
    outside: u64,
    beyond_bound: u64,
}

impl Trials {
    fn new(name: impl Into<String>, truth: f64) -> Self {
        Self { name: name.into(), truth, values: Vec::new(), outside: 0, beyond_bound: 0 }
    }

    fn add(&mut self, estimate: twinset::estimate::Interval, bound: f64) {
        assert!(
            estimate.low <= estimate.similarity + 1e-9 && estimate.similarity <= estimate.high + 1e-9,
            "{estimate:?}"
        );
        let slack = 1e-9 * self.truth;
        self.outside += u64::from(estimate.low > self.truth + slack || estimate.high < self.truth - slack);
        self.beyond_bound += u64::from((estimate.similarity - self.truth).abs() > bound * self.truth + slack);
        self.values.push(estimate.similarity);
    }

    /// How far the mean is from the truth, and its standard error.
    fn bias(&self) -> (f64, f64) {
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean - self.truth, (variance / n).sqrt())
    }

    fn check(&self, cell: Cell, is_unbiased: bool) {
        let (bias, error) = self.bias();
        let slack = 1e-9 * self.truth.max(1.0);
        assert!(!is_unbiased || bias.abs() <= 4.0 * error + slack, "{} {cell:?}: bias {bias} ± {error}", self.name);
        let most = Binomial::new(0.05, TRIALS).unwrap().inverse_cdf(1.0 - 1e-4);
        assert!(self.outside <= most, "{} {cell:?}: {} of {TRIALS} outside of the interval", self.name, self.outside);
        let most = (RISK * TRIALS as f64) as u64;
        assert!(self.beyond_bound <= most, "{} {cell:?}: {} beyond the bound", self.name, self.beyond_bound);
    }
}

#[test]
fn estimates_have_no_bias_errors_within_the_bound_and_intervals_that_hold() {
    for (number, cell) in cells().into_iter().enumerate() {
        let mut distinct = Trials::new("distinct", cell.right as f64);
        let mut union = Trials::new("union", cell.union() as f64);
        let mut measures: Vec<(Measure, Trials, Intervals)> = Measure::of_sets()
            .map(|measure| (measure, Trials::new(measure.name(), cell.truth(measure)), Intervals::new(measure)))
            .collect();
        let mut counts = Intervals::new(Measure::Jaccard);
        for trial in 0..TRIALS {
            let (mut left, mut right) = cell.synopses(1 + trial + TRIALS * number as u64);
            let (left, right) = (left.synopsis(), right.synopsis());
            let compared = left.compare(right);
            assert_eq!(compared.is_exact(), u64::from(cell.k) >= cell.right);
            distinct.add(counts.distinct(right), count_error(cell.k, RISK));
            union.add(counts.union(&compared), count_error(cell.k, RISK));
            for (measure, trials, intervals) in &mut measures {
                let jaccard = cell.truth(Measure::Jaccard);
                let at = if measure.is_count() { jaccard } else { trials.truth };
                trials.add(intervals.of(&compared), error_bound(&compared, *measure, at, RISK));
            }
        }
        distinct.check(cell, true);
        union.check(cell, true);
        for (measure, trials, _) in &measures {
            let is_unbiased = matches!(measure, Measure::Jaccard | Measure::Overlap | Measure::Hamming);
            trials.check(cell, is_unbiased || u64::from(cell.k) >= cell.right);
        }
    }
}

/// Synopses of small sets of small numbers, so that many are alike, equal, complete or not.
fn collection(sets: &[BTreeSet<u16>], k: u32) -> Synopses {
    let mut synopses = Synopses::new(k).unwrap();
    for set in sets {
        let mut builder = SynopsisBuilder::new(k).unwrap();
        set.iter().for_each(|&number| builder.insert(synopsis_value(u64::from(number), 5)));
        synopses.push(builder.synopsis());
    }
    synopses
}

/// All rows by definition.
fn expected(synopses: &Synopses, condition: &Condition, left: Option<usize>) -> Vec<(u32, u32, f64)> {
    let measure = condition.measure();
    let mut rows = Vec::new();
    let is_directed = measure == Measure::Containment || left.is_some();
    for x in 0..left.unwrap_or(synopses.len()) {
        for y in left.unwrap_or(if is_directed { 0 } else { x + 1 })..synopses.len() {
            let (a, b) = (synopses.get(x), synopses.get(y));
            let compared: Comparison = a.compare(b);
            if x != y && !a.values().is_empty() && !b.values().is_empty() && condition.accepts(&compared) {
                rows.push((x as u32, (y - left.unwrap_or(0)) as u32, compared.value(measure)));
            }
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn joins_of_synopses_are_those_of_all_pairs(
        base in prop::collection::vec(prop::collection::btree_set(0u16..40, 0..25), 1..8),
        copies in prop::collection::vec((0usize..8, prop::collection::btree_set(0u16..40, 0..4)), 0..20),
        k in 2u32..24, twentieths in 1u64..=20, number in 1u32..30, min_overlap in 0u32..12, half in any::<bool>(),
    ) {
        let mut sets = base.clone();
        for (of, more) in copies {
            sets.push(base[of % base.len()].union(&more).copied().collect());
        }
        let left = half.then_some(sets.len() / 2);
        let mut synopses = collection(&sets, k);
        if let Some(left) = left {
            synopses = synopses.split_at(left as u32);
        }
        for measure in Measure::of_sets() {
            let threshold = match measure.is_count() {
                true => twinset::Threshold::whole(number).unwrap(),
                false => twinset::Threshold::new(twentieths, 20).unwrap(),
            };
            let condition = Condition::new(measure, threshold, min_overlap).unwrap();
            let options = JoinOptions { measure, kmv: KmvPlan { min_overlap, lowest: None }, ..JoinOptions::at(threshold) };
            let rows = expected(&synopses, &condition, left);
            let joined = join(Input::Synopses(&synopses), &options, &Run::default()).unwrap();
            let found: Vec<_> = joined.iter().map(|pair| pair.unwrap()).map(|pair| (pair.left, pair.right, pair.value)).collect();
            prop_assert_eq!(&found, &rows, "{} {:?}", measure, threshold);
            prop_assert_eq!(count(Input::Synopses(&synopses), &options, &Run::default()).unwrap().pairs, rows.len() as u64);
            let stricter = match measure {
                Measure::Hamming => "3",
                Measure::Overlap => "40",
                _ => "0.9999",
            };
            let stricter = Condition::new(measure, stricter.parse().unwrap(), min_overlap).unwrap();
            let by_definition = [&condition, &stricter].map(|condition| expected(&synopses, condition, left).len() as u64);
            if measure != Measure::Hamming || number >= 3 {
                let counted = count_estimates(&synopses, &[condition, stricter], &Run::default()).unwrap();
                prop_assert_eq!(counted, by_definition, "{}", measure);
            }
            // What a posting list must show at least.
            for (x, y, _) in rows {
                let (a, b) = (synopses.get(x as usize), synopses.get(y as usize + left.unwrap_or(0)));
                let shared = a.values().iter().filter(|value| b.values().contains(value)).count() as u32;
                prop_assert!(shared >= condition.least_common(a.values().len() as u32, k), "{} {}", measure, shared);
                if measure != Measure::Containment {
                    prop_assert!(shared >= condition.least_common(b.values().len() as u32, k));
                }
            }
        }
    }
}

#[test]
fn identical_synopses_are_pairs_without_being_held() {
    let sets = vec![BTreeSet::from([1, 2, 3]); 100_000];
    let synopses = collection(&sets, 2);
    let joined = join(Input::Synopses(&synopses), &JoinOptions::at("0.9".parse().unwrap()), &Run::default()).unwrap();
    assert_eq!(joined.len(), 100_000 * 99_999 / 2);
    assert_eq!(
        joined.iter().take(1_000_000).filter(|pair| pair.as_ref().is_ok_and(|pair| pair.value == 1.0)).count(),
        1_000_000
    );
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for size in [0, 1, 1_000_001] {
        assert!(SynopsisBuilder::new(size).is_err() && Synopses::new(size).is_err());
    }
    assert!(SynopsisBuilder::new(1_000_000).is_ok());
    assert!(Condition::new(Measure::Edit, "2".parse().unwrap(), 0).is_err());
    assert!(Synopsis::new(&[3, 3], 2, true).is_none() && Synopsis::new(&[3], 2, false).is_none());
}

/// Computed by another program from the published mixing function.
#[test]
fn values_are_the_same_for_ever() {
    assert_eq!(synopsis_value(0, 0), 0x6393_d51c_06c6_18dc);
    assert_eq!(synopsis_value(twinset::tokenize::token_hash(b"as", 1), 42), 0xf5c6_f3e9_74d9_1f50);
}
