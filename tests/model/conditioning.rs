//! Included and excluded items against enumeration: exact probabilities and draws.

use approx::abs_diff_eq;
use oracles::{
    Case, conditioned, conditioned_item_by_item,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Law},
    stats,
};
use partition_dpp::{
    Dpp, Engine, Features, IndependentKDpps, Inference, KDpp, Method, Partition, PartitionDpp, Projection,
    Quota, Sampler, SamplerOptions, Subset, sample::Algorithm,
};

const DRAWS: u64 = 5_000;
/// An upper limit on the number of χ² tests in this file.
const CHECKS: f64 = 1000.0;

fn model(case: &Case) -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    (case.features(), partition, quota)
}

/// Returns the largest gap between two lists, entry by entry.
fn gap(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max)
}

fn p_value(sampler: &Sampler, law: &Law) -> f64 {
    let samples = sampler.sample_many(DRAWS, 7);
    stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law)
}

/// A law given a condition, by enumeration.
struct Given<'a> {
    what: String,
    condition: &'a Condition,
    /// The law without the condition.
    whole: &'a Law,
    law: Law,
    log_z: f64,
    items: usize,
}

impl<'a> Given<'a> {
    fn new(case: &Case, condition: &'a Condition, whole: &'a Law, log_z: f64) -> Self {
        let (law, log_share) = condition.apply(whole);
        let what = format!("{}, {condition:?}", case.name);
        Self { what, condition, whole, law, log_z: log_z + log_share, items: case.items() }
    }

    /// Checks the normaliser, inclusion probabilities and log-probabilities. Returns the largest gap of the inclusion
    /// probabilities.
    fn check_inference(&self, inference: &Inference) -> f64 {
        let what = &self.what;
        let log_z = inference.log_partition_function();
        let error = (log_z.value - self.log_z).abs();
        assert!(error <= 1e-10 * (1.0 + self.log_z.abs()), "{what}: {log_z:?}, expected {}", self.log_z);
        let marginals = inference.inclusion_probabilities().unwrap();
        let worst = gap(&marginals.value, &oracle::marginals(&self.law, self.items));
        assert!(worst <= 1e-10, "{what}: inclusion probabilities off by {worst:e}");
        for set in self.whole.keys() {
            let found = inference.log_probability(&Subset::new(set.clone(), self.items).unwrap()).unwrap();
            let expected = self.law.get(set).map_or(f64::NEG_INFINITY, |p| p.ln());
            let same = found.value.total_cmp(&expected).is_eq()
                || abs_diff_eq!(found.value, expected, epsilon = 1e-9 * (1.0 + expected.abs()));
            assert!(same, "{what}: {set:?} {found:?} {expected}");
        }
        if self.law.len() == 1 && !self.condition.included.is_empty() {
            let certain = |p: &f64| abs_diff_eq!(p * (1.0 - p), 0.0, epsilon = 1e-12);
            assert!(marginals.value.iter().all(certain), "{what}: one set has everything");
        }
        worst
    }

    fn check_draws(&self, sampler: &Sampler) {
        let samples = sampler.sample_many(DRAWS, 7);
        for set in samples.subsets() {
            assert!(self.condition.allows(set.as_slice()), "{}: {set}", self.what);
        }
        let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &self.law);
        assert!(p > stats::ALPHA / CHECKS, "{}: p = {p:e}", self.what);
    }
}

#[test]
fn dpp() {
    let mut checks = 0;
    let mut worst = 0.0;
    for case in enumerable_cases() {
        let features = case.features();
        let (law, log_z) = case.oracle().law(|_| 1.0, |_| true);
        for condition in Condition::zoo(&law, &case.labels) {
            let given = Given::new(&case, &condition, &law, log_z);
            let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
            worst = f64::max(worst, given.check_inference(&dpp.inference(&Engine::cpu()).unwrap()));
            given.check_draws(&dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap());
            let chained = conditioned_item_by_item!(Dpp::new(&features).unwrap(), condition);
            given.check_inference(&chained.inference(&Engine::cpu()).unwrap());
            checks += 1;
        }
    }
    println!("DPP: {checks} conditions, inclusion probabilities off by {worst:.1e}");
    assert!(checks > 100);
}

#[test]
fn k_dpp() {
    let mut checks = 0;
    let mut worst = 0.0;
    for case in enumerable_cases() {
        let (features, k) = (case.features(), case.quota.iter().sum());
        let (law, log_z) = case.oracle().law(|_| 1.0, |set| set.len() == k);
        for condition in Condition::zoo(&law, &case.labels) {
            let given = Given::new(&case, &condition, &law, log_z);
            let dpp = conditioned!(KDpp::new(&features, k).unwrap(), condition).unwrap();
            worst = f64::max(worst, given.check_inference(&dpp.inference(&Engine::cpu()).unwrap()));
            let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
            given.check_draws(&sampler);
            assert_eq!(sampler.algorithm() == Algorithm::Settled, condition.included.len() == k);
            let chained = conditioned_item_by_item!(KDpp::new(&features, k).unwrap(), condition);
            given.check_inference(&chained.inference(&Engine::cpu()).unwrap());
            checks += 1;
        }
    }
    println!("k-DPP: {checks} conditions, inclusion probabilities off by {worst:.1e}");
    assert!(checks > 100);
}

#[test]
fn partition_dpp() {
    let mut checks = 0;
    let mut worst = 0.0;
    for case in enumerable_cases() {
        let (features, partition, quota) = model(&case);
        let (law, log_z) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for condition in Condition::zoo(&law, &case.labels) {
            let given = Given::new(&case, &condition, &law, log_z);
            let free = || PartitionDpp::new(&features, &partition, &quota).unwrap();
            let dpp = conditioned!(free(), condition).unwrap();
            worst = f64::max(worst, given.check_inference(&dpp.inference(&Engine::cpu()).unwrap()));
            for way in [Projection::Leverage, Projection::Elementary] {
                let sampler = dpp
                    .sampler(SamplerOptions::from(Method::Rejection).with_projection(way), &Engine::cpu())
                    .unwrap();
                given.check_draws(&sampler);
                // The whole quota is included, or all that is left of every part is needed.
                let settled = sampler.algorithm() == Algorithm::Settled;
                assert!(settled || Some(condition.included.len()) < quota.total());
                assert!(!settled || given.law.len() == 1);
            }
            let chained = conditioned_item_by_item!(free(), condition);
            given.check_inference(&chained.inference(&Engine::cpu()).unwrap());
            checks += 1;
        }
    }
    println!("Partition-DPP: {checks} conditions, inclusion probabilities off by {worst:.1e}");
    assert!(checks > 100);
}

#[test]
fn independent_k_dpps() {
    let mut checks = 0;
    for case in enumerable_cases() {
        let (features, partition, quota) = model(&case);
        let law = case.oracle().independent(&case.labels, &case.quota);
        for condition in Condition::zoo(&law, &case.labels) {
            let given = Given::new(&case, &condition, &law, 0.0);
            let free = || IndependentKDpps::new(&features, &partition, &quota).unwrap();
            let model = conditioned!(free(), condition).unwrap();
            given.check_draws(&model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap());
            let chained = conditioned_item_by_item!(free(), condition);
            given.check_draws(&chained.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap());
            checks += 1;
        }
    }
    println!("independent k-DPPs: {checks} conditions");
    assert!(checks > 100);
}

#[test]
fn the_chain_of_picks() {
    // Pr(next = i | picks) = Pr(i ∈ S | picks) / picks left, without drawing.
    let mut worst = 0.0;
    for case in enumerable_cases() {
        let (features, partition, quota) = model(&case);
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for condition in Condition::zoo(&law, &case.labels) {
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let dpp = conditioned!(dpp, condition).unwrap();
            let (given, _) = condition.apply(&law);
            let target = given.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
            for method in [Method::Interpolation, Method::PerCandidate] {
                // Nothing is left to pick if all parts are settled.
                let Ok(mut chain) = dpp.conditionals(method, &Engine::cpu()) else {
                    assert_eq!(given.len(), 1);
                    continue;
                };
                let mut so_far = condition.clone();
                so_far.included.extend(settled(&case, &condition));
                while chain.remaining() > 0 {
                    let left = chain.remaining() as f64;
                    let mut expected = oracle::marginals(&so_far.apply(&law).0, case.items());
                    so_far.included.iter().for_each(|&item| expected[item] = 0.0);
                    expected.iter_mut().for_each(|p| *p /= left);
                    let off = gap(&chain.probabilities().unwrap(), &expected);
                    assert!(off <= 1e-10, "{} {method} {so_far:?}: {off:e}", case.name);
                    worst = f64::max(worst, off);
                    let next = target.iter().find(|item| !so_far.included.contains(item)).unwrap();
                    chain.pick(*next).unwrap();
                    so_far.included.push(*next);
                }
            }
        }
    }
    println!("chains of picks off by {worst:.1e}");
}

/// Returns the items of parts with no choice left that the condition does not include.
fn settled(case: &Case, condition: &Condition) -> Vec<usize> {
    let mut free = vec![Vec::new(); case.quota.len()];
    let mut left = case.quota.clone();
    condition.included.iter().for_each(|&item| left[case.labels[item]] -= 1);
    let is_free = |i: &usize| !condition.included.contains(i) && !condition.excluded.contains(i);
    (0..case.items()).filter(is_free).for_each(|item| free[case.labels[item]].push(item));
    free.into_iter().zip(left).filter(|(free, left)| free.len() == *left).flat_map(|(free, _)| free).collect()
}

/// Returns the case in which faults are planted.
fn planted() -> (Case, Law) {
    let case = enumerable_cases().into_iter().find(|case| case.name == "three-parts").unwrap();
    let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
    (case, law)
}

#[test]
fn draws_that_forget_a_condition_are_rejected() {
    let (case, law) = planted();
    let (features, partition, quota) = model(&case);
    let free = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let (given, _) = Condition::new(&[0], &[]).apply(&law);
    assert!(p_value(&free.sampler(Method::Rejection, &Engine::cpu()).unwrap(), &given) < 1e-12);
    // Fault: conditioned on other items, even if only sets that hold item 0 are counted.
    let sampler = free.clone().excluding(&[5]).unwrap().sampler(Method::Rejection, &Engine::cpu()).unwrap();
    let samples = sampler.sample_many(60 * DRAWS, 7);
    let sets: Vec<&[usize]> =
        samples.subsets().iter().map(Subset::as_slice).filter(|set| set.contains(&0)).collect();
    assert!(sets.len() > 10_000);
    assert!(stats::chi_square_p(sets, &given) < 1e-12);
}

#[test]
fn included_items_that_are_not_projected_out_are_rejected() {
    // Fault: the rest is drawn as if item 0 did not exist, and item 0 is added.
    let (case, law) = planted();
    let (features, partition, quota) = model(&case);
    let mut counts = case.quota.clone();
    counts[case.labels[0]] -= 1;
    let rest = Quota::new(&partition, &counts).unwrap();
    let rest = PartitionDpp::new(&features, &partition, &rest).unwrap().excluding(&[0]).unwrap();
    let samples = rest.sampler(Method::Rejection, &Engine::cpu()).unwrap().sample_many(DRAWS, 7);
    let sets: Vec<Vec<usize>> = samples.subsets().iter().map(|set| [&[0], set.as_slice()].concat()).collect();
    let condition = Condition::new(&[0], &[]);
    let (given, _) = condition.apply(&law);
    assert!(stats::chi_square_p(sets.iter().map(|set| &set[..]), &given) < 1e-12);
    // The library's own draws pass the same check.
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().including(&[0]).unwrap();
    assert!(p_value(&dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap(), &given) > stats::ALPHA);
}

#[test]
fn probabilities_given_another_item_are_far_off() {
    let (case, law) = planted();
    let (features, partition, quota) = model(&case);
    let free = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let (given, log_share) = Condition::new(&[0], &[]).apply(&law);
    let expected = oracle::marginals(&given, case.items());
    for other in [Condition::new(&[1], &[]), Condition::new(&[], &[0]), Condition::default()] {
        let inference = conditioned!(free.clone(), other).unwrap();
        let inference = inference.inference(&Engine::cpu()).unwrap();
        let off = gap(&inference.inclusion_probabilities().unwrap().value, &expected);
        let log_z = inference.log_partition_function().value;
        assert!(off > 1e-2, "{other:?}: {off}");
        assert!((log_z - case.log_z - log_share).abs() > 1e-3, "{other:?}: {log_z}");
    }
}
