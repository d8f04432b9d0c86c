//! Every rejection bound against enumeration, on every enumerable case, under exact counts, ranges and conditions.

use oracles::{
    conditioned,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Law},
    ranges::{Shape, shapes},
    stats, with_threads,
};
use partition_dpp::{
    Engine, Method, Partition, PartitionDpp, Quota, Sampler, SamplerOptions, Subset, sample::Bound,
};

const DRAWS: u64 = 5_000;
/// An upper limit on the number of χ² tests in any one function here.
const CHECKS: f64 = 1000.0;

/// Returns the p-value of draws, and the ratio of actual to predicted proposals.
fn p_value(sampler: &Sampler, law: &Law) -> (f64, f64) {
    let samples = with_threads(2, || sampler.sample_many(DRAWS, 7));
    let predicted = sampler.bounds().first().map_or(1.0, |cost| cost.proposals);
    assert!(
        samples.acceptance_observed() >= 0.9 * sampler.acceptance_bound(),
        "{}",
        sampler.acceptance_bound()
    );
    let ratio = samples.acceptance_observed().recip() / predicted;
    (stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law), ratio)
}

fn options(bound: Bound) -> SamplerOptions {
    SamplerOptions::from(Method::Rejection).with_bound(bound)
}

#[test]
fn draws_by_every_bound_are_from_the_law() {
    let (mut checks, mut least, mut most) = (0, f64::INFINITY, 0.0_f64);
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let quota = Quota::new(&partition, case.quota.iter().copied()).unwrap();
        let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
        let (law, _) = case.oracle().law(|_| 1.0, allowed);
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        for bound in Bound::ALL {
            let sampler = dpp.sampler(options(bound), &Engine::cpu()).unwrap();
            // A single part has no halves.
            let alone = if bound == Bound::Halves { Bound::Hadamard } else { bound };
            assert!(sampler.bound().is_none_or(|used| used == bound || used == alone));
            assert!(sampler.law_error() < 1e-9, "{}, {bound}: {:e}", case.name, sampler.law_error());
            let (p, ratio) = p_value(&sampler, &law);
            assert!(p > stats::ALPHA / CHECKS, "{}, {bound}: p = {p:e}", case.name);
            if bound != Bound::Tilted && sampler.bound().is_some() {
                (least, most) = (least.min(ratio), most.max(ratio));
            }
            checks += 1;
        }
    }
    println!("{checks} laws; proposals {least:.2} to {most:.2} times those predicted");
    assert!(checks >= 70, "{checks}");
}

#[test]
fn draws_in_ranges_are_from_the_law() {
    let mut checks = 0;
    for (at, case) in enumerable_cases().iter().enumerate() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        for (shape, Shape { name, quota, .. }) in shapes(case, &partition).into_iter().enumerate() {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, _) = oracle.law(|_| 1.0, allowed);
            // Each case uses one of five bounds.
            let bound = Bound::ALL[1 + (at + shape) % 5];
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let sampler = dpp.sampler(options(bound), &Engine::cpu()).unwrap();
            let (p, _) = p_value(&sampler, &law);
            assert!(p > stats::ALPHA / CHECKS, "{}, {name}, {bound}: p = {p:e}", case.name);
            checks += 1;
        }
    }
    assert!(checks >= 100, "{checks}");
}

#[test]
fn draws_given_items_are_from_the_law() {
    let mut checks = 0;
    for (at, case) in enumerable_cases().iter().enumerate() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let quota = Quota::new(&partition, case.quota.iter().copied()).unwrap();
        let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
        let (whole, _) = case.oracle().law(|_| 1.0, allowed);
        for (number, condition) in Condition::zoo(&whole, &case.labels).into_iter().enumerate() {
            let (law, log_share) = condition.apply(&whole);
            // The remaining probability must be more than rounding of the oracle's sums.
            if log_share < -20.0 || (at + number) % 3 > 0 {
                continue;
            }
            let bound = Bound::ALL[1 + (at / 3 + number) % 5];
            let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let dpp = conditioned!(model, condition).unwrap();
            let sampler = dpp.sampler(options(bound), &Engine::cpu()).unwrap();
            let (p, _) = p_value(&sampler, &law);
            assert!(p > stats::ALPHA / CHECKS, "{}, {condition:?}, {bound}: p = {p:e}", case.name);
            checks += 1;
        }
    }
    assert!(checks >= 50, "{checks}");
}
