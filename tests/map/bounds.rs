//! Upper bounds: never below the optimum, and close to it if that is known.

use std::time::Duration;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    enumerable_cases,
    exact::{Minors, Set},
    models,
    random::normals,
    watches::within,
};
use partition_dpp::{
    Dpp, Engine, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{Bound, BranchAndBound, Certificate, Greedy, Objective, Solver, UpperBound},
};
use proptest::prelude::*;

fn certify(model: &impl Objective) -> Certificate {
    UpperBound::default().certify(model, &Engine::cpu()).unwrap()
}

/// Returns the bounds below the optimum.
fn violations(certificate: &Certificate, best: f64) -> Vec<(Bound, f64)> {
    let below = |bound: f64| bound < best - 1e-10 * (1.0 + best.abs());
    certificate.bounds.iter().copied().filter(|&(_, bound)| below(bound)).collect()
}

/// Returns rows whose lengths differ by a factor of up to e^spread, some of them equal, in some of the dimensions.
fn awkward(seed: u64, items: usize, dims: usize, rank: usize, spread: f64) -> Vec<Vec<f64>> {
    let low = normals(items * rank, seed);
    let map = normals(rank * dims, seed ^ 1);
    let factors = normals(items, seed ^ 2);
    let mut rows: Vec<Vec<f64>> = (0..items)
        .map(|i| {
            let entry = |j: usize| (0..rank).map(|p| low[i * rank + p] * map[p * dims + j]).sum::<f64>();
            (0..dims).map(|j| (spread * factors[i]).exp() * entry(j)).collect()
        })
        .collect();
    let first = rows[0].clone();
    rows[items - 1].clone_from(&first);
    rows
}

proptest! {
    #![proptest_config(models::config(60))]

    #[test]
    fn under_quotas(model in models::models(), exponent in -40_i32..40) {
        let model = model.scaled(|i| if i % 2 == 0 { f64::from(exponent).exp2() } else { 1.0 });
        let (features, partition) = (model.features(), model.partition());
        let quota = Quota::new(&partition, &model.quota).unwrap();
        let best = model.problem().optimum();
        let certificate = certify(&PartitionDpp::new(&features, &partition, &quota).unwrap());
        prop_assert_eq!(violations(&certificate, best), []);
    }

    #[test]
    fn of_any_rank_and_scale(seed in 0_u64..1 << 40, rank in 3_usize..=8, k in 1_usize..=3, spread in 0.0..8.0) {
        let rows = awkward(seed, 11, 9, rank, spread);
        let features = Features::from_rows(11, 9, rows.concat()).unwrap();
        let minors = Minors::of_features(&rows);
        let certificate = certify(&KDpp::new(&features, k).unwrap());
        let best = minors.optimum(|set| set.count_ones() as usize == k);
        prop_assert_eq!(violations(&certificate, best), []);
        let certificate = certify(&Dpp::new(&features).unwrap());
        prop_assert_eq!(violations(&certificate, minors.optimum(|_| true)), []);
    }

    #[test]
    fn with_items_in_and_out(seed in 0_u64..1 << 40, k in 2_usize..=6) {
        let rows = awkward(seed, 10, 10, 10, 0.5);
        let features = Features::from_rows(10, 10, rows.concat()).unwrap();
        let minors = Minors::of_features(&rows);
        let allowed = |set: Set| set & 0b10_0100 == 0b100;
        let dpp = KDpp::new(&features, k).unwrap().including(&[2]).unwrap().excluding(&[5]).unwrap();
        let best = minors.optimum(|set| set.count_ones() as usize == k && allowed(set));
        prop_assert_eq!(violations(&certify(&dpp), best), []);
        let dpp = Dpp::new(&features).unwrap().including(&[2]).unwrap().excluding(&[5]).unwrap();
        prop_assert_eq!(violations(&certify(&dpp), minors.optimum(allowed)), []);
    }
}

#[test]
fn of_the_known_cases() {
    for case in enumerable_cases() {
        let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
        let quota = Quota::new(&partition, &case.quota).unwrap();
        let certificate = certify(&PartitionDpp::new(&features, &partition, &quota).unwrap());
        let best = case.map.unwrap().1;
        assert_eq!(violations(&certificate, best), [], "{}", case.name);
        println!(
            "{:30} {:11} {:.4}",
            case.name,
            certificate.bound.to_string(),
            certificate.upper_bound - best
        );
    }
}

#[test]
fn a_planted_wrong_bound_is_caught() {
    let case = enumerable_cases().into_iter().next().unwrap();
    let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let certificate = certify(&PartitionDpp::new(&features, &partition, &quota).unwrap());
    let best = case.map.unwrap().1;
    assert!(certificate.bounds.len() >= 3);
    for at in 0..certificate.bounds.len() {
        let mut wrong = certificate.clone();
        wrong.bounds[at].1 = best - 1e-6;
        assert_eq!(violations(&wrong, best), [wrong.bounds[at]]);
    }
}

#[test]
fn a_certificate_makes_a_gap() {
    let features = Features::from_rows(30, 12, normals(360, 3)).unwrap();
    let model = KDpp::new(&features, 5).unwrap();
    let certificate = certify(&model);
    let greedy = Greedy::default().solve(&model, &Engine::cpu()).unwrap();
    assert_eq!(greedy.gap(), None);
    let greedy = greedy.certified(&certificate);
    assert_eq!(greedy.upper_bound, Some(certificate.upper_bound));
    let exact = BranchAndBound::default().solve(&model, &Engine::cpu()).unwrap();
    assert!(greedy.gap().unwrap() >= exact.log_det - greedy.log_det);
    // A bound weaker than the known one changes nothing.
    assert_eq!(exact.clone().certified(&certificate).upper_bound, exact.upper_bound);
    let least = certificate.bounds.iter().map(|(_, bound)| *bound).fold(f64::INFINITY, f64::min);
    assert_eq!(least.to_bits(), certificate.upper_bound.to_bits());
}

#[test]
fn one_set_is_its_own_bound() {
    let features = Features::from_rows(5, 5, normals(25, 4)).unwrap();
    for dpp in [KDpp::new(&features, 5).unwrap(), KDpp::new(&features, 1).unwrap()] {
        let certificate = certify(&dpp);
        let solution = BranchAndBound::default().solve(&dpp, &Engine::cpu()).unwrap();
        assert_eq!(certificate.bound, Bound::Enumeration);
        assert_abs_diff_eq!(certificate.upper_bound, solution.log_det, epsilon = 1e-12);
    }
}

#[cfg(feature = "npy")]
#[test]
fn c63_within_a_tenth() {
    let Some(folder) = oracles::real_data("mesp") else { return };
    let kernel = partition_dpp::Kernel::open_npy(folder.join("C63.npy")).unwrap();
    // Optimum, and the best published bound: Γ for 10 and 28, linx for 50.
    for (size, best, published) in [
        (10, -18.298_586_418_6, -18.009_331_98),
        (28, -58.518_455_181_2, -58.071_245_98),
        (50, -116.002_772_247, -115.804_337_08),
    ] {
        let certificate = certify(&KDpp::new(kernel.features(), size).unwrap());
        assert_eq!(violations(&certificate, best), []);
        let gap = certificate.upper_bound - best;
        assert!(gap < 0.1 && gap < 0.3 * (published - best), "s = {size}: {gap}");
        let linx = certificate.bounds.iter().find(|(bound, _)| *bound == Bound::Linx).unwrap().1;
        println!("s = {size}: {gap:.4}, linx {:.4}, published {:.4}", linx - best, published - best);
        // Here, every row has its own scales.
        assert!(size != 50 || linx < published - 0.04, "{linx}");
    }
}

/// Returns Gaussian rows in four parts.
fn many(items: usize, dims: usize) -> (Features, Partition) {
    let labels: Vec<usize> = (0..items).map(|item| item % 4).collect();
    let features = Features::from_rows(items, dims, normals(items * dims, 8)).unwrap();
    (features, Partition::from_labels(&labels).unwrap())
}

#[test]
fn many_items_by_few_of_them() {
    let (features, partition) = many(20_000, 12);
    let quota = Quota::new(&partition, [2, 1, 3, 2]).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let certificate = certify(&model);
    let greedy = Greedy::default().solve(&model, &Engine::cpu()).unwrap().certified(&certificate);
    // With this many rows, the longest ones are nearly orthogonal.
    assert!(matches!(certificate.bound, Bound::Gamma | Bound::Hadamard), "{certificate:?}");
    assert!(greedy.gap().unwrap() < 2.0, "{:?}", greedy.gap());
    // As many items as dimensions: Γ may be off by ln(k^k/k!), here 9.8, and greedy is also off.
    let model = Dpp::new(&features).unwrap();
    let greedy = Greedy::default().solve(&model, &Engine::cpu()).unwrap().certified(&certify(&model));
    assert!(greedy.gap().unwrap() > 0.0 && greedy.gap().unwrap() < 13.0, "{:?}", greedy.gap());
}

#[test]
fn both_ways_of_solving_the_relaxation_agree() {
    // 400 items at once, and with one more useless item, in small groups.
    let (items, dims) = (400, 9);
    let values = normals(items * dims, 21);
    let few = Features::from_rows(items, dims, values.clone()).unwrap();
    let more = Features::from_rows(items + 1, dims, [values, vec![1e-3; dims]].concat()).unwrap();
    let gamma = |features: &Features, k: usize| {
        let certificate = certify(&KDpp::new(features, k).unwrap());
        certificate.bounds.iter().find(|(bound, _)| *bound == Bound::Gamma).unwrap().1
    };
    for k in [2, 5, 9] {
        let (at_once, by_few) = (gamma(&few, k), gamma(&more, k));
        assert!(abs_diff_eq!(at_once, by_few, epsilon = 1e-5), "k = {k}: {at_once} {by_few}");
    }
}

#[test]
fn limits_leave_the_bounds_of_one_pass() {
    let (features, partition) = many(2_000, 10);
    let quota = Quota::each(&partition, 1).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let limited = UpperBound::default().certify(&model, &within(Duration::ZERO)).unwrap();
    assert!(matches!(limited.bound, Bound::Spectral | Bound::Hadamard), "{limited:?}");
    assert!(limited.upper_bound >= certify(&model).upper_bound);
}

#[test]
fn of_any_size_is_about_that_of_the_best_size() {
    // 600 items are bounded in small groups.
    for (items, dims, scale) in [(40, 12, 1.0), (40, 12, 30.0), (40, 12, 0.2), (600, 12, 5.0)] {
        let values: Vec<f64> = normals(items * dims, 6).into_iter().map(|x| x * scale).collect();
        let features = Features::from_rows(items, dims, values).unwrap();
        let of_size = |k: usize| certify(&KDpp::new(&features, k).unwrap()).upper_bound;
        let best = (1..=dims).map(of_size).fold(0.0, f64::max);
        let any = certify(&Dpp::new(&features).unwrap()).upper_bound;
        println!("{items}×{dims}, {scale}: {any:.4}, sizes {best:.4}");
        assert!(any > best - 1e-6 && any < best + 0.1, "{any} {best}");
    }
}
