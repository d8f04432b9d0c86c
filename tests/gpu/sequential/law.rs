//! The law of batches of sequential draws.

use oracles::{Case, engines::gpu, enumerable_cases, oracle::Determinants, random::normals, stats};
use partition_dpp::{
    Partition, PartitionDpp, Quota, Subset, engine::Precision, engine::gpu::Fault, error::EstimateProblem,
};

use super::problem_of;
use crate::batches::PRECISIONS;

/// Returns draws of a known answer from the host, which a device repeats, or `None` if the weights are too heavy for
/// plain draws.
fn drawn(case: &Case, draws: u64) -> Option<Vec<Subset>> {
    let gpu = gpu(Precision::F64)?;
    let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let importance = dpp.importance_sampler(&gpu.engine()).unwrap();
    gpu.fake(Fault::Dropped);
    match importance.sampler(2e-3) {
        Ok(sampler) => {
            assert!(sampler.law_error() <= 2e-3 + 1e-9, "{}", case.name);
            let samples = sampler.sample_many(draws, 2016);
            assert!(samples.acceptance_observed() >= sampler.acceptance_bound(), "{}", case.name);
            let [made, replayed] = sampler.batched_proposals().unwrap();
            assert_eq!(made, replayed, "{}: the host made all", case.name);
            Some(samples.into_iter().collect())
        }
        Err(partition_dpp::Error::Estimate(EstimateProblem::HeavyWeights { .. })) => None,
        Err(error) => panic!("{}: {error}", case.name),
    }
}

#[test]
fn draws_follow_the_law() {
    if gpu(Precision::F64).is_none() {
        return;
    }
    let test = |case: &Case| {
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        let samples = drawn(case, 4000)?;
        Some((case.name.clone(), stats::chi_square_p(samples.iter().map(Subset::as_slice), &law)))
    };
    let found: Vec<(String, f64)> = enumerable_cases().iter().filter_map(test).collect();
    assert!(found.len() >= 12, "{}", found.len());
    for (name, p) in &found {
        assert!(*p > stats::ALPHA / found.len() as f64, "{name}: p = {p:e}");
    }
}

/// A part that has almost nothing outside the span of the others: trials run out, and its whole table is read.
#[test]
fn parts_with_little_left() {
    let (items, dims) = (15, 4);
    let mut values = normals(items * dims, 8);
    for (item, row) in values.chunks_exact_mut(dims).enumerate() {
        // Parts in turn: the first two lie in a plane, and so does the third up to a small remainder.
        row[2..].iter_mut().for_each(|x| *x *= [0.0, 0.0, 1e-3][item % 3]);
    }
    let few = problem_of("little left", (items, dims), values.clone(), &[1; 3], 400);
    let many = few.clone().drawn(6000);
    let rows = values.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let (law, _) = Determinants::of_features(rows).partition_dpp(&many.labels, &many.quota);
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (found, proposals, [made, replayed]) = few.draws(&gpu.engine());
        println!("{precision}: {replayed} of {made} replayed");
        assert!((found, proposals) == few.draws_of_host(precision));
    }
    let (found, _) = many.draws_of_host(Precision::F64);
    let p = stats::chi_square_p(found.iter().map(Subset::as_slice), &law);
    assert!(p > stats::ALPHA, "{p:e}");
}
