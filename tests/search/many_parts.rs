//! Thousands of small parts, with items chosen from only a few, and exact laws that are products.

use approx::assert_abs_diff_eq;
use partition_dpp::{
    Engine, Estimate, Features, Partition, PartitionDpp, Quota, RidgeDpp, SamplerOptions, Subset,
    map::{BranchAndBound, Greedy, LocalSearch, Solver, Termination, UpperBound},
};

const PARTS: usize = 4000;
const DIMS: usize = 8;
const EACH: usize = 3;
/// Parts with exactly one item, and with at most one; each of them lies on its own axis.
const ONE: [usize; 3] = [7, 1500, 3999];
const AT_MOST_ONE: [usize; 2] = [0, 2222];
/// Items that must be included or excluded: one from a part of each kind.
const INCLUDED: usize = 3 * 1500 + 1;
const EXCLUDED: [usize; 2] = [3 * 7, 2];

/// Returns the axis of a part. Its items are multiples of this axis, which no two parts with choices share.
fn axis(part: usize) -> usize {
    match part {
        7 => 0,
        1500 => 1,
        3999 => 2,
        0 => 3,
        2222 => 4,
        part => part % DIMS,
    }
}

fn size(item: usize) -> f64 {
    1.0 + (0.7 * item as f64).sin() + 0.1 * (item % EACH) as f64
}

struct World {
    features: Features,
    partition: Partition,
    quota: Quota,
}

fn world() -> World {
    let mut values = vec![0.0; PARTS * EACH * DIMS];
    for item in 0..PARTS * EACH {
        values[item * DIMS + axis(item / EACH)] = size(item);
    }
    let features = Features::from_rows(PARTS * EACH, DIMS, values).unwrap();
    let labels: Vec<usize> = (0..PARTS * EACH).map(|item| item / EACH).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let range = |part: usize| usize::from(ONE.contains(&part))..=usize::from(is_open(part));
    let quota = Quota::new(&partition, (0..PARTS).map(range).collect::<Vec<_>>()).unwrap();
    World { features, partition, quota }
}

fn is_open(part: usize) -> bool {
    ONE.contains(&part) || AT_MOST_ONE.contains(&part)
}

/// Returns the items that may be chosen from a part.
fn items_of(part: usize, conditions: bool) -> impl Iterator<Item = usize> {
    let is_free = move |item: &usize| {
        !conditions || !EXCLUDED.contains(item) && (part != INCLUDED / EACH || *item == INCLUDED)
    };
    (part * EACH..(part + 1) * EACH).filter(is_free)
}

/// Returns ln Z and the inclusion probabilities with this ridge.
fn exact(delta: f64, conditions: bool) -> (f64, Vec<f64>) {
    let weight = |item: usize| size(item).powi(2) + delta;
    let (mut log_z, mut marginals) = (0.0, vec![0.0; PARTS * EACH]);
    for part in (0..PARTS).filter(|&part| is_open(part)) {
        let none = f64::from(u8::from(AT_MOST_ONE.contains(&part)));
        let sum = none + items_of(part, conditions).map(weight).sum::<f64>();
        log_z += sum.ln();
        items_of(part, conditions).for_each(|item| marginals[item] = weight(item) / sum);
    }
    (log_z, marginals)
}

fn assert_exact(log_z: Estimate<f64>, marginals: &Estimate<Vec<f64>>, delta: f64, conditions: bool) {
    let (exact_z, exact_marginals) = exact(delta, conditions);
    assert_abs_diff_eq!(log_z.value, exact_z, epsilon = 1e-12 + 3.0 * log_z.error);
    for (found, exact) in marginals.value.iter().zip(&exact_marginals) {
        assert_abs_diff_eq!(*found, *exact, epsilon = 1e-12 + 3.0 * marginals.error);
    }
}

/// Asserts that draws have one item from every part that needs one, with the right frequencies.
fn assert_drawn(subsets: &[Subset], delta: f64, conditions: bool) {
    let (_, marginals) = exact(delta, conditions);
    let draws = subsets.len() as f64;
    for (item, p) in marginals.into_iter().enumerate() {
        let seen = subsets.iter().filter(|subset| subset.contains(item)).count() as f64;
        assert!(
            (seen - p * draws).abs() <= 5.0 * (p * (1.0 - p) * draws).sqrt() + 1e-6,
            "{item}: {seen}, {p}"
        );
    }
}

#[test]
fn few_of_thousands_of_parts_have_items() {
    let World { features, partition, quota } = world();
    for conditions in [false, true] {
        let (include, exclude) =
            if conditions { (vec![INCLUDED], EXCLUDED.to_vec()) } else { (Vec::new(), Vec::new()) };
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let dpp = dpp.including(&include).unwrap().excluding(&exclude).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let marginals = inference.inclusion_probabilities().unwrap();
        assert_exact(inference.log_partition_function(), &marginals, 0.0, conditions);
        let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        assert_drawn(sampler.sample_many(2000, 1).subsets(), 0.0, conditions);

        // The largest item from every part that needs one, and from other parts the largest items above 1.
        let weight = |item: usize| 2.0 * size(item).ln();
        let largest = |part: usize| items_of(part, conditions).map(weight).fold(f64::NEG_INFINITY, f64::max);
        let best = ONE.iter().map(|&part| largest(part)).sum::<f64>()
            + AT_MOST_ONE.iter().map(|&part| largest(part).max(0.0)).sum::<f64>();
        let bound = UpperBound::default().certify(&dpp, &Engine::cpu()).unwrap().upper_bound;
        assert!(bound >= best && bound < best + 1e-3, "{bound} {best}");
        let solvers: [&dyn Solver<PartitionDpp>; 3] =
            [&Greedy::default(), &LocalSearch::default(), &BranchAndBound::default()];
        for solver in solvers {
            assert_abs_diff_eq!(solver.solve(&dpp, &Engine::cpu()).unwrap().log_det, best, epsilon = 1e-12);
        }
        let proven = BranchAndBound::default().solve(&dpp, &Engine::cpu()).unwrap();
        assert_eq!(proven.termination, Termination::Optimal);
    }
}

#[test]
fn few_of_thousands_of_parts_have_items_and_a_ridge() {
    let World { features, partition, quota } = world();
    for (delta, conditions) in [(0.01, false), (0.01, true), (2.0, true)] {
        let (include, exclude) =
            if conditions { (vec![INCLUDED], EXCLUDED.to_vec()) } else { (Vec::new(), Vec::new()) };
        let dpp = RidgeDpp::new(&features, delta, &partition, &quota).unwrap();
        let dpp = dpp.including(&include).unwrap().excluding(&exclude).unwrap();
        let inference = dpp.inference(&Engine::cpu()).unwrap();
        let marginals = inference.inclusion_probabilities().unwrap();
        assert_exact(inference.log_partition_function(), &marginals, delta, conditions);
        let sampler = dpp.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        assert_drawn(sampler.sample_many(2000, 1).subsets(), delta, conditions);
    }
}
