//! The exact subsets for fixed data and a fixed seed.
//!
//! A change here is value-breaking: a user who reruns an experiment with the same seed gets other subsets. Such a
//! change
//! must be in the CHANGELOG.

use partition_dpp::{
    Dpp, Engine, Features, IndependentKDpps, KDpp, Method, Partition, PartitionDpp, Projection, Quota,
    Sampler, SamplerOptions, Subset, mcmc::McmcOptions, sample::Bound,
};

const SEED: u64 = 42;

/// Returns eight items with four small integers each; the kernel has four different eigenvalues.
fn features() -> Features {
    let rows: [[f64; 4]; 8] = [
        [3., 1., 0., 2.],
        [1., 4., 1., 0.],
        [0., 2., 5., 1.],
        [2., 0., 1., 3.],
        [4., 1., 2., 0.],
        [1., 1., 3., 2.],
        [0., 3., 1., 4.],
        [2., 2., 0., 1.],
    ];
    Features::from_rows(8, 4, rows.concat()).unwrap()
}

fn parts() -> (Partition, Quota) {
    let partition = Partition::from_labels(&["a", "a", "a", "b", "b", "b", "b", "b"]).unwrap();
    let quota = Quota::new(&partition, [1, 2]).unwrap();
    (partition, quota)
}

/// Returns six draws and the proposals that they took.
fn draws(sampler: &Sampler, seed: u64) -> (String, u64) {
    let samples = sampler.sample_many(6, seed);
    let sets: Vec<String> = samples.subsets().iter().map(ToString::to_string).collect();
    (sets.join(", "), samples.proposals())
}

fn assert_draws(sampler: &Sampler, sets: &str, proposals: u64) {
    let found = draws(sampler, SEED);
    assert_eq!(found, (sets.to_owned(), proposals), "value-breaking: see the head of this file");
}

/// Checks draws with one seed and with another, from a sampler that rejects nothing.
fn assert_draws_of_two_seeds(sampler: &Sampler, sets: [&str; 2]) {
    assert_draws(sampler, sets[0], 6);
    let found = draws(sampler, SEED + 1);
    assert_eq!(found, (sets[1].to_owned(), 6), "value-breaking: see the head of this file");
}

#[test]
fn dpp_by_leverage_trials() {
    let features = features();
    let dpp = Dpp::new(&features).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Leverage), &Engine::cpu())
            .unwrap(),
        "1 2 4 6, 0 1 2 6, 1 2 4 6, 1 5 6 7, 1 2 3 4, 0 1 2 6",
        6,
    );
}

#[test]
fn dpp_by_elementary_picks() {
    let features = features();
    let dpp = Dpp::new(&features).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Elementary), &Engine::cpu())
            .unwrap(),
        "1 2 4 6, 0 1 2 6, 1 2 3 4, 0 1 2 6, 1 3 6 7, 0 1 2 4",
        6,
    );
}

#[test]
fn k_dpp_by_leverage_trials() {
    let features = features();
    let dpp = KDpp::new(&features, 3).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Leverage), &Engine::cpu())
            .unwrap(),
        "1 3 4, 0 2 6, 2 4 6, 0 1 7, 0 2 7, 0 1 6",
        6,
    );
}

#[test]
fn k_dpp_by_elementary_picks() {
    let features = features();
    let dpp = KDpp::new(&features, 3).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Elementary), &Engine::cpu())
            .unwrap(),
        "1 3 4, 0 4 6, 1 2 4, 1 2 5, 1 4 5, 0 4 6",
        6,
    );
}

#[test]
fn independent_k_dpps_by_leverage_trials() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Leverage), &Engine::cpu())
            .unwrap(),
        "1 4 6, 0 4 5, 2 5 6, 2 5 6, 1 3 4, 2 4 6",
        6,
    );
}

#[test]
fn independent_k_dpps_by_elementary_picks() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default().with_projection(Projection::Elementary), &Engine::cpu())
            .unwrap(),
        "1 4 6, 0 4 6, 1 4 6, 2 4 6, 1 6 7, 2 3 4",
        6,
    );
}

#[test]
fn partition_dpp_by_leverage_trials() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_draws(
        &dpp.sampler(
            SamplerOptions::from(Method::Rejection).with_projection(Projection::Leverage),
            &Engine::cpu(),
        )
        .unwrap(),
        "1 3 5, 1 6 7, 2 4 6, 0 6 7, 0 3 4, 0 5 6",
        7,
    );
}

#[test]
fn partition_dpp_by_elementary_picks() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    assert_draws(
        &dpp.sampler(
            SamplerOptions::from(Method::Rejection).with_projection(Projection::Elementary),
            &Engine::cpu(),
        )
        .unwrap(),
        "1 4 6, 0 5 6, 2 4 6, 1 4 6, 1 5 6, 0 4 6",
        7,
    );
}

#[test]
fn partition_dpp_by_interpolation() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Interpolation, &Engine::cpu()).unwrap();
    assert_draws_of_two_seeds(
        &sampler,
        ["2 4 7, 2 3 6, 1 4 6, 1 5 6, 2 4 6, 1 4 5", "0 5 6, 2 4 6, 0 3 6, 0 6 7, 1 4 5, 0 3 4"],
    );
}

#[test]
fn partition_dpp_by_one_determinant_per_candidate() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::PerCandidate, &Engine::cpu()).unwrap();
    assert_draws_of_two_seeds(
        &sampler,
        ["1 5 7, 1 4 5, 2 4 6, 2 3 4, 2 4 6, 2 3 4", "1 5 6, 1 4 5, 1 3 6, 0 6 7, 2 3 6, 1 3 4"],
    );
}

#[test]
fn conditioned_dpp() {
    let features = features();
    let dpp = Dpp::new(&features).unwrap().including(&[1]).unwrap().excluding(&[6]).unwrap();
    for (way, sets) in [
        (Projection::Leverage, "1 2 4 5, 0 1 2 4, 0 1 3 4, 0 1 2 4, 1 2 4 7, 1 4 5 7"),
        (Projection::Elementary, "0 1 2 4, 0 1 4 5, 0 1 2 4, 1 2 3 4, 1 2 4 5, 0 1 3 4"),
    ] {
        assert_draws(
            &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
            sets,
            6,
        );
    }
}

#[test]
fn conditioned_k_dpp() {
    let features = features();
    let dpp = KDpp::new(&features, 3).unwrap().including(&[1]).unwrap().excluding(&[6]).unwrap();
    for (way, sets) in [
        (Projection::Leverage, "1 4 5, 0 1 2, 0 1 2, 1 2 7, 1 4 7, 1 5 7"),
        (Projection::Elementary, "1 3 4, 1 2 5, 0 1 2, 1 2 4, 1 2 4, 1 2 3"),
    ] {
        assert_draws(
            &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
            sets,
            6,
        );
    }
}

#[test]
fn conditioned_independent_k_dpps() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    let dpp = dpp.including(&[6]).unwrap().excluding(&[0]).unwrap();
    for (way, sets) in [
        (Projection::Leverage, "2 6 7, 2 4 6, 2 4 6, 2 4 6, 1 3 6, 2 5 6"),
        (Projection::Elementary, "2 4 6, 1 5 6, 2 3 6, 2 4 6, 2 4 6, 2 4 6"),
    ] {
        assert_draws(
            &dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap(),
            sets,
            6,
        );
    }
}

#[test]
fn conditioned_partition_dpp_by_rejection() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let dpp = dpp.including(&[6]).unwrap().excluding(&[0]).unwrap();
    for (way, sets, proposals) in [
        (Projection::Leverage, "1 5 6, 2 6 7, 2 4 6, 1 4 6, 1 6 7, 1 5 6", 14),
        (Projection::Elementary, "2 3 6, 2 6 7, 2 3 6, 1 4 6, 1 5 6, 1 6 7", 10),
    ] {
        assert_draws(
            &dpp.sampler(SamplerOptions::from(Method::Rejection).with_projection(way), &Engine::cpu())
                .unwrap(),
            sets,
            proposals,
        );
    }
}

#[test]
fn conditioned_partition_dpp_by_algorithm_2() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let dpp = dpp.including(&[6]).unwrap().excluding(&[0]).unwrap();
    for (method, sets) in [
        (Method::Interpolation, "2 6 7, 2 3 6, 1 4 6, 2 4 6, 2 4 6, 1 4 6"),
        (Method::PerCandidate, "2 4 6, 1 4 6, 2 4 6, 2 4 6, 2 5 6, 2 4 6"),
    ] {
        assert_draws(&dpp.sampler(method, &Engine::cpu()).unwrap(), sets, 6);
    }
}

/// Part a has three items.
#[test]
fn full_parts() {
    let (features, (partition, _)) = (features(), parts());
    let quota = Quota::new(&partition, [3, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    for (method, sets) in [
        (Method::Rejection, "0 1 2 6, 0 1 2 6, 0 1 2 4, 0 1 2 4, 0 1 2 6, 0 1 2 4"),
        (Method::Interpolation, "0 1 2 6, 0 1 2 6, 0 1 2 4, 0 1 2 4, 0 1 2 6, 0 1 2 4"),
        (Method::PerCandidate, "0 1 2 6, 0 1 2 6, 0 1 2 4, 0 1 2 4, 0 1 2 6, 0 1 2 4"),
    ] {
        assert_draws(&dpp.sampler(method, &Engine::cpu()).unwrap(), sets, 6);
    }
    let dpp = IndependentKDpps::new(&features, &partition, &quota).unwrap();
    assert_draws(
        &dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap(),
        "0 1 2 4, 0 1 2 6, 0 1 2 4, 0 1 2 4, 0 1 2 6, 0 1 2 4",
        6,
    );
    // The part is full once an item is excluded.
    let quota = Quota::new(&partition, [2, 2]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap().excluding(&[1]).unwrap();
    for (method, sets) in [
        (Method::Rejection, "0 2 6 7, 0 2 3 6, 0 2 3 6, 0 2 4 6, 0 2 6 7, 0 2 4 6"),
        (Method::Interpolation, "0 2 6 7, 0 2 3 6, 0 2 3 6, 0 2 4 6, 0 2 6 7, 0 2 4 6"),
    ] {
        assert_draws(&dpp.sampler(method, &Engine::cpu()).unwrap(), sets, 6);
    }
}

#[test]
fn one_generator_gives_one_sequence() {
    use rand::{SeedableRng, distr::Distribution};
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Rejection, &Engine::cpu()).unwrap();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(SEED);
    let sets: Vec<String> = (0..4).map(|_| sampler.sample(&mut rng).to_string()).collect();
    assert_eq!(sets.join(", "), "1 4 6, 2 3 6, 2 4 6, 2 3 7", "value-breaking: see the head of this file");
}

#[test]
fn partition_dpp_by_exchange_chains() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let samples = dpp.chains(&McmcOptions::default(), &Engine::cpu()).unwrap().run(6, SEED);
    let sets: Vec<String> = samples.subsets().iter().map(ToString::to_string).collect();
    assert_eq!(
        sets.join(", "),
        "2 3 7, 2 6 7, 2 4 7, 1 3 4, 2 4 6, 1 4 6",
        "value-breaking: see the head of this file"
    );
    assert_eq!(samples.proposals(), 5780);
}

#[test]
fn weighted_draws() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.importance_sampler(&Engine::cpu()).unwrap();
    let sets = |subsets: &[Subset]| subsets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let drawn = sampler.sample_many(6, SEED);
    assert_eq!(
        sets(drawn.subsets()),
        "2 6 7, 2 3 6, 0 3 6, 2 3 7, 1 4 6, 2 3 6",
        "value-breaking: see the head of this file"
    );
    assert_draws(&sampler.sampler(1e-3).unwrap(), "2 6 7, 2 3 6, 0 3 6, 2 3 7, 1 4 6, 1 5 6", 7);
}

#[test]
fn every_bound_of_rejection() {
    let (features, (partition, quota)) = (features(), parts());
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = |bound| {
        let options = SamplerOptions::from(Method::Rejection).with_bound(bound);
        dpp.sampler(options, &Engine::cpu()).unwrap()
    };
    let found = Bound::ALL[1..].iter().map(|&bound| draws(&sampler(bound), SEED));
    let expected = [
        ("2 5 6, 2 4 6, 1 5 6, 2 4 6, 0 3 6, 2 6 7", 25),
        ("1 5 6, 2 4 7, 2 4 6, 2 4 6, 1 6 7, 2 3 4", 8),
        ("1 4 5, 1 4 6, 2 4 5, 2 4 6, 1 3 5, 0 5 6", 9),
        ("1 4 6, 1 4 6, 2 3 6, 2 3 6, 1 3 4, 2 3 6", 10),
        ("1 4 6, 2 4 7, 0 3 6, 2 6 7, 2 4 7, 2 6 7", 11),
    ];
    assert_eq!(
        found.collect::<Vec<_>>(),
        expected.map(|(sets, proposals)| (sets.to_owned(), proposals)),
        "value-breaking: see the head of this file"
    );
}

#[test]
fn range_dpp() {
    let features = features();
    let (partition, _) = parts();
    let quota = Quota::new(&partition, &[0..=1, 1..=2]).unwrap();
    let of_two = quota.clone().with_total(2).unwrap();
    let sampler = |quota: &Quota, way| {
        let dpp = PartitionDpp::new(&features, &partition, quota).unwrap();
        dpp.sampler(SamplerOptions::default().with_projection(way), &Engine::cpu()).unwrap()
    };
    assert_draws(&sampler(&quota, Projection::Leverage), "1 5, 1 5 7, 2 4 6, 1 4 6, 2 3 4, 0 4 6", 18);
    assert_draws(&sampler(&of_two, Projection::Elementary), "2 6, 2 6, 1 4, 1 3, 1 3, 4 6", 7);
}
