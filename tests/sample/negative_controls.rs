//! The checks of the other test files reject planted faults.

use oracles::{
    Case, enumerable_cases,
    naive::{Fault, Naive},
    oracle, stats,
};
use partition_dpp::{Engine, Method, Partition, PartitionDpp, Quota};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const DRAWS: u64 = 100_000;
/// Far below the level at which a check fails.
const REJECTED: f64 = 1e-12;

/// Returns the case in which faults are planted: two parts with different weights.
fn case() -> Case {
    enumerable_cases().into_iter().find(|case| case.name == "two-parts").unwrap()
}

fn p_value(sets: &[Vec<usize>]) -> f64 {
    let case = case();
    let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
    stats::chi_square_p(sets.iter().map(|set| &set[..]), &law)
}

/// Returns draws of the independent sampler at very unequal part weights.
fn naive(fault: Fault) -> Vec<Vec<usize>> {
    let case = case();
    Naive::new(&case.flat(), case.items(), &[0.7, 3.0], &case.labels, &case.quota, fault)
        .sample_many(DRAWS, 5)
}

#[test]
fn the_independent_sampler_passes() {
    let p = p_value(&naive(Fault::None));
    assert!(p > stats::ALPHA, "{p:e}");
}

#[test]
fn a_uniform_sampler_is_rejected() {
    let case = case();
    let mut rng = StdRng::seed_from_u64(1);
    let mut sets = Vec::new();
    while sets.len() < 100_000 {
        let set: Vec<usize> = (0..case.items()).filter(|_| rng.random::<f64>() < 0.4).collect();
        if oracle::counts(&set, &case.labels, 2) == case.quota {
            sets.push(set);
        }
    }
    assert!(p_value(&sets) < REJECTED);
}

#[test]
fn untilted_acceptance_is_rejected() {
    assert!(p_value(&naive(Fault::UntiltedAcceptance)) < REJECTED);
}

#[test]
fn a_dropped_householder_step_is_rejected() {
    assert!(p_value(&naive(Fault::NoHouseholder)) < REJECTED);
}

#[test]
fn an_off_by_one_label_is_rejected() {
    let case = case();
    let mut labels = case.labels.clone();
    labels.rotate_right(1);
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let features = case.features();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(DRAWS, 3);
    // The fault is noticed even if only sets that meet the true quota are counted.
    let sets: Vec<Vec<usize>> = samples
        .subsets()
        .iter()
        .map(|set| set.as_slice().to_vec())
        .filter(|set| oracle::counts(set, &case.labels, 2) == case.quota)
        .collect();
    assert!(sets.len() > 10_000 && sets.len() < 100_000);
    assert!(p_value(&sets) < REJECTED);
}

#[test]
fn proportions_instead_of_counts_would_not_have_been_noticed() {
    // A well-known suite applies χ² to proportions, which has no power. This test uses counts.
    let sets = naive(Fault::NoHouseholder);
    let case = case();
    let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
    let n = sets.len() as f64;
    let proportions: f64 = law
        .iter()
        .map(|(set, p)| (sets.iter().filter(|drawn| *drawn == set).count() as f64 / n - p).powi(2) / p)
        .sum();
    assert!(proportions < 10.0, "on proportions the fault looks harmless: {proportions}");
    assert!(p_value(&sets) < REJECTED);
}
