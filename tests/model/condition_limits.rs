//! Possible conditions against enumeration, and conditions that leave nothing to choose.

use approx::{abs_diff_eq, assert_relative_eq};
use oracles::{
    assert_error, conditioned,
    conditions::Condition,
    enumerable_cases,
    oracle::{self, Determinants, Law},
    random::normals,
    stats,
};
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Quota, Result,
    Sampler, SamplerOptions, Subset, sample::Algorithm,
};

fn assert_law(what: &str, sampler: &Sampler, law: &Law) {
    let samples = sampler.sample_many(20_000, 3);
    let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), law);
    assert!(p > stats::ALPHA / 100.0, "{what}: p = {p:e}");
}

/// Returns all pairs of items and all single items included or excluded, and one item included with another excluded.
fn small_conditions(items: usize) -> Vec<Condition> {
    let mut all = Vec::new();
    for i in 0..items {
        for j in 0..items {
            let pair = if i == j { vec![i] } else { vec![i, j] };
            if i <= j {
                all.push(Condition::new(&pair, &[]));
                all.push(Condition::new(&[], &pair));
            }
            if i != j {
                all.push(Condition::new(&[i], &[j]));
            }
        }
    }
    all
}

/// Checks that a condition is refused if and only if no set that meets it has a positive probability.
fn check<T>(what: &str, law: &Law, items: usize, put: impl Fn(&Condition) -> Result<T>) -> usize {
    let mut refused = 0;
    for condition in small_conditions(items) {
        let possible = law.keys().any(|set| condition.allows(set));
        let outcome = put(&condition);
        assert_eq!(outcome.is_ok(), possible, "{what}, {condition:?}: {:?}", outcome.err());
        if let Err(error) = outcome {
            let known = matches!(
                error,
                Error::DependentItems { .. }
                    | Error::QuotaBelowIncluded { .. }
                    | Error::QuotaAbovePartSize { .. }
                    | Error::SizeBelowIncluded { .. }
                    | Error::SizeAboveItems { .. }
                    | Error::SizeAboveRank { .. }
                    | Error::Infeasible { .. }
                    | Error::InfeasibleBeyondIncluded { .. }
            );
            assert!(known, "{what}, {condition:?}: {error:?}");
            refused += 1;
        }
    }
    refused
}

#[test]
fn what_has_probability_zero_is_refused_and_nothing_else() {
    let mut refused = [0; 4];
    for case in enumerable_cases() {
        let (name, items, k) = (&case.name, case.items(), case.quota.iter().sum());
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let free = Dpp::new(&features).unwrap();
        refused[0] += check(name, &case.oracle().dpp(), items, |c| conditioned!(free.clone(), c));
        let free = KDpp::new(&features, k).unwrap();
        refused[1] += check(name, &case.oracle().k_dpp(k), items, |c| conditioned!(free.clone(), c));
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        let free = PartitionDpp::new(&features, &partition, &quota).unwrap();
        refused[2] += check(name, &law, items, |c| conditioned!(free.clone(), c));
        let law = case.oracle().independent(&case.labels, &case.quota);
        let free = IndependentKDpps::new(&features, &partition, &quota).unwrap();
        refused[3] += check(name, &law, items, |c| conditioned!(free.clone(), c));
    }
    println!("conditions refused: {refused:?}");
    assert!(refused.iter().all(|&count| count > 10), "{refused:?}");
}

#[test]
fn a_huge_dpp_with_nothing_left_beyond_the_included_items() {
    // A row of 1e20 has no residual apart from rounding errors.
    let rows = [[1e20, 2e20, 0.0], [0.0, 1e20, 1e20], [1e20, 3e20, 1e20], [0.3e20, 0.7e20, 0.4e20]];
    let features = Features::from_rows(4, 3, rows.concat()).unwrap();
    let (log_pair, log_all) = (6_f64.ln() + 80.0 * 10_f64.ln(), 0.3_f64.ln() * 2.0 + 120.0 * 10_f64.ln());
    let bare = Dpp::new(&features).unwrap().including(&[0, 1]).unwrap().excluding(&[3]).unwrap();
    let inference = bare.inference(&Engine::cpu()).unwrap();
    let found = inference.log_partition_function();
    assert!(abs_diff_eq!(found.value, log_pair, epsilon = 1e-10), "{found:?} {log_pair}");
    let marginals = inference.inclusion_probabilities().unwrap().value;
    assert!(
        marginals.iter().zip([1.0, 1.0, 0.0, 0.0]).all(|(p, q)| abs_diff_eq!(*p, q, epsilon = 1e-12)),
        "{marginals:?}"
    );
    // Item 3 has its own direction, and is then certain.
    let one_more = Dpp::new(&features).unwrap().including(&[0, 1]).unwrap();
    let inference = one_more.inference(&Engine::cpu()).unwrap();
    let found = inference.log_partition_function();
    // All others are negligible next to a factor of 1e40.
    assert!(abs_diff_eq!(found.value, log_all, epsilon = 1e-10), "{found:?} {log_all}");
    let marginals = inference.inclusion_probabilities().unwrap().value;
    assert!(
        marginals.iter().zip([1.0, 1.0, 0.0, 1.0]).all(|(p, q)| abs_diff_eq!(*p, q, epsilon = 1e-12)),
        "{marginals:?}"
    );
}

#[test]
fn a_dpp_with_nothing_left_beyond_the_included_items() {
    // Rows 0 and 1 span all other rows: rows 2 and 3 repeat and combine them, and row 4 is zero.
    let rows = [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 3.0, 1.0], [0.0; 3]];
    let features = Features::from_rows(5, 3, rows.concat()).unwrap();
    let (law, log_z) = Determinants::of_features(rows.map(Vec::from).to_vec()).law(|_| 1.0, |_| true);
    let conditions = [
        Condition::new(&[0, 1], &[]),
        Condition::new(&[0], &[1, 3]),
        Condition::new(&[], &[0, 1, 2, 3]),
        Condition::new(&[1, 3], &[4, 0]),
        Condition::new(&[3], &[0, 1, 2, 4]),
        Condition::new(&[], &[0, 1, 2, 3, 4]),
    ];
    for condition in conditions {
        let (given, log_share) = condition.apply(&law);
        let dpp = conditioned!(Dpp::new(&features).unwrap(), condition).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let found = inference.log_partition_function().value;
        assert!(abs_diff_eq!(found - log_z, log_share, epsilon = 1e-12), "{condition:?}: {found}");
        let marginals = inference.inclusion_probabilities().unwrap().value;
        for (found, expected) in marginals.iter().zip(oracle::marginals(&given, 5)) {
            assert!(abs_diff_eq!(*found, expected, epsilon = 1e-12), "{condition:?}: {marginals:?}");
        }
        assert_law(
            &format!("{condition:?}"),
            &dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(),
            &given,
        );
    }
}

#[test]
fn a_set_that_is_included_whole_is_what_is_drawn() {
    for case in enumerable_cases() {
        let features = case.features();
        let partition = Partition::from_labels(&case.labels).unwrap();
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for set in law.keys().step_by(7) {
            let log_det = case.oracle().det(set).ln();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().including(set).unwrap();
            for method in [Method::Auto, Method::Rejection, Method::Interpolation, Method::PerCandidate] {
                let sampler = dpp.sampler(method, &Engine::cpu()).unwrap();
                assert_eq!((sampler.algorithm(), sampler.tilt()), (Algorithm::Settled, None));
                assert!(sampler.sample_many(10, 0).subsets().iter().all(|drawn| drawn.as_slice() == set));
            }
            let inference = dpp.inference(&Engine::cpu()).unwrap();
            let log_z = inference.log_partition_function().value;
            assert!(
                abs_diff_eq!(log_z, log_det, epsilon = 1e-10 * (1.0 + log_det.abs())),
                "{}: {set:?}",
                case.name
            );
            let marginals = inference.inclusion_probabilities().unwrap();
            assert!(marginals.error.total_cmp(&0.0).is_eq());
            for (item, p) in marginals.value.iter().enumerate() {
                let expected = f64::from(u8::from(set.contains(&item)));
                assert!(p.total_cmp(&expected).is_eq(), "{}: item {item} {p}", case.name);
            }
            let own = inference.log_probability(&Subset::new(set.clone(), case.items()).unwrap()).unwrap();
            assert!(own.value.abs() <= own.error.max(1e-14), "{}: {set:?} {own:?}", case.name);
        }
    }
}

#[test]
fn a_part_that_is_needed_whole_is_settled() {
    let case = enumerable_cases().into_iter().find(|case| case.name == "full-quota-part").unwrap();
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap();
    let tilt = sampler.tilt().unwrap();
    assert!(tilt[0].total_cmp(&f64::INFINITY).is_eq() && tilt[1].is_finite() && tilt[1] > 0.0, "{tilt:?}");
    assert!(sampler.acceptance_bound() > 0.999_999, "one part is left: {}", sampler.acceptance_bound());
    assert_law("a full part", &sampler, &case.oracle().partition_dpp(&case.labels, &case.quota).0);
}

#[test]
fn an_item_of_a_part_that_is_needed_whole_is_missed() {
    // Item 0 is not included by the condition: the error is that too little of its part is left.
    let case = enumerable_cases().into_iter().find(|case| case.name == "full-quota-part").unwrap();
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let apart = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    assert_error!(
        apart.excluding(&[0]),
        Error::QuotaAbovePartSize { ref part, quota: 3, size: 2 } if part == "0",
        ["3 items of part 0", "has 2"]
    );
    let joint = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_error!(
        joint.excluding(&[0]),
        Error::QuotaAbovePartSize { ref part, quota: 3, size: 2 } if part == "0",
        ["3 items of part 0", "has 2"]
    );
}

#[test]
fn independent_k_dpps_that_are_included_whole_are_settled() {
    let case = enumerable_cases().into_iter().find(|case| case.name == "two-parts").unwrap();
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let apart = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let sampler =
        apart.including(&[0, 1, 5, 6]).unwrap().sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
    assert_eq!(sampler.algorithm(), Algorithm::Settled);
}

#[test]
fn a_quota_of_zero_has_no_weight() {
    let case = enumerable_cases().into_iter().find(|case| case.name == "zero-quota-part").unwrap();
    let features = case.features();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap();
    let tilt = sampler.tilt().unwrap();
    assert!(tilt[1].total_cmp(&0.0).is_eq() && tilt[0] > 0.0 && tilt[2] > 0.0, "{tilt:?}");
}

#[test]
fn parts_of_one_item_each_cost_nothing() {
    // 20 parts of one item, and none, two or six more items in another part.
    for extra in [0, 2, 6] {
        let items = 20 + extra;
        let rows = normals(items * 26, 5);
        let labels: Vec<usize> = (0..items).map(|item| item.min(20)).collect();
        let features = Features::from_rows(items, 26, rows.clone()).unwrap();
        let partition = Partition::from_labels(&labels).unwrap();
        let counts: Vec<usize> = (0..partition.parts()).map(|part| 1 + part / 20).collect();
        let quota = Quota::new(&partition, &counts).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
        let samples = sampler.sample_many(10_000, 1);
        // 20^20 / 20! = 4.3e7 proposals for each if these parts were drawn.
        assert!(samples.proposals() <= 10_010, "{} proposals", samples.proposals());
        assert!(sampler.acceptance_bound() > 0.999_999, "{}", sampler.acceptance_bound());
        assert_eq!(sampler.algorithm() == Algorithm::Settled, extra <= 2);
        let all: Vec<usize> = (0..20).collect();
        assert!(samples.subsets().iter().all(|set| set.as_slice()[..20] == all));
        if extra == 6 {
            // The remaining law, by enumeration of pairs.
            let oracle = Determinants::of_features(rows.chunks(26).map(<[f64]>::to_vec).collect());
            let pairs = (20..items).flat_map(|i| (i + 1..items).map(move |j| [i, j]));
            let mut law: Law = pairs
                .map(|pair| [&all[..], &pair].concat())
                .map(|set| (set.clone(), oracle.det(&set)))
                .collect();
            let total: f64 = law.values().sum();
            law.values_mut().for_each(|p| *p /= total);
            let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
            assert!(p > stats::ALPHA, "{p:e}");
            let log_z = dpp.inference(&Engine::cpu()).unwrap().log_partition_function().value;
            assert_relative_eq!(log_z, total.ln(), epsilon = 0.0, max_relative = 1e-12);
        }
    }
}
