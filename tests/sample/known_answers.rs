//! Every sampler against enumeration, on every enumerable case.

use approx::abs_diff_eq;
use oracles::{
    Case, enumerable_cases,
    oracle::{self, Law},
    stats, with_threads,
};
use partition_dpp::{
    Dpp, Engine, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Projection, Quota,
    Sampler, SamplerOptions,
};

const DRAWS: u64 = 10_000;
const WAYS: [Projection; 2] = [Projection::Leverage, Projection::Elementary];

/// Draws on one and on two threads, which must agree, and tests the draws against the law.
fn check(what: &str, case: &Case, sampler: &Sampler, law: &Law, checks: usize) {
    let samples = with_threads(1, || sampler.sample_many(DRAWS, 2016));
    let again = with_threads(2, || sampler.sample_many(DRAWS, 2016));
    assert_eq!(samples.subsets(), again.subsets(), "{what} of {}: threads change the draws", case.name);
    let p = stats::chi_square_p(samples.subsets().iter().map(partition_dpp::Subset::as_slice), law);
    assert!(p > stats::ALPHA / checks as f64, "{what} of {}: p = {p:e}", case.name);
}

fn model(case: &Case) -> (Features, Partition, Quota) {
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    (case.features(), partition, quota)
}

#[test]
fn the_oracle_agrees_with_exact_arithmetic() {
    for case in enumerable_cases() {
        let (law, log_z) = case.oracle().partition_dpp(&case.labels, &case.quota);
        assert!(
            abs_diff_eq!(log_z, case.log_z, epsilon = 1e-9 * (1.0 + case.log_z.abs())),
            "{}: {log_z}",
            case.name
        );
        for (found, expected) in oracle::marginals(&law, case.items()).iter().zip(&case.marginals) {
            assert!(abs_diff_eq!(found, expected, epsilon = 1e-9), "{}: {found} {expected}", case.name);
        }
        for (set, log_prob) in &case.log_probs {
            let found = law.get(set).map_or(f64::NEG_INFINITY, |p| p.ln());
            let same = found.total_cmp(log_prob).is_eq() || abs_diff_eq!(found, *log_prob, epsilon = 1e-9);
            assert!(same, "{}: {set:?}", case.name);
        }
    }
}

#[test]
fn partition_dpp() {
    let cases = enumerable_cases();
    for case in &cases {
        let (features, partition, quota) = model(case);
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for way in WAYS {
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let sampler =
                dpp.sampler(SamplerOptions::from(Method::Auto).with_projection(way), &Engine::cpu()).unwrap();
            check(&format!("Partition-DPP ({way:?})"), case, &sampler, &law, 2 * cases.len());
        }
    }
}

#[test]
fn k_dpp() {
    let cases = enumerable_cases();
    for case in &cases {
        let k = case.quota.iter().sum();
        let features = case.features();
        let law = case.oracle().k_dpp(k);
        for way in WAYS {
            let dpp = KDpp::new(&features, k).unwrap();
            check(
                &format!("k-DPP ({way:?})"),
                case,
                &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
                &law,
                2 * cases.len(),
            );
        }
    }
}

#[test]
fn dpp() {
    let cases = enumerable_cases();
    for case in &cases {
        let features = case.features();
        let law = case.oracle().dpp();
        for way in WAYS {
            let dpp = Dpp::new(&features).unwrap();
            check(
                &format!("DPP ({way:?})"),
                case,
                &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
                &law,
                2 * cases.len(),
            );
        }
    }
}

#[test]
fn independent_k_dpps() {
    let cases = enumerable_cases();
    for case in &cases {
        let (features, partition, quota) = model(case);
        let law = case.oracle().independent(&case.labels, &case.quota);
        for way in WAYS {
            let dpp = IndependentKDpps::new(&features, &partition, &quota).unwrap();
            let sampler =
                dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap();
            check(&format!("independent k-DPPs ({way:?})"), case, &sampler, &law, 2 * cases.len());
        }
    }
}

#[test]
fn acceptance_is_at_least_the_guarantee() {
    for case in enumerable_cases() {
        let (features, partition, quota) = model(&case);
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
        let tilt = sampler.tilt().unwrap();
        // Pr(accept) = Z_κ y^κ / e_k(K̃), both by enumeration.
        // Parts of infinite weight are taken whole.
        let whole: Vec<usize> = (0..case.items()).filter(|&i| tilt[case.labels[i]].is_infinite()).collect();
        let finite = |i: &usize| if whole.contains(i) { 1.0 } else { tilt[case.labels[*i]] };
        let weight = |set: &[usize]| set.iter().map(finite).product::<f64>();
        let proposed =
            |set: &[usize]| Some(set.len()) == quota.total() && whole.iter().all(|i| set.contains(i));
        let (law, _) = case.oracle().law(weight, proposed);
        let accepted =
            law.iter().filter(|(set, _)| oracle::counts(set, &case.labels, tilt.len()) == case.quota);
        let expected: f64 = accepted.map(|(_, p)| p).sum();
        let bound = sampler.acceptance_bound();
        assert!(
            expected >= bound * (1.0 - 1e-12),
            "{}: {expected} is below the guarantee {bound}",
            case.name
        );
        assert!(
            bound > 0.99 / partition_dpp::sample::expected_proposals(quota.low()),
            "{}: {bound}",
            case.name
        );

        let samples = sampler.sample_many(20_000, 1);
        let observed = samples.acceptance_observed();
        let error = (expected * (1.0 - expected) / samples.proposals() as f64).sqrt();
        assert!(
            (observed - expected).abs() <= stats::critical_z(15) * error + 1e-9,
            "{}: {observed} {expected} ± {error}",
            case.name
        );
        println!("{:30} guaranteed {bound:.4}, expected {expected:.4}, observed {observed:.4}", case.name);
    }
}
