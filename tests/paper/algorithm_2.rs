//! Draws by algorithm 2 of the paper, shared and literal, against enumeration.

use oracles::{enumerable_cases, random, stats, with_threads};
use partition_dpp::{
    Engine, Features, Method, Partition, PartitionDpp, Quota, SamplerOptions, Subset, sample::Algorithm,
};

#[test]
fn draws_follow_the_law() {
    let cases = enumerable_cases();
    for case in &cases {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let features = case.features();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for (method, draws) in [(Method::Interpolation, 2_000), (Method::PerCandidate, 1_000)] {
            // The literal algorithm takes a minute for six parts; its conditionals are tested elsewhere.
            if method == Method::PerCandidate && partition.parts() > 4 {
                continue;
            }
            let sampler = dpp.sampler(method, &Engine::cpu()).unwrap();
            let samples = with_threads(2, || sampler.sample_many(draws, 5));
            let again = with_threads(1, || sampler.sample_many(50, 5));
            assert_eq!(
                &samples.subsets()[..50],
                again.subsets(),
                "{method} of {}: threads change the draws",
                case.name
            );
            let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
            assert!(p > stats::ALPHA / (2 * cases.len()) as f64, "{method} of {}: p = {p:e}", case.name);
            assert_eq!(samples.proposals(), draws, "nothing is rejected");
        }
    }
}

/// More items than dimensions in one part, fewer in the other: both kinds of nodes, and several grids.
#[test]
fn draws_agree_with_rejection_where_nothing_can_be_enumerated() {
    const DRAWS: u64 = 4_000;
    let (items, dims) = (70, 20);
    let labels: Vec<usize> = (0..items).map(|i| usize::from(i >= 55)).collect();
    let features = Features::from_rows(items, dims, random::normals(items * dims, 8)).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [4, 6]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let marginals = dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap().value;
    for method in [Method::Interpolation, Method::Rejection] {
        let samples = dpp.sampler(method, &Engine::cpu()).unwrap().sample_many(DRAWS, 1);
        let mut counts = vec![0.0; items];
        for subset in samples.subsets() {
            assert_eq!(subset.part_counts(&partition), quota.low());
            subset.iter().for_each(|item| counts[item] += 1.0);
        }
        for (item, (count, p)) in counts.iter().zip(&marginals).enumerate() {
            let error = (DRAWS as f64 * p * (1.0 - p)).sqrt();
            let z = (count - DRAWS as f64 * p) / error;
            assert!(z.abs() < stats::critical_z(2 * items), "{method}: item {item}, z = {z:.2}");
        }
    }
}

#[test]
fn auto_takes_what_is_cheaper_and_says_why() {
    let (features, labels) = (random::normals(60 * 10, 2), (0..60).map(|i| i % 2).collect::<Vec<usize>>());
    let features = Features::from_rows(60, 10, features).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [3, 2]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    assert_eq!(sampler.algorithm(), Algorithm::Rejection);
    let plan = sampler.plan().unwrap();
    assert!(plan.rejection_cost < plan.interpolation_cost);
    assert!(plan.to_string().starts_with("rejection, predicted to cost less: "), "{plan}");

    let sampler = dpp.sampler(SamplerOptions::default().with_proposal_budget(1.5), &Engine::cpu()).unwrap();
    assert_eq!(sampler.algorithm(), Algorithm::Interpolation);
    let plan = sampler.plan().unwrap().to_string();
    assert!(plan.starts_with("interpolation, the other exceeds its budget: "), "{plan}");
}
