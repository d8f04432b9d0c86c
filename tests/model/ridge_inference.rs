//! Probabilities under K + δI against enumeration.

use oracles::{Constraint, Problem, exact::items_of};
use partition_dpp::{Engine, Features, Partition, Quota, RidgeDpp, Subset};

use crate::ridge::{cases, constraints, generic, law, mixture};

/// Checks all probabilities of a law.
fn assert_known(problem: &Problem) {
    let (law, items) = (law(problem), problem.items());
    let inference = mixture(problem).inference(&Engine::cpu()).unwrap();
    let log_z = inference.log_partition_function();
    assert!(log_z.error < 1e-10, "{log_z:?}\n{problem}");
    let near = |found: f64, exact: f64| found.total_cmp(&exact).is_eq() || (found - exact).abs() < 1e-10;
    assert!(near(log_z.value, law.log_z()), "{log_z:?} for {}\n{problem}", law.log_z());
    let marginals = inference.inclusion_probabilities().unwrap();
    assert!(marginals.error < 1e-10, "{}", marginals.error);
    for (found, exact) in marginals.value.iter().zip(law.marginals(items)) {
        assert!(near(*found, exact), "{found} for {exact}\n{problem}");
    }
    for set in problem.minors().sets() {
        let subset = Subset::new(items_of(set), items).unwrap();
        let found = inference.log_probability(&subset).unwrap().value;
        let exact = law.log_probability(set);
        assert!(near(found, exact), "{subset}: {found} for {exact}\n{problem}");
    }
}

#[test]
fn probabilities_without_scores() {
    cases().iter().for_each(assert_known);
}

#[test]
fn probabilities_with_scores() {
    for (seed, law) in (0..).zip(constraints()) {
        for (delta, scale) in [(0.05, 0.7), (1.0, 2.0), (30.0, 0.3), (0.2, 9.0)] {
            let mut problem = generic(law.clone(), delta, scale, seed);
            assert_known(&problem);
            (problem.include, problem.exclude) =
                if seed == 2 { (vec![], vec![6]) } else { (vec![7], vec![0]) };
            assert_known(&problem);
        }
    }
}

/// Compares with the sum over sets of the same total, or of all sizes.
#[test]
fn quotas_by_chance() {
    let of_total = Constraint::Ranges(vec![1..=2, 0..=3, 0..=1], Some(4));
    for (seed, constraint) in (0..).zip(constraints().into_iter().chain([of_total])) {
        for scale in [0.0, 1.0] {
            let mut problem = generic(constraint.clone(), 0.3, scale, seed);
            for include in [vec![], vec![4]] {
                problem.include = if seed == 2 { vec![] } else { include };
                let mut all = problem.clone();
                all.constraint = match &constraint {
                    Constraint::Quota(counts) => Constraint::Size(counts.iter().sum()),
                    Constraint::Ranges(_, Some(total)) => Constraint::Size(*total),
                    _ => Constraint::Any,
                };
                let exact = (law(&problem).log_z() - law(&all).log_z()).exp();
                let found = mixture(&problem).probability_by_chance(&Engine::cpu()).unwrap();
                assert!((found.value - exact).abs() < 1e-10, "{found:?} for {exact}\n{problem}");
            }
        }
    }
}

/// Coins that are exactly fair have a pole at z = −1.
#[test]
fn fair_coins() {
    let features = Features::from_rows(6, 1, vec![0.0, 0.0, 1e-9, 0.0, 2.0, 2.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b", "b", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [1, 2]).unwrap();
    for quality in [[0.0; 6], [0.0, 0.0, 0.7, 0.7, -0.7, -0.7], [3.0, 3.0, 0.0, 0.0, 0.0, 0.0]] {
        let dpp = RidgeDpp::new(&features, 1.0, &partition, &quota).unwrap();
        let dpp = dpp.with_log_quality(&quality).unwrap();
        let found = dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap();
        assert!(found.error < 1e-10);
        let exact = features.with_ridge(1.0).unwrap().with_log_quality(&quality).unwrap();
        let exact = partition_dpp::PartitionDpp::new(&exact, &partition, &quota).unwrap();
        let exact = exact.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap();
        for (found, exact) in found.value.iter().zip(exact.value) {
            assert!((found - exact).abs() < 1e-10, "{found} for {exact}");
        }
    }
}

/// Hundreds of items in several parts, compared with features that have the ridge.
#[test]
fn many_items() {
    let (items, dims) = (300, 5);
    let values: Vec<f64> = (0..items * dims).map(|i| (1.3 * i as f64).sin() + 0.2).collect();
    let features = Features::from_rows(items, dims, values).unwrap();
    let labels: Vec<usize> = (0..items).map(|i| i * i % 7 % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quality: Vec<f64> = (0..items).map(|i| 0.8 * (0.7 * i as f64).cos()).collect();
    for (quota, delta) in [([6, 2, 3], 0.1), ([1, 1, 1], 2.0), ([0, 12, 2], 0.02)] {
        let quota = Quota::new(&partition, quota).unwrap();
        let dpp = RidgeDpp::new(&features, delta, &partition, &quota).unwrap();
        let dpp = dpp.with_log_quality(&quality).unwrap();
        let exact = features.with_ridge(delta).unwrap().with_log_quality(&quality).unwrap();
        let exact = partition_dpp::PartitionDpp::new(&exact, &partition, &quota).unwrap();
        let (found, exact) =
            (dpp.inference(&Engine::cpu()).unwrap(), exact.inference(&Engine::cpu()).unwrap());
        let (log_z, exact_z) = (found.log_partition_function(), exact.log_partition_function());
        assert!((log_z.value - exact_z.value).abs() < 1e-10, "{log_z:?} for {exact_z:?}");
        let (found, exact) =
            (found.inclusion_probabilities().unwrap(), exact.inclusion_probabilities().unwrap());
        for (found, exact) in found.value.iter().zip(exact.value) {
            assert!((found - exact).abs() < 1e-10, "{found} for {exact}");
        }
    }
}
