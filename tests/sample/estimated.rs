//! Weighted draws against enumeration, under exact counts, ranges and conditions.

use oracles::{
    conditioned,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Law},
    ranges::{Shape, shapes},
    stats, with_threads,
};
use partition_dpp::{
    Engine, Partition, PartitionDpp, Quota, Subset, Watch, error::EstimateProblem, sample::EstimateOptions,
};

const DRAWS: u64 = 5_000;
/// An upper limit on the number of χ² tests in any one function here.
const CHECKS: f64 = 500.0;
/// The number of standard errors within which every estimate must be. Standard errors from 16 batches are uncertain.
const FAR: f64 = 7.0;

/// Checks plain draws, ln Z and its bound, inclusion probabilities and log-probabilities.
fn check(dpp: &PartitionDpp, items: usize, (law, log_z): (&Law, f64), what: &str) {
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    match sampler.sampler(2e-3) {
        Ok(plain) => {
            assert!(plain.law_error() <= 2e-3 + 1e-9, "{what}");
            let samples = with_threads(2, || plain.sample_many(DRAWS, 7));
            assert!(samples.acceptance_observed() >= plain.acceptance_bound(), "{what}");
            let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law);
            assert!(p > stats::ALPHA / CHECKS, "{what}: p = {p:e}");
        }
        Err(partition_dpp::Error::Estimate(EstimateProblem::HeavyWeights { .. })) => {
            println!("{what}: heavy weights");
        }
        Err(error) => panic!("{what}: {error}"),
    }
    let found = sampler.inference(EstimateOptions::default(), &Watch::default()).unwrap();
    let estimate = found.log_partition_function();
    let off = (estimate.value - log_z).abs();
    assert!(off <= FAR * estimate.standard_error + 1e-9, "{what}: ln Z {log_z}, {estimate:?}");
    assert!(found.log_upper_bound() >= log_z - 1e-9, "{what}: {} below {log_z}", found.log_upper_bound());
    // An allowance for sets that no draw has met.
    let told = found.statistics();
    let unseen = 1.0 / (told.effective_share * told.draws as f64);
    let inclusion = found.inclusion_probabilities().unwrap();
    for (item, exact) in oracle::marginals(law, items).into_iter().enumerate() {
        let (value, error) = (inclusion.value[item], inclusion.standard_error[item]);
        assert!(
            (value - exact).abs() <= FAR * error + unseen,
            "{what}, item {item}: {value} ± {error}, {exact}"
        );
    }
    if let Some((set, p)) = law.iter().next() {
        let log = found.log_probability(&Subset::new(set.clone(), items).unwrap()).unwrap();
        assert!((log.value - p.ln()).abs() <= FAR * log.standard_error + 1e-9, "{what}: {set:?}");
    }
}

#[test]
fn exact_counts() {
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let quota = Quota::new(&partition, case.quota.iter().copied()).unwrap();
        let (law, log_z) = case.oracle().partition_dpp(&case.labels, &case.quota);
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        check(&dpp, case.items(), (&law, log_z), &case.name);
    }
}

#[test]
fn ranges() {
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let (features, oracle) = (case.features(), case.oracle());
        for Shape { name, quota, .. } in shapes(case, &partition) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, log_z) = oracle.law(|_| 1.0, allowed);
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            check(&dpp, case.items(), (&law, log_z), &format!("{}, {name}", case.name));
        }
    }
}

#[test]
fn conditions() {
    let mut checks = 0;
    for case in &enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let quota = Quota::new(&partition, case.quota.iter().copied()).unwrap();
        let (whole, log_z) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for (number, condition) in Condition::zoo(&whole, &case.labels).into_iter().enumerate() {
            let (law, log_share) = condition.apply(&whole);
            // The remaining probability must be more than rounding of the oracle's sums.
            if log_share < -20.0 || number % 3 > 0 {
                continue;
            }
            let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let dpp = conditioned!(model, condition).unwrap();
            check(&dpp, case.items(), (&law, log_z + log_share), &format!("{}, {condition:?}", case.name));
            checks += 1;
        }
    }
    assert!(checks >= 20, "{checks}");
}
