//! Labels agree as often as the mathematics says, are the same for ever, and a join by them keeps its promise.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use twinset::estimate::{EstimateOptions, Labeler, LshOptions, lsh_bits, lsh_recall};
use twinset::exact::{Input, JoinOptions, join};
use twinset::{Run, TokenSets};

/// Two sets of random hashes: so many in all, and so many of them in common.
fn pair(random: &mut ChaCha8Rng, union: usize, common: usize) -> (Vec<u64>, Vec<u64>) {
    let all: Vec<u64> = (0..union).map(|_| random.random()).collect();
    let half = common + (union - common) / 2;
    let (mut x, mut y) = (all[..half].to_vec(), [&all[..common], &all[half..]].concat());
    x.sort_unstable();
    y.sort_unstable();
    (x, y)
}

/// The paper's first table: k' for minSim and minProb, with 20 trees and labels of 50 bits.
#[test]
fn the_length_of_prefixes_is_that_of_the_paper() {
    let of = |similarity: f64| {
        [0.80, 0.82, 0.84, 0.86, 0.88, 0.90, 0.92, 0.94, 0.96, 0.98].map(|p| lsh_bits(similarity, p, 20, 50))
    };
    assert_eq!(of(0.8), [24, 23, 23, 22, 21, 21, 20, 19, 18, 16]);
    assert_eq!(of(0.9), [49, 48, 47, 46, 44, 43, 41, 39, 37, 33]);
}

#[test]
fn bits_agree_with_the_probability_of_the_formula() {
    let labeler = Labeler::new(LshOptions { trees: 10, bits: 64 }, 5).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (union, trials) in [(5, 400), (20, 400), (100, 200), (1000, 60), (10_000, 12)] {
        for tenths in [0, 2, 4, 6, 8, 10] {
            let common = union * tenths / 10;
            let similarity = common as f64 / union as f64;
            let (mut agreeing, mut total) = (0u32, 0);
            for _ in 0..trials {
                let (x, y) = pair(&mut random, union, common);
                for (a, b) in labeler.labels(&x).into_iter().zip(labeler.labels(&y)) {
                    agreeing += (a ^ b).count_zeros();
                    total += 64;
                }
            }
            let (expected, n) = ((1.0 + similarity) / 2.0, f64::from(total));
            let error = (f64::from(agreeing) / n - expected) / (expected * (1.0 - expected) / n).sqrt().max(1e-12);
            assert!(error.abs() < 4.0, "{union} tokens, similarity {similarity}: {error:.1} standard errors off");
        }
    }
}

/// Kept indexes rely on them.
#[test]
fn labels_are_the_same_for_ever() {
    let labeler = |bits| Labeler::new(LshOptions { trees: 3, bits }, 0).unwrap();
    let hashes: Vec<u64> = (1..=100u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    assert_eq!(labeler(64).labels(&hashes), GOLDEN);
    assert_eq!(labeler(1).labels(&hashes).len(), 3);
    assert!(labeler(50).labels(&hashes).iter().all(|label| label & 0x3FFF == 0), "what is not used is zero");
    assert!(labeler(50).labels(&[]).is_empty());
}

const GOLDEN: [i64; 3] = [6_869_050_249_074_115_632, -5_507_965_252_271_718_293, 8_918_296_915_807_298_057];

#[test]
fn a_join_by_labels_keeps_its_promise_and_finds_nothing_else() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for (similarity, common) in [(0.5, 20), (0.7, 28), (0.9, 36)] {
        // Pairs that lie right on the threshold.
        let mut sets = Vec::new();
        for _ in 0..1000 {
            let (x, y) = pair(&mut random, 40, common);
            sets.extend([x, y]);
        }
        let numbers: std::collections::BTreeMap<u64, u32> = sets.iter().flatten().copied().zip(0..).collect();
        let sets = TokenSets::from_ids(sets.iter().map(|set| set.iter().map(|hash| numbers[hash]).collect::<Vec<_>>()))
            .unwrap();
        for probability in [0.5, 0.9, 0.98] {
            let estimate = EstimateOptions { probability, ..EstimateOptions::default() };
            let options = estimate.for_lsh(&JoinOptions::at(similarity.to_string().parse().unwrap())).unwrap();
            let joined = join(Input::Sets(&sets), &options, &Run::default()).unwrap();
            let pairs: Vec<twinset::exact::Pair> = joined.iter().collect::<Result<_, _>>().unwrap();
            assert!(
                pairs.iter().all(|pair| pair.left % 2 == 0 && pair.right == pair.left + 1 && pair.value == similarity)
            );
            let found = pairs.len() as f64 / 1000.0;
            let labels = options.lsh.unwrap();
            let promised = lsh_recall(similarity, labels.trees, labels.length);
            assert!(promised >= probability);
            let error = (promised * (1.0 - promised) / 1000.0).sqrt();
            assert!((found - promised).abs() <= 4.0 * error, "at {similarity}: {found} found, {promised} promised");
        }
    }
}
