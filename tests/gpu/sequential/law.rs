//! The law of batches of sequential draws, and of their picks.

use std::collections::BTreeMap;

use partition_dpp::{
    Engine, Partition, PartitionDpp, Quota, Sampler, Subset,
    engine::{Precision, gpu::Gpu},
    error::EstimateProblem,
};

use super::{PRECISIONS, Problem, patched, problem_of};
use crate::common::{
    Case,
    engines::gpu,
    enumerable_cases,
    oracle::{Determinants, Law},
    random::normals,
    stats,
};

/// Draws of a known answer; `None` if its weights are too heavy for plain draws.
fn drawn(case: &Case, engine: &Engine, draws: u64) -> Option<(Vec<Subset>, [u64; 2])> {
    let (features, partition) = (case.features(), Partition::from_labels(&case.labels).unwrap());
    let quota = Quota::new(&partition, &case.quota).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    match dpp.importance_sampler(engine).unwrap().sampler(2e-3) {
        Ok(sampler) => {
            assert!(sampler.law_error() <= 2e-3 + 1e-9, "{}", case.name);
            let samples = sampler.sample_many(draws, 2016);
            assert!(samples.acceptance_observed() >= sampler.acceptance_bound(), "{}", case.name);
            Some((samples.into_iter().collect(), sampler.batched_proposals().unwrap()))
        }
        Err(partition_dpp::Error::Estimate(EstimateProblem::HeavyWeights { .. })) => None,
        Err(error) => panic!("{}: {error}", case.name),
    }
}

/// p-values of every so many of the known answers.
fn p_values(gpu: &Gpu, draws: u64, every: usize) -> Vec<(String, f64)> {
    let test = |case: &Case| {
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        let (samples, [made, replayed]) = drawn(case, &gpu.engine(), draws)?;
        let p = stats::chi_square_p(samples.iter().map(Subset::as_slice), &law);
        println!("{:30} {} sets, {draws} of {made}, {replayed} replayed, p = {p:.4}", case.name, law.len());
        // In single precision more of parallel rows are left to the host.
        assert!(replayed * 5 <= made, "{}: the host made {replayed} of {made}", case.name);
        Some((case.name.clone(), p))
    };
    enumerable_cases().iter().step_by(every).filter_map(test).collect()
}

#[test]
fn draws_follow_the_law() {
    // Draws have the same numbers in both precisions: those in double precision are nearly always the same again.
    for (precision, draws, every) in [(Precision::F32, 2000, 2), (Precision::F64, 1000, 4)] {
        let Some(gpu) = gpu(precision) else { return };
        let found = p_values(&gpu, draws, every);
        assert!(found.len() * every >= 12, "{}", found.len());
        for (name, p) in &found {
            assert!(*p > stats::ALPHA / (2 * found.len()) as f64, "{name} in {precision}: p = {p:e}");
        }
    }
}

/// Five parts with one item each: a set is picked in one order only, so its weight is a function of it.
fn five_parts() -> (Problem, Law, f64) {
    let (items, dims) = (15, 6);
    let mut values = normals(items * dims, 3);
    // Weights that differ.
    values.chunks_exact_mut(dims).for_each(|row| row[0] += 2.0);
    let problem = problem_of("five parts", (items, dims), values.clone(), &[1; 5], 8_000);
    let rows = values.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let (law, log_z) = Determinants::of_features(rows).partition_dpp(&problem.labels, &problem.quota);
    (problem, law, log_z)
}

/// Probabilities of the proposals, π Z / w, with the weights that the host finds.
fn proposals(problem: &Problem, law: &Law, log_z: f64, engine: &Engine) -> Law {
    let partition = Partition::from_labels(&problem.labels).unwrap();
    let quota = Quota::new(&partition, &problem.quota).unwrap();
    let dpp = PartitionDpp::new(&problem.features, &partition, &quota).unwrap();
    let weighted = dpp.importance_sampler(engine).unwrap().sample_many(30_000, 1);
    let logs: BTreeMap<Vec<usize>, f64> = weighted
        .subsets()
        .iter()
        .zip(weighted.log_weights())
        .map(|(subset, &log)| (subset.as_slice().to_vec(), log))
        .collect();
    assert!(logs.len() * 100 >= law.len() * 97, "{} of {} sets", logs.len(), law.len());
    let of = |(set, p): (&Vec<usize>, &f64)| Some((set.clone(), p * (log_z - logs.get(set)?).exp()));
    law.iter().filter_map(of).collect()
}

/// Without the coin at the end, items come as they are proposed, and not by the law.
#[test]
fn picks_follow_the_law_of_proposals() {
    let (problem, law, log_z) = five_parts();
    for precision in PRECISIONS {
        let verdict = ("verdict(unit_number(high, low), sh_ratio, margin)", "ACCEPTED");
        let Some(gpu) = patched(precision, &[verdict]) else { return };
        let proposed = proposals(&problem, &law, log_z, &gpu.engine());
        let sum: f64 = proposed.values().sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        let draws = if precision == Precision::F32 { problem.draws } else { problem.draws / 4 };
        let draw = |sampler: &Sampler| {
            let samples = sampler.sample_many(draws, 12);
            let [made, replayed] = sampler.batched_proposals().unwrap();
            assert!(replayed * 500 <= made, "{replayed} of {made}");
            samples
        };
        let samples = problem.sampled(&gpu.engine(), draw);
        // Sets without a known weight are too rare for a bin.
        let known = samples.subsets().iter().filter(|set| proposed.contains_key(set.as_slice()));
        let p = stats::chi_square_p(known.map(Subset::as_slice), &proposed);
        let wrong = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
        println!("{precision}: p = {p:.4} as proposed, {wrong:e} by the law");
        assert!(p > stats::ALPHA, "{precision}: {p:e}");
        assert!(wrong < 1e-9, "{precision}: {wrong:e}");
    }
}

/// Picks take their positions regardless of what is picked already.
#[test]
fn a_wrong_law_of_picks_is_noticed() {
    let (problem, law, log_z) = five_parts();
    let verdict = ("verdict(unit_number(high, low), sh_ratio, margin)", "ACCEPTED");
    let trial = ("verdict(sh_thresholds[trial], square, margin)", "ACCEPTED");
    let Some(gpu) = patched(Precision::F32, &[verdict, trial]) else { return };
    let proposed = proposals(&problem, &law, log_z, &gpu.engine());
    let samples = problem.sampled(&gpu.engine(), |sampler| sampler.sample_many(problem.draws, 12));
    let known = samples.subsets().iter().filter(|set| proposed.contains_key(set.as_slice()));
    let p = stats::chi_square_p(known.map(Subset::as_slice), &proposed);
    assert!(p < 1e-9, "{p:e}");
}

/// A part that has next to nothing outside the span of the others: trials end, and its whole table is read.
#[test]
fn parts_with_little_left() {
    let (items, dims) = (15, 4);
    let mut values = normals(items * dims, 8);
    for (item, row) in values.chunks_exact_mut(dims).enumerate() {
        // Parts in turn: the first two lie in a plane, as does the third but for a little.
        row[2..].iter_mut().for_each(|x| *x *= [0.0, 0.0, 1e-3][item % 3]);
    }
    let problem = problem_of("little left", (items, dims), values.clone(), &[1; 3], 6000);
    let rows = values.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let (law, _) = Determinants::of_features(rows).partition_dpp(&problem.labels, &problem.quota);
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let (found, proposals, [made, replayed]) = problem.draws(&gpu.engine());
        println!("{precision}: {replayed} of {made} replayed");
        assert!((found.clone(), proposals) == problem.draws_of_host(precision));
        let p = stats::chi_square_p(found.iter().map(Subset::as_slice), &law);
        assert!(p > stats::ALPHA, "{precision}: {p:e}");
    }
}
