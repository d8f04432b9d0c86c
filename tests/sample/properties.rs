//! Laws that hold for all data. Proptest makes the data, so failures shrink.

use std::fmt::Write as _;

use approx::relative_eq;
use oracles::{
    models::{Model, config, models, permutations},
    with_threads,
};
use partition_dpp::{
    Engine, Features, IndependentKDpps, KDpp, Method, PartitionDpp, Projection, Quota, Sampler,
    SamplerOptions, Samples, Subset, sample::expected_proposals,
};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseResult};

/// What `body` finds out about the Partition-DPP's sampler.
fn partition_dpp<T>(
    model: &Model,
    features: &Features,
    way: Projection,
    body: impl FnOnce(&Sampler) -> T,
) -> T {
    let partition = model.partition();
    let quota = Quota::new(&partition, &model.quota).unwrap();
    let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
    body(&dpp.sampler(SamplerOptions::from(Method::Auto).with_projection(way), &Engine::cpu()).unwrap())
}

/// Twenty draws of every model that scaling by a constant does not change.
fn draws(model: &Model, features: &Features) -> Vec<Vec<Subset>> {
    let partition = model.partition();
    let quota = Quota::new(&partition, &model.quota).unwrap();
    let draw = |sampler: &Sampler| sampler.sample_many(20, 5).subsets().to_vec();
    let mut all = Vec::new();
    for way in [Projection::Leverage, Projection::Elementary] {
        all.push(partition_dpp(model, features, way, draw));
        let k_dpp = KDpp::new(features, model.k()).unwrap();
        all.push(draw(
            &k_dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
        ));
        let independent = IndependentKDpps::new(features, &partition, &quota).unwrap();
        all.push(draw(
            &independent.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
        ));
    }
    all
}

/// Whether the best tilt is finite: it is not where a part must be taken whole.
fn has_a_tilt(model: &Model) -> bool {
    let partition = model.partition();
    model.quota.iter().enumerate().all(|(part, &count)| count < partition.size(part).min(model.dims))
}

fn close(found: f64, expected: f64) -> TestCaseResult {
    prop_assert!(relative_eq!(found, expected, epsilon = 0.0, max_relative = 1e-6), "{found} {expected}");
    Ok(())
}

/// Tilts are compared relative to each other.
fn shares(tilt: &[f64]) -> Vec<f64> {
    let total: f64 = tilt.iter().sum();
    tilt.iter().map(|y| y / total).collect()
}

fn tilt_and_bound(sampler: &Sampler) -> (Vec<f64>, f64) {
    (shares(sampler.tilt().unwrap()), sampler.acceptance_bound())
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn subsets_meet_the_quota_in_ascending_order(model in models(), seed: u64) {
        let features = model.features();
        let samples = partition_dpp(&model, &features, Projection::Cheaper, |s| s.sample_many(20, seed));
        for subset in samples.subsets() {
            let items = subset.as_slice();
            prop_assert!(items.windows(2).all(|pair| pair[0] < pair[1]), "{items:?}");
            prop_assert!(items.iter().all(|&item| item < model.items()), "{items:?}");
            prop_assert_eq!(subset.part_counts(&model.partition()), &model.quota[..]);
        }
        prop_assert!(samples.proposals() >= 20);
    }

    #[test]
    fn threads_and_instalments_do_not_change_the_draws(model in models(), seed: u64, cut in 0..40_u64) {
        let features = model.features();
        let key = |samples: &Samples| (samples.subsets().to_vec(), samples.proposals());
        for way in [Projection::Leverage, Projection::Elementary] {
            partition_dpp(&model, &features, way, |sampler| {
                let whole = with_threads(1, || sampler.sample_many(40, seed));
                let again = with_threads(2, || sampler.sample_many(40, seed));
                prop_assert_eq!(key(&whole), key(&again));
                let mut first = sampler.sample_many(cut, seed);
                prop_assert_eq!(first.subsets(), &whole.subsets()[..first.subsets().len()]);
                prop_assert_eq!(first.subsets().len() as u64, cut);
                first.extend(sampler.sample_range(cut..40, seed));
                prop_assert_eq!(key(&whole), key(&first));
                Ok(())
            })?;
        }
    }

    #[test]
    fn permuting_items_leaves_tilt_and_bound((model, order) in permutations()) {
        prop_assume!(has_a_tilt(&model));
        let permuted = model.permuted(&order);
        let (tilt, bound) = partition_dpp(&model, &model.features(), Projection::Leverage, tilt_and_bound);
        let (other, other_bound) =
            partition_dpp(&permuted, &permuted.features(), Projection::Leverage, tilt_and_bound);
        close(other_bound, bound)?;
        for (found, expected) in other.iter().zip(&tilt) {
            close(*found, *expected)?;
        }
    }

    #[test]
    fn scaling_all_features_leaves_the_draws(model in models(), power in -40..=40_i32) {
        let scaled = model.scaled(|_| 2.0_f64.powi(power));
        prop_assert_eq!(draws(&model, &model.features()), draws(&scaled, &scaled.features()));
    }

    #[test]
    fn scaling_one_part_leaves_the_draws(model in models(), power in -30..=30_i32) {
        let scaled = model.scaled(|i| if model.labels[i] == 0 { 2.0_f64.powi(power) } else { 1.0 });
        let draw = |sampler: &Sampler| sampler.sample_many(20, 5).subsets().to_vec();
        for way in [Projection::Leverage, Projection::Elementary] {
            let before = partition_dpp(&model, &model.features(), way, draw);
            prop_assert_eq!(before, partition_dpp(&scaled, &scaled.features(), way, draw));
        }
    }

    #[test]
    fn rotating_the_features_leaves_tilt_and_bound(model in models(), seed: u64) {
        prop_assume!(has_a_tilt(&model));
        let rotated = model.rotated(seed);
        let (tilt, bound) = partition_dpp(&model, &model.features(), Projection::Leverage, tilt_and_bound);
        let (other, other_bound) =
            partition_dpp(&rotated, &rotated.features(), Projection::Leverage, tilt_and_bound);
        close(other_bound, bound)?;
        for (found, expected) in other.iter().zip(&tilt) {
            close(*found, *expected)?;
        }
    }

    #[test]
    #[cfg(feature = "npy")]
    fn storage_does_not_change_the_draws(model in models()) {
        use oracles::npy;
        let (m, n) = (model.items(), model.dims);
        let single: Vec<f32> = model.values.iter().map(|&x| x as f32).collect();
        let bytes: Vec<u8> = single.iter().flat_map(|x| x.to_le_bytes()).collect();
        let shape = [m as u64, n as u64];
        let files = [
            npy::file(&npy::npy("<f4", false, &shape, &bytes)),
            npy::file(&npy::npy("<f8", false, &shape, &npy::f64s(&model.values))),
        ];
        let expected = draws(&model, &model.features());
        prop_assert_eq!(&draws(&model, &Features::from_rows(m, n, model.values.clone()).unwrap()), &expected);
        prop_assert_eq!(&draws(&model, &Features::from_rows(m, n, std::sync::Arc::<[f32]>::from(&single[..])).unwrap()), &expected);
        prop_assert_eq!(&draws(&model, &Features::from_rows(m, n, single).unwrap()), &expected);
        for file in &files {
            prop_assert_eq!(&draws(&model, &Features::open_npy(file.path()).unwrap()), &expected);
        }
    }

    #[test]
    fn the_number_of_proposals_is_the_closed_formula(quota in vec(0..=5_u32, 1..=3)) {
        prop_assume!(quota.iter().any(|&count| count > 0));
        // Integers below 2^128 throughout.
        let factorial = |n: u32| (1..=u128::from(n)).product::<u128>();
        let power = |n: u32| u128::from(n).pow(n);
        let k: u32 = quota.iter().sum();
        let above = power(k) * quota.iter().map(|&count| factorial(count)).product::<u128>();
        let below = factorial(k) * quota.iter().map(|&count| power(count)).product::<u128>();
        let found = proposals(&quota.iter().map(|&count| count as usize).collect::<Vec<_>>());
        let expected = above as f64 / below as f64;
        prop_assert!(relative_eq!(found, expected, epsilon = 0.0, max_relative = 1e-12), "{quota:?}: {found} {expected}");
    }
}

fn proposals(quota: &[usize]) -> f64 {
    expected_proposals(quota)
}

#[test]
fn the_number_of_proposals_is_that_of_the_table() {
    let mut table = String::new();
    for quota in [&[2, 2, 2][..], &[5, 5], &[5, 5, 5], &[10, 10, 10], &[1; 10], &[7], &[0, 3]] {
        let found = proposals(quota);
        let digits = usize::from(found < 10.0);
        write!(table, "{found:.digits$} ").unwrap();
    }
    assert_eq!(table, "8.1 4.1 19 37 2756 1.0 1.0 ");
}
