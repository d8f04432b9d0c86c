//! Inference where nothing can be enumerated: against samples, and by independent methods.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{random, stats};
use partition_dpp::{Engine, Features, KDpp, Method, Partition, PartitionDpp, Quota};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Returns the p-value of observed counts of independent draws from `law`, with bins pooled to an expectation of 5.
fn chi_square_p(observed: &[u64], law: &[f64]) -> f64 {
    let draws: f64 = observed.iter().sum::<u64>() as f64;
    let (mut statistic, mut bins, mut pooled) = (0.0, 0.0, (0.0, 0.0));
    let mut add = |count: f64, expected: f64| {
        statistic += (count - expected).powi(2) / expected;
        bins += 1.0;
    };
    for (&count, p) in observed.iter().zip(law) {
        if p * draws < 5.0 {
            pooled = (pooled.0 + count as f64, pooled.1 + p * draws);
        } else {
            add(count as f64, p * draws);
        }
    }
    if pooled.1 >= 5.0 {
        add(pooled.0, pooled.1);
    }
    1.0 - ChiSquared::new(bins - 1.0).unwrap().cdf(statistic)
}

#[test]
fn marginals_agree_with_tilted_rejection() {
    const DRAWS: u64 = 100_000;
    let (items, dims) = (3_000, 64);
    let (values, labels) = random::clustered(items, dims, 3, 12, 0.3, 5);
    let features = Features::from_rows(items, dims, values).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::each(&partition, 5).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let marginals = dpp.inference(&Engine::cpu()).unwrap().inclusion_probabilities().unwrap();
    let samples = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap().sample_many(DRAWS, 3);

    let mut rng = StdRng::seed_from_u64(1);
    for part in 0..3 {
        let members = partition.members(part);
        // Pick one of the five at random: item i with probability Pr(i ∈ S)/5, draws independent.
        let mut observed = vec![0; members.len()];
        for subset in samples.subsets() {
            let chosen: Vec<usize> = subset.iter().filter(|&item| partition.part_of(item) == part).collect();
            let item = u32::try_from(chosen[rng.random_range(0..5)]).unwrap();
            observed[members.binary_search(&item).unwrap()] += 1;
        }
        let law: Vec<f64> = members.iter().map(|&item| marginals.value[item as usize] / 5.0).collect();
        assert_abs_diff_eq!(law.iter().sum::<f64>(), 1.0, epsilon = 1e-11);
        let p = chi_square_p(&observed, &law);
        let spread = law.iter().copied().fold(0.0, f64::max) * members.len() as f64;
        println!("part {part}: p = {p:.3}, the likeliest item {spread:.2} times the average");
        assert!(p > stats::ALPHA / 3.0, "part {part}: p = {p:e}");
        // Negative control: the marginals of the next item are rejected.
        let mut shifted = law.clone();
        shifted.rotate_left(1);
        assert!(chi_square_p(&observed, &shifted) < 1e-9);
    }
}

#[test]
fn independent_routes_to_the_partition_function_agree() {
    let (items, dims) = (100_000, 32);
    let (values, labels) = random::clustered(items, dims, 3, 8, 0.3, 9);
    let features = Features::from_rows(items, dims, values).unwrap();
    for (parts, counts) in [(1, vec![7]), (2, vec![5, 4]), (3, vec![2, 3, 2])] {
        let labels: Vec<usize> = labels.iter().map(|label| label % parts).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::new(&partition, &counts).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let torus = dpp.log_partition_function(&Engine::cpu()).unwrap();
        let phases = dpp.log_partition_function_by_phases(&Engine::cpu()).unwrap();
        let gap = (torus.value - phases.value).abs();
        println!("{counts:?}: ln Z = {}, routes differ by {gap:.1e}, said {:.1e}", torus.value, torus.error);
        assert!(
            gap <= 1e-10 * torus.value.abs() && gap <= torus.error + phases.error,
            "{torus:?} {phases:?}"
        );
        if parts == 1 {
            let k_dpp =
                KDpp::new(&features, 7).unwrap().inference(&Engine::cpu()).unwrap().log_partition_function();
            assert!(
                abs_diff_eq!(torus.value, k_dpp.value, epsilon = 1e-10 * torus.value.abs()),
                "{torus:?} {k_dpp:?}"
            );
        }
    }
}
